/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Secrets.
 *
 * Memory is wiped with explicit_bzero before it is freed, so that a core file or a later allocation
 * does not show what has gone out of use.  Copies that parsers and libraries make on the way are
 * out of reach; whoever has a string of its own gives it to secret_wipe.
 */
#include "src/base/secret.h"

#include <openssl/crypto.h>

#include "src/base/alloc.h"

void secret_wipe(char *text)
{
    if (text)
        explicit_bzero(text, strlen(text));
    free(text);
}

void secret_done(struct secret *s)
{
    if (s->hidden)
        explicit_bzero(s->hidden, s->n);
    free(s->hidden);
    *s = (struct secret){0};
}

void secret_set(struct secret *s, struct str text)
{
    struct secret fresh = {str_dup(text), text.n};

    secret_done(s);
    *s = fresh;
}

bool secret_empty(const struct secret *s)
{
    return s->n == 0;
}

bool secret_equal(const struct secret *a, const struct secret *b)
{
    return a->n == b->n && (a->n == 0 || CRYPTO_memcmp(a->hidden, b->hidden, a->n) == 0);
}

const char *secret_expose(const struct secret *s)
{
    return s->hidden ? s->hidden : "";
}
