/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Single values of field tables: between JSON and the member of a struct. */
#pragma once

#include "src/json/fields.h"

/* Bytes that a member of this kind takes; 0 for kinds that have tables of their own. */
size_t fields_value_size(enum jsn_kind kind);

/* Store v at `at`; the error is the sentence without its path. */
int fields_value_decode(struct arena *a, const struct jsn_field *field, const struct jsn *v,
                        void *at, struct err *e) MUST_CHECK;

/* Does a string or list of this length keep to its limits? */
int fields_value_count(const struct jsn_field *field, size_t n, const char *unit,
                       struct err *e) MUST_CHECK;
