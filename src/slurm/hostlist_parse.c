/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parse host list expressions.
 *
 * Text is a sequence of tokens separated by commas or blanks; brackets hide both.  A token is
 * literal text and up to HOSTLIST_MAX_BRACKETS brackets, each a comma-separated list of numbers and
 * ranges: `r[1-2]n[01-10]` means every combination.  The count is worked out before anything is
 * expanded, so that `n[0-9999999999]` or ten brackets cost nothing.
 *
 * Order is Slurm's: the last bracket varies fastest, and among the others the leftmost does.  Where
 * Slurm guesses (`n[1-3` becomes `n]`, a blank in brackets becomes padding), we refuse instead.
 */
#include "src/slurm/hostlist_impl.h"

#include <ctype.h>

#include "src/base/alloc.h"

struct number_range {
    uint64_t lo;
    uint64_t hi;
    unsigned width;
};

/* One bracket of a token and the literal text before it. */
struct bracket {
    struct str before;
    size_t first; /* into parser.numbers */
    size_t n;
    /* where expansion stands */
    size_t at;
    uint64_t value;
};

struct parser {
    struct str text; /* whole input, for columns */
    struct host_list *list;
    struct number_range *numbers;
    size_t n_numbers;
    size_t cap_numbers;
    struct bracket brackets[HOSTLIST_MAX_BRACKETS];
    size_t n_brackets;
    struct buf name;
    struct err *e;
};

static int fail(const struct parser *p, const char *at, const char *what)
{
    int shown = (int)MIN(p->text.n, (size_t)80);

    return err_bad(p->e, "host list '%.*s%s', column %zu: %s", shown, p->text.p,
                   p->text.n > 80 ? "..." : "", (size_t)(at - p->text.p) + 1, what);
}

