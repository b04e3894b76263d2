/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parser of CEL.
 *
 * Recursive descent over the whole grammar, so that what it refuses is no CEL: conditional, or,
 * and, relation, addition, multiplication, unary, member, primary.  Macros (has, all, exists,
 * exists_one, map, filter) become nodes of their own.  Message construction, unsigned and byte
 * literals and optional access are CEL, but nothing here evaluates them: -ENOTSUP.
 */
#include <ctype.h>

#include "src/json/cel_parser.h"

#define NEST_MAX 64
#define NODES_MAX 4096

static int expression(struct cel_parser *p, struct cel_node **ret);

int cel_parser_beyond(struct cel_parser *p, const char *what)
{
    return err_set(p->e, -ENOTSUP, ERR_PERMANENT, "%s", what);
}

/* Blanks and comments. */
static void skip(struct cel_parser *p)
{
    for (;;) {
        p->at += strspn(p->text + p->at, " \t\r\n\f");
        if (p->text[p->at] != '/' || p->text[p->at + 1] != '/')
            return;
        p->at += strcspn(p->text + p->at, "\n");
    }
}

static bool accept(struct cel_parser *p, const char *token)
{
    skip(p);
    if (strncmp(p->text + p->at, token, strlen(token)) != 0)
        return false;
    p->at += strlen(token);
    return true;
}

static int expect(struct cel_parser *p, const char *token)
{
    if (accept(p, token))
        return 0;
    if (!p->text[p->at])
        return cel_fail(p->e, p->text, p->at,
                        "Syntax error: mismatched input '<EOF>' expecting '%s'", token);
    return cel_fail(p->e, p->text, p->at, "Syntax error: mismatched input '%c' expecting '%s'",
                    p->text[p->at], token);
}

struct cel_node *cel_parser_node(struct cel_parser *p, enum cel_op op, size_t at)
{
    struct cel_node *n = arena_calloc(p->a, 1, sizeof(*n));

    p->nodes++;
    n->op = op;
    n->at = at;
    return n;
}

static bool ident_char(char c, bool first)
{
    return isalpha((unsigned char)c) || c == '_' || (!first && isdigit((unsigned char)c));
}

/* The identifier at hand without taking it; empty: there is none. */
static struct str peek_ident(struct cel_parser *p)
{
    size_t n = 0;

    skip(p);
    while (ident_char(p->text[p->at + n], n == 0))
        n++;
    return (struct str){p->text + p->at, n};
}

static bool accept_word(struct cel_parser *p, const char *word)
{
    struct str s = peek_ident(p);

    if (!str_eqz(s, word))
        return false;
    p->at += s.n;
    return true;
}

int cel_parser_syntax(struct cel_parser *p)
{
    if (!p->text[p->at])
        return cel_fail(p->e, p->text, p->at, "Syntax error: mismatched input '<EOF>'");
    return cel_fail(p->e, p->text, p->at, "Syntax error: extraneous input '%c'", p->text[p->at]);
}

/* Where the next token begins. */
static size_t here(struct cel_parser *p)
{
    skip(p);
    return p->at;
}

/* Items up to the closing token, which is taken. */
static int arguments(struct cel_parser *p, const char *close, bool pairs, struct cel_node *n)
{
    size_t cap = 0;
    int r;

    if (accept(p, close))
        return 0;
    do {
        struct cel_node *item = NULL;

        if (n->n_args && accept(p, close)) /* a comma at the end */
            return 0;
        if (accept(p, "?"))
            return cel_parser_beyond(p, "optional entries");
        if ((r = expression(p, &item)) < 0)
            return r;
        arena_reserve(p->a, &n->args, &cap, n->n_args + 2, sizeof(struct cel_node *));
        n->args[n->n_args++] = item;
        if (!pairs)
            continue;
        if ((r = expect(p, ":")) < 0 || (r = expression(p, &item)) < 0)
            return r;
        n->args[n->n_args++] = item;
    } while (accept(p, ","));
    return expect(p, close);
}

/* has(a.b) */
static int macro_has(struct cel_parser *p, struct cel_node *call)
{
    struct cel_node *arg = call->n_args == 1 ? call->args[0] : NULL;

    if (!arg || arg->op != CEL_SELECT)
        return cel_fail(p->e, p->text, call->n_args ? call->args[0]->at : call->at,
                        "invalid argument to has() macro");
    call->op = CEL_HAS;
    call->a = arg->a;
    call->name = arg->name;
    return 0;
}

