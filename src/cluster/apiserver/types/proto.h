/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Request bodies in Kubernetes' protobuf form, for built-in kinds. */
#pragma once

#include "src/cluster/apiserver/types/registry.h"
#include "src/cluster/apiserver/types/wire.h"

#define PROTO_MAX_DEPTH 160
#define PROTO_MAX_VALUES 500000

/*
 * Decode a body ("k8s\0" and an Unknown message) into the JSON object that it stands for,
 * apiVersion and kind first.  Zero values that Go cannot tell from absent ones are left out;
 * otherwise the object is as a client might have sent it in JSON: type_check is still the caller's.
 * Malformed input, an unknown kind and what passes the caps fail with a sentence (-EINVAL), an
 * unknown kind with -ENOENT.
 */
int proto_decode(const struct registry *reg, struct arena *a, struct str body, struct jsn **ret,
                 struct err *e) MUST_CHECK;

/* Decode a message of a known type without the envelope. */
int proto_decode_message(struct arena *a, const struct schema *s, struct str message,
                         struct jsn **ret, struct err *e) MUST_CHECK;

/* --- between the files --- */

struct proto_reader {
    struct arena *a;
    struct err *e;
    size_t values;
    int depth;
};

/* One value of type `s` into *ret. */
int proto_read_value(struct proto_reader *r, const struct schema *s, const struct wire_field *f,
                     struct jsn **ret) MUST_CHECK;
/* A message with a codec of its own (times, quantities, ...); *ret may be a null. */
int proto_read_codec(struct proto_reader *r, const struct schema *s, struct str message,
                     struct jsn **ret) MUST_CHECK;
int proto_bad(struct proto_reader *r, const char *what);
