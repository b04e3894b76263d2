/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON values to YAML text.
 *
 * Block style in the layout that kubectl prints: sequences start in the column of their key, empty
 * collections are [] and {}, text of several lines becomes a | block.  A string stays plain when
 * every reader, YAML 1.1 or 1.2, takes it for that very string; when in doubt it is quoted in
 * double quotes, which can hold anything.  What is printed here reads back as an equal value.
 */
#include "src/json/yaml.h"
#include "src/json/yaml_scalar.h"

/* Longer keys need the explicit form: readers look only that far for the colon. */
#define MAX_SIMPLE_KEY 120

/* Length of the character at p if YAML may show it as it is, else 0.  The text is valid UTF-8. */
static size_t printable(const unsigned char *p)
{
    if (p[0] < 0x80)
        return (p[0] >= 0x20 && p[0] != 0x7F) ? 1 : 0;
    if (p[0] < 0xE0) /* U+0080..9F are controls, U+00A0.. are not */
        return p[0] == 0xC2 && p[1] < 0xA0 ? 0 : 2;
    if (p[0] == 0xE2 && p[1] == 0x80 && (p[2] == 0xA8 || p[2] == 0xA9)) /* line separators */
        return 0;
    if (p[0] == 0xEF && p[1] == 0xBB && p[2] == 0xBF) /* byte order mark */
        return 0;
    if (p[0] == 0xEF && p[1] == 0xBF && p[2] >= 0xBE) /* U+FFFE, U+FFFF */
        return 0;
    return p[0] < 0xF0 ? 3 : 4;
}

