/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSONPath: evaluation.
 *
 * A path is a list of steps; each turns one value into any number of values.  What is not there
 * gives no value and no error.  Recursive descent goes as deep as the value, whose depth the parser
 * has capped; the number of results is capped here.
 */
#include "src/json/path_step.h"

#define MAX_STEPS 1000000

struct finder {
    struct arena *a;
    struct jsn *out;
    bool first_only;
    size_t steps;
};

static bool is_done(const struct finder *f)
{
    return f->steps > MAX_STEPS || (f->first_only && f->out->a.n > 0);
}

static void walk(struct finder *f, const struct path_step *step, struct jsn *v);

static void walk_children(struct finder *f, const struct path_step *next, const struct jsn *v)
{
    JSN_FOR_ITEMS (item, v)
        walk(f, next, item);
    JSN_FOR_MEMBERS (m, v)
        walk(f, next, m->value);
}

/* Negative positions count from the end. */
static int64_t position(int64_t i, size_t n)
{
    return i < 0 ? i + (int64_t)n : i;
}

static void walk_slice(struct finder *f, const struct path_step *step, const struct jsn *v)
{
    size_t n = jsn_is(v, JSN_ARRAY) ? v->a.n : 0;
    int64_t from = step->has_from ? position(step->from, n) : 0;
    int64_t to = step->has_to ? position(step->to, n) : (int64_t)n;

    for (int64_t i = MAX(from, (int64_t)0); i < MIN(to, (int64_t)n); i++)
        walk(f, step->next, v->a.items[i]);
}

static double number_of(const struct jsn *v)
{
    return v->type == JSN_INT ? (double)v->i : v->d;
}

static bool is_number(const struct jsn *v)
{
    return jsn_is(v, JSN_INT) || jsn_is(v, JSN_REAL);
}

/* -1, 0, 1; false if the two cannot be ordered. */
static bool order_of(const struct jsn *x, const struct jsn *y, int *ret)
{
    if (is_number(x) && is_number(y)) {
        *ret = number_of(x) < number_of(y) ? -1 : number_of(x) > number_of(y);
        return true;
    }
    if (!jsn_is(x, JSN_STRING) || !jsn_is(y, JSN_STRING))
        return false;
    *ret = str_cmp(x->s, y->s);
    return true;
}

static bool holds(const struct path_filter *filter, const struct jsn *item)
{
    const struct jsn *left = path_first(&filter->left, item);
    const struct jsn *right = filter->literal ? filter->literal : path_first(&filter->right, item);
    int order;

    if (filter->op == PATH_EXISTS)
        return left != NULL;
    if (!left || !right)
        return false;
    if (filter->op == PATH_EQUAL || filter->op == PATH_NOT_EQUAL)
        return jsn_equal(left, right) == (filter->op == PATH_EQUAL);
    if (!order_of(left, right, &order))
        return false;
    switch (filter->op) {
    case PATH_LESS:
        return order < 0;
    case PATH_LESS_OR_EQUAL:
        return order <= 0;
    case PATH_GREATER:
        return order > 0;
    case PATH_GREATER_OR_EQUAL:
        return order >= 0;
    case PATH_EXISTS:
    case PATH_EQUAL:
    case PATH_NOT_EQUAL:
        break;
    }
    return false;
}

static void walk_filter(struct finder *f, const struct path_step *step, const struct jsn *v)
{
    JSN_FOR_ITEMS (item, v)
        if (holds(step->filter, item))
            walk(f, step->next, item);
}

/* The value itself, and all below it. */
static void walk_all(struct finder *f, const struct path_step *step, struct jsn *v)
{
    if (is_done(f))
        return;
    walk(f, step->next, v);
    JSN_FOR_ITEMS (item, v)
        walk_all(f, step, item);
    JSN_FOR_MEMBERS (m, v)
        walk_all(f, step, m->value);
}

static void walk(struct finder *f, const struct path_step *step, struct jsn *v)
{
    f->steps++;
    if (!v || is_done(f))
        return;
    if (!step) {
        jsn_append(f->a, f->out, v);
        return;
    }
    switch (step->kind) {
    case PATH_FIELD:
        walk(f, step->next, jsn_member(v, step->field));
        break;
    case PATH_INDEX:
        if (jsn_is(v, JSN_ARRAY) && position(step->from, v->a.n) >= 0)
            walk(f, step->next, jsn_item(v, (size_t)position(step->from, v->a.n)));
        break;
    case PATH_SLICE:
        walk_slice(f, step, v);
        break;
    case PATH_ALL:
        walk_children(f, step->next, v);
        break;
    case PATH_FILTER:
        walk_filter(f, step, v);
        break;
    case PATH_DESCENT:
        walk_all(f, step, v);
        break;
    }
}

/* Nodes are handed out as they hang in their parents, which is not const. */
static void start(struct finder *f, const struct path *p, const struct jsn *v)
{
    union {
        const struct jsn *given;
        struct jsn *node;
    } root = {.given = v};

    walk(f, p->steps, root.node);
}

struct jsn *path_find(struct arena *a, const struct path *p, const struct jsn *v)
{
    struct finder f = {.a = a, .out = jsn_array(a)};

    start(&f, p, v);
    return f.out;
}

const struct jsn *path_first(const struct path *p, const struct jsn *v)
{
    AUTO(arena_done) struct arena a = {0};
    struct finder f = {.a = &a, .out = jsn_array(&a), .first_only = true};

    start(&f, p, v);
    return jsn_item(f.out, 0);
}
