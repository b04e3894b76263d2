/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Request bodies: JSON, YAML, protobuf to objects. */
#pragma once

#include "src/cluster/apiserver/status.h"

/*
 * The object in a POST or PUT body, in stored form (kind and apiVersion checked and taken off,
 * unknown fields removed and, by c->fields, reported).
 */
int body_read_object(struct api_call *c, struct jsn **ret_object);

/* The same for an object that is there already as a tree (the result of a patch). */
int body_adopt_object(struct api_call *c, struct jsn *object, struct jsn **ret_object);

/* Optional options in a body ("DeleteOptions"); NULL where there is none. */
int body_read_options(struct api_call *c, const char *kind, struct jsn **ret_options);

/* A body of the subresource's own kind (Scale, Eviction, Binding, TokenRequest). */
int body_read_subresource(struct api_call *c, struct jsn **ret_object);

/* The content type without its parameters, "application/json" where none is given. */
const char *body_media_type(struct api_call *c);
