/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Defaults in the schema of a definition: each must be what the schema it stands in allows.
 *
 * A default with unknown fields would be pruned right after it was filled in, and one that does not
 * validate would make every object without the field invalid; both are refused here, where their
 * author sees it.  Defaults below additionalProperties never apply and are not looked at.
 */
#include "src/cluster/apiserver/crd/definition.h"
#include "src/json/pattern.h"
#include "src/json/schema_openapi.h"
#include "src/json/structural.h"

static void check_default(struct causes *cs, const struct place *at, const struct schema *s,
                          const struct structural *how)
{
    struct place preset = place_key(at, "default");
    struct jsn *pruned = jsn_clone(cs->arena, s->default_value);
    struct schema_faults f = {.arena = cs->arena};
    const char *path = place_text(cs, &preset);

    schema_prune_value(how, pruned, s);
    if (!jsn_equal(pruned, s->default_value)) {
        AUTO(buf_done) struct buf b = {0};

        schema_print_go(&b, s->default_value);
        place_invalid_text(cs, &preset, buf_str(&b), "must not have unknown fields");
    }
    schema_validate(how, s, s->default_value, path, false, &f);
    for (size_t i = 0; i < f.n; i++)
        cause_add(cs, f.items[i].reason, f.items[i].field, "%s", f.items[i].text);
}

static void walk(struct causes *cs, const struct place *at, const struct schema *s,
                 const struct structural *how)
{
    struct place items = place_key(at, "items");
    struct place properties = place_key(at, "properties");

    if (s->default_value && s->default_value->type != JSN_NULL)
        check_default(cs, at, s, how);
    if (s->items)
        walk(cs, &items, s->items, how);
    for (size_t i = 0; i < s->n_properties; i++) {
        struct place p = {.in = &properties,
                          .entry = s->properties[i].name.p,
                          .value = jsn_member(properties.value, s->properties[i].name)};

        walk(cs, &p, s->properties[i].schema, how);
    }
}

int definition_check_defaults(struct causes *cs, const struct place *schema, struct err *e)
{
    AUTO(pattern_cache_free) struct pattern_cache *patterns = pattern_cache_new();
    const struct structural how = {.patterns = patterns};
    struct schema *s;
    int r = schema_from_openapi(cs->arena, schema->value, &s, e);

    if (r == 0)
        walk(cs, schema, s, &how);
    return r;
}
