/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Host lists as ranges.
 *
 * A list holds ranges of names (prefix, lo, hi, padding) in the order in which they came; a name
 * that continues the last range extends it.  So a cluster of 100,000 names in order is one range,
 * and memory and time go with the number of ranges.
 *
 * Padding follows Slurm: `n[098-101]` is n098 n099 n100 n101, and n09 joins n10 but n9 joins n10
 * too, each with its own padding.  A width that pads nothing is stored as 0; with that, two ranges
 * join exactly if the second is unpadded where the first one's padding has run out.
 *
 * Prefixes live in an arena and are shared between neighbours.  Parsing is in hostlist_parse.c,
 * sets (sort, union, difference) in hostset.c.
 */
#include "src/slurm/hostlist.h"

#include <ctype.h>

#include "src/base/alloc.h"
#include "src/base/arena.h"
#include "src/slurm/hostlist_impl.h"

unsigned hostlist_digits(uint64_t number)
{
    unsigned n = 1;

    while (number >= 10) {
        number /= 10;
        n++;
    }
    return n;
}

struct str hostlist_name_digits(struct str name)
{
    size_t n = 0;

    while (n < name.n && n < HOSTLIST_DIGITS && isdigit((unsigned char)name.p[name.n - n - 1]))
        n++;
    return (struct str){n ? name.p + name.n - n : NULL, n};
}

struct host_list *hostlist_new(void)
{
    return xcalloc(1, sizeof(struct host_list));
}

struct host_list *hostlist_free(struct host_list *list)
{
    if (!list)
        return NULL;
    arena_done(&list->arena);
    free(list->ranges);
    free(list);
    return NULL;
}

static bool same_prefix(const struct host_range *r, struct str prefix)
{
    return r->prefix_n == prefix.n && (prefix.n == 0 || memcmp(r->prefix, prefix.p, prefix.n) == 0);
}

/* True if `next`, which starts one above `last`, can be written with last's width. */
static bool width_continues(const struct host_range *last, uint64_t lo, unsigned width)
{
    if (last->width == width)
        return true;
    return width == 0 && last->width <= hostlist_digits(lo);
}

void hostlist_push_range(struct host_list *list, const struct host_range *range)
{
    struct host_range *last = list->n ? &list->ranges[list->n - 1] : NULL;
    struct str prefix = {range->prefix, range->prefix_n};
    struct host_range add = *range;
    bool shared = last && same_prefix(last, prefix);

    assert(range->lo <= range->hi);
    if (add.bare || add.width <= hostlist_digits(add.lo))
        add.width = 0;
    list->count += (size_t)(add.hi - add.lo + 1);
    if (shared && !last->bare && !add.bare && last->hi + 1 == add.lo &&
        width_continues(last, add.lo, add.width)) {
        last->hi = add.hi;
        return;
    }
    add.prefix = shared ? last->prefix : arena_str(&list->arena, prefix);
    array_reserve(&list->ranges, &list->cap, list->n + 1, sizeof(*list->ranges));
    list->ranges[list->n++] = add;
}

void hostlist_push(struct host_list *list, struct str name)
{
    struct str digits = hostlist_name_digits(name);
    struct host_range range = {
        .prefix = name.p,
        .prefix_n = name.n - digits.n,
        .width = (unsigned)digits.n,
        .bare = digits.n == 0,
    };

    for (size_t i = 0; i < digits.n; i++)
        range.lo = range.lo * 10 + (uint64_t)(digits.p[i] - '0');
    range.hi = range.lo;
    hostlist_push_range(list, &range);
}

size_t hostlist_count(const struct host_list *list)
{
    return list->count;
}

bool hostlist_has_suffix(const struct host_list *list)
{
    return list->suffixed;
}

const struct host_range *hostlist_ranges(const struct host_list *list, size_t *ret_n)
{
    *ret_n = list->n;
    return list->ranges;
}

static void number_add(struct buf *out, uint64_t number, unsigned width)
{
    char text[64];
    size_t at = sizeof(text);

    do {
        text[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    while (sizeof(text) - at < width && at > 0)
        text[--at] = '0';
    buf_add(out, text + at, sizeof(text) - at);
}

bool hostlist_next(const struct host_list *list, struct host_iter *it, struct buf *name)
{
    const struct host_range *r;

    if (it->range >= list->n)
        return false;
    r = &list->ranges[it->range];
    buf_clear(name);
    buf_add(name, r->prefix, r->prefix_n);
    if (!r->bare)
        number_add(name, r->lo + it->offset, r->width);
    if (r->bare || r->lo + it->offset == r->hi) {
        it->range++;
        it->offset = 0;
    } else {
        it->offset++;
    }
    return true;
}

/* One range as it stands between brackets; a long one is cut so that Slurm can read it back. */
static void numbers_print(const struct host_range *r, struct buf *out)
{
    uint64_t lo = r->lo;

    for (;;) {
        uint64_t hi = MIN(r->hi, lo + HOSTLIST_MAX_RANGE - 1);

        number_add(out, lo, r->width);
        if (hi > lo) {
            buf_addc(out, '-');
            number_add(out, hi, r->width);
        }
        if (hi == r->hi)
            return;
        buf_addc(out, ',');
        lo = hi + 1;
    }
}

void hostlist_print(const struct host_list *list, struct buf *out)
{
    for (size_t i = 0; i < list->n;) {
        const struct host_range *r = &list->ranges[i];
        struct str prefix = {r->prefix, r->prefix_n};
        size_t end = i + 1;
        bool brackets;

        while (!r->bare && end < list->n && !list->ranges[end].bare &&
               same_prefix(&list->ranges[end], prefix))
            end++;
        brackets = !r->bare && (end - i > 1 || r->hi > r->lo);
        if (i > 0)
            buf_addc(out, ',');
        buf_addstr(out, prefix);
        if (brackets)
            buf_addc(out, '[');
        for (size_t k = i; !r->bare && k < end; k++) {
            if (k > i)
                buf_addc(out, ',');
            numbers_print(&list->ranges[k], out);
        }
        if (brackets)
            buf_addc(out, ']');
        i = end;
    }
}
