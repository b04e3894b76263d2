/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSONPath: compilation.
 *
 * One pass from left to right.  A backslash before a character of a name takes it as it is, so that
 * annotation keys with dots can be named.  Filters hold one comparison; nesting of filters is
 * capped.
 */
#include "src/json/path_step.h"

#define MAX_BYTES 4096
#define MAX_NESTING 8

struct compiler {
    struct arena *a;
    const char *text;
    const char *at;
    int nesting;
    struct err *e;
};

static int fail(struct compiler *c, const char *what)
{
    return err_bad(c->e, "path '%.100s': column %td: %s", c->text, c->at - c->text + 1, what);
}

static struct path_step *add_step(struct compiler *c, struct path_step ***tail, enum path_kind kind)
{
    struct path_step *s = arena_calloc(c->a, 1, sizeof(*s));

    s->kind = kind;
    **tail = s;
    *tail = &s->next;
    return s;
}

static bool ends_name(char ch)
{
    return ch == '\0' || strchr(".[]{}()=!<>, ", ch) != NULL;
}

/* A name after a dot. */
static int read_name(struct compiler *c, struct str *ret)
{
    char *out = arena_alloc(c->a, strlen(c->at) + 1);
    size_t n = 0;

    while (!ends_name(*c->at)) {
        if (*c->at == '\\' && c->at[1])
            c->at++;
        out[n++] = *c->at++;
    }
    out[n] = '\0';
    *ret = (struct str){out, n};
    return n ? 0 : fail(c, "expected a name");
}

/* A text in quotes of either kind. */
static int read_quoted(struct compiler *c, struct str *ret)
{
    char quote = *c->at++;
    char *out = arena_alloc(c->a, strlen(c->at) + 1);
    size_t n = 0;

    while (*c->at && *c->at != quote) {
        if (*c->at == '\\' && c->at[1])
            c->at++;
        out[n++] = *c->at++;
    }
    if (*c->at != quote)
        return fail(c, "the text ends inside quotes");
    c->at++;
    out[n] = '\0';
    *ret = (struct str){out, n};
    return 0;
}

static bool read_int(struct compiler *c, int64_t *ret)
{
    const char *start = c->at;

    if (*c->at == '-')
        c->at++;
    while (*c->at >= '0' && *c->at <= '9')
        c->at++;
    if (str_to_i64((struct str){start, (size_t)(c->at - start)}, ret) == 0)
        return true;
    c->at = start;
    return false;
}

static int expect(struct compiler *c, char ch, const char *what)
{
    if (*c->at != ch)
        return fail(c, what);
    c->at++;
    return 0;
}

static int compile_steps(struct compiler *c, struct path *p);

static void skip_blanks(struct compiler *c)
{
    while (*c->at == ' ')
        c->at++;
}

static int read_operator(struct compiler *c, enum path_op *ret)
{
    static const struct {
        const char *text;
        enum path_op op;
    } operators[] = {{"==", PATH_EQUAL},         {"!=", PATH_NOT_EQUAL},
                     {"<=", PATH_LESS_OR_EQUAL}, {">=", PATH_GREATER_OR_EQUAL},
                     {"<", PATH_LESS},           {">", PATH_GREATER}};

    for (size_t i = 0; i < ARRAY_LEN(operators); i++) {
        if (starts_with(c->at, operators[i].text)) {
            c->at += strlen(operators[i].text);
            *ret = operators[i].op;
            return 0;
        }
    }
    return fail(c, "expected a comparison");
}

/* A literal: text in quotes, a number, true, false, null. */
static int read_literal(struct compiler *c, const struct jsn **ret)
{
    const char *start = c->at;
    struct jsn *v;
    struct str s;
    int r;

    if (*c->at == '\'' || *c->at == '"') {
        r = read_quoted(c, &s);
        if (r < 0)
            return r;
        *ret = jsn_str(c->a, s);
        return 0;
    }
    while (*c->at && *c->at != ')' && *c->at != ' ')
        c->at++;
    s = (struct str){start, (size_t)(c->at - start)};
    if (jsn_parse(c->a, s, NULL, &v, NULL) < 0 || v->type == JSN_ARRAY || v->type == JSN_OBJECT) {
        c->at = start;
        return fail(c, "expected a text in quotes, a number, true or false");
    }
    *ret = v;
    return 0;
}