static bool is_separator(char c)
{
    return c == ',' || c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static int number_parse(struct parser *p, struct str text, uint64_t *ret_number)
{
    const char *at = text.p;

    if (text.n == 0)
        return fail(p, at, "a number is missing");
    if (text.n > HOSTLIST_DIGITS)
        return fail(p, at, "the number has more than 18 digits");
    if (str_to_u64(text, ret_number) < 0)
        return fail(p, at, "only digits, '-' and ',' may stand between brackets");
    return 0;
}

/* "7", "001-003"; "7-" is 7, as Slurm takes it. */
static int range_parse(struct parser *p, struct str text)
{
    struct number_range range = {0};
    struct str lo = {text.p, str_find(text, '-')};
    int r;

    r = number_parse(p, lo, &range.lo);
    if (r < 0)
        return r;
    range.hi = range.lo;
    range.width = (unsigned)lo.n;
    if (lo.n + 1 < text.n) {
        r = number_parse(p, (struct str){text.p + lo.n + 1, text.n - lo.n - 1}, &range.hi);
        if (r < 0)
            return r;
    }
    if (range.lo > range.hi)
        return fail(p, text.p, "the range runs backwards");
    if (range.hi - range.lo >= HOSTLIST_MAX_RANGE)
        return fail(p, text.p, "the range has more than 65536 names");
    array_reserve(&p->numbers, &p->cap_numbers, p->n_numbers + 1, sizeof(*p->numbers));
    p->numbers[p->n_numbers++] = range;
    return 0;
}

static int bracket_parse(struct parser *p, struct str before, struct str inside)
{
    struct bracket *b;
    struct str part;
    int r;

    if (p->n_brackets == HOSTLIST_MAX_BRACKETS)
        return fail(p, inside.p - 1, "the name has more than 8 brackets");
    b = &p->brackets[p->n_brackets++];
    *b = (struct bracket){.before = before, .first = p->n_numbers};
    while (str_split(&inside, ',', &part)) {
        r = range_parse(p, part);
        if (r < 0)
            return r;
        b->n++;
    }
    return 0;
}

/* Start over with the first number of a bracket. */
static void bracket_rewind(const struct parser *p, struct bracket *b)
{
    assert(p->numbers);
    b->at = 0;
    b->value = p->numbers[b->first].lo;
}

/* Step to the next number; false after the last one (then it has been rewound). */
static bool bracket_step(const struct parser *p, struct bracket *b)
{
    if (b->value < p->numbers[b->first + b->at].hi) {
        b->value++;
        return true;
    }
    if (b->at + 1 < b->n) {
        b->at++;
        b->value = p->numbers[b->first + b->at].lo;
        return true;
    }
    bracket_rewind(p, b);
    return false;
}

static int names_count(struct parser *p, const char *at)
{
    uint64_t total = 1;

    for (size_t i = 0; i < p->n_brackets; i++) {
        const struct bracket *b = &p->brackets[i];
        uint64_t sum = 0;

        for (size_t k = b->first; k < b->first + b->n; k++)
            sum += p->numbers[k].hi - p->numbers[k].lo + 1;
        if (__builtin_mul_overflow(total, sum, &total) || total > HOSTLIST_MAX_NAMES)
            return fail(p, at, "the list has more than 1000000 names");
    }
    if (total > HOSTLIST_MAX_NAMES - p->list->count)
        return fail(p, at, "the list has more than 1000000 names");
    return 0;
}

/* Push what the last bracket gives after the prefix that stands in p->name. */
static void last_push(struct parser *p, const struct bracket *b, struct str suffix)
{
    size_t prefix_n = p->name.n;

    for (size_t k = b->first; k < b->first + b->n; k++) {
        struct number_range *range = &p->numbers[k];

        if (suffix.n == 0) {
            hostlist_push_range(p->list, &(struct host_range){.prefix = buf_str(&p->name),
                                                              .prefix_n = p->name.n,
                                                              .lo = range->lo,
                                                              .hi = range->hi,
                                                              .width = range->width});
            continue;
        }
        for (uint64_t v = range->lo; v <= range->hi; v++) {
            buf_printf(&p->name, "%0*llu", (int)range->width, (unsigned long long)v);
            buf_addstr(&p->name, suffix);
            hostlist_push(p->list, buf_view(&p->name));
            p->name.n = prefix_n;
        }
    }
}

/* Expand the brackets of one token; suffix is what stands after the last one. */
static int token_expand(struct parser *p, const char *at, struct str suffix)
{
    struct bracket *last = &p->brackets[p->n_brackets - 1];
    size_t i;
    int r;

    r = names_count(p, at);
    if (r < 0)
        return r;
    if (suffix.n > 0)
        p->list->suffixed = true;
    for (i = 0; i < p->n_brackets; i++)
        bracket_rewind(p, &p->brackets[i]);
    do {
        buf_clear(&p->name);
        for (struct bracket *b = p->brackets; b < last; b++) {
            buf_addstr(&p->name, b->before);
            buf_printf(&p->name, "%0*llu", (int)p->numbers[b->first + b->at].width,
                       (unsigned long long)b->value);
        }
        buf_addstr(&p->name, last->before);
        last_push(p, last, suffix);
        for (i = 0; i + 1 < p->n_brackets; i++)
            if (bracket_step(p, &p->brackets[i]))
                break;
    } while (i + 1 < p->n_brackets);
    return 0;
}

/* One token with its brackets; *at moves past it. */
static int token_parse(struct parser *p, const char **at, const char *end)
{
    const char *start = *at;
    const char *literal = start;
    const char *c = start;
    int r;

    p->n_brackets = 0;
    p->n_numbers = 0;
    while (c < end && !is_separator(*c)) {
        const char *close;

        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            return fail(p, c, "a control character cannot stand in a name");
        if (*c == ']')
            return fail(p, c, "']' closes no bracket");
        if (*c != '[') {
            c++;
            continue;
        }
        close = memchr(c, ']', (size_t)(end - c));
        if (!close)
            return fail(p, c, "the bracket is not closed");
        r = bracket_parse(p, (struct str){literal, (size_t)(c - literal)},
                          (struct str){c + 1, (size_t)(close - c - 1)});
        if (r < 0)
            return r;
        literal = c = close + 1;
    }
    *at = c;
    if (p->n_brackets > 0)
        return token_expand(p, start, (struct str){literal, (size_t)(c - literal)});
    if (p->list->count >= HOSTLIST_MAX_NAMES)
        return fail(p, start, "the list has more than 1000000 names");
    hostlist_push(p->list, (struct str){start, (size_t)(c - start)});
    return 0;
}

int hostlist_parse(struct str text, struct host_list **ret_list, struct err *e)
{
    AUTO(hostlist_free) struct host_list *list = hostlist_new();
    struct parser p = {.text = text, .list = list, .e = e};
    const char *at = text.n ? text.p : "";
    const char *end = at + text.n;
    int r = 0;

    if (text.n > HOSTLIST_MAX_BYTES)
        return err_bad(e, "host list of %zu bytes is too long", text.n);
    while (r == 0 && at < end) {
        if (is_separator(*at))
            at++;
        else
            r = token_parse(&p, &at, end);
    }
    free(p.numbers);
    buf_done(&p.name);
    if (r < 0)
        return r;
    *ret_list = TAKE(list);
    return 0;
}
