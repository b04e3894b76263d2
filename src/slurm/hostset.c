/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sets of host names.
 *
 * A name has one form here: the text before its trailing number, how many digits that number has,
 * and its value.  `nid0000[2-7]` and `nid[00002-00007]` so become the same span of five-digit
 * numbers, and n9, n09 and n009 are three spans of different lengths.  A set is an array of spans
 * (prefix, length, lo, hi), sorted, disjoint and never adjacent, so that equality is comparison,
 * union and difference are merges, and look-up is a binary search.
 *
 * The order is the one Slurm prints sorted lists in: prefixes by natural order (r2 before r10),
 * then names without a number, then shorter numbers, then by value.
 */
#include "src/slurm/hostset.h"

#include <ctype.h>

#include "src/base/alloc.h"
#include "src/base/arena.h"

struct span {
    const char *prefix;
    size_t prefix_n;
    unsigned len; /* digits of the number; 0 for a name without one */
    uint64_t lo;
    uint64_t hi;
};

struct host_set {
    struct arena arena;
    struct span *spans;
    size_t n;
    size_t cap;
    size_t count;
};

struct host_set *hostset_free(struct host_set *set)
{
    if (!set)
        return NULL;
    arena_done(&set->arena);
    free(set->spans);
    free(set);
    return NULL;
}

size_t hostset_count(const struct host_set *set)
{
    return set->count;
}

static uint64_t power10(unsigned n)
{
    uint64_t v = 1;

    while (n-- > 0)
        v *= 10;
    return v;
}

static size_t digit_run(struct str s, size_t at)
{
    size_t n = 0;

    while (at + n < s.n && isdigit((unsigned char)s.p[at + n]))
        n++;
    return n;
}

/* Compare two runs of digits: as fractions if one starts with 0, else as numbers. */
static int digits_cmp(struct str a, struct str b)
{
    if (a.p[0] != '0' && b.p[0] != '0' && a.n != b.n)
        return a.n < b.n ? -1 : 1;
    return str_cmp(a, b);
}

/* Natural order of prefixes, total: different texts never compare equal. */
static int prefix_cmp(struct str a, struct str b)
{
    size_t i = 0;
    size_t k = 0;

    if (a.p == b.p && a.n == b.n)
        return 0;
    while (i < a.n && k < b.n) {
        size_t an = digit_run(a, i);
        size_t bn = digit_run(b, k);
        int r;

        if (an > 0 && bn > 0) {
            r = digits_cmp((struct str){a.p + i, an}, (struct str){b.p + k, bn});
            i += an;
            k += bn;
        } else {
            r = (unsigned char)a.p[i++] - (unsigned char)b.p[k++];
        }
        if (r != 0)
            return r;
    }
    if ((i < a.n) != (k < b.n))
        return i < a.n ? 1 : -1;
    return str_cmp(a, b);
}

static struct str span_prefix(const struct span *s)
{
    return (struct str){s->prefix, s->prefix_n};
}

/* Order of spans without their values: the family of names they belong to. */
static int family_cmp(const struct span *a, const struct span *b)
{
    int r = prefix_cmp(span_prefix(a), span_prefix(b));

    if (r != 0)
        return r;
    return a->len < b->len ? -1 : a->len > b->len;
}

static int span_cmp(const void *pa, const void *pb)
{
    const struct span *a = pa;
    const struct span *b = pb;
    int r = family_cmp(a, b);

    if (r != 0)
        return r;
    return a->lo < b->lo ? -1 : a->lo > b->lo;
}

static void span_add(struct host_set *set, struct span s)
{
    array_reserve(&set->spans, &set->cap, set->n + 1, sizeof(*set->spans));
    set->spans[set->n++] = s;
}

/* Move trailing digits of the prefix into the number, as far as HOSTLIST_DIGITS allows. */
static struct span span_normal(struct str prefix, unsigned len, uint64_t lo, uint64_t hi)
{
    struct str digits = hostlist_name_digits(prefix);
    uint64_t above = 0;
    unsigned moved = (unsigned)MIN(digits.n, (size_t)(HOSTLIST_DIGITS - MIN(len, HOSTLIST_DIGITS)));

    if (len > 0 && moved > 0) {
        prefix.n -= moved;
        if (str_to_u64((struct str){prefix.p + prefix.n, moved}, &above) < 0)
            above = 0;
        lo += above * power10(len);
        hi += above * power10(len);
        len += moved;
    }
    return (struct span){prefix.p, prefix.n, len, lo, hi};
}

/* Cut a range where its numbers grow a digit. */
static void range_add(struct host_set *set, const struct host_range *r)
{
    const char *kept = arena_str(&set->arena, (struct str){r->prefix, r->prefix_n});
    struct str prefix = {kept, r->prefix_n};
    uint64_t lo = r->lo;

    if (r->bare) {
        span_add(set, (struct span){prefix.p, prefix.n, 0, 0, 0});
        return;
    }
    for (;;) {
        unsigned len = MAX(hostlist_digits(lo), r->width);
        uint64_t hi = len > HOSTLIST_DIGITS ? r->hi : MIN(r->hi, power10(len) - 1);

        span_add(set, span_normal(prefix, len, lo, hi));
        if (hi == r->hi)
            return;
        lo = hi + 1;
    }
}

