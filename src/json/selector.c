/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Selectors: a list of requirements, checked as they are added, matched against labels or fields.
 *
 * Labels and fields share one form.  They differ in what is not there: a label that is missing
 * satisfies
 * != and notin but neither = nor in; a field that is missing counts as the empty string, which the
 * getter of the caller decides.
 */
#include "src/json/selector.h"

#include <stdio.h>

#include "src/json/selector_names.h"

/* How many values an operator takes; the sentence if they are not as many. */
static const char *count_fault(enum selector_op op, size_t n)
{
    switch (op) {
    case SELECTOR_IN:
    case SELECTOR_NOT_IN:
        return n ? NULL : "for 'in', 'notin' operators, values set can't be empty";
    case SELECTOR_EQUALS:
    case SELECTOR_DOUBLE_EQUALS:
    case SELECTOR_NOT_EQUALS:
        return n == 1 ? NULL : "exact-match compatibility requires one single value";
    case SELECTOR_EXISTS:
    case SELECTOR_NOT_EXISTS:
        return n == 0 ? NULL : "values set must be empty for exists and does not exist";
    case SELECTOR_GREATER:
    case SELECTOR_LESS:
        return n == 1 ? NULL : "for 'Gt', 'Lt' operators, exactly one value is required";
    }
    return NULL;
}

static void print_go_strings(struct buf *b, const struct str *values, size_t n)
{
    buf_adds(b, n ? "[]string{" : "[]string(nil)");
    for (size_t i = 0; i < n; i++) {
        buf_adds(b, i ? ", " : "");
        jsn_print_string(b, values[i]);
    }
    buf_adds(b, n ? "}" : "");
}

/* All that is wrong with a requirement, as one sentence or as "[one, two]". */
static void requirement_faults(struct str key, enum selector_op op, const struct str *values,
                               size_t n_values, struct buf *b)
{
    const char *count = count_fault(op, n_values);
    int64_t number;
    size_t faults = 0;

    faults += selector_key_faults(b, "key", key);
    if (count) {
        buf_adds(b, faults++ ? ", " : "");
        buf_adds(b, "values: Invalid value: ");
        print_go_strings(b, values, n_values);
        buf_printf(b, ": %s", count);
    }
    for (size_t i = 0; i < n_values && (op == SELECTOR_GREATER || op == SELECTOR_LESS); i++) {
        if (str_to_i64(values[i], &number) == 0)
            continue;
        buf_printf(b,
                   "%svalues[%zu]: Invalid value: \"" STR_FMT "\": for 'Gt', 'Lt' operators, the "
                   "value must be an integer",
                   faults++ ? ", " : "", i, STR_ARG(values[i]));
    }
    for (size_t i = 0; i < n_values; i++) {
        if (selector_value_good(values[i]))
            continue;
        buf_adds(b, faults++ ? ", " : "");
        selector_value_fault(b, i, key, values[i]);
    }
    if (faults > 1) {
        AUTO(free) char *list = buf_take(b);

        buf_printf(b, "[%s]", list);
    }
}

static int compare_requirements(const void *x, const void *y)
{
    const struct selector_requirement *a = x;
    const struct selector_requirement *b = y;

    return str_cmp(a->key, b->key);
}

void selector_sort(struct selector *s)
{
    if (s->n > 1)
        qsort(s->requirements, s->n, sizeof(*s->requirements), compare_requirements);
}

int selector_require(struct arena *a, struct selector *s, struct str key, enum selector_op op,
                     const struct str *values, size_t n_values, struct err *e)
{
    AUTO(buf_done) struct buf faults = {0};
    struct selector_requirement r = {.key = key, .op = op, .n_values = n_values};

    requirement_faults(key, op, values, n_values, &faults);
    if (faults.n)
        return err_bad(e, "%s", buf_str(&faults));
    r.values = selector_value_set(a, values, &r.n_values);
    arena_reserve(a, &s->requirements, &s->cap, s->n + 1, sizeof(*s->requirements));
    s->requirements[s->n++] = r;
    return 0;
}

static bool has_value(const struct selector_requirement *r, struct str value)
{
    for (size_t i = 0; i < r->n_values; i++)
        if (str_eq(r->values[i], value))
            return true;
    return false;
}

static bool compare_numbers(const struct selector_requirement *r, struct str value)
{
    int64_t have;
    int64_t limit;

    if (str_to_i64(value, &have) < 0 || str_to_i64(r->values[0], &limit) < 0)
        return false;
    return r->op == SELECTOR_GREATER ? have > limit : have < limit;
}

static bool requirement_match(const struct selector_requirement *r, struct str value)
{
    switch (r->op) {
    case SELECTOR_EQUALS:
    case SELECTOR_DOUBLE_EQUALS:
    case SELECTOR_IN:
        return value.p && has_value(r, value);
    case SELECTOR_NOT_EQUALS:
    case SELECTOR_NOT_IN:
        return !value.p || !has_value(r, value);
    case SELECTOR_EXISTS:
        return value.p != NULL;
    case SELECTOR_NOT_EXISTS:
        return value.p == NULL;
    case SELECTOR_GREATER:
    case SELECTOR_LESS:
        return value.p && compare_numbers(r, value);
    }
    return false;
}

bool selector_match(const struct selector *s, selector_get_fn get, const void *context)
{
    if (!s)
        return true;
    for (size_t i = 0; i < s->n; i++)
        if (!requirement_match(&s->requirements[i], get(context, s->requirements[i].key)))
            return false;
    return !s->nothing;
}

static struct str get_label(const void *labels, struct str key)
{
    const struct jsn *v = jsn_member(labels, key);

    return jsn_is(v, JSN_STRING) ? v->s : (struct str){0};
}

bool selector_match_labels(const struct selector *s, const struct jsn *labels)
{
    return selector_match(s, get_label, labels);
}

bool selector_exact(const struct selector *s, const char *key, struct str *ret_value)
{
    for (size_t i = 0; s && i < s->n; i++) {
        const struct selector_requirement *r = &s->requirements[i];

        if (!str_eqz(r->key, key) || r->n_values != 1)
            continue;
        if (r->op != SELECTOR_EQUALS && r->op != SELECTOR_DOUBLE_EQUALS && r->op != SELECTOR_IN)
            continue;
        *ret_value = r->values[0];
        return true;
    }
    return false;
}

void selector_print(struct buf *b, const struct selector *s)
{
    static const char *const signs[] = {
        [SELECTOR_EQUALS] = "=",    [SELECTOR_DOUBLE_EQUALS] = "==", [SELECTOR_NOT_EQUALS] = "!=",
        [SELECTOR_IN] = " in (",    [SELECTOR_NOT_IN] = " notin (",  [SELECTOR_EXISTS] = "",
        [SELECTOR_NOT_EXISTS] = "", [SELECTOR_GREATER] = ">",        [SELECTOR_LESS] = "<",
    };

    for (size_t i = 0; s && i < s->n; i++) {
        const struct selector_requirement *r = &s->requirements[i];

        buf_printf(b, "%s%s" STR_FMT "%s", i ? "," : "", r->op == SELECTOR_NOT_EXISTS ? "!" : "",
                   STR_ARG(r->key), signs[r->op]);
        for (size_t j = 0; j < r->n_values; j++) {
            buf_adds(b, j ? "," : "");
            buf_addstr(b, r->values[j]);
        }
        if (r->op == SELECTOR_IN || r->op == SELECTOR_NOT_IN)
            buf_addc(b, ')');
    }
}
