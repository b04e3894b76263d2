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
#include "src/json/names.h"

/* The value and what is wrong with it. */
static void faults_print(struct buf *b, enum name_form form, struct str value)
{
    struct name_faults f = names_check(form, value);

    jsn_print_string(b, value);
    for (size_t i = 0; i < f.n; i++)
        buf_printf(b, "%s%s", i ? "; " : ": ", f.text[i]);
}

size_t selector_key_faults(struct buf *b, const char *path, struct str key)
{
    if (names_check(FORM_QUALIFIED, key).n == 0)
        return 0;
    buf_printf(b, "%s: Invalid value: ", path);
    faults_print(b, FORM_QUALIFIED, key);
    return 1;
}

bool selector_value_good(struct str value)
{
    return names_check(FORM_LABEL_VALUE, value).n == 0;
}

void selector_value_fault(struct buf *b, size_t i, struct str key, struct str value)
{
    buf_printf(b, "values[%zu][" STR_FMT "]: Invalid value: ", i, STR_ARG(key));
    faults_print(b, FORM_LABEL_VALUE, value);
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