/* Sort, join what overlaps or touches, count. */
static void set_settle(struct host_set *set)
{
    size_t kept = 0;

    if (set->n > 1)
        qsort(set->spans, set->n, sizeof(*set->spans), span_cmp);
    set->count = 0;
    for (size_t i = 0; i < set->n; i++) {
        struct span *last = kept ? &set->spans[kept - 1] : NULL;
        const struct span *s = &set->spans[i];

        if (last && family_cmp(last, s) == 0 && s->lo <= last->hi + 1)
            last->hi = MAX(last->hi, s->hi);
        else
            set->spans[kept++] = *s;
    }
    set->n = kept;
    for (size_t i = 0; i < kept; i++)
        set->count += (size_t)(set->spans[i].hi - set->spans[i].lo + 1);
}

struct host_set *hostset_of(const struct host_list *list)
{
    struct host_set *set = xcalloc(1, sizeof(*set));
    const struct host_range *ranges;
    size_t n;

    ranges = hostlist_ranges(list, &n);
    for (size_t i = 0; i < n; i++)
        range_add(set, &ranges[i]);
    set_settle(set);
    return set;
}

int hostset_parse(struct str text, struct host_set **ret_set, struct err *e)
{
    AUTO(hostlist_free) struct host_list *list = NULL;
    int r = hostlist_parse(text, &list, e);

    if (r < 0)
        return r;
    *ret_set = hostset_of(list);
    return 0;
}

static void span_copy(struct host_set *set, const struct span *s, uint64_t lo, uint64_t hi)
{
    struct span copy = *s;

    copy.prefix = arena_str(&set->arena, span_prefix(s));
    copy.lo = lo;
    copy.hi = hi;
    span_add(set, copy);
}

struct host_set *hostset_union(const struct host_set *a, const struct host_set *b)
{
    struct host_set *set = xcalloc(1, sizeof(*set));

    for (size_t i = 0; i < a->n; i++)
        span_copy(set, &a->spans[i], a->spans[i].lo, a->spans[i].hi);
    for (size_t i = 0; i < b->n; i++)
        span_copy(set, &b->spans[i], b->spans[i].lo, b->spans[i].hi);
    set_settle(set);
    return set;
}

struct host_set *hostset_minus(const struct host_set *a, const struct host_set *b)
{
    struct host_set *set = xcalloc(1, sizeof(*set));
    size_t k = 0;

    for (size_t i = 0; i < a->n; i++) {
        const struct span *s = &a->spans[i];
        uint64_t lo = s->lo;
        bool left = true;

        while (k < b->n && (family_cmp(&b->spans[k], s) < 0 ||
                            (family_cmp(&b->spans[k], s) == 0 && b->spans[k].hi < lo)))
            k++;
        /* k stays at the last span looked at: it may reach into the next span of a too */
        for (size_t j = k; left && j < b->n && family_cmp(&b->spans[j], s) == 0; j++) {
            const struct span *cut = &b->spans[j];

            if (cut->lo > s->hi)
                break;
            if (cut->lo > lo)
                span_copy(set, s, lo, cut->lo - 1);
            left = cut->hi < s->hi;
            lo = cut->hi + 1;
        }
        if (left)
            span_copy(set, s, lo, s->hi);
    }
    set_settle(set);
    return set;
}

bool hostset_equal(const struct host_set *a, const struct host_set *b)
{
    if (a->n != b->n || a->count != b->count)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (span_cmp(&a->spans[i], &b->spans[i]) != 0 || a->spans[i].hi != b->spans[i].hi)
            return false;
    return true;
}

bool hostset_has(const struct host_set *set, struct str name)
{
    struct str digits = hostlist_name_digits(name);
    struct span s = {.prefix = name.p, .prefix_n = name.n - digits.n, .len = (unsigned)digits.n};
    size_t lo = 0;
    size_t hi = set->n;

    if (digits.n > 0 && str_to_u64(digits, &s.lo) < 0)
        return false;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (span_cmp(&set->spans[mid], &s) <= 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == 0)
        return false;
    return family_cmp(&set->spans[lo - 1], &s) == 0 && set->spans[lo - 1].hi >= s.lo;
}

struct host_list *hostset_list(const struct host_set *set)
{
    struct host_list *list = hostlist_new();

    for (size_t i = 0; i < set->n; i++) {
        const struct span *s = &set->spans[i];

        hostlist_push_range(list, &(struct host_range){.prefix = s->prefix,
                                                       .prefix_n = s->prefix_n,
                                                       .lo = s->lo,
                                                       .hi = s->hi,
                                                       .width = s->len,
                                                       .bare = s->len == 0});
    }
    return list;
}

void hostset_print(const struct host_set *set, struct buf *out)
{
    AUTO(hostlist_free) struct host_list *list = hostset_list(set);

    hostlist_print(list, out);
}
