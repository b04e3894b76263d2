/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Forms of names.
 *
 * The API server checks metadata.name itself; here are the names that stand inside of specs, and
 * those that are made from others.  Sentences say what is allowed, so that nobody has to look it
 * up.
 */
#include "src/api/names.h"

#include <ctype.h>

#include "src/json/jsn.h"
#include "src/json/names.h"

#define LOWER "abcdefghijklmnopqrstuvwxyz0123456789"

static bool has_only(struct str s, const char *chars)
{
    for (size_t i = 0; i < s.n; i++)
        if (!strchr(chars, s.p[i]))
            return false;
    return true;
}

const char *name_label_fault(struct str name)
{
    if (names_check(FORM_DNS_LABEL, name).n == 0)
        return NULL;
    if (name.n == 0 || name.n > 63)
        return "must have 1 to 63 characters";
    if (!has_only(name, LOWER "-"))
        return "may hold only a-z, 0-9 and '-'";
    return "must begin and end with a letter or digit";
}

const char *name_subdomain_fault(struct str name)
{
    if (names_check(FORM_DNS_SUBDOMAIN, name).n == 0)
        return NULL;
    if (name.n == 0 || name.n > 253)
        return "must have 1 to 253 characters";
    if (!has_only(name, LOWER "-."))
        return "may hold only a-z, 0-9, '-' and '.'";
    return "must begin and end with a letter or digit, also around each '.'";
}

const char *name_prefix_fault(struct str name)
{
    while (name.n > 1 && name.p[name.n - 1] == '-')
        name.n--;
    return name_label_fault(name);
}

const char *name_word_fault(struct str name)
{
    if (name.n == 0)
        return "is empty";
    for (size_t i = 0; i < name.n; i++)
        if (!isalnum((unsigned char)name.p[i]) && !strchr("-_.", name.p[i]))
            return "may hold only letters, digits, '-', '_' and '.'";
    return NULL;
}

const char *name_key_fault(struct str name)
{
    if (names_check(FORM_CONFIG_KEY, name).n == 0)
        return NULL;
    if (name.n > 253)
        return "must have 1 to 253 characters";
    if (name_word_fault(name))
        return name_word_fault(name);
    return "may not be '.' or begin with '..'";
}

const char *name_cluster_fault(struct str name)
{
    const char *fault = name_word_fault(name);

    if (fault)
        return fault;
    if (name.p[0] == '.' || name.p[0] == '-')
        return "must begin with a letter, a digit or '_'";
    return NULL;
}

const char *name_shown(struct api_problems *p, const char *name)
{
    AUTO(buf_done) struct buf b = {0};

    jsn_print_string(&b, str_of(name ? name : ""));
    return arena_strdup(p->arena, buf_str(&b));
}

void name_check_ref(struct api_problems *p, const char *field, const char *name)
{
    const char *fault;

    if (!name || !name[0]) {
        api_problem_add(p, API_REQUIRED, field, "must name an object of this namespace");
        return;
    }
    fault = name_subdomain_fault(str_of(name));
    if (fault)
        api_problem_value(p, API_INVALID, field, name_shown(p, name), "a name %s", fault);
}

void name_check_key_ref(struct api_problems *p, const char *field, const struct api_key_ref *ref)
{
    const char *fault;

    if (!ref)
        return;
    name_check_ref(p, api_problem_path(p, "%s.name", field), ref->name);
    fault = name_key_fault(str_of(ref->key));
    if (fault)
        api_problem_value(p, API_INVALID, api_problem_path(p, "%s.key", field),
                          name_shown(p, ref->key), "a key %s", fault);
}

void name_check_needed(struct api_problems *p, const char *field, const struct api_key_ref *ref)
{
    if (ref && ref->optional)
        api_problem_add(p, API_WARNING, api_problem_path(p, "%s.optional", field),
                        "is not used: nothing goes on before it is there");
}
