/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The types of a rule in CEL, found from the schema that it stands in, without a value.
 *
 * kube-apiserver refuses a definition whose rule can never work: a field that is not declared, a
 * comparison of a text with a number, a rule that is no bool.  Here it is refused, too, in its
 * words.  What is not known (dyn, int-or-string, a function of another library) fits everything, so
 * that no good rule is refused.
 */
#include "src/json/cel_node.h"

enum kind {
    IS_DYN,
    IS_NULL,
    IS_BOOL,
    IS_INT,
    IS_DOUBLE,
    IS_STRING,
    IS_BYTES,
    IS_TIME,
    IS_DURATION,
    IS_TYPE,
    IS_LIST,
    IS_MAP,
    IS_OBJECT,
};

static const char *const kind_names[] = {"dyn",    "null",  "bool",      "int",      "double",
                                         "string", "bytes", "timestamp", "duration", "type",
                                         "list",   "map",   "object"};

/* Of lists and maps `of` is what their items are; `schema` says more, where there is one. */
struct type {
    enum kind kind;
    enum kind of;
    const struct jsn *schema; /* of an object, or of the items */
};

struct scope {
    const struct scope *up;
    struct str name;
    struct type type;
};

struct check {
    struct arena *a;
    const char *text;
    struct type self;
    struct err *e;
};

static int find(struct check *k, const struct scope *scope, const struct cel_node *n,
                struct type *ret);

static struct type plain(enum kind kind)
{
    return (struct type){.kind = kind};
}

static bool is_true(const struct jsn *schema, const char *key)
{
    return jsn_get_bool(schema, key, false);
}

static enum kind string_kind(const char *format)
{
    if (streq(format, "byte"))
        return IS_BYTES;
    if (streq(format, "date") || streq(format, "date-time"))
        return IS_TIME;
    return streq(format, "duration") ? IS_DURATION : IS_STRING;
}

static enum kind kind_of(const struct jsn *schema)
{
    const char *type = jsn_get_str(schema, "type");

    if (!type || is_true(schema, "x-kubernetes-int-or-string"))
        return IS_DYN;
    if (streq(type, "object"))
        return jsn_is(jsn_key(schema, "additionalProperties"), JSN_OBJECT) ? IS_MAP : IS_OBJECT;
    if (streq(type, "array"))
        return IS_LIST;
    if (streq(type, "string"))
        return string_kind(jsn_get_str(schema, "format"));
    if (streq(type, "integer"))
        return IS_INT;
    if (streq(type, "number"))
        return IS_DOUBLE;
    return streq(type, "boolean") ? IS_BOOL : IS_DYN;
}

static struct type type_of(const struct jsn *schema)
{
    struct type t = {.kind = kind_of(schema), .schema = schema};

    if (t.kind == IS_LIST)
        t.schema = jsn_key(schema, "items");
    else if (t.kind == IS_MAP)
        t.schema = jsn_key(schema, "additionalProperties");
    if (t.kind == IS_LIST || t.kind == IS_MAP)
        t.of = kind_of(t.schema);
    return t;
}

static struct type item_of(const struct type *t)
{
    return t->schema ? type_of(t->schema) : plain(t->of);
}

static void print(const struct type *t, struct buf *out)
{
    struct type item;

    if (t->kind != IS_LIST && t->kind != IS_MAP) {
        buf_adds(out, kind_names[t->kind]);
        return;
    }
    item = item_of(t);
    buf_adds(out, t->kind == IS_LIST ? "list(" : "map(string, ");
    print(&item, out);
    buf_addc(out, ')');
}

static int no_overload(struct check *k, size_t at, const char *what, const struct type *args,
                       size_t n, bool member)
{
    AUTO(buf_done) struct buf b = {0};

    for (size_t i = 0; i < n; i++) {
        buf_adds(&b, member && i == 1 ? ".(" : i ? ", " : member ? "" : "(");
        print(&args[i], &b);
    }
    if (member && n == 1)
        buf_adds(&b, ".(");
    buf_addc(&b, ')');
    return cel_fail(k->e, k->text, at, "found no matching overload for '%s' applied to '%s'", what,
                    buf_str(&b));
}

static bool is_number(enum kind kind)
{
    return kind == IS_INT || kind == IS_DOUBLE;
}

