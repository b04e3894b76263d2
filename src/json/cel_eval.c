/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Evaluation of CEL.
 *
 * Values are those of JSON; the schema at hand decides what a number or a text is (a whole number
 * of type number is a double, a text with the format date-time is a time, of which only equality is
 * known here).  Errors are values: && and || pass over one where the other side decides, as the
 * language demands.  Every node visited is a step; steps are bounded.
 */
#include <math.h>
#include <stdarg.h>

#include "src/base/alloc.h"
#include "src/json/cel_node.h"
#include "src/json/structural.h"

/* Variables of macros, innermost first. */
struct scope {
    const struct scope *up;
    struct str name;
    struct cel_value value;
};

static struct cel_value eval(struct cel_run *r, const struct scope *scope,
                             const struct cel_node *n);

struct cel_value cel_error(struct cel_run *r, const char *fmt, ...)
{
    AUTO(buf_done) struct buf b = {0};
    va_list ap;

    va_start(ap, fmt);
    buf_vprintf(&b, fmt, ap);
    va_end(ap);
    return (struct cel_value){.kind = CEL_IS_ERROR, .text = arena_str(r->a, buf_view(&b))};
}

static struct cel_value beyond(void) { return (struct cel_value){.kind = CEL_IS_BEYOND}; }

bool cel_bad(const struct cel_value *v)
{
    return v->kind == CEL_IS_ERROR || v->kind == CEL_IS_BEYOND;
}

static bool spend(struct cel_run *r, size_t steps)
{
    if (*r->in->steps <= steps || r->a->total_bytes > CEL_MEMORY_MAX) {
        *r->in->steps = 0;
        return false;
    }
    *r->in->steps -= steps;
    return true;
}

static bool is_opaque(const struct schema *s)
{
    static const char *const formats[] = {"date-time", "datetime", "date", "duration", "byte"};

    for (size_t i = 0; s && i < ARRAY_LEN(formats); i++)
        if (streq(s->format, formats[i]))
            return true;
    return false;
}

static struct cel_value number_of(const struct jsn *v, const struct schema *s)
{
    double d = v->type == JSN_INT ? (double)v->i : v->d;

    if (s && s->type == SCHEMA_NUMBER)
        return (struct cel_value){.kind = CEL_IS_DOUBLE, .d = d};
    if (v->type == JSN_INT)
        return cel_int(v->i);
    if (s && (s->type == SCHEMA_INTEGER || s->type == SCHEMA_INT_OR_STRING) && d == floor(d) &&
        fabs(d) < 9e15)
        return cel_int((int64_t)d);
    return (struct cel_value){.kind = CEL_IS_DOUBLE, .d = d};
}

struct cel_value cel_value_of(const struct jsn *v, const struct schema *s)
{
    if (!v || v->type == JSN_NULL)
        return (struct cel_value){.kind = CEL_IS_NULL};
    switch (v->type) {
    case JSN_BOOL:
        return cel_bool(v->b);
    case JSN_INT:
    case JSN_REAL:
        return number_of(v, s);
    case JSN_STRING:
        return (struct cel_value){
            .kind = CEL_IS_STRING, .s = v->s, .schema = s, .opaque = is_opaque(s)};
    case JSN_ARRAY:
        return (struct cel_value){.kind = CEL_IS_LIST, .v = v, .schema = s};
    case JSN_OBJECT:
        return (struct cel_value){.kind = CEL_IS_OBJECT, .v = v, .schema = s};
    case JSN_NULL:
        break;
    }
    return (struct cel_value){.kind = CEL_IS_NULL};
}

struct jsn *cel_to_jsn(struct cel_run *r, const struct cel_value *v)
{
    switch (v->kind) {
    case CEL_IS_BOOL:
        return jsn_bool(r->a, v->b);
    case CEL_IS_INT:
        return jsn_int(r->a, v->i);
    case CEL_IS_DOUBLE:
        return jsn_real(r->a, isfinite(v->d) ? v->d : 0);
    case CEL_IS_STRING:
        return jsn_str(r->a, v->s);
    case CEL_IS_LIST:
    case CEL_IS_OBJECT:
        /* Shared: nobody changes it. */
        return (struct jsn *)(uintptr_t)v->v;
    case CEL_IS_NULL:
    case CEL_IS_TYPE:
    case CEL_IS_ERROR:
    case CEL_IS_BEYOND:
        break;
    }
    return jsn_null(r->a);
}

