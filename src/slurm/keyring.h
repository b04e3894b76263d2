/* SPDX-License-Identifier: GPL-2.0-or-later */
/* munge.ring: which key munge signs with, which other one it accepts, and the stage that it is. */
#pragma once

#include <stdbool.h>

#include "src/base/buf.h"

#define KEYRING_STAGE_MAX 40
#define KEYRING_MAX_BYTES 8192

/* munged takes keys of these sizes, and no others. */
#define MUNGE_KEY_MIN_BYTES 32
#define MUNGE_KEY_MAX_BYTES 1024

/* {0} is a valid empty ring. */
struct keyring {
    char stage[KEYRING_STAGE_MAX + 1]; /* "3-accept" */
    struct buf sign;
    struct buf also; /* empty: no other key is accepted */
};

/* Parse the text of a file.  On failure *ret is untouched. */
int keyring_parse(struct str text, struct keyring *ret, struct err *e) MUST_CHECK;
void keyring_print(const struct keyring *r, struct buf *out);

/* The keys are wiped. */
void keyring_done(struct keyring *r);
DEFINE_AUTO_DONE(struct keyring, keyring_done);
