/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What may stand in a selector: label keys and label values, with Kubernetes' sentences. */
#pragma once

#include <stdbool.h>

#include "src/base/arena.h"
#include "src/base/buf.h"

/* Append what is wrong with a key, as `path: Invalid value: "key": why; why`; 1 if anything is. */
size_t selector_key_faults(struct buf *b, const char *path, struct str key);

bool selector_value_good(struct str value);
/* Append what is wrong with value number i of a key. */
void selector_value_fault(struct buf *b, size_t i, struct str key, struct str value);

/* A sorted copy in which each value stands once; *n becomes their number. */
struct str *selector_value_set(struct arena *a, const struct str *values, size_t *n);