static const struct schema *items_of(const struct cel_value *v)
{
    return v->schema ? v->schema->items : NULL;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Items as canonical texts, sorted; owned. */
static char **sorted_items(const struct jsn *v)
{
    char **list = xcalloc(jsn_len(v) + 1, sizeof(char *));
    size_t n = 0;

    JSN_FOR_ITEMS (item, v) {
        struct buf b = {0};

        schema_print_canonical(&b, item);
        list[n++] = buf_take(&b);
    }
    qsort(list, n, sizeof(char *), by_text);
    return list;
}

/* Sets, and lists with keys, have no order. */
static bool same_items(const struct jsn *a, const struct jsn *b)
{
    char **x, **y;
    bool same = jsn_len(a) == jsn_len(b);

    if (!same)
        return false;
    x = sorted_items(a);
    y = sorted_items(b);
    for (size_t i = 0; i < jsn_len(a); i++) {
        same = same && streq(x[i], y[i]);
        free(x[i]);
        free(y[i]);
    }
    free(x);
    free(y);
    return same;
}

static bool is_unordered(const struct cel_value *v)
{
    return v->schema &&
           (v->schema->merge == SCHEMA_MERGE_SET || v->schema->merge == SCHEMA_MERGE_MAP);
}

static double as_double(const struct cel_value *v)
{
    return v->kind == CEL_IS_INT ? (double)v->i : v->d;
}

static bool is_number(const struct cel_value *v)
{
    return v->kind == CEL_IS_INT || v->kind == CEL_IS_DOUBLE;
}

bool cel_equal(const struct cel_value *a, const struct cel_value *b)
{
    if (is_number(a) && is_number(b))
        return a->kind == CEL_IS_INT && b->kind == CEL_IS_INT ? a->i == b->i
                                                              : as_double(a) == as_double(b);
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case CEL_IS_BOOL:
        return a->b == b->b;
    case CEL_IS_STRING:
        return str_eq(a->s, b->s);
    case CEL_IS_LIST:
        return is_unordered(a) || is_unordered(b) ? same_items(a->v, b->v) : jsn_equal(a->v, b->v);
    case CEL_IS_OBJECT:
        return jsn_equal(a->v, b->v);
    case CEL_IS_TYPE:
        return streq(a->text, b->text);
    case CEL_IS_NULL:
        return true;
    case CEL_IS_INT:
    case CEL_IS_DOUBLE:
    case CEL_IS_ERROR:
    case CEL_IS_BEYOND:
        break;
    }
    return false;
}

bool cel_compare(const struct cel_value *a, const struct cel_value *b, int *ret)
{
    if (a->kind == CEL_IS_INT && b->kind == CEL_IS_INT)
        *ret = a->i < b->i ? -1 : a->i > b->i;
    else if (is_number(a) && is_number(b))
        *ret = as_double(a) < as_double(b) ? -1 : as_double(a) > as_double(b);
    else if (a->kind == CEL_IS_STRING && b->kind == CEL_IS_STRING && !a->opaque && !b->opaque)
        *ret = str_cmp(a->s, b->s);
    else if (a->kind == CEL_IS_BOOL && b->kind == CEL_IS_BOOL)
        *ret = (int)a->b - (int)b->b;
    else
        return false;
    return true;
}

static struct cel_value no_overload(struct cel_run *r) { return cel_error(r, "no such overload"); }

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
        return n->op == CEL_HAS && v.kind == CEL_IS_NULL ? cel_bool(false) : no_overload(r);
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
        return no_overload(r);
    m = jsn_member(v.v, at.s);
    if (!m)
        return cel_error(r, "no such key: " STR_FMT, STR_ARG(at.s));
    return cel_value_of(m, schema_member(v.schema, at.s));
}

static struct cel_value eval_in(struct cel_run *r, const struct cel_value *x,
                                const struct cel_value *in)
{
    if (in->kind == CEL_IS_OBJECT)
        return x->kind == CEL_IS_STRING ? cel_bool(jsn_member(in->v, x->s) != NULL)
                                        : no_overload(r);
    if (in->kind != CEL_IS_LIST)
        return no_overload(r);
    JSN_FOR_ITEMS (item, in->v) {
        struct cel_value v = cel_value_of(item, items_of(in));

        if (cel_equal(x, &v))
            return cel_bool(true);
    }
    return cel_bool(false);
}

static struct cel_value eval_order(struct cel_run *r, enum cel_op op, const struct cel_value *a,
                                   const struct cel_value *b)
{
    int d;

    if (a->opaque || b->opaque)
        return beyond();
    if (!cel_compare(a, b, &d))
        return no_overload(r);
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
        return no_overload(r);
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

static struct cel_value eval_arithmetic(struct cel_run *r, enum cel_op op,
                                        const struct cel_value *a, const struct cel_value *b)
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

        return spend(r, n) ? concat(r, a, b) : cel_error(r, "cost limit exceeded");
    }
    return no_overload(r);
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
        return eval_in(r, &a, &b);
    if (n->op >= CEL_LT && n->op <= CEL_GE)
        return eval_order(r, n->op, &a, &b);
    return eval_arithmetic(r, n->op, &a, &b);
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
    return a.kind == CEL_IS_BOOL && b.kind == CEL_IS_BOOL ? b : no_overload(r);
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
        v = no_overload(r);
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
        return no_overload(r);
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
        if (args[i].kind == CEL_IS_STRING && !spend(r, args[i].s.n / 16))
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
        return v.kind == CEL_IS_BOOL ? cel_bool(!v.b) : no_overload(r);
    if (v.kind == CEL_IS_DOUBLE)
        return (struct cel_value){.kind = CEL_IS_DOUBLE, .d = -v.d};
    return v.kind == CEL_IS_INT ? int_op(r, CEL_SUB, 0, v.i) : no_overload(r);
}

static struct cel_value eval_condition(struct cel_run *r, const struct scope *scope,
                                       const struct cel_node *n)
{
    struct cel_value v = eval(r, scope, n->a);

    if (cel_bad(&v))
        return v;
    return v.kind == CEL_IS_BOOL ? eval(r, scope, v.b ? n->b : n->c) : no_overload(r);
}

static struct cel_value eval(struct cel_run *r, const struct scope *scope, const struct cel_node *n)
{
    if (!spend(r, 1))
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
