/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: host lists.
 *
 * Whatever the bytes, parsing ends with a list or with an error that names a column.  A list
 * printed and parsed again has the same names in the same order, as does its set; a set has each of
 * its names, is equal to itself united with itself, and empty less itself.  The bytes are also
 * tried as an edit (+n1,-n2) of a fixed set.
 */
#include <assert.h>
#include <stdint.h>

#include "src/base/alloc.h"
#include "src/slurm/hostset.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Names that are looked at one by one. */
#define SOME 2000

static void same_names(const struct host_list *a, const struct host_list *b)
{
    AUTO(buf_done) struct buf x = {0};
    AUTO(buf_done) struct buf y = {0};
    struct host_iter i = {0};
    struct host_iter k = {0};

    assert(hostlist_count(a) == hostlist_count(b));
    for (int n = 0; n < SOME && hostlist_next(a, &i, &x); n++) {
        assert(hostlist_next(b, &k, &y));
        assert(str_eq(buf_view(&x), buf_view(&y)));
    }
}

static void print_and_parse(const struct host_list *list)
{
    AUTO(hostlist_free) struct host_list *again = NULL;
    AUTO(buf_done) struct buf text = {0};
    struct err e = {0};

    hostlist_print(list, &text);
    if (hostlist_parse(buf_view(&text), &again, &e) < 0)
        abort();
    same_names(list, again);
}

static void check_set(const struct host_list *list)
{
    AUTO(hostset_free) struct host_set *set = hostset_of(list);
    AUTO(hostset_free) struct host_set *both = hostset_union(set, set);
    AUTO(hostset_free) struct host_set *none = hostset_minus(set, set);
    AUTO(hostlist_free) struct host_list *sorted = hostset_list(set);
    AUTO(hostset_free) struct host_set *again = hostset_of(sorted);
    AUTO(buf_done) struct buf name = {0};
    struct host_iter it = {0};

    assert(hostset_equal(set, both));
    assert(hostset_equal(set, again));
    assert(hostset_count(none) == 0);
    assert(hostset_count(set) <= hostlist_count(list));
    assert(hostset_count(set) == hostlist_count(sorted));
    for (int n = 0; n < SOME && hostlist_next(list, &it, &name); n++)
        assert(hostset_has(set, buf_view(&name)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(hostlist_free) struct host_list *list = NULL;
    struct str text = {(const char *)data, size};
    struct err e = {0};

    if (hostlist_parse(text, &list, &e) < 0) {
        assert(strstr(e.text, ", column ") || strstr(e.text, "too long"));
        return 0;
    }
    print_and_parse(list);
    check_set(list);
    return 0;
}
