/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declarations.  The files may be megabytes: only who keeps them reads them.
 */
#include "src/wire/declaration.h"

#include "src/wire/version.h"

static const char *const policies[] = {"Report", "Revert", NULL};

static const struct jsn_field fields[] = {
    {"declared", JSN_STR, offsetof(struct wire_declaration, declared), 0},
    {"generation", JSN_I64, offsetof(struct wire_declaration, generation), 0},
    {"driftPolicy", JSN_ENUM, offsetof(struct wire_declaration, drift_policy), 0,
     .def = "\"Report\"", .names = policies},
    {"inPlace", JSN_FLAG, offsetof(struct wire_declaration, in_place), 0, .def = "true"},
    JSN_END,
};

static bool is_known(const char *key)
{
    static const char *const others[] = {WIRE_KEY, "files", "modes"};

    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (streq(key, others[i]))
            return true;
    for (const struct jsn_field *f = fields; f->path; f++)
        if (streq(key, f->path))
            return true;
    return false;
}

int wire_declaration_decode(struct arena *a, const struct jsn *v, struct wire_declaration *ret,
                            struct err *e)
{
    struct wire_declaration d = {0};
    int r = wire_version_check(v, "operator", "agent", e);

    if (r < 0)
        return r;
    JSN_FOR_MEMBERS (m, v)
        if (!is_known(m->key.p))
            return err_bad(e, "%s: is not known to this agent, and would have no effect", m->key.p);
    r = fields_decode(a, fields, v, &d, e);
    if (r == 0)
        *ret = d;
    return r;
}

struct jsn *wire_declaration_seal(struct arena *a, const struct jsn *body, int64_t generation)
{
    struct jsn *copy = jsn_object(a);

    jsn_set_int(a, copy, WIRE_KEY, WIRE_VERSION);
    jsn_set_int(a, copy, "generation", generation);
    JSN_FOR_MEMBERS (m, body)
        jsn_set_member(a, copy, m->key, m->value);
    return copy;
}
