/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Validation by combinations of schemas: anyOf, oneOf, allOf, not.
 *
 * When no alternative of an anyOf or oneOf holds, the faults of the one that came nearest are
 * shown: the one with most checks that held, the first of equals.  That choice and the counting
 * after it are Kubernetes', so that the same alternative is named.
 */
#include <stdio.h>

#include "src/json/structural_check.h"

static struct check_result try(struct checker *k, const struct schema *s, const struct jsn *v)
{
    struct check_result r = {.faults = {.arena = k->arena}};

    check_value(k, s, v, &r);
    return r;
}

static void check_any_of(struct checker *k, const struct schema *s, const struct jsn *v,
                         struct check_result *r)
{
    struct check_result best = {0};

    for (const struct schema **one = s->any_of; *one; one++) {
        struct check_result now = try(k, *one, v);

        if (!check_failed(&now)) {
            r->matches += now.matches;
            return;
        }
        if (one == s->any_of || now.matches > best.matches)
            best = now;
    }
    check_composite(k, r, "must validate at least one schema (anyOf)");
    check_merge(r, &best);
}

static void check_one_of(struct checker *k, const struct schema *s, const struct jsn *v,
                         struct check_result *r)
{
    struct check_result best = {0}, first_good = {0};
    size_t good = 0;
    char text[96];

    for (const struct schema **one = s->one_of; *one; one++) {
        struct check_result now = try(k, *one, v);

        if (!check_failed(&now)) {
            if (good++ == 0)
                first_good = now;
        } else if (good == 0 && (!check_failed(&best) || now.matches > best.matches)) {
            best = now;
        }
    }
    if (good == 1) {
        r->matches += first_good.matches;
        return;
    }
    if (good == 0)
        (void)snprintf(text, sizeof(text),
                       "must validate one and only one schema (oneOf). Found none valid");
    else
        (void)snprintf(
            text, sizeof(text),
            "must validate one and only one schema (oneOf). Found %zu valid alternatives", good);
    check_composite(k, r, text);
    if (good == 0)
        check_merge(r, &best);
}

static void check_all_of(struct checker *k, const struct schema *s, const struct jsn *v,
                         struct check_result *r)
{
    size_t n = 0, good = 0;

    for (const struct schema **one = s->all_of; *one; one++, n++) {
        struct check_result now = try(k, *one, v);

        good += !check_failed(&now);
        check_merge(r, &now);
    }
    if (good < n)
        check_composite(k, r,
                        good ? "must validate all the schemas (allOf)"
                             : "must validate all the schemas (allOf). None validated");
}

void check_combinations(struct checker *k, const struct schema *s, const struct jsn *v,
                        struct check_result *r)
{
    if (s->any_of && *s->any_of)
        check_any_of(k, s, v, r);
    if (s->one_of && *s->one_of)
        check_one_of(k, s, v, r);
    if (s->all_of && *s->all_of)
        check_all_of(k, s, v, r);
    if (s->not_schema) {
        struct check_result now = try(k, s->not_schema, v);

        if (!check_failed(&now))
            check_composite(k, r, "must not validate the schema (not)");
    }
    r->matches++;
}
