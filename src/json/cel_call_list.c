/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of CEL on lists, from Kubernetes' library: min, max, isSorted, sum.
 *
 * Items are compared and added as the language does it elsewhere: kinds that do not mix are an
 * error, and so is an integer that overflows.
 */
#include "src/json/cel_node.h"

static struct cel_value item(const struct cel_value *list, size_t i)
{
    return cel_value_of(jsn_item(list->v, i), list->schema ? list->schema->items : NULL);
}

/* The item before which no other belongs (want < 0), or after which none does. */
static struct cel_value extreme(struct cel_run *r, const struct cel_value *list, int want)
{
    struct cel_value best;

    if (list->kind != CEL_IS_LIST)
        return cel_no_overload(r);
    if (jsn_len(list->v) == 0)
        return cel_error(r, "%s called on empty list", want < 0 ? "min" : "max");
    best = item(list, 0);
    for (size_t i = 1; i < jsn_len(list->v); i++) {
        struct cel_value v = item(list, i);
        int d;

        if (!cel_compare(&v, &best, &d))
            return cel_no_overload(r);
        if ((want < 0 && d < 0) || (want > 0 && d > 0))
            best = v;
    }
    return best;
}

struct cel_value cel_list_min(struct cel_run *r, const struct cel_value *args, size_t n)
{
    (void)n;
    return extreme(r, &args[0], -1);
}

struct cel_value cel_list_max(struct cel_run *r, const struct cel_value *args, size_t n)
{
    (void)n;
    return extreme(r, &args[0], 1);
}

struct cel_value cel_list_is_sorted(struct cel_run *r, const struct cel_value *args, size_t n)
{
    (void)n;
    if (args[0].kind != CEL_IS_LIST)
        return cel_no_overload(r);
    for (size_t i = 1; i < jsn_len(args[0].v); i++) {
        struct cel_value a = item(&args[0], i - 1), b = item(&args[0], i);
        int d;

        if (!cel_compare(&a, &b, &d))
            return cel_no_overload(r);
        if (d > 0)
            return cel_bool(false);
    }
    return cel_bool(true);
}

struct cel_value cel_list_sum(struct cel_run *r, const struct cel_value *args, size_t n)
{
    int64_t total = 0;
    double real = 0;
    bool is_real = false;

    (void)n;
    if (args[0].kind != CEL_IS_LIST)
        return cel_no_overload(r);
    for (size_t i = 0; i < jsn_len(args[0].v); i++) {
        struct cel_value v = item(&args[0], i);

        if (v.kind == CEL_IS_DOUBLE)
            is_real = true;
        else if (v.kind != CEL_IS_INT || __builtin_add_overflow(total, v.i, &total))
            return v.kind == CEL_IS_INT ? cel_error(r, "integer overflow") : cel_no_overload(r);
        real += v.kind == CEL_IS_DOUBLE ? v.d : (double)v.i;
    }
    return is_real ? (struct cel_value){.kind = CEL_IS_DOUBLE, .d = real} : cel_int(total);
}