/* May a value of one stand where the other is? */
static bool fits(const struct type *x, const struct type *y)
{
    struct type a;
    struct type b;

    if (x->kind == IS_DYN || y->kind == IS_DYN)
        return true;
    if (x->kind == IS_NULL || y->kind == IS_NULL)
        return x->kind == y->kind || x->kind == IS_OBJECT || y->kind == IS_OBJECT ||
               x->kind == IS_TIME || y->kind == IS_TIME || x->kind == IS_DURATION ||
               y->kind == IS_DURATION;
    if (x->kind == IS_OBJECT || y->kind == IS_OBJECT) /* a map that is written out may be one */
        return x->kind == y->kind || x->kind == IS_MAP || y->kind == IS_MAP;
    if (x->kind != y->kind || (x->kind != IS_LIST && x->kind != IS_MAP))
        return x->kind == y->kind;
    a = item_of(x);
    b = item_of(y);
    return fits(&a, &b);
}

static bool is_one_of(const struct type *t, unsigned kinds)
{
    return t->kind == IS_DYN || (kinds & (1U << t->kind));
}

#define BIT(kind) (1U << (kind))
#define ANYTHING (~0U)
#define NUMBERS (BIT(IS_INT) | BIT(IS_DOUBLE))
#define SIZED (BIT(IS_STRING) | BIT(IS_BYTES) | BIT(IS_LIST) | BIT(IS_MAP))

/* Functions: what each argument may be, and what comes out. */
static const struct {
    const char *name;
    unsigned args[3];
    enum kind result;
    enum kind of; /* of a list */
    bool item;    /* an item of the first argument comes out */
} functions[] = {
    {"size", {SIZED}, IS_INT, IS_DYN, false},
    {"matches", {BIT(IS_STRING), BIT(IS_STRING)}, IS_BOOL, IS_DYN, false},
    {"startsWith", {BIT(IS_STRING), BIT(IS_STRING)}, IS_BOOL, IS_DYN, false},
    {"endsWith", {BIT(IS_STRING), BIT(IS_STRING)}, IS_BOOL, IS_DYN, false},
    {"contains", {BIT(IS_STRING), BIT(IS_STRING)}, IS_BOOL, IS_DYN, false},
    {"int", {NUMBERS | BIT(IS_STRING) | BIT(IS_TIME)}, IS_INT, IS_DYN, false},
    {"double", {NUMBERS | BIT(IS_STRING)}, IS_DOUBLE, IS_DYN, false},
    {"string",
     {ANYTHING & ~(BIT(IS_LIST) | BIT(IS_MAP) | BIT(IS_OBJECT))},
     IS_STRING,
     IS_DYN,
     false},
    {"type", {ANYTHING}, IS_TYPE, IS_DYN, false},
    {"lowerAscii", {BIT(IS_STRING)}, IS_STRING, IS_DYN, false},
    {"upperAscii", {BIT(IS_STRING)}, IS_STRING, IS_DYN, false},
    {"trim", {BIT(IS_STRING)}, IS_STRING, IS_DYN, false},
    {"substring", {BIT(IS_STRING), BIT(IS_INT), BIT(IS_INT)}, IS_STRING, IS_DYN, false},
    {"charAt", {BIT(IS_STRING), BIT(IS_INT)}, IS_STRING, IS_DYN, false},
    {"replace", {BIT(IS_STRING), BIT(IS_STRING), BIT(IS_STRING)}, IS_STRING, IS_DYN, false},
    {"split", {BIT(IS_STRING), BIT(IS_STRING)}, IS_LIST, IS_STRING, false},
    {"join", {BIT(IS_LIST), BIT(IS_STRING)}, IS_STRING, IS_DYN, false},
    {"min", {BIT(IS_LIST)}, IS_DYN, IS_DYN, true},
    {"max", {BIT(IS_LIST)}, IS_DYN, IS_DYN, true},
    {"sum", {BIT(IS_LIST)}, IS_DYN, IS_DYN, true},
    {"isSorted", {BIT(IS_LIST)}, IS_BOOL, IS_DYN, false},
};

static int check_call(struct check *k, const struct scope *scope, const struct cel_node *n,
                      struct type *ret)
{
    struct type args[8] = {{0}};
    const char *name = arena_str(k->a, n->name);
    int r = 0;

    *ret = plain(IS_DYN);
    for (size_t i = 0; r == 0 && i < MIN(n->n_args, ARRAY_LEN(args)); i++)
        r = find(k, scope, n->args[i], &args[i]);
    for (size_t f = 0; r == 0 && f < ARRAY_LEN(functions); f++) {
        if (!streq(functions[f].name, name))
            continue;
        for (size_t i = 0; i < MIN(n->n_args, ARRAY_LEN(functions[f].args)); i++)
            if (!is_one_of(&args[i], functions[f].args[i]))
                return no_overload(k, n->at, name, args, n->n_args, n->member);
        *ret = (struct type){.kind = functions[f].result, .of = functions[f].of};
        if (functions[f].item)
            *ret = args[0].kind == IS_LIST ? item_of(&args[0]) : plain(IS_DYN);
    }
    return r;
}

