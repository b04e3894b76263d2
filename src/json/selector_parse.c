/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Selectors from text and from objects.
 *
 * A label selector is scanned into tokens, one ahead of the parser.  `in` and `notin` are operators
 * only where one is expected, elsewhere they are identifiers as any other.  Field selectors are
 * simpler: terms between commas, an operator, and backslashes in values.
 */
#include "src/json/selector.h"
#include "src/json/selector_names.h"

#define OPERATORS "in, notin, =, ==, !=, gt, lt"

enum token_kind { TOKEN_END, TOKEN_WORD, TOKEN_SIGN };

struct token {
    enum token_kind kind;
    struct str text;
};

struct parser {
    struct arena *a;
    struct str text;
    size_t at;
    struct token next;
    struct selector *selector;
    struct err *e;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_sign(char c)
{
    return c != '\0' && strchr("=!(),><", c) != NULL;
}

/* Scan one token ahead; a NUL ends the text. */
static void advance(struct parser *p)
{
    const char *s = p->text.p;
    size_t end = p->text.n;
    size_t start;

    while (p->at < end && is_blank(s[p->at]))
        p->at++;
    start = p->at;
    if (p->at == end || s[p->at] == '\0') {
        p->next = (struct token){TOKEN_END, {"", 0}};
        return;
    }
    if (is_sign(s[p->at])) {
        p->at++;
        if ((s[start] == '=' || s[start] == '!') && p->at < end && s[p->at] == '=')
            p->at++;
        p->next = (struct token){TOKEN_SIGN, {s + start, p->at - start}};
        return;
    }
    while (p->at < end && s[p->at] != '\0' && !is_sign(s[p->at]) && !is_blank(s[p->at]))
        p->at++;
    p->next = (struct token){TOKEN_WORD, {s + start, p->at - start}};
}

static struct token take(struct parser *p)
{
    struct token t = p->next;

