/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Evaluation of CEL.
 *
 * Values are those of JSON; the schema at hand decides what a number or a text is (a whole number
 * of type number is a double, a text with the format date-time is a time, of which only equality is
 * known here).  Errors are values: && and || pass over one where the other side decides, as the
 * language demands.  Every node visited is a step; steps are bounded.
 */
#include "src/json/cel_node.h"

/* Variables of macros, innermost first. */
struct scope {
    const struct scope *up;
    struct str name;
    struct cel_value value;
};

static struct cel_value eval(struct cel_run *r, const struct scope *scope,
                             const struct cel_node *n);

static struct cel_value beyond(void)
{
    return (struct cel_value){.kind = CEL_IS_BEYOND};
}

static const struct schema *items_of(const struct cel_value *v)
{
    return v->schema ? v->schema->items : NULL;
}

/* Property names that are no identifiers are written in another way: a__dash__b. */
static struct str unescape(struct arena *a, struct str name)
{
    static const char *const parts[][2] = {
        {"__underscores__", "__"}, {"__dot__", "."}, {"__dash__", "-"}, {"__slash__", "/"}};
    AUTO(buf_done) struct buf b = {0};
    size_t i = 0;

    if (name.n > 4 && str_starts(name, "__") && str_ends(name, "__")) {
        struct str inner = {name.p + 2, name.n - 4};

        if (str_find(inner, '_') == inner.n && !str_eqz(inner, "dot") && !str_eqz(inner, "dash") &&
            !str_eqz(inner, "slash") && !str_eqz(inner, "underscores"))
            return inner; /* a reserved word */
    }
    while (i < name.n) {
        struct str rest = {name.p + i, name.n - i};
        size_t k = 0;

        while (k < ARRAY_LEN(parts) && !str_starts(rest, parts[k][0]))
            k++;
        if (k < ARRAY_LEN(parts)) {
            buf_adds(&b, parts[k][1]);
            i += strlen(parts[k][0]);
        } else {
            buf_addc(&b, name.p[i++]);
        }
    }
    return (struct str){arena_str(a, buf_view(&b)), b.n};
}

static const struct jsn *member_of(struct cel_run *r, const struct cel_value *v, struct str *name)
{
    const struct jsn *m = jsn_member(v->v, *name);

    if (!m && memmem(name->p, name->n, "__", 2)) {
        *name = unescape(r->a, *name);
        m = jsn_member(v->v, *name);
    }
    return m;
}

static struct cel_value eval_select(struct cel_run *r, const struct scope *scope,
                                    const struct cel_node *n)
{
    struct cel_value v = eval(r, scope, n->a);
    struct str name = n->name;
    const struct jsn *m;

    if (cel_bad(&v))
        return v;
    if (v.kind != CEL_IS_OBJECT)
        return n->op == CEL_HAS && v.kind == CEL_IS_NULL ? cel_bool(false) : cel_no_overload(r);
    m = member_of(r, &v, &name);
    if (n->op == CEL_HAS)
        return cel_bool(m != NULL);
    if (!m)
        return cel_error(r, "no such key: " STR_FMT, STR_ARG(name));
    return cel_value_of(m, schema_member(v.schema, name));
}

static struct cel_value eval_index(struct cel_run *r, const struct scope *scope,
                                   const struct cel_node *n)
{
    struct cel_value v = eval(r, scope, n->a), at = eval(r, scope, n->b);
    const struct jsn *m;

    if (cel_bad(&v))
        return v;
    if (cel_bad(&at))
        return at;
    if (v.kind == CEL_IS_LIST && at.kind == CEL_IS_INT) {
        if (at.i < 0 || (uint64_t)at.i >= jsn_len(v.v))
            return cel_error(r, "index out of bounds: %lld", (long long)at.i);
        return cel_value_of(jsn_item(v.v, (size_t)at.i), items_of(&v));
    }
    if (v.kind != CEL_IS_OBJECT || at.kind != CEL_IS_STRING)
        return cel_no_overload(r);
    m = jsn_member(v.v, at.s);
    if (!m)
        return cel_error(r, "no such key: " STR_FMT, STR_ARG(at.s));
    return cel_value_of(m, schema_member(v.schema, at.s));
}

