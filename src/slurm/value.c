/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values by kind.
 *
 * Each kind has a check (with a sentence that says what is allowed) and a normal form: 24:00:00,
 * 1-00:00:00 and 1440 all become 1-00:00:00, "b,a" and "a,b" become "a,b", n[1-2] and n2,n1 become
 * n[1-2].  Two values mean the same if their normal forms are equal, so comparing configurations
 * needs no code per key.
 *
 * A value that fails its check has itself as normal form: it differs from every good one.
 */
#include "src/slurm/value.h"

#include <ctype.h>
#include <stdlib.h>

#include "src/base/alloc.h"
#include "src/slurm/hostset.h"
#include "src/slurm/value_impl.h"

static int number_of(enum value_kind kind, struct str value, uint64_t *ret)
{
    uint64_t seconds;
    int r;

    switch ((unsigned)kind) {
    case VALUE_U16:
        return value_parse_number(value, UINT16_MAX, false, ret);
    case VALUE_U32:
        return value_parse_number(value, UINT32_MAX, true, ret);
    case VALUE_U64:
        return value_parse_number(value, UINT64_MAX, true, ret);
    case VALUE_OVERTIME:
        return value_parse_number(value, UINT16_MAX, false, ret);
    case VALUE_SUSPEND:
        if (str_eq_nocase(value, STR("NONE")) || str_eq(value, STR("-1"))) {
            *ret = VALUE_INFINITE;
            return 0;
        }
        return value_parse_number(value, UINT32_MAX, false, ret);
    case VALUE_SECONDS:
        return value_parse_time(value, ret);
    case VALUE_MINUTES:
        r = value_parse_time(value, &seconds);
        if (r == 0)
            *ret = seconds == VALUE_INFINITE ? seconds : (seconds + 59) / 60;
        return r;
    default:
        return -EOPNOTSUPP;
    }
}

int value_number(struct value_type type, struct str value, uint64_t *ret_number)
{
    static const char yes_no[] = "NO YES:1 UP:1 TRUE:1 1 DOWN:NO FALSE:NO 0:NO";
    struct choice c;

    switch ((unsigned)type.kind) {
    case VALUE_BOOL:
        if (!choice_find(yes_no, value, 0, &c))
            return -EINVAL;
        *ret_number = str_eqz(c.means, "1") ? 1 : 0;
        return 0;
    case VALUE_SHARE:
        return value_parse_share(value, ret_number);
    case VALUE_PREEMPT:
        return value_parse_preempt(value, ret_number);
    case VALUE_LOGLEVEL:
        return value_parse_loglevel(value, ret_number);
    case VALUE_ENUM:
        if (!choice_find(type.choices, value, 0, &c) ||
            (c.means.p != c.word.p && !choice_find(type.choices, c.means, 0, &c)))
            return -EINVAL;
        *ret_number = c.index;
        return 0;
    case VALUE_PREFIX:
        if (!choice_find_prefix(type.choices, value, &c))
            return -EINVAL;
        *ret_number = c.index;
        return 0;
    default:
        return number_of(type.kind, value, ret_number);
    }
}

static void choice_print(const char *choices, uint64_t index, struct buf *out)
{
    struct str rest = str_of(choices);
    struct choice c = {0};

    while (choice_next(&rest, &c))
        if (c.index == index) {
            buf_addstr(out, c.word);
            return;
        }
    buf_printf(out, "%llu", (unsigned long long)index);
}

void value_print(struct value_type type, uint64_t number, struct buf *out)
{
    switch ((unsigned)type.kind) {
    case VALUE_BOOL:
        buf_adds(out, number ? "YES" : "NO");
        return;
    case VALUE_SHARE:
        value_print_share(number, out);
        return;
    case VALUE_PREEMPT:
        value_print_preempt(number, out);
        return;
    case VALUE_ENUM:
    case VALUE_PREFIX:
        choice_print(type.choices, number, out);
        return;
    case VALUE_MINUTES:
        value_print_time(number == VALUE_INFINITE ? number : number * 60, out);
        return;
    case VALUE_SECONDS:
        value_print_time(number, out);
        return;
    default:
        if (number == VALUE_INFINITE)
            buf_adds(out, "UNLIMITED");
        else
            buf_printf(out, "%llu", (unsigned long long)number);
    }
}