static bool all_printable(struct str s, const char *also)
{
    for (size_t i = 0; i < s.n;) {
        size_t n = printable((const unsigned char *)s.p + i);

        if (n == 0 && (s.p[i] == '\0' || !strchr(also, s.p[i])))
            return false;
        i += n ? n : 1;
    }
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A date, or a number in base 60: strings here, but not to every reader. */
static bool looks_like_time(struct str s)
{
    size_t digits = 0;

    if (s.n && (s.p[0] == '-' || s.p[0] == '+'))
        s = (struct str){s.p + 1, s.n - 1};
    while (digits < s.n && (is_digit(s.p[digits]) || s.p[digits] == '_'))
        digits++;
    return digits > 0 && digits < s.n &&
           (s.p[digits] == ':' || (digits == 4 && s.p[digits] == '-'));
}

static bool first_is_plain(struct str s)
{
    if (strchr(",[]{}#&*!|>'\"%@`=<", s.p[0]))
        return false;
    if (strchr("-?:", s.p[0]))
        return s.n > 1 && s.p[0] == '-' && s.p[1] != ' ' && !str_starts(s, "---");
    return !str_starts(s, "...");
}

/* No ": " and no " #" inside, no colon and no blank at the end. */
static bool inner_is_plain(struct str s)
{
    if (s.p[0] == ' ' || s.p[s.n - 1] == ' ' || s.p[s.n - 1] == ':')
        return false;
    for (size_t i = 0; i + 1 < s.n; i++)
        if ((s.p[i] == ':' && s.p[i + 1] == ' ') || (s.p[i] == ' ' && s.p[i + 1] == '#'))
            return false;
    return true;
}

static bool is_plain(struct str s)
{
    return s.n && all_printable(s, "") && first_is_plain(s) && inner_is_plain(s) &&
           yaml_resolve(s).kind == YAML_STRING && !looks_like_time(s);
}

/* Code point of the character at p, and how many bytes it takes. */
static uint32_t code_point(const unsigned char *p, size_t *ret_n)
{
    if (p[0] < 0x80) {
        *ret_n = 1;
        return p[0];
    }
    if (p[0] < 0xE0) {
        *ret_n = 2;
        return (uint32_t)(p[0] & 0x1F) << 6 | (p[1] & 0x3F);
    }
    *ret_n = 3;
    return (uint32_t)(p[0] & 0x0F) << 12 | (uint32_t)(p[1] & 0x3F) << 6 | (p[2] & 0x3F);
}

/* The letter of a one-letter escape, or 0. */
static char short_escape(unsigned char c)
{
    static const char from[] = "\"\\\n\t\r\b\f";
    static const char to[] = "\"\\ntrbf";
    const char *at = c ? strchr(from, c) : NULL;

    if (!at)
        return '\0';
    return to[at - from];
}

static void print_quoted(struct buf *b, struct str s)
{
    buf_addc(b, '"');
    for (size_t i = 0; i < s.n;) {
        const unsigned char *p = (const unsigned char *)s.p + i;
        size_t n = printable(p);

        if (short_escape(p[0])) {
            buf_printf(b, "\\%c", short_escape(p[0]));
            n = 1;
        } else if (n) {
            buf_add(b, p, n);
        } else {
            uint32_t c = code_point(p, &n);

            if (c < 0x100)
                buf_printf(b, "\\x%02X", c);
            else
                buf_printf(b, "\\u%04X", c);
        }
        i += n;
    }
    buf_addc(b, '"');
}

/* Can a | block hold it?  Blanks at the very start would hide how deep it is indented. */
static bool is_block(struct str s)
{
    return s.n > 1 && memchr(s.p, '\n', s.n) && !strchr(" \t\n", s.p[0]) &&
           all_printable(s, "\n\t");
}

static void print_block(struct buf *b, struct str s, int indent)
{
    size_t breaks = 0;
    struct str line;

    while (breaks < s.n && s.p[s.n - 1 - breaks] == '\n')
        breaks++;
    buf_adds(b, breaks == 0 ? "|-" : breaks == 1 ? "|" : "|+");
    s.n -= breaks ? 1 : 0;
    while (str_split(&s, '\n', &line))
        if (line.n)
            buf_printf(b, "\n%*s" STR_FMT, indent, "", STR_ARG(line));
        else
            buf_addc(b, '\n');
}

static void print_string(struct buf *b, struct str s, int indent)
{
    if (is_plain(s))
        buf_addstr(b, s);
    else if (is_block(s))
        print_block(b, s, indent);
    else
        print_quoted(b, s);
}

static void print_node(struct buf *b, const struct jsn *v, int indent);

static bool is_collection(const struct jsn *v)
{
    return jsn_len(v) > 0;
}

static void print_key(struct buf *b, struct str key, int indent)
{
    if (key.n > MAX_SIMPLE_KEY)
        buf_adds(b, "? ");
    if (is_plain(key))
        buf_addstr(b, key);
    else
        print_quoted(b, key);
    if (key.n > MAX_SIMPLE_KEY)
        buf_printf(b, "\n%*s", indent, "");
    buf_addc(b, ':');
}

/* The cursor stands where the first key goes; the others go to `indent`. */
static void print_object(struct buf *b, const struct jsn *v, int indent)
{
    for (size_t i = 0; i < v->o.n; i++) {
        const struct jsn *value = v->o.members[i].value;
        int inner;

        if (i > 0)
            buf_printf(b, "\n%*s", indent, "");
        print_key(b, v->o.members[i].key, indent);
        inner = indent + (jsn_is(value, JSN_ARRAY) ? 0 : 2);
        if (is_collection(value))
            buf_printf(b, "\n%*s", inner, "");
        else
            buf_addc(b, ' ');
        print_node(b, value, inner);
    }
}

static void print_array(struct buf *b, const struct jsn *v, int indent)
{
    for (size_t i = 0; i < v->a.n; i++) {
        if (i > 0)
            buf_printf(b, "\n%*s", indent, "");
        buf_adds(b, "- ");
        print_node(b, v->a.items[i], indent + 2);
    }
}

static void print_node(struct buf *b, const struct jsn *v, int indent)
{
    if (v->type == JSN_STRING)
        print_string(b, v->s, indent);
    else if (!is_collection(v))
        jsn_print(b, v);
    else if (v->type == JSN_OBJECT)
        print_object(b, v, indent);
    else
        print_array(b, v, indent);
}

void yaml_print(struct buf *b, const struct jsn *v)
{
    print_node(b, v, jsn_is(v, JSN_STRING) ? 2 : 0);
    buf_addc(b, '\n');
}