static struct cel_value eval_binary(struct cel_run *r, const struct scope *scope,
                                    const struct cel_node *n)
{
    struct cel_value a = eval(r, scope, n->a), b;

    if (cel_bad(&a))
        return a;
    b = eval(r, scope, n->b);
    if (cel_bad(&b))
        return b;
    if (n->op == CEL_EQ || n->op == CEL_NE)
        return cel_bool(cel_equal(&a, &b) == (n->op == CEL_EQ));
    if (n->op == CEL_IN)
        return cel_in(r, &a, &b);
    if (n->op >= CEL_LT && n->op <= CEL_GE)
        return cel_order(r, n->op, &a, &b);
    return cel_arithmetic(r, n->op, &a, &b);
}

/* One side may decide although the other failed. */
static struct cel_value eval_logic(struct cel_run *r, const struct scope *scope,
                                   const struct cel_node *n)
{
    bool decides = n->op == CEL_OR;
    struct cel_value a = eval(r, scope, n->a), b;

    if (a.kind == CEL_IS_BOOL && a.b == decides)
        return a;
    b = eval(r, scope, n->b);
    if (b.kind == CEL_IS_BOOL && b.b == decides)
        return b;
    if (cel_bad(&a))
        return a;
    if (cel_bad(&b))
        return b;
    return a.kind == CEL_IS_BOOL && b.kind == CEL_IS_BOOL ? b : cel_no_overload(r);
}

/* all and exists over what was found so far; errors count only if nothing decides. */
struct tally {
    struct cel_value bad;
    size_t held;
    bool decided;
    struct jsn *list;
};

static struct cel_value visit(struct cel_run *r, const struct scope *scope,
                              const struct cel_node *n, struct tally *t)
{
    struct cel_value v = n->b ? eval(r, scope, n->b) : cel_bool(true);

    if (v.kind != CEL_IS_BOOL && !cel_bad(&v))
        v = cel_no_overload(r);
    if (cel_bad(&v)) {
        t->bad = v;
        return v;
    }
    t->held += v.b;
    if ((n->op == CEL_ALL && !v.b) || (n->op == CEL_EXISTS && v.b))
        t->decided = true;
    if (v.b && n->op == CEL_FILTER)
        jsn_append(r->a, t->list, cel_to_jsn(r, &scope->value));
    if (v.b && n->op == CEL_TRANSFORM) {
        v = eval(r, scope, n->c);
        if (cel_bad(&v))
            t->bad = v;
        else
            jsn_append(r->a, t->list, cel_to_jsn(r, &v));
    }
    return v;
}

static struct cel_value conclude(const struct cel_node *n, const struct tally *t)
{
    if (t->decided)
        return cel_bool(n->op == CEL_EXISTS);
    if (t->bad.kind == CEL_IS_ERROR || t->bad.kind == CEL_IS_BEYOND)
        return t->bad;
    if (n->op == CEL_FILTER || n->op == CEL_TRANSFORM)
        return (struct cel_value){.kind = CEL_IS_LIST, .v = t->list};
    return cel_bool(n->op == CEL_ALL ? true : n->op == CEL_EXISTS_ONE && t->held == 1);
}

static struct cel_value eval_macro(struct cel_run *r, const struct scope *outer,
                                   const struct cel_node *n)
{
    struct cel_value over = eval(r, outer, n->a);
    struct tally t = {.bad = {.kind = CEL_IS_NULL}, .list = jsn_array(r->a)};

    if (cel_bad(&over))
        return over;
    if (over.kind != CEL_IS_LIST && over.kind != CEL_IS_OBJECT)
        return cel_no_overload(r);
    for (size_t i = 0; i < jsn_len(over.v) && !t.decided && *r->in->steps > 0; i++) {
        struct scope scope = {.up = outer, .name = n->name};

        scope.value = over.kind == CEL_IS_LIST ? cel_value_of(jsn_item(over.v, i), items_of(&over))
                                               : cel_string(over.v->o.members[i].key);
        (void)visit(r, &scope, n, &t);
    }
    return *r->in->steps > 0 ? conclude(n, &t) : cel_error(r, "cost limit exceeded");
}

static struct cel_value eval_name(struct cel_run *r, const struct scope *scope,
                                  const struct cel_node *n)
{
    for (; scope; scope = scope->up)
        if (str_eq(scope->name, n->name))
            return scope->value;
    if (str_eqz(n->name, "self"))
        return cel_value_of(r->in->self, r->in->schema);
    if (str_eqz(n->name, "oldSelf"))
        return cel_value_of(r->in->old_self, r->in->schema);
    return (struct cel_value){.kind = CEL_IS_TYPE, .text = arena_str(r->a, n->name)};
}