static int item_cmp(const void *pa, const void *pb)
{
    const struct str *a = pa;
    const struct str *b = pb;

    return str_cmp(*a, *b);
}

/* Items between commas, trimmed, sorted, each once; `lower` drops their case. */
static void items_normal(struct str value, bool lower, struct buf *out)
{
    AUTO(free) char *copy = str_dup(value);
    AUTO(free) struct str *items = NULL;
    struct str rest = {copy, value.n};
    struct str item;
    size_t n = 0;
    size_t cap = 0;

    for (char *c = copy; lower && *c; c++)
        *c = (char)tolower((unsigned char)*c);
    while (str_split(&rest, ',', &item)) {
        item = str_trim(item);
        if (item.n == 0)
            continue;
        array_reserve(&items, &cap, n + 1, sizeof(*items));
        items[n++] = item;
    }
    if (n > 1)
        qsort(items, n, sizeof(*items), item_cmp);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && str_eq(items[i - 1], items[i]))
            continue;
        if (i > 0)
            buf_addc(out, ',');
        buf_addstr(out, items[i]);
    }
}

static void hosts_normal(struct str value, struct buf *out)
{
    AUTO(hostset_free) struct host_set *set = NULL;

    if (hostset_parse(value, &set, NULL) < 0)
        buf_addstr(out, value);
    else
        hostset_print(set, out);
}

static void lower_add(struct str value, struct buf *out)
{
    for (size_t i = 0; i < value.n; i++)
        buf_addc(out, (char)tolower((unsigned char)value.p[i]));
}

static void float_normal(struct str value, struct buf *out)
{
    AUTO(free) char *text = str_dup(value);
    char *end;
    double v = strtod(text, &end);

    if (end == text || *end)
        buf_addstr(out, value);
    else
        buf_printf(out, "%g", v);
}

/* "name" and "name(name)" are the same. */
static void hostaddr_normal(struct str value, struct buf *out)
{
    struct str name = {value.p, str_find(value, '(')};

    if (value.n == 2 * name.n + 2 && value.p[value.n - 1] == ')' &&
        str_eq(name, (struct str){value.p + name.n + 1, name.n}))
        buf_addstr(out, name);
    else
        buf_addstr(out, value);
}

void value_normal(struct value_type type, struct str value, struct buf *out)
{
    uint64_t number;

    switch ((unsigned)type.kind) {
    case VALUE_WORD:
    case VALUE_PLUGIN:
    case VALUE_PLUGINS:
        lower_add(value, out);
        return;
    case VALUE_OPTIONS:
        items_normal(value, false, out);
        return;
    case VALUE_NAMES:
    case VALUE_WEIGHTS:
    case VALUE_FLAGS:
        items_normal(value, true, out);
        return;
    case VALUE_HOSTS:
        hosts_normal(value, out);
        return;
    case VALUE_NODES:
        if (str_eq_nocase(value, STR("ALL")))
            buf_adds(out, "ALL");
        else
            hosts_normal(value, out);
        return;
    case VALUE_FLOAT:
        float_normal(value, out);
        return;
    case VALUE_HOSTADDR:
        hostaddr_normal(value, out);
        return;
    default:
        if (value_number(type, value, &number) == 0)
            value_print(type, number, out);
        else
            buf_addstr(out, value);
    }
}

bool value_same(struct value_type type, struct str a, struct str b)
{
    AUTO(buf_done) struct buf na = {0};
    AUTO(buf_done) struct buf nb = {0};

    if (str_eq(a, b))
        return true;
    value_normal(type, a, &na);
    value_normal(type, b, &nb);
    return str_eq(buf_view(&na), buf_view(&nb));
}
