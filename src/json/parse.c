/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON text to values (RFC 8259).
 *
 * A recursive descent over the text, in one pass, into the caller's arena.  Depth is capped; text
 * that is not UTF-8 is refused as a whole before anything is read.  Integers that fit 64 bits stay
 * integers, every other number becomes a double (one too large for that is an error).  The last of
 * two equal keys wins, as in Go's decoder; the caller can ask to be told.
 */
#include <math.h>
#include <stdio.h>

#include "src/json/parse_impl.h"

#define MAX_DUPLICATES 64
#define MAX_NUMBER_BYTES 400

/* One step of the way from the root to the value being read; lives on the parser's stack. */
struct step {
    const struct step *up;
    struct str key; /* p == NULL: an array item */
    size_t item;
};

int parse_fail(struct parser *p, const char *what)
{
    size_t line = 1;
    size_t column = 1;

    for (size_t i = 0; i < p->at && i < p->text.n; i++) {
        column++;
        if (p->text.p[i] == '\n') {
            line++;
            column = 1;
        }
    }
    return err_bad(p->e, "line %zu column %zu: %s", line, column, what);
}

static int peek(struct parser *p)
{
    while (p->at < p->text.n) {
        char c = p->text.p[p->at];

        if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
            return (unsigned char)c;
        p->at++;
    }
    return -1;
}

static size_t skip_digits(const struct parser *p, size_t at)
{
    while (at < p->text.n && p->text.p[at] >= '0' && p->text.p[at] <= '9')
        at++;
    return at;
}

static char char_at(const struct parser *p, size_t at)
{
    if (at >= p->text.n)
        return '\0';
    return p->text.p[at];
}

/* Where a number that starts at p->at ends by the grammar; 0 if it is none. */
static size_t number_end(const struct parser *p, bool *ret_integer)
{
    size_t at = p->at + (char_at(p, p->at) == '-' ? 1 : 0);
    size_t digits = at;

    *ret_integer = true;
    at = skip_digits(p, at);
    if (at == digits || (at > digits + 1 && p->text.p[digits] == '0'))
        return 0;
    if (char_at(p, at) == '.') {
        digits = ++at;
        at = skip_digits(p, at);
        if (at == digits)
            return 0;
        *ret_integer = false;
    }
    if ((char_at(p, at) | 32) == 'e') {
        at++;
        if (char_at(p, at) == '+' || char_at(p, at) == '-')
            at++;
        digits = at;
        at = skip_digits(p, at);
        if (at == digits)
            return 0;
        *ret_integer = false;
    }
    return at;
}

static int parse_number(struct parser *p, struct jsn **ret)
{
    char text[MAX_NUMBER_BYTES + 1];
    bool integer;
    size_t end = number_end(p, &integer);
    struct str s;
    int64_t i;
    double d;

    if (end == 0)
        return parse_fail(p, "not a number");
    s = (struct str){p->text.p + p->at, end - p->at};
    if (s.n > MAX_NUMBER_BYTES)
        return parse_fail(p, "a number with too many digits");
    if (integer && str_to_i64(s, &i) == 0) {
        *ret = jsn_int(p->a, i);
    } else {
        memcpy(text, s.p, s.n);
        text[s.n] = '\0';
        d = strtod(text, NULL);
        if (!isfinite(d))
            return parse_fail(p, "a number that is too large");
        *ret = jsn_real(p->a, d);
    }
    p->at = end;
    return 0;
}

static void path_of(struct buf *b, const struct step *s)
{
    if (!s)
        return;
    path_of(b, s->up);
    if (s->key.p)
        buf_printf(b, "%s" STR_FMT, b->n ? "." : "", STR_ARG(s->key));
    else
        buf_printf(b, "[%zu]", s->item);
}

static void note_duplicate(struct parser *p, const struct step *s)
{
    AUTO(buf_done) struct buf b = {.max = 4096};
    struct jsn_notes *notes = p->notes;

    if (!notes || notes->n_duplicates >= MAX_DUPLICATES)
        return;
    path_of(&b, s);
    arena_reserve(notes->arena, &notes->duplicates, &notes->cap_duplicates, notes->n_duplicates + 1,
                  sizeof(char *));
    notes->duplicates[notes->n_duplicates++] = arena_str(notes->arena, buf_view(&b));
}