/* A property under the name that rules have for it: a__dash__b is a-b. */
static bool is_called(struct str property, struct str name)
{
    static const char *const parts[][2] = {
        {"__underscores__", "__"}, {"__dot__", "."}, {"__dash__", "-"}, {"__slash__", "/"}};
    AUTO(buf_done) struct buf b = {0};

    while (name.n) {
        size_t i = 0;

        while (i < ARRAY_LEN(parts) && !str_starts(name, parts[i][0]))
            i++;
        if (i < ARRAY_LEN(parts)) {
            buf_adds(&b, parts[i][1]);
            name = (struct str){name.p + strlen(parts[i][0]), name.n - strlen(parts[i][0])};
        } else {
            buf_addc(&b, name.p[0]);
            name = (struct str){name.p + 1, name.n - 1};
        }
    }
    return str_eq(buf_view(&b), property);
}

/* Without a type a property is none for rules, unless it is an integer or a text. */
static bool has_type(const struct jsn *schema)
{
    return jsn_get_str(schema, "type") || is_true(schema, "x-kubernetes-int-or-string");
}

/* The schema of a property; NULL: it is not declared. */
static const struct jsn *property_of(const struct jsn *schema, struct str name)
{
    struct str inner = name;

    if (name.n > 4 && str_starts(name, "__") && str_ends(name, "__"))
        inner = (struct str){name.p + 2, name.n - 4}; /* a reserved word */
    JSN_FOR_MEMBERS (m, jsn_key(schema, "properties"))
        if (str_eq(m->key, name) || str_eq(m->key, inner) || is_called(m->key, name))
            return m->value;
    return NULL;
}

/* What every object of Kubernetes has, beside what is declared. */
static bool is_of_every_object(const struct jsn *schema, struct str name)
{
    static const char *const names[] = {"apiVersion", "kind", "metadata"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eqz(name, names[i]))
            return is_true(schema, "x-kubernetes-embedded-resource");
    return false;
}

static int check_select(struct check *k, const struct scope *scope, const struct cel_node *n,
                        struct type *ret)
{
    AUTO(buf_done) struct buf b = {0};
    const struct jsn *property;
    struct type of;
    int r = find(k, scope, n->a, &of);

    if (r < 0)
        return r;
    *ret = plain(n->op == CEL_HAS ? IS_BOOL : IS_DYN);
    if (of.kind == IS_DYN)
        return 0;
    if (of.kind == IS_MAP) {
        if (n->op != CEL_HAS)
            *ret = item_of(&of);
        return 0;
    }
    print(&of, &b);
    if (of.kind != IS_OBJECT)
        return cel_fail(k->e, k->text, n->at, "type '%s' does not support field selection",
                        buf_str(&b));
    if (!of.schema || is_of_every_object(of.schema, n->name))
        return 0;
    property = property_of(of.schema, n->name);
    if (!property || !has_type(property))
        return cel_fail(k->e, k->text, n->at, "undefined field '" STR_FMT "'", STR_ARG(n->name));
    if (n->op != CEL_HAS)
        *ret = type_of(property);
    return 0;
}

static int check_index(struct check *k, const struct scope *scope, const struct cel_node *n,
                       struct type *ret)
{
    struct type args[2];
    int r = find(k, scope, n->a, &args[0]);

    if (r == 0)
        r = find(k, scope, n->b, &args[1]);
    if (r < 0)
        return r;
    *ret = args[0].kind == IS_LIST || args[0].kind == IS_MAP ? item_of(&args[0]) : plain(IS_DYN);
    if (args[0].kind == IS_DYN || (args[0].kind == IS_LIST && is_one_of(&args[1], BIT(IS_INT))) ||
        (args[0].kind == IS_MAP && is_one_of(&args[1], BIT(IS_STRING))))
        return 0;
    return no_overload(k, n->at, "_[_]", args, 2, false);
}

static bool is_time_sum(const struct type *x, const struct type *y)
{
    unsigned kinds = BIT(IS_TIME) | BIT(IS_DURATION);

    return x->kind != IS_DYN && y->kind != IS_DYN && is_one_of(x, kinds) && is_one_of(y, kinds);
}