    advance(p);
    return t;
}

static bool is(const struct token *t, const char *sign)
{
    return t->kind == TOKEN_SIGN && str_eqz(t->text, sign);
}

static int unexpected(struct parser *p, struct token t, const char *expected)
{
    return err_bad(p->e, "found '" STR_FMT "'%s", STR_ARG(t.text), expected);
}

struct values {
    struct str *items;
    size_t n;
    size_t cap;
};

static void add_value(struct parser *p, struct values *v, struct str value)
{
    arena_reserve(p->a, &v->items, &v->cap, v->n + 1, sizeof(*v->items));
    v->items[v->n++] = value;
}

/* After "(", up to and with ")": values between commas, each possibly empty. */
static int parse_set(struct parser *p, struct values *v)
{
    bool after_word = false;

    if (!is(&p->next, "(")) {
        struct token t = take(p);

        return unexpected(p, t, " expected: '('");
    }
    (void)take(p);
    if (p->next.kind != TOKEN_WORD && !is(&p->next, ",") && !is(&p->next, ")"))
        return unexpected(p, p->next, ", expected: ',', ')' or identifier");
    for (;;) {
        struct token t = take(p);

        if (t.kind == TOKEN_WORD) {
            add_value(p, v, t.text);
            after_word = true;
            if (!is(&p->next, ",") && !is(&p->next, ")"))
                return unexpected(p, p->next, ", expected: ',' or ')'");
        } else if (is(&t, ")") || is(&t, ",")) {
            if (!after_word)
                add_value(p, v, STR(""));
            after_word = false;
            if (is(&t, ")"))
                return 0;
        } else {
            return unexpected(p, t, ", expected: ',', or identifier");
        }
    }
}

static int parse_exact(struct parser *p, struct values *v)
{
    struct token t;

    if (p->next.kind == TOKEN_END || is(&p->next, ",")) {
        add_value(p, v, STR(""));
        return 0;
    }
    t = take(p);
    if (t.kind != TOKEN_WORD)
        return unexpected(p, t, ", expected: identifier");
    add_value(p, v, t.text);
    return 0;
}

static int parse_operator(struct parser *p, enum selector_op *ret)
{
    static const struct {
        const char *text;
        enum selector_op op;
    } operators[] = {
        {"=", SELECTOR_EQUALS}, {"==", SELECTOR_DOUBLE_EQUALS}, {"!=", SELECTOR_NOT_EQUALS},
        {"in", SELECTOR_IN},    {"notin", SELECTOR_NOT_IN},     {">", SELECTOR_GREATER},
        {"<", SELECTOR_LESS},
    };
    struct token t = take(p);

    for (size_t i = 0; i < ARRAY_LEN(operators) && t.kind != TOKEN_END; i++) {
        if (str_eqz(t.text, operators[i].text)) {
            *ret = operators[i].op;
            return 0;
        }
    }
    return unexpected(p, t, ", expected: " OPERATORS);
}

static int parse_key(struct parser *p, bool *ret_not, struct str *ret_key)
{
    AUTO(buf_done) struct buf faults = {0};
    struct token t = take(p);

    *ret_not = is(&t, "!");
    if (*ret_not)
        t = take(p);
    if (t.kind != TOKEN_WORD)
        return unexpected(p, t, ", expected: identifier");
    if (selector_key_faults(&faults, "<nil>", t.text))
        return err_bad(p->e, "%s", buf_str(&faults));
    *ret_key = t.text;
    return 0;
}

static int parse_requirement(struct parser *p)
{
    enum selector_op op = SELECTOR_EXISTS;
    struct values v = {0};
    struct str key;
    bool negated;
    int r = parse_key(p, &negated, &key);

    if (r < 0)
        return r;
    if (negated || p->next.kind == TOKEN_END || is(&p->next, ",")) {
        op = negated ? SELECTOR_NOT_EXISTS : op;
        return selector_require(p->a, p->selector, key, op, NULL, 0, p->e);
    }
    r = parse_operator(p, &op);
    if (r == 0)
        r = op == SELECTOR_IN || op == SELECTOR_NOT_IN ? parse_set(p, &v) : parse_exact(p, &v);
    if (r < 0)
        return r;
    v.items = selector_value_set(p->a, v.items, &v.n);
    return selector_require(p->a, p->selector, key, op, v.items, v.n, p->e);
}

static int parse_labels(struct parser *p)
{
    while (p->next.kind != TOKEN_END) {
        int r;

        if (p->next.kind != TOKEN_WORD && !is(&p->next, "!"))
            return unexpected(p, p->next, ", expected: !, identifier, or 'end of string'");
        r = parse_requirement(p);
        if (r < 0)
            return err_wrap(p->e, r, "unable to parse requirement");
        if (p->next.kind == TOKEN_END)
            return 0;
        if (!is(&p->next, ","))
            return unexpected(p, p->next, ", expected: ',' or 'end of string'");
        (void)take(p);
        if (p->next.kind != TOKEN_WORD && !is(&p->next, "!"))
            return unexpected(p, p->next, ", expected: identifier after ','");
    }
    return 0;
}

static struct selector *new_selector(struct arena *a)
{
    return arena_calloc(a, 1, sizeof(struct selector));
}

int selector_parse_labels(struct arena *a, struct str text, struct selector **ret_selector,
                          struct err *e)
{
    struct parser p = {.a = a, .selector = new_selector(a), .e = e};
    int r;

    p.text = (struct str){arena_str(a, text), text.n};
    advance(&p);
    r = parse_labels(&p);
    if (r < 0)
        return r;
    selector_sort(p.selector);
    *ret_selector = p.selector;
    return 0;
}

/* A value of a field selector without its backslashes. */
static int unescape(struct arena *a, struct str text, struct str *ret, struct err *e)
{
    char *out = arena_alloc(a, text.n + 1);
    size_t n = 0;

    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];

        if (c == ',' || c == '=')
            return err_bad(e, "invalid field selector: unescaped character in value: %d", c);
        if (c == '\\') {
            c = text.p[i + 1]; /* the text is terminated */
            if (c != '\\' && c != ',' && c != '=')
                return err_bad(e, "invalid field selector: invalid escape sequence: %.*s",
                               i + 1 < text.n ? 2 : 1, text.p + i);
            i++;
        }
        out[n++] = c;
    }
    out[n] = '\0';
    *ret = (struct str){out, n};
    return 0;
}

