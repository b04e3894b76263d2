/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Key pairs of sshd, in the files that OpenSSH reads. */
#pragma once

#include <stdatomic.h>

#include "src/base/buf.h"

enum ssh_key_type { SSH_KEY_ECDSA, SSH_KEY_ED25519, SSH_KEY_RSA };

/*
 * Make a pair: the private key as "-----BEGIN OPENSSH PRIVATE KEY-----", without a passphrase, and
 * the public one as a line.  Takes long (RSA: up to seconds); `stop` (or NULL) set by another
 * thread ends it with -ECANCELED.  Both buffers are the caller's, also after a failure.
 */
int ssh_key_make(enum ssh_key_type type, atomic_bool *stop, struct buf *private_key,
                 struct buf *public_key, struct err *e) MUST_CHECK;