static int parse_value(struct parser *p, const struct step *up, struct jsn **ret);

static int parse_array(struct parser *p, const struct step *up, struct jsn **ret)
{
    struct jsn *array = jsn_array(p->a);
    struct step here = {up, {NULL, 0}, 0};
    int c;

    p->at++;
    if (peek(p) == ']') {
        p->at++;
        *ret = array;
        return 0;
    }
    do {
        struct jsn *item = NULL;
        int r = parse_value(p, &here, &item);

        if (r < 0)
            return r;
        jsn_append(p->a, array, item);
        here.item++;
        c = peek(p);
        if (c != ',' && c != ']')
            return parse_fail(p, "expected ',' or ']' after an array item");
        p->at++;
    } while (c == ',');
    *ret = array;
    return 0;
}

static int parse_member(struct parser *p, const struct step *up, struct jsn *object)
{
    struct step here = {up, {NULL, 0}, 0};
    struct jsn *value;
    int r;

    if (peek(p) != '"')
        return parse_fail(p, "expected a key in double quotes");
    r = parse_string(p, &here.key);
    if (r < 0)
        return r;
    if (peek(p) != ':')
        return parse_fail(p, "expected ':' after a key");
    p->at++;
    r = parse_value(p, &here, &value);
    if (r < 0)
        return r;
    if (p->notes && jsn_member(object, here.key))
        note_duplicate(p, &here);
    jsn_put_member(p->a, object, here.key, value);
    return 0;
}

static int parse_object(struct parser *p, const struct step *up, struct jsn **ret)
{
    struct jsn *object = jsn_object(p->a);
    int c;

    p->at++;
    if (peek(p) == '}') {
        p->at++;
        *ret = object;
        return 0;
    }
    do {
        int r = parse_member(p, up, object);

        if (r < 0)
            return r;
        c = peek(p);
        if (c != ',' && c != '}')
            return parse_fail(p, "expected ',' or '}' after an object member");
        p->at++;
    } while (c == ',');
    *ret = object;
    return 0;
}

static int parse_word(struct parser *p, const char *word, struct jsn *value, struct jsn **ret)
{
    size_t n = strlen(word);

    if (p->text.n - p->at < n || memcmp(p->text.p + p->at, word, n) != 0)
        return parse_fail(p, "expected a value");
    p->at += n;
    *ret = value;
    return 0;
}

static int parse_nested(struct parser *p, const struct step *up, int c, struct jsn **ret)
{
    int r;

    if (p->depth >= JSN_MAX_DEPTH)
        return parse_fail(p, "exceeded max depth");
    p->depth++;
    r = c == '[' ? parse_array(p, up, ret) : parse_object(p, up, ret);
    p->depth--;
    return r;
}

static int parse_value(struct parser *p, const struct step *up, struct jsn **ret)
{
    int c = peek(p);
    struct str s;
    int r;

    switch (c) {
    case -1:
        return parse_fail(p, "the text ends where a value is expected");
    case '{':
    case '[':
        return parse_nested(p, up, c, ret);
    case '"':
        r = parse_string(p, &s);
        if (r < 0)
            return r;
        *ret = jsn_null(p->a);
        (*ret)->type = JSN_STRING;
        (*ret)->s = s;
        return 0;
    case 't':
        return parse_word(p, "true", jsn_bool(p->a, true), ret);
    case 'f':
        return parse_word(p, "false", jsn_bool(p->a, false), ret);
    case 'n':
        return parse_word(p, "null", jsn_null(p->a), ret);
    default:
        if (c == '-' || (c >= '0' && c <= '9'))
            return parse_number(p, ret);
        return parse_fail(p, "expected a value");
    }
}

int jsn_parse(struct arena *a, struct str text, struct jsn_notes *notes, struct jsn **ret_value,
              struct err *e)
{
    struct parser p = {.a = a, .text = text, .notes = notes, .e = e};
    struct jsn *value = NULL;
    int r;

    if (!str_utf8_ok(text))
        return err_bad(e, "the text is not valid UTF-8");
    r = parse_value(&p, NULL, &value);
    if (r < 0)
        return r;
    if (peek(&p) >= 0)
        return parse_fail(&p, "unexpected text after the value");
    *ret_value = value;
    return 0;
}
