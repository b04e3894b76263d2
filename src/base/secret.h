/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Secrets: tokens, passwords, private keys; a type of their own, wiped when it goes. */
#pragma once

#include <stdbool.h>

#include "src/base/str.h"

/*
 * There is no print and there will be none: a secret cannot get into a log, an error or a status by
 * passing the wrong argument.  {0} is a valid empty one.  The text is owned.
 */
struct secret {
    char *hidden;
    size_t n;
};

/* Replace the content by a copy of `text`; what was there is wiped. */
void secret_set(struct secret *s, struct str text);
/* Wipe, free, and leave it empty. */
void secret_done(struct secret *s);
DEFINE_AUTO_DONE(struct secret, secret_done);

bool secret_empty(const struct secret *s);
/* In constant time for equal lengths. */
bool secret_equal(const struct secret *a, const struct secret *b);

/*
 * The text, terminated; "" if empty; borrowed until the secret changes.  For handing over to what
 * sends or uses it (a header, a TLS key, a child's input), and for nothing that a human reads.
 */
const char *secret_expose(const struct secret *s);

/* Wipe and free a string that held a secret on its way.  NULL-safe. */
void secret_wipe(char *text);
