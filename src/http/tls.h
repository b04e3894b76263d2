/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The server's TLS context, for the files of this directory; others see it in server.h. */
#pragma once

#include <openssl/ssl.h>

#include "src/http/server.h"

SSL_CTX *http_tls_context(struct http_tls *t);
