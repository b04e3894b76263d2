/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Base64, percent encoding, and random identifiers. */
#pragma once

#include "src/base/buf.h"

/* Standard alphabet with padding, as Secrets use it. */
void encode_base64(struct buf *b, struct str data);
/* URL alphabet without padding, as JWTs and continue tokens use it. */
void encode_base64url(struct buf *b, struct str data);

/* Decode either alphabet, padding optional, no blanks.  Appends; -EINVAL leaves b as it was. */
int decode_base64(struct buf *b, struct str text) MUST_CHECK;

/* Percent-encode everything but unreserved characters (RFC 3986). */
void encode_url(struct buf *b, struct str text);
/* Undo it; with plus_is_space also '+' (query strings).  -EINVAL on a broken or NUL sequence. */
int decode_url(struct buf *b, struct str text, bool plus_is_space) MUST_CHECK;

/* Make each byte a letter or digit of Kubernetes' made-up names: no vowels, so no words. */
void encode_letters(char *p, size_t n);

#define ENCODE_UUID_LEN 36
/* Random UUID, version 4. */
void encode_uuid(char ret_text[ENCODE_UUID_LEN + 1]);

/* n random bytes from the kernel; never fails short of a broken kernel (then it aborts). */
void encode_random(void *p, size_t n);