static bool can_add(const struct type *x, const struct type *y, enum cel_op op)
{
    unsigned kinds = op == CEL_ADD   ? NUMBERS | BIT(IS_STRING) | BIT(IS_BYTES) | BIT(IS_LIST)
                     : op == CEL_MOD ? BIT(IS_INT)
                                     : NUMBERS;

    return ((op == CEL_ADD || op == CEL_SUB) && is_time_sum(x, y)) ||
           (is_one_of(x, kinds) && is_one_of(y, kinds) && fits(x, y));
}

static bool can_order(const struct type *x, const struct type *y)
{
    unsigned kinds =
        NUMBERS | BIT(IS_STRING) | BIT(IS_BYTES) | BIT(IS_BOOL) | BIT(IS_TIME) | BIT(IS_DURATION);

    return is_one_of(x, kinds) && is_one_of(y, kinds) &&
           (fits(x, y) || (is_number(x->kind) && is_number(y->kind)));
}

static bool can_be_in(const struct type *x, const struct type *in)
{
    struct type item = in->kind == IS_LIST ? item_of(in) : plain(IS_STRING);

    return in->kind == IS_DYN || ((in->kind == IS_LIST || in->kind == IS_MAP) && fits(x, &item));
}

static const char *const op_names[] = {
    [CEL_EQ] = "_==_", [CEL_NE] = "_!=_", [CEL_LT] = "_<_",   [CEL_LE] = "_<=_", [CEL_GT] = "_>_",
    [CEL_GE] = "_>=_", [CEL_IN] = "@in",  [CEL_ADD] = "_+_",  [CEL_SUB] = "_-_", [CEL_MUL] = "_*_",
    [CEL_DIV] = "_/_", [CEL_MOD] = "_%_", [CEL_AND] = "_&&_", [CEL_OR] = "_||_"};

static bool allows(enum cel_op op, const struct type *x, const struct type *y)
{
    if (op == CEL_AND || op == CEL_OR)
        return is_one_of(x, BIT(IS_BOOL)) && is_one_of(y, BIT(IS_BOOL));
    if (op == CEL_EQ || op == CEL_NE)
        return fits(x, y);
    if (op == CEL_IN)
        return can_be_in(x, y);
    return op >= CEL_LT && op <= CEL_GE ? can_order(x, y) : can_add(x, y, op);
}

static int check_binary(struct check *k, const struct scope *scope, const struct cel_node *n,
                        struct type *ret)
{
    struct type args[2];
    int r = find(k, scope, n->a, &args[0]);

    if (r == 0)
        r = find(k, scope, n->b, &args[1]);
    if (r < 0)
        return r;
    if (!allows(n->op, &args[0], &args[1]))
        return no_overload(k, n->at, op_names[n->op], args, 2, false);
    if (is_time_sum(&args[0], &args[1])) {
        *ret = plain(n->op == CEL_SUB && args[0].kind == args[1].kind ? IS_DURATION : IS_DYN);
        if (n->op < CEL_ADD)
            *ret = plain(IS_BOOL);
        return 0;
    }
    *ret = n->op < CEL_ADD                ? plain(IS_BOOL)
           : args[0].kind == args[1].kind ? args[0]
                                          : plain(IS_DYN);
    return 0;
}

static int check_condition(struct check *k, const struct scope *scope, const struct cel_node *n,
                           struct type *ret)
{
    struct type args[3];
    int r = find(k, scope, n->a, &args[0]);

    if (r == 0)
        r = find(k, scope, n->b, &args[1]);
    if (r == 0)
        r = find(k, scope, n->c, &args[2]);
    if (r < 0)
        return r;
    if (!is_one_of(&args[0], BIT(IS_BOOL)) || !fits(&args[1], &args[2]))
        return no_overload(k, n->at, "_?_:_", args, 3, false);
    *ret = args[1].kind == IS_NULL ? args[2] : args[1];
    return 0;
}

static int check_unary(struct check *k, const struct scope *scope, const struct cel_node *n,
                       struct type *ret)
{
    unsigned kinds = n->op == CEL_NOT ? BIT(IS_BOOL) : NUMBERS;
    int r = find(k, scope, n->a, ret);

    if (r < 0 || is_one_of(ret, kinds))
        return r;
    return no_overload(k, n->at, n->op == CEL_NOT ? "!_" : "-_", ret, 1, false);
}

static int check_macro(struct check *k, const struct scope *outer, const struct cel_node *n,
                       struct type *ret)
{
    AUTO(buf_done) struct buf b = {0};
    struct scope scope = {.up = outer, .name = n->name};
    struct type over;
    struct type held = plain(IS_BOOL);
    struct type made;
    int r = find(k, outer, n->a, &over);