static int parse_term(struct arena *a, struct selector *s, struct str whole, struct str term,
                      struct err *e)
{
    enum selector_op op = SELECTOR_EQUALS;
    size_t at = 0;
    size_t width = 1;
    struct selector_requirement *r;
    struct str value;
    int rc;

    while (at < term.n && term.p[at] != '=' &&
           !(term.p[at] == '!' && at + 1 < term.n && term.p[at + 1] == '='))
        at++;
    if (at == term.n)
        return err_bad(e, "invalid selector: '" STR_FMT "'; can't understand '" STR_FMT "'",
                       STR_ARG(whole), STR_ARG(term));
    if (term.p[at] == '!')
        op = SELECTOR_NOT_EQUALS;
    if (at + 1 < term.n && term.p[at + 1] == '=')
        width = 2;
    rc = unescape(a, (struct str){term.p + at + width, term.n - at - width}, &value, e);
    if (rc < 0)
        return rc;
    arena_reserve(a, &s->requirements, &s->cap, s->n + 1, sizeof(*s->requirements));
    r = &s->requirements[s->n++];
    *r = (struct selector_requirement){.key = {term.p, at}, .op = op, .n_values = 1};
    r->values = arena_calloc(a, 1, sizeof(*r->values));
    r->values[0] = value;
    return 0;
}

int selector_parse_fields(struct arena *a, struct str text, struct selector **ret_selector,
                          struct err *e)
{
    struct selector *s = new_selector(a);
    struct str whole = {arena_str(a, text), text.n};
    size_t start = 0;

    for (size_t i = 0; i <= whole.n; i++) {
        struct str term = {whole.p + start, i - start};
        int r;

        if (i + 1 < whole.n && whole.p[i] == '\\') {
            i++;
            continue;
        }
        if (i < whole.n && whole.p[i] != ',')
            continue;
        start = i + 1;
        r = term.n ? parse_term(a, s, whole, term, e) : 0;
        if (r < 0)
            return r;
    }
    selector_sort(s);
    *ret_selector = s;
    return 0;
}

static int add_expression(struct arena *a, struct selector *s, const struct jsn *expression,
                          struct err *e)
{
    static const struct {
        const char *name;
        enum selector_op op;
    } operators[] = {{"In", SELECTOR_IN},
                     {"NotIn", SELECTOR_NOT_IN},
                     {"Exists", SELECTOR_EXISTS},
                     {"DoesNotExist", SELECTOR_NOT_EXISTS}};
    const char *name = jsn_get_str(expression, "operator");
    const char *key = jsn_get_str(expression, "key");
    const struct jsn *list = jsn_key(expression, "values");
    struct str *values = arena_calloc(a, jsn_len(list) + 1, sizeof(*values));
    size_t n = 0;

    JSN_FOR_ITEMS (item, list)
        if (item->type == JSN_STRING)
            values[n++] = item->s;
    for (size_t i = 0; i < ARRAY_LEN(operators); i++)
        if (streq(name, operators[i].name))
            return selector_require(a, s, str_of(key ? key : ""), operators[i].op, values, n, e);
    return err_bad(e, "\"%s\" is not a valid label selector operator", name ? name : "");
}

int selector_from_object(struct arena *a, const struct jsn *object, struct selector **ret_selector,
                         struct err *e)
{
    struct selector *s = new_selector(a);
    int r;

    s->nothing = !jsn_is(object, JSN_OBJECT);
    JSN_FOR_MEMBERS (m, jsn_key(object, "matchLabels")) {
        struct str value = jsn_is(m->value, JSN_STRING) ? m->value->s : STR("");

        r = selector_require(a, s, m->key, SELECTOR_EQUALS, &value, 1, e);
        if (r < 0)
            return r;
    }
    JSN_FOR_ITEMS (expression, jsn_key(object, "matchExpressions")) {
        r = add_expression(a, s, expression, e);
        if (r < 0)
            return r;
    }
    selector_sort(s);
    *ret_selector = s;
    return 0;
}