/* list.all(x, predicate) and its like; args[0] is the list. */
static int macro_comprehension(struct cel_parser *p, struct cel_node *call)
{
    static const struct {
        const char *name;
        enum cel_op op;
        size_t n_args;
    } macros[] = {
        {"all", CEL_ALL, 3},       {"exists", CEL_EXISTS, 3}, {"exists_one", CEL_EXISTS_ONE, 3},
        {"filter", CEL_FILTER, 3}, {"map", CEL_TRANSFORM, 3}, {"map", CEL_TRANSFORM, 4}};

    for (size_t i = 0; i < ARRAY_LEN(macros); i++) {
        if (!str_eqz(call->name, macros[i].name) || call->n_args != macros[i].n_args)
            continue;
        if (call->args[1]->op != CEL_NAME)
            return cel_fail(p->e, p->text, call->args[1]->at, "argument must be a simple name");
        call->op = macros[i].op;
        call->a = call->args[0];
        call->name = call->args[1]->name;
        call->b = call->args[2];
        if (call->op == CEL_TRANSFORM) {
            call->b = call->n_args == 4 ? call->args[2] : NULL;
            call->c = call->args[call->n_args - 1];
        }
        return 0;
    }
    return 0;
}

static int list_or_map(struct cel_parser *p, bool map, struct cel_node **ret)
{
    struct cel_node *n = cel_parser_node(p, map ? CEL_MAP : CEL_LIST, p->at);

    *ret = n;
    return arguments(p, map ? "}" : "]", map, n);
}

static int name_or_call(struct cel_parser *p, struct cel_node **ret)
{
    struct str name = peek_ident(p);
    size_t at = p->at;
    int r;

    if (name.n == 0)
        return cel_parser_syntax(p);
    p->at += name.n;
    *ret = cel_parser_node(p, CEL_NAME, at);
    (*ret)->name = name;
    if (str_eqz(name, "true") || str_eqz(name, "false") || str_eqz(name, "null")) {
        (*ret)->op = CEL_LITERAL;
        (*ret)->literal = name.p[0] == 'n' ? jsn_null(p->a) : jsn_bool(p->a, name.p[0] == 't');
        return 0;
    }
    if (str_eqz(name, "in"))
        return cel_fail(p->e, p->text, at, "Syntax error: extraneous input 'in'");
    at = here(p);
    if (!accept(p, "("))
        return 0;
    (*ret)->op = CEL_CALL;
    (*ret)->at = at;
    r = arguments(p, ")", false, *ret);
    return r == 0 && str_eqz(name, "has") ? macro_has(p, *ret) : r;
}

static int primary(struct cel_parser *p, struct cel_node **ret)
{
    char c;

    skip(p);
    c = p->text[p->at];
    if (isdigit((unsigned char)c))
        return cel_number_literal(p, ret);
    if (c == '"' || c == '\'')
        return cel_string_literal(p, false, ret);
    if ((c == 'r' || c == 'R') && (p->text[p->at + 1] == '"' || p->text[p->at + 1] == '\'')) {
        p->at++;
        return cel_string_literal(p, true, ret);
    }
    if ((c == 'b' || c == 'B') && (p->text[p->at + 1] == '"' || p->text[p->at + 1] == '\''))
        return cel_parser_beyond(p, "bytes");
    if (accept(p, "(")) {
        int r = expression(p, ret);

        return r < 0 ? r : expect(p, ")");
    }
    if (accept(p, "["))
        return list_or_map(p, false, ret);
    if (accept(p, "{"))
        return list_or_map(p, true, ret);
    (void)accept(p, ".");
    return name_or_call(p, ret);
}

/* After a dot, which was at `at`. */
static int select_or_call(struct cel_parser *p, size_t at, struct cel_node **ret)
{
    struct str name = peek_ident(p);
    struct cel_node *n = cel_parser_node(p, CEL_SELECT, at);
    struct cel_node *target = *ret;
    int r;

    if (accept(p, "?"))
        return cel_parser_beyond(p, "optional fields");
    if (name.n == 0)
        return cel_parser_syntax(p);
    p->at += name.n;
    n->name = name;
    n->a = target;
    *ret = n;
    at = here(p);
    if (!accept(p, "("))
        return 0;
    n->op = CEL_CALL;
    n->at = at;
    n->member = true;
    r = arguments(p, ")", false, n);
    return r;
}

/* The target of a member call becomes its first argument. */
static void add_target(struct cel_parser *p, struct cel_node *call)
{
    struct cel_node **args = arena_calloc(p->a, call->n_args + 1, sizeof(struct cel_node *));

    args[0] = call->a;
    for (size_t i = 0; i < call->n_args; i++)
        args[i + 1] = call->args[i];
    call->args = args;
    call->n_args++;
}

