/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Certificates that are renewed while the server runs. */
#pragma once

#include "src/cluster/apiserver/server.h"

struct renewal;

/* Looks at them from time to time; `host` is what the kubeconfig names.  Server and its parts are
 * borrowed. */
struct renewal *renewal_new(struct apiserver *s, const char *host);
struct renewal *renewal_free(struct renewal *r);
