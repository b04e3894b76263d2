/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Operators of CEL between two values: membership, order, arithmetic.
 *
 * Integers overflow to an error, never silently; kinds do not mix, but for numbers in comparisons.
 * What is made in memory counts as steps.
 */
#include "src/json/cel_node.h"

static struct cel_value beyond(void)
{
    return (struct cel_value){.kind = CEL_IS_BEYOND};
}

bool cel_spend(struct cel_run *r, size_t steps)
{
    if (*r->in->steps <= steps || r->a->total_bytes > CEL_MEMORY_MAX) {
        *r->in->steps = 0;
        return false;
    }
    *r->in->steps -= steps;
    return true;
}

struct cel_value cel_in(struct cel_run *r, const struct cel_value *x, const struct cel_value *in)
{
    if (in->kind == CEL_IS_OBJECT)
        return x->kind == CEL_IS_STRING ? cel_bool(jsn_member(in->v, x->s) != NULL)
                                        : cel_no_overload(r);
    if (in->kind != CEL_IS_LIST)
        return cel_no_overload(r);
    JSN_FOR_ITEMS (item, in->v) {
        struct cel_value v = cel_value_of(item, in->schema ? in->schema->items : NULL);

        if (cel_equal(x, &v))
            return cel_bool(true);
    }
    return cel_bool(false);
}

struct cel_value cel_order(struct cel_run *r, enum cel_op op, const struct cel_value *a,
                           const struct cel_value *b)
{
    int d;

    if (a->opaque || b->opaque)
        return beyond();
    if (!cel_compare(a, b, &d))
        return cel_no_overload(r);
    if (op == CEL_LT)
        return cel_bool(d < 0);
    if (op == CEL_LE)
        return cel_bool(d <= 0);
    return cel_bool(op == CEL_GT ? d > 0 : d >= 0);
}

static struct cel_value int_op(struct cel_run *r, enum cel_op op, int64_t a, int64_t b)
{
    int64_t v = 0;
    bool overflow = false;

    if ((op == CEL_DIV || op == CEL_MOD) && b == 0)
        return cel_error(r, op == CEL_DIV ? "division by zero" : "modulus by zero");
    if (op == CEL_ADD)
        overflow = __builtin_add_overflow(a, b, &v);
    else if (op == CEL_SUB)
        overflow = __builtin_sub_overflow(a, b, &v);
    else if (op == CEL_MUL)
        overflow = __builtin_mul_overflow(a, b, &v);
    else if (a == INT64_MIN && b == -1)
        overflow = true;
    else
        v = op == CEL_DIV ? a / b : a % b;
    return overflow ? cel_error(r, "integer overflow") : cel_int(v);
}

static struct cel_value double_op(struct cel_run *r, enum cel_op op, double a, double b)
{
    double v;

    if (op == CEL_MOD)
        return cel_no_overload(r);
    v = op == CEL_ADD ? a + b : op == CEL_SUB ? a - b : op == CEL_MUL ? a * b : a / b;
    return (struct cel_value){.kind = CEL_IS_DOUBLE, .d = v};
}

static struct cel_value concat(struct cel_run *r, const struct cel_value *a,
                               const struct cel_value *b)
{
    if (a->kind == CEL_IS_STRING) {
        char *text = arena_printf(r->a, STR_FMT STR_FMT, STR_ARG(a->s), STR_ARG(b->s));

        return cel_string(str_of(text));
    }
    struct jsn *list = jsn_array(r->a);

    JSN_FOR_ITEMS (item, a->v)
        jsn_append(r->a, list, item);
    JSN_FOR_ITEMS (item, b->v)
        jsn_append(r->a, list, item);
    return (struct cel_value){.kind = CEL_IS_LIST, .v = list};
}

struct cel_value cel_arithmetic(struct cel_run *r, enum cel_op op, const struct cel_value *a,
                                const struct cel_value *b)
{
    if (a->opaque || b->opaque)
        return beyond();
    if (a->kind == CEL_IS_INT && b->kind == CEL_IS_INT)
        return int_op(r, op, a->i, b->i);
    if (a->kind == CEL_IS_DOUBLE && b->kind == CEL_IS_DOUBLE)
        return double_op(r, op, a->d, b->d);
    if (op == CEL_ADD && a->kind == b->kind &&
        (a->kind == CEL_IS_STRING || a->kind == CEL_IS_LIST)) {
        size_t n = a->kind == CEL_IS_STRING ? a->s.n + b->s.n : jsn_len(a->v) + jsn_len(b->v);

        return cel_spend(r, n) ? concat(r, a, b) : cel_error(r, "cost limit exceeded");
    }
    return cel_no_overload(r);
}