static int member(struct cel_parser *p, struct cel_node **ret)
{
    int r = primary(p, ret);

    while (r == 0) {
        size_t at = here(p);

        if (accept(p, ".")) {
            r = select_or_call(p, at, ret);
            if (r == 0 && (*ret)->op == CEL_CALL) {
                add_target(p, *ret);
                r = macro_comprehension(p, *ret);
            }
        } else if (accept(p, "[")) {
            struct cel_node *n = cel_parser_node(p, CEL_INDEX, at);

            if (accept(p, "?"))
                return cel_parser_beyond(p, "optional indexes");
            n->a = *ret;
            *ret = n;
            r = expression(p, &n->b);
            if (r == 0)
                r = expect(p, "]");
        } else if ((*ret)->op == CEL_NAME && accept(p, "{")) {
            return cel_parser_beyond(p, "message construction");
        } else {
            break;
        }
    }
    return r;
}

static int unary(struct cel_parser *p, struct cel_node **ret)
{
    size_t at, n_not = 0, n_minus = 0;
    int r;

    skip(p);
    at = p->at;
    while (p->text[p->at] == '!' && p->text[p->at + 1] != '=' && accept(p, "!"))
        n_not++;
    while (n_not == 0 && accept(p, "-"))
        n_minus++;
    if (n_not + n_minus > NEST_MAX)
        return cel_parser_beyond(p, "so many signs");
    r = member(p, ret);
    if (r < 0)
        return r;
    if (n_minus % 2 && (*ret)->op == CEL_LITERAL && jsn_is((*ret)->literal, JSN_INT)) {
        (*ret)->literal = jsn_int(p->a, -(*ret)->literal->i);
    } else if (n_not || n_minus % 2) {
        struct cel_node *n = cel_parser_node(p, n_not ? CEL_NOT : CEL_NEGATE, at);

        n->a = *ret;
        *ret = n;
        if (n_not && n_not % 2 == 0) {
            struct cel_node *twice = cel_parser_node(p, CEL_NOT, at);

            twice->a = n;
            *ret = twice;
        }
    }
    return 0;
}

struct level {
    struct {
        const char *token;
        enum cel_op op;
    } ops[8];
};

/* From what binds least to what binds most. */
static const struct level levels[] = {
    {{{"||", CEL_OR}}},
    {{{"&&", CEL_AND}}},
    {{{"==", CEL_EQ},
      {"!=", CEL_NE},
      {"<=", CEL_LE},
      {">=", CEL_GE},
      {"<", CEL_LT},
      {">", CEL_GT},
      {"in", CEL_IN}}},
    {{{"+", CEL_ADD}, {"-", CEL_SUB}}},
    {{{"*", CEL_MUL}, {"/", CEL_DIV}, {"%", CEL_MOD}}},
};

static bool operator(struct cel_parser *p, const struct level *l, enum cel_op *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(l->ops) && l->ops[i].token; i++) {
        const char *token = l->ops[i].token;

        if (ident_char(token[0], true) ? accept_word(p, token) : accept(p, token)) {
            *ret = l->ops[i].op;
            return true;
        }
    }
    return false;
}

static int binary(struct cel_parser *p, size_t level, struct cel_node **ret)
{
    enum cel_op op;
    int r;

    if (level == ARRAY_LEN(levels))
        return unary(p, ret);
    r = binary(p, level + 1, ret);
    while (r == 0) {
        size_t at = here(p);
        struct cel_node *n;

        if (!operator(p, &levels[level], &op))
            break;
        n = cel_parser_node(p, op, at);

        n->a = *ret;
        *ret = n;
        if (p->nodes > NODES_MAX)
            return cel_parser_beyond(p, "a rule of this size");
        r = binary(p, level + 1, &n->b);
    }
    return r;
}

static int conditional(struct cel_parser *p, struct cel_node **ret)
{
    int r = binary(p, 0, ret);
    size_t at = here(p);
    struct cel_node *n;

    if (r < 0 || !accept(p, "?"))
        return r;
    n = cel_parser_node(p, CEL_COND, at);
    n->a = *ret;
    *ret = n;
    r = binary(p, 0, &n->b);
    if (r == 0)
        r = expect(p, ":");
    return r < 0 ? r : expression(p, &n->c);
}

static int expression(struct cel_parser *p, struct cel_node **ret)
{
    int r;

    if (p->depth >= NEST_MAX || p->nodes > NODES_MAX)
        return cel_parser_beyond(p, "a rule that nests this deep");
    p->depth++;
    r = conditional(p, ret);
    p->depth--;
    return r;
}

int cel_parse(struct arena *a, const char *text, struct cel_node **ret, struct err *e)
{
    struct cel_parser p = {.a = a, .text = text, .e = e};
    int r;

    if (strlen(text) > CEL_MAX_BYTES)
        return cel_parser_beyond(&p, "a rule of this size");
    r = expression(&p, ret);
    if (r < 0)
        return r;
    skip(&p);
    return p.text[p.at] ? cel_parser_syntax(&p) : 0;
}
