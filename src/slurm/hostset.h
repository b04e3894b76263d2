/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets of host names: sorted and unique, with union, difference and fast look-up. */
#pragma once

#include "src/slurm/hostlist.h"

/* Immutable once made.  Equal sets have equal inside, however their names were written. */
struct host_set;

struct host_set *hostset_of(const struct host_list *list);
/* Parse a host list expression straight into a set. */
int hostset_parse(struct str text, struct host_set **ret_set, struct err *e) MUST_CHECK;
struct host_set *hostset_free(struct host_set *set);
DEFINE_AUTO(struct host_set, hostset_free);

/* Each returns a new set, owned by the caller; the arguments are borrowed. */
struct host_set *hostset_union(const struct host_set *a, const struct host_set *b);
struct host_set *hostset_minus(const struct host_set *a, const struct host_set *b);

bool hostset_equal(const struct host_set *a, const struct host_set *b);
bool hostset_has(const struct host_set *set, struct str name);
size_t hostset_count(const struct host_set *set);

/* The names in Slurm's order (natural for prefixes, by number within one), as an owned list. */
struct host_list *hostset_list(const struct host_set *set);
/* Append the compressed form. */
void hostset_print(const struct host_set *set, struct buf *out);
