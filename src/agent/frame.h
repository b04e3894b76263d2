/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames between the agent and its libslurm children: four bytes of length, then JSON. */
#pragma once

#include "src/base/buf.h"

/* Of one body.  A list of 100,000 jobs is about 40 MB. */
#define FRAME_MAX_BYTES ((size_t)192 << 20)
#define FRAME_HEAD_BYTES 4

/* Append a frame; sets out->overflow where it does not fit. */
void frame_add(struct buf *out, struct str body);

/*
 * Look at the front of what was received.  1: *ret_body is the body of a whole frame (borrowed from
 * `in`; frame_drop takes it off); 0: there is more to come; -EBADMSG: no frame can start so.
 */
int frame_peek(const struct buf *in, struct str *ret_body) MUST_CHECK;
void frame_drop(struct buf *in);

/* How many bytes to make room for before the next read: what the frame still lacks, within reason.
 */
size_t frame_want(const struct buf *in);
