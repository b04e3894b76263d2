/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Slurm's host lists: `n[001-003,7],r[1-2]c[1-4]` to names and back, in the order given. */
#pragma once

#include <stdbool.h>

#include "src/base/buf.h"

/* What Slurm itself refuses above; the printer never writes a longer range either. */
#define HOSTLIST_MAX_RANGE 65536
/* Of one list, after expansion. */
#define HOSTLIST_MAX_NAMES 1000000
#define HOSTLIST_MAX_BYTES ((size_t)16 << 20)
/* Brackets in one name. */
#define HOSTLIST_MAX_BRACKETS 8

/* A list of host names in order, with repetitions; kept as ranges, so 100,000 names are cheap. */
struct host_list;

/*
 * Parse text whose names are separated by commas or blanks.  Text without any name gives an empty
 * list.  On success *ret_list is owned by the caller.  The error names the column (from 1).
 */
int hostlist_parse(struct str text, struct host_list **ret_list, struct err *e) MUST_CHECK;

struct host_list *hostlist_new(void);
struct host_list *hostlist_free(struct host_list *list);
DEFINE_AUTO(struct host_list, hostlist_free);

/* Append one plain name (brackets in it are taken literally).  Not capped: that is the caller's. */
void hostlist_push(struct host_list *list, struct str name);

size_t hostlist_count(const struct host_list *list);

/* True if a name had text after its last bracket (`n[1-4]-ib`): Slurm 23.11 and later only. */
bool hostlist_has_suffix(const struct host_list *list);

/* Append the compressed form as `scontrol show hostlist` prints it: order is kept. */
void hostlist_print(const struct host_list *list, struct buf *out);

/*
 * Visit every name: `struct host_iter it = {0}; while (hostlist_next(list, &it, &name))`.  `name`
 * is cleared and filled each time; the list must not change meanwhile.
 */
struct host_iter {
    size_t range;
    uint64_t offset;
};
bool hostlist_next(const struct host_list *list, struct host_iter *it, struct buf *name);

/*
 * A run of names that differ in their number alone: prefix, then the number padded with zeros to
 * `width` digits.  width is 0 or greater than the digits of lo, so that equal runs look equal.
 * `bare` is a name without a number: all of it is the prefix.
 */
struct host_range {
    const char *prefix; /* borrowed from its list; not terminated */
    size_t prefix_n;
    uint64_t lo;
    uint64_t hi;
    unsigned width;
    bool bare;
};

/* The ranges in order, borrowed until the list changes. */
const struct host_range *hostlist_ranges(const struct host_list *list, size_t *ret_n);

/*
 * Append a range (any width): joined with the last one where that changes no name.  Not capped:
 * ranges come from lists that are.
 */
void hostlist_push_range(struct host_list *list, const struct host_range *range);

/* Split a name at its trailing number, of which the last HOSTLIST_DIGITS digits count at most. */
#define HOSTLIST_DIGITS 18
struct str hostlist_name_digits(struct str name);

unsigned hostlist_digits(uint64_t number);
