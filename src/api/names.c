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

#define LABEL_MAX 63
#define SUBDOMAIN_MAX 253

static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool has_only(struct str s, const char *also)
{
    for (size_t i = 0; i < s.n; i++)
        if (!is_alnum(s.p[i]) && !strchr(also, s.p[i]))
            return false;
    return true;
}

const char *name_label_fault(struct str name)
{
    if (name.n == 0 || name.n > LABEL_MAX)
        return "must have 1 to 63 characters";
    if (!has_only(name, "-"))
        return "may hold only a-z, 0-9 and '-'";
    if (!is_alnum(name.p[0]) || !is_alnum(name.p[name.n - 1]))
        return "must begin and end with a letter or digit";
    return NULL;
}

const char *name_subdomain_fault(struct str name)
{
    struct str rest = name;
    struct str part;

    if (name.n == 0 || name.n > SUBDOMAIN_MAX)
        return "must have 1 to 253 characters";
    if (!has_only(name, "-."))
        return "may hold only a-z, 0-9, '-' and '.'";
    while (str_split(&rest, '.', &part))
        if (part.n == 0 || !is_alnum(part.p[0]) || !is_alnum(part.p[part.n - 1]))
            return "must begin and end with a letter or digit, also around each '.'";
    return NULL;
}

const char *name_prefix_fault(struct str name)
{
    while (name.n > 1 && name.p[name.n - 1] == '-')
        name.n--;
    return name_label_fault(name);
}

const char *name_key_fault(struct str name)
{
    if (name.n == 0 || name.n > SUBDOMAIN_MAX)
        return "must have 1 to 253 characters";
    if (str_eqz(name, ".") || str_starts(name, ".."))
        return "may not be '.' or begin with '..'";
    for (size_t i = 0; i < name.n; i++)
        if (!isalnum((unsigned char)name.p[i]) && !strchr("-_.", name.p[i]))
            return "may hold only letters, digits, '-', '_' and '.'";
    return NULL;
}

const char *name_cluster_fault(struct str name)
{
    if (name.n == 0)
        return "is empty";
    for (size_t i = 0; i < name.n; i++)
        if (!isalnum((unsigned char)name.p[i]) && !strchr("-_.", name.p[i]))
            return "may hold only letters, digits, '-', '_' and '.'";
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
