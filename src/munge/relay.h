/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A client of munge while two keys are accepted. */
#pragma once

#include "src/base/str.h"

/* Sizes and numbers of munge's messages. */
#define MUNGE_HEAD_BYTES 11
#define MUNGE_BODY_MAX_BYTES (2U << 20)

enum munge_type { MUNGE_DECODE_REQUEST = 4, MUNGE_DECODE_ANSWER = 5 };

/* A message: head and body together. */
struct munge_head {
    unsigned type;
    size_t body_bytes;
};

/* -EPROTO: it is no message of munge's, or too long a one. */
int munge_head_parse(const unsigned char head[MUNGE_HEAD_BYTES], struct munge_head *ret) MUST_CHECK;

/* Does the answer (a whole message) say that the credential was not made with this munged's key?
 * Garbage is told in the same way. */
bool munge_is_of_another_key(struct str answer);

/*
 * Serve one client, and return when it is served: its request goes to the munged at `sign`, and a
 * credential that is not of its key to the one at `also`.  The process takes the client's user and
 * group for that, and keeps them: call it in a child.
 */
int relay_serve(int client, const char *sign, const char *also) MUST_CHECK;