    if (r < 0)
        return r;
    print(&over, &b);
    if (!is_one_of(&over, BIT(IS_LIST) | BIT(IS_MAP)))
        return cel_fail(k->e, k->text, n->a->at,
                        "expression of type '%s' cannot be range of a comprehension (must be list, "
                        "map, or dynamic)",
                        buf_str(&b));
    scope.type = over.kind == IS_LIST  ? item_of(&over)
                 : over.kind == IS_MAP ? plain(IS_STRING)
                                       : plain(IS_DYN);
    if (n->b)
        r = find(k, &scope, n->b, &held);
    if (r < 0)
        return r;
    buf_clear(&b);
    print(&held, &b);
    if (!is_one_of(&held, BIT(IS_BOOL)))
        return cel_fail(k->e, k->text, n->b->at, "expected type 'bool' but found '%s'",
                        buf_str(&b));
    *ret = plain(IS_BOOL);
    if (n->op == CEL_FILTER)
        *ret = over.kind == IS_LIST ? over : plain(IS_DYN);
    if (n->op == CEL_TRANSFORM) {
        r = find(k, &scope, n->c, &made);
        *ret = (struct type){.kind = IS_LIST, .of = IS_DYN};
    }
    return r;
}

static struct type name_type(const struct check *k, const struct scope *scope, struct str name)
{
    for (; scope; scope = scope->up)
        if (str_eq(scope->name, name))
            return scope->type;
    return str_eqz(name, "self") || str_eqz(name, "oldSelf") ? k->self : plain(IS_TYPE);
}

static struct type literal_type(const struct jsn *v)
{
    static const enum kind kinds[] = {
        [JSN_NULL] = IS_NULL,   [JSN_BOOL] = IS_BOOL,     [JSN_INT] = IS_INT,
        [JSN_REAL] = IS_DOUBLE, [JSN_STRING] = IS_STRING, [JSN_ARRAY] = IS_DYN,
        [JSN_OBJECT] = IS_DYN};

    return plain(kinds[v->type]);
}

/* A list that is written out: of its first item, where all are alike. */
static int check_list(struct check *k, const struct scope *scope, const struct cel_node *n,
                      struct type *ret)
{
    struct type first = plain(IS_DYN);
    bool alike = true;
    int r = 0;

    for (size_t i = 0; r == 0 && i < n->n_args; i++) {
        struct type t;

        r = find(k, scope, n->args[i], &t);
        if (r == 0 && i == 0)
            first = t;
        alike = alike && r == 0 && t.kind == first.kind && t.kind < IS_LIST;
    }
    *ret = n->op == CEL_LIST ? (struct type){.kind = IS_LIST, .of = alike ? first.kind : IS_DYN}
                             : plain(IS_DYN);
    return r;
}

static int find(struct check *k, const struct scope *scope, const struct cel_node *n,
                struct type *ret)
{
    if (n->op == CEL_LITERAL)
        *ret = literal_type(n->literal);
    else if (n->op == CEL_NAME)
        *ret = name_type(k, scope, n->name);
    else if (n->op == CEL_SELECT || n->op == CEL_HAS)
        return check_select(k, scope, n, ret);
    else if (n->op == CEL_INDEX)
        return check_index(k, scope, n, ret);
    else if (n->op == CEL_CALL)
        return check_call(k, scope, n, ret);
    else if (n->op == CEL_LIST || n->op == CEL_MAP)
        return check_list(k, scope, n, ret);
    else if (n->op == CEL_COND)
        return check_condition(k, scope, n, ret);
    else if (n->op == CEL_NOT || n->op == CEL_NEGATE)
        return check_unary(k, scope, n, ret);
    else if (n->op >= CEL_ALL && n->op <= CEL_TRANSFORM)
        return check_macro(k, scope, n, ret);
    else
        return check_binary(k, scope, n, ret);
    return 0;
}

int cel_check(struct arena *a, const struct cel *c, const struct jsn *schema, bool root,
              bool *ret_is_bool, struct err *e)
{
    struct check k = {.a = a, .text = c->text, .self = type_of(schema), .e = e};
    struct jsn *whole;
    struct type t;
    int r;

    if (root) { /* an object of Kubernetes, whatever is declared of it */
        whole = jsn_object(a);
        JSN_FOR_MEMBERS (m, schema)
            jsn_set_member(a, whole, m->key, m->value);
        jsn_set_bool(a, whole, "x-kubernetes-embedded-resource", true);
        k.self.schema = whole;
    }
    r = find(&k, NULL, c->root, &t);
    if (r == 0)
        *ret_is_bool = is_one_of(&t, BIT(IS_BOOL));
    return r;
}
