/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Label keys and label values.
 *
 * A key is a name of at most 63 characters, with an optional DNS subdomain and a slash before it; a
 * value is empty or has the form of such a name.  Who writes a selector by hand meets these
 * sentences, so they are those of kube-apiserver.
 */
#include "src/json/selector_names.h"

#include "src/json/jsn.h"

#define NAME_RULE                                                                                  \
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "    \
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "         \
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
#define SUBDOMAIN_RULE                                                                             \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "   \
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "  \
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
#define VALUE_RULE                                                                                 \
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "    \
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value', " \
    " or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

#define MAX_NAME 63
#define MAX_SUBDOMAIN 253

static bool is_lower_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alnum(char c)
{
    return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

static bool name_form(struct str s)
{
    if (s.n == 0 || !is_alnum(s.p[0]) || !is_alnum(s.p[s.n - 1]))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!is_alnum(s.p[i]) && s.p[i] != '-' && s.p[i] != '_' && s.p[i] != '.')
            return false;
    return true;
}

static bool subdomain_form(struct str s)
{
    struct str label;

    while (str_split(&s, '.', &label)) {
        if (label.n == 0 || !is_lower_alnum(label.p[0]) || !is_lower_alnum(label.p[label.n - 1]))
            return false;
        for (size_t i = 0; i < label.n; i++)
            if (!is_lower_alnum(label.p[i]) && label.p[i] != '-')
                return false;
    }
    return true;
}

/* Append one fault of a list that starts with its value. */
static void fault(struct buf *b, size_t *n, const char *what)
{
    buf_adds(b, (*n)++ ? "; " : "");
    buf_adds(b, what);
}

static void prefix_faults(struct buf *b, size_t *n, struct str prefix)
{
    if (prefix.n == 0) {
        fault(b, n, "prefix part must be non-empty");
        return;
    }
    if (prefix.n > MAX_SUBDOMAIN)
        fault(b, n, "prefix part must be no more than 253 characters");
    if (!subdomain_form(prefix))
        fault(b, n, "prefix part " SUBDOMAIN_RULE);
}

static void key_faults(struct buf *b, size_t *n, struct str key)
{
    size_t slash = str_find(key, '/');
    struct str name = key;

    if (slash < key.n) {
        name = (struct str){key.p + slash + 1, key.n - slash - 1};
        if (str_find(name, '/') < name.n) {
            fault(b, n,
                  "a qualified name " NAME_RULE " with an optional DNS subdomain prefix and "
                  "'/' (e.g. 'example.com/MyName')");
            return;
        }
        prefix_faults(b, n, (struct str){key.p, slash});
    }
    if (name.n == 0)
        fault(b, n, "name part must be non-empty");
    else if (name.n > MAX_NAME)
        fault(b, n, "name part must be no more than 63 characters");
    if (!name_form(name))
        fault(b, n, "name part " NAME_RULE);
}

size_t selector_key_faults(struct buf *b, const char *path, struct str key)
{
    AUTO(buf_done) struct buf why = {0};
    size_t n = 0;

    key_faults(&why, &n, key);
    if (n == 0)
        return 0;
    buf_printf(b, "%s: Invalid value: ", path);
    jsn_print_string(b, key);
    buf_printf(b, ": %s", buf_str(&why));
    return 1;
}

bool selector_value_good(struct str value)
{
    return value.n <= MAX_NAME && (value.n == 0 || name_form(value));
}

void selector_value_fault(struct buf *b, size_t i, struct str key, struct str value)
{
    size_t n = 0;

    buf_printf(b, "values[%zu][" STR_FMT "]: Invalid value: ", i, STR_ARG(key));
    jsn_print_string(b, value);
    buf_adds(b, ": ");
    if (value.n > MAX_NAME)
        fault(b, &n, "must be no more than 63 characters");
    if (value.n && !name_form(value))
        fault(b, &n, VALUE_RULE);
}

static int compare_str(const void *x, const void *y)
{
    return str_cmp(*(const struct str *)x, *(const struct str *)y);
}

struct str *selector_value_set(struct arena *a, const struct str *values, size_t *n)
{
    struct str *set = arena_calloc(a, *n + 1, sizeof(*set));
    size_t kept = 0;

    for (size_t i = 0; i < *n; i++)
        set[i] = values[i];
    qsort(set, *n, sizeof(*set), compare_str);
    for (size_t i = 0; i < *n; i++)
        if (kept == 0 || !str_eq(set[kept - 1], set[i]))
            set[kept++] = set[i];
    *n = kept;
    return set;
}
