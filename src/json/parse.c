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

#include "src/json/jsn.h"

#define MAX_DUPLICATES 64
#define MAX_NUMBER_BYTES 400

/* One step of the way from the root to the value being read; lives on the parser's stack. */
struct step {
    const struct step *up;
    struct str key; /* p == NULL: an array item */
    size_t item;
};

struct parser {
    struct arena *a;
    struct str text;
    size_t at;
    int depth;
    struct jsn_notes *notes;
    struct err *e;
};

static int fail(struct parser *p, const char *what)
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

static int hex4(struct parser *p, uint32_t *ret)
{
    uint32_t v = 0;

    if (p->at + 4 > p->text.n)
        return fail(p, "\\u needs four hexadecimal digits");
    for (int i = 0; i < 4; i++) {
        int d = str_hex_digit(p->text.p[p->at + (size_t)i]);

        if (d < 0)
            return fail(p, "\\u needs four hexadecimal digits");
        v = v << 4 | (uint32_t)d;
    }
    p->at += 4;
    *ret = v;
    return 0;
}

/* Behind "\u"; a lone surrogate becomes U+FFFD, as in Go. */
static int unicode_escape(struct parser *p, char *out, size_t *n)
{
    uint32_t c = 0;
    uint32_t low;
    int r = hex4(p, &c);

    if (r < 0)
        return r;
    if (c >= 0xD800 && c <= 0xDFFF) {
        size_t before = p->at;

        low = 0;
        if (c < 0xDC00 && p->at + 6 <= p->text.n && p->text.p[p->at] == '\\' &&
            p->text.p[p->at + 1] == 'u') {
            p->at += 2;
            r = hex4(p, &low);
            if (r < 0)
                return r;
        }
        if (low >= 0xDC00 && low <= 0xDFFF) {
            c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
        } else {
            c = 0xFFFD;
            p->at = before;
        }
    }
    *n += str_put_utf8(out + *n, c);
    return 0;
}

static int simple_escape(char c)
{
    static const char from[] = "\"\\/bfnrt";
    static const char to[] = "\"\\/\b\f\n\r\t";
    const char *at = c ? strchr(from, c) : NULL;

    return at ? (unsigned char)to[at - from] : -1;
}

/* Does one of eight characters end a plain text: a quote, a backslash, a control character? */
static bool has_special(uint64_t eight)
{
    const uint64_t ones = 0x0101010101010101U;
    const uint64_t tops = 0x8080808080808080U;
    uint64_t quote = eight ^ (ones * '"');
    uint64_t backslash = eight ^ (ones * '\\');

    return (((eight - ones * ' ') & ~eight) | ((quote - ones) & ~quote) |
            ((backslash - ones) & ~backslash)) &
           tops;
}

/* How many characters from here on stand for themselves. */
static size_t plain_run(struct str rest)
{
    size_t n = 0;
    uint64_t eight;

    while (rest.n - n >= sizeof(eight)) {
        memcpy(&eight, rest.p + n, sizeof(eight));
        if (has_special(eight))
            break;
        n += sizeof(eight);
    }
    while (n < rest.n && rest.p[n] != '"' && rest.p[n] != '\\' && (unsigned char)rest.p[n] >= ' ')
        n++;
    return n;
}

/* At the opening quote.  The result is terminated and lives in the arena. */
static int parse_string(struct parser *p, struct str *ret)
{
    size_t start = ++p->at;
    size_t n = plain_run((struct str){p->text.p + start, p->text.n - start});
    char *out;

    p->at += n;
    if (p->at < p->text.n && p->text.p[p->at] == '"') {
        p->at++;
        *ret = (struct str){arena_str(p->a, (struct str){p->text.p + start, n}), n};
        return 0;
    }
    while (p->at < p->text.n && p->text.p[p->at] != '"')
        p->at += p->text.p[p->at] == '\\' ? 2 : 1;
    if (p->at >= p->text.n) {
        p->at = p->text.n;
        return fail(p, "the text ends inside a string");
    }
    out = arena_alloc(p->a, p->at - start + 1);
    memcpy(out, p->text.p + start, n);
    for (p->at = start + n; p->text.p[p->at] != '"';) {
        size_t run = plain_run((struct str){p->text.p + p->at, p->text.n - p->at});
        char c = p->text.p[p->at];
        int r;

        if (run) {
            memcpy(out + n, p->text.p + p->at, run);
            n += run;
            p->at += run;
            continue;
        }
        if (c != '\\')
            return fail(p, "a control character in a string must be escaped");
        c = p->text.p[p->at + 1];
        p->at += 2;
        r = simple_escape(c);
        if (r >= 0)
            out[n++] = (char)r;
        else if (c != 'u')
            return fail(p, "unknown escape in a string");
        else if ((r = unicode_escape(p, out, &n)) < 0)
            return r;
    }
    p->at++;
    out[n] = '\0';
    *ret = (struct str){out, n};
    return 0;
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
        return fail(p, "not a number");
    s = (struct str){p->text.p + p->at, end - p->at};
    if (s.n > MAX_NUMBER_BYTES)
        return fail(p, "a number with too many digits");
    if (integer && str_to_i64(s, &i) == 0) {
        *ret = jsn_int(p->a, i);
    } else {
        memcpy(text, s.p, s.n);
        text[s.n] = '\0';
        d = strtod(text, NULL);
        if (!isfinite(d))
            return fail(p, "a number that is too large");
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
            return fail(p, "expected ',' or ']' behind an array item");
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
        return fail(p, "expected a key in double quotes");
    r = parse_string(p, &here.key);
    if (r < 0)
        return r;
    if (peek(p) != ':')
        return fail(p, "expected ':' behind a key");
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
            return fail(p, "expected ',' or '}' behind an object member");
        p->at++;
    } while (c == ',');
    *ret = object;
    return 0;
}

static int parse_word(struct parser *p, const char *word, struct jsn *value, struct jsn **ret)
{
    size_t n = strlen(word);

    if (p->text.n - p->at < n || memcmp(p->text.p + p->at, word, n) != 0)
        return fail(p, "expected a value");
    p->at += n;
    *ret = value;
    return 0;
}

static int parse_nested(struct parser *p, const struct step *up, int c, struct jsn **ret)
{
    int r;

    if (p->depth >= JSN_MAX_DEPTH)
        return fail(p, "exceeded max depth");
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
        return fail(p, "the text ends where a value is expected");
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
        return fail(p, "expected a value");
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
        return fail(&p, "unexpected text behind the value");
    *ret_value = value;
    return 0;
}