static struct cel_value eval_list(struct cel_run *r, const struct scope *scope,
                                  const struct cel_node *n)
{
    struct jsn *list = n->op == CEL_LIST ? jsn_array(r->a) : jsn_object(r->a);

    for (size_t i = 0; i < n->n_args; i++) {
        struct cel_value v = eval(r, scope, n->args[i]), key = v;

        if (n->op == CEL_MAP && !cel_bad(&key))
            v = eval(r, scope, n->args[++i]);
        if (cel_bad(&v))
            return v;
        if (n->op == CEL_LIST)
            jsn_append(r->a, list, cel_to_jsn(r, &v));
        else if (key.kind == CEL_IS_STRING)
            jsn_set_member(r->a, list, key.s, cel_to_jsn(r, &v));
        else
            return beyond();
    }
    return (struct cel_value){.kind = n->op == CEL_LIST ? CEL_IS_LIST : CEL_IS_OBJECT, .v = list};
}

static struct cel_value eval_call(struct cel_run *r, const struct scope *scope,
                                  const struct cel_node *n)
{
    struct cel_value args[8];

    for (size_t i = 0; i < n->n_args; i++) {
        args[i] = eval(r, scope, n->args[i]);
        if (cel_bad(&args[i]))
            return args[i];
        if (args[i].opaque)
            return beyond();
        if (args[i].kind == CEL_IS_STRING && !cel_spend(r, args[i].s.n / 16))
            return cel_error(r, "cost limit exceeded");
    }
    return n->fn->fn(r, args, n->n_args);
}

static struct cel_value eval_unary(struct cel_run *r, const struct scope *scope,
                                   const struct cel_node *n)
{
    struct cel_value v = eval(r, scope, n->a);

    if (cel_bad(&v))
        return v;
    if (n->op == CEL_NOT)
        return v.kind == CEL_IS_BOOL ? cel_bool(!v.b) : cel_no_overload(r);
    if (v.kind == CEL_IS_DOUBLE)
        return (struct cel_value){.kind = CEL_IS_DOUBLE, .d = -v.d};
    return v.kind == CEL_IS_INT
               ? cel_arithmetic(r, CEL_SUB, &(struct cel_value){.kind = CEL_IS_INT}, &v)
               : cel_no_overload(r);
}

static struct cel_value eval_condition(struct cel_run *r, const struct scope *scope,
                                       const struct cel_node *n)
{
    struct cel_value v = eval(r, scope, n->a);

    if (cel_bad(&v))
        return v;
    return v.kind == CEL_IS_BOOL ? eval(r, scope, v.b ? n->b : n->c) : cel_no_overload(r);
}

static struct cel_value eval(struct cel_run *r, const struct scope *scope, const struct cel_node *n)
{
    if (!cel_spend(r, 1))
        return cel_error(r, "cost limit exceeded");
    switch (n->op) {
    case CEL_LITERAL:
        return cel_value_of(n->literal, NULL);
    case CEL_NAME:
        return eval_name(r, scope, n);
    case CEL_SELECT:
    case CEL_HAS:
        return eval_select(r, scope, n);
    case CEL_INDEX:
        return eval_index(r, scope, n);
    case CEL_CALL:
        return eval_call(r, scope, n);
    case CEL_LIST:
    case CEL_MAP:
        return eval_list(r, scope, n);
    case CEL_COND:
        return eval_condition(r, scope, n);
    case CEL_AND:
    case CEL_OR:
        return eval_logic(r, scope, n);
    case CEL_NOT:
    case CEL_NEGATE:
        return eval_unary(r, scope, n);
    case CEL_ALL:
    case CEL_EXISTS:
    case CEL_EXISTS_ONE:
    case CEL_FILTER:
    case CEL_TRANSFORM:
        return eval_macro(r, scope, n);
    case CEL_EQ:
    case CEL_NE:
    case CEL_LT:
    case CEL_LE:
    case CEL_GT:
    case CEL_GE:
    case CEL_IN:
    case CEL_ADD:
    case CEL_SUB:
    case CEL_MUL:
    case CEL_DIV:
    case CEL_MOD:
        break;
    }
    return eval_binary(r, scope, n);
}

enum cel_outcome cel_run(const struct cel *c, const struct cel_input *in,
                         const struct jsn **ret_value, const char **ret_error)
{
    struct cel_run r = {.in = in, .a = in->arena};
    struct cel_value v = eval(&r, NULL, c->root);

    if (v.kind == CEL_IS_BEYOND)
        return CEL_BEYOND;
    if (v.kind == CEL_IS_ERROR) {
        *ret_error = v.text;
        return CEL_FAILED;
    }
    *ret_value = cel_to_jsn(&r, &v);
    return CEL_VALUE;
}