/* "@" and steps after it. */
static int read_operand(struct compiler *c, struct path *ret)
{
    if (*c->at != '@')
        return fail(c, "expected @");
    c->at++;
    return compile_steps(c, ret);
}

/* After "[?": (@.a == "x") */
static int read_filter(struct compiler *c, struct path_filter **ret)
{
    struct path_filter *f = arena_calloc(c->a, 1, sizeof(*f));
    int r;

    if (++c->nesting > MAX_NESTING)
        return fail(c, "filters are nested too deep");
    r = expect(c, '(', "expected ( after ?");
    skip_blanks(c);
    if (r == 0)
        r = read_operand(c, &f->left);
    skip_blanks(c);
    if (r == 0 && *c->at != ')') {
        r = read_operator(c, &f->op);
        skip_blanks(c);
        if (r == 0)
            r = *c->at == '@' ? read_operand(c, &f->right) : read_literal(c, &f->literal);
        skip_blanks(c);
    }
    if (r == 0)
        r = expect(c, ')', "expected )");
    c->nesting--;
    *ret = f;
    return r;
}

static int read_range(struct compiler *c, struct path_step ***tail)
{
    struct path_step *s = add_step(c, tail, PATH_INDEX);

    s->has_from = read_int(c, &s->from);
    if (*c->at == ':') {
        c->at++;
        s->kind = PATH_SLICE;
        s->has_to = read_int(c, &s->to);
    } else if (!s->has_from) {
        return fail(c, "expected a position, a range, a key in quotes, * or ?");
    }
    return 0;
}

/* After "[". */
static int read_bracket(struct compiler *c, struct path_step ***tail)
{
    struct str key;
    int r = 0;

    if (*c->at == '\'' || *c->at == '"') {
        r = read_quoted(c, &key);
        if (r == 0)
            add_step(c, tail, PATH_FIELD)->field = key;
    } else if (*c->at == '*') {
        c->at++;
        (void)add_step(c, tail, PATH_ALL);
    } else if (*c->at == '?') {
        struct path_step *s = add_step(c, tail, PATH_FILTER);

        c->at++;
        r = read_filter(c, &s->filter);
    } else {
        r = read_range(c, tail);
    }
    return r < 0 ? r : expect(c, ']', "expected ]");
}

/* After ".". */
static int read_dot(struct compiler *c, struct path_step ***tail)
{
    struct str name;
    int r;

    if (*c->at == '.') {
        c->at++;
        (void)add_step(c, tail, PATH_DESCENT);
    }
    if (*c->at == '[')
        return 0;
    if (*c->at == '*') {
        c->at++;
        (void)add_step(c, tail, PATH_ALL);
        return 0;
    }
    r = read_name(c, &name);
    if (r < 0)
        return r;
    add_step(c, tail, PATH_FIELD)->field = name;
    return 0;
}

static int compile_steps(struct compiler *c, struct path *p)
{
    struct path_step **tail = &p->steps;
    int r = 0;

    while (r == 0 && (*c->at == '.' || *c->at == '[')) {
        char ch = *c->at++;

        r = ch == '.' ? read_dot(c, &tail) : read_bracket(c, &tail);
    }
    return r;
}

int path_compile(struct arena *a, const char *text, struct path **ret_path, struct err *e)
{
    struct compiler c = {.a = a, .text = text, .at = text, .e = e};
    struct path *p = arena_calloc(a, 1, sizeof(*p));
    bool braces = *text == '{';
    int r;

    if (strlen(text) > MAX_BYTES)
        return err_bad(e, "the path has more than %d bytes", MAX_BYTES);
    c.at += braces;
    if (*c.at == '$' || *c.at == '@')
        c.at++;
    if (streq(c.at, ".") || streq(c.at, ".}"))
        c.at++;
    r = compile_steps(&c, p);
    if (r == 0 && braces)
        r = expect(&c, '}', "expected }");
    if (r == 0 && *c.at)
        r = fail(&c, "expected . or [");
    if (r < 0)
        return r;
    *ret_path = p;
    return 0;
}
