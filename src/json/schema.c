/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looking things up in schemas.
 *
 * Property lists are short (a few dozen names at most), so that a scan in declaration order is
 * enough; declaration order is also what documents made from a schema show.
 */
#include "src/json/schema.h"

void schema_init(struct schema *s, enum schema_type type)
{
    *s = (struct schema){.type = type,
                         .min_length = -1,
                         .max_length = -1,
                         .min_items = -1,
                         .max_items = -1,
                         .min_properties = -1,
                         .max_properties = -1};
}

const struct schema_property *schema_property(const struct schema *s, struct str name)
{
    if (!s)
        return NULL;
    for (size_t i = 0; i < s->n_properties; i++)
        if (str_eq(s->properties[i].name, name))
            return &s->properties[i];
    return NULL;
}

const struct schema *schema_member(const struct schema *s, struct str name)
{
    const struct schema_property *p = schema_property(s, name);

    if (p)
        return p->schema;
    return s ? s->additional : NULL;
}
