/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the type tables' reader, and of what the embedded tables say. */
#include "src/base/test/unit.h"

#include "src/base/clock.h"
#include "src/cluster/apiserver/types/table.h"

#define HEAD "group \"\" v1 core io.k8s.api.core.v1\n"
#define META                                                                                       \
    "group meta.k8s.io v1 meta io.k8s.meta\n"                                                      \
    "type ListMeta\n"                                                                              \
    "  continue string 3\n"                                                                        \
    "type ObjectMeta\n"                                                                            \
    "  name string 1\n"

static int read_one(struct arena *a, const char *text, struct table *t, struct err *e)
{
    const struct table_text texts[] = {{"t.types", text}, {0}};

    return table_read(a, texts, t, e);
}

static void the_embedded_tables_are_sound_and_read_fast(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(table_done) struct table t = {0};
    struct err e = {0};
    int64_t start = clock_mono_ns();
    int r = table_read(&a, table_texts, &t, &e);

    (void)state;
    if (r < 0)
        fail_msg("%s", e.text);
    /* A few milliseconds; the bound leaves room for sanitizers and busy machines. */
    assert_true(clock_mono_ns() - start < 500000000);
    assert_true(t.n_defs > 350);
    assert_true(t.n_resources >= 47);
}

static void mistakes_are_named_with_file_and_line(void **state)
{
    static const struct {
        const char *text;
        const char *error;
    } cases[] = {
        {"type A\n", "t.types line 1: a group line must come first"},
        {"group \"\" v1\n", "t.types line 1: group needs group, version, alias, prefix"},
        {HEAD "bogus\n", "t.types line 2: unknown word 'bogus'"},
        {HEAD "type A\ntype A\n", "t.types line 3: core.A is defined twice"},
        {HEAD "type\n", "t.types line 2: a type needs a name"},
        {HEAD "string\n", "t.types line 2: string needs a name"},
        {HEAD "type A big\n", "t.types line 2: unknown attribute 'big'"},
        {HEAD "type A\n  f string\n", "t.types line 3: a field needs name, type and number"},
        {HEAD "type A\n  f string x\n", "t.types line 3: 'x' is not a number"},
        {HEAD "type A\n  f string 1 what\n", "t.types line 3: unknown attribute 'what'"},
        {HEAD "type A\n  f string 1 what=1\n", "t.types line 3: unknown attribute 'what=1'"},
        {HEAD "type A\n  f string 1 \"open\n", "t.types line 3: a quote is not closed"},
        {HEAD "type A\n  f Nothing 1\n", "t.types line 3: unknown type 'Nothing'"},
        {HEAD "type A\n  f []Nothing 1\n", "t.types line 3: unknown type '[]Nothing'"},
        {HEAD "type A\n  f int32 1 default=x\n",
         "t.types line 3: the default does not suit the type"},
        {HEAD "type A\n  inline A 1\n", "t.types line 3: cannot embed 'A'"},
        {HEAD "resource as A\n", "t.types line 2: resource needs plural, kind and scope"},
        {HEAD "resource as A some\n", "t.types line 2: the scope is namespaced or cluster"},
        {HEAD "resource as A cluster x=1\n", "t.types line 2: unknown attribute 'x=1'"},
        {HEAD "resource as A cluster stored=core.B\n",
         "t.types line 2: no resource before this one has the kind 'core.B'"},
        {HEAD "resource as A cluster\n  sub x\n",
         "t.types line 3: expected sub NAME KIND VERB... or rename A B"},
        {HEAD "resource as A cluster\n", "resource as: there is no kind A"},
        {HEAD "kind A\n  f string 1\nresource as A cluster\n", "the tables lack meta.ListMeta"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        AUTO(table_done) struct table t = {0};
        struct err e = {0};

        assert_int_equal(read_one(&a, cases[i].text, &t, &e), -EINVAL);
        assert_string_equal(e.text, cases[i].error);
    }
}

static void attributes_reach_the_schema(void **state)
{
    static const char text[] =
        META HEAD "string Color red blue   # the only ones\n"
                  "type Part atomic \"A part.\"\n"
                  "  name string 1 required\n"
                  "type Whole\n"
                  "  parts []Part 2 merge=name keys=name,kind \"The \\\"parts\\\".\"\n"
                  "  color Color 3 ptr default=red\n"
                  "  one   Part  4 default={} retainkeys\n"
                  "  ports map[string]intorstring 5 atomic\n"
                  "  tags  []string 6 merge\n";
    AUTO(arena_done) struct arena a = {0};
    AUTO(table_done) struct table t = {0};
    struct err e = {0};
    const struct schema *whole, *part, *s;

    (void)state;
    assert_int_equal(read_one(&a, text, &t, &e), 0);
    whole = table_find(&t, "core", "Whole")->schema;
    part = table_find(&t, "core", "Part")->schema;
    assert_string_equal(part->name, "io.k8s.api.core.v1.Part");
    assert_string_equal(part->go_type, "v1.Part");
    assert_int_equal(part->merge, SCHEMA_MERGE_ATOMIC);
    assert_true(schema_property(part, STR("name"))->required);

    s = schema_member(whole, STR("parts"));
    assert_ptr_equal(s->items, part);
    assert_string_equal(s->patch_key, "name");
    assert_string_equal(s->list_keys[1], "kind");
    assert_int_equal(s->patch, SCHEMA_PATCH_MERGE);
    assert_int_equal(s->merge, SCHEMA_MERGE_MAP);
    assert_string_equal(s->description, "The \"parts\".");

    s = schema_member(whole, STR("color"));
    assert_string_equal(jsn_text(s->default_value), "red");
    assert_int_equal(jsn_len(s->enum_values), 2);
    assert_true(schema_property(whole, STR("color"))->pointer);

    s = schema_member(whole, STR("one"));
    assert_ptr_equal(s->refines, part);
    assert_ptr_equal(s->properties, part->properties);
    assert_int_equal(s->patch, SCHEMA_PATCH_RETAIN_KEYS);

    s = schema_member(whole, STR("ports"));
    assert_int_equal(s->additional->codec, SCHEMA_IS_INT_OR_STRING);
    assert_int_equal(s->merge, SCHEMA_MERGE_ATOMIC);
    assert_int_equal(schema_member(whole, STR("tags"))->merge, SCHEMA_MERGE_SET);
}

static void embedded_structs_are_spread_and_noted(void **state)
{
    static const char text[] = META HEAD "type Outer\n"
                                         "  name string 1\n"
                                         "  inline Inner 2\n"
                                         "  last string 3\n"
                                         "type Inner\n"
                                         "  a string 1\n"
                                         "  b string 2\n";
    AUTO(arena_done) struct arena a = {0};
    AUTO(table_done) struct table t = {0};
    struct err e = {0};
    const struct schema *s;

    (void)state;
    assert_int_equal(read_one(&a, text, &t, &e), 0);
    s = table_find(&t, "core", "Outer")->schema;
    assert_int_equal(s->n_properties, 4);
    assert_string_equal(s->properties[1].name.p, "a");
    assert_int_equal(s->properties[1].proto, 0);
    assert_string_equal(s->properties[3].name.p, "last");
    assert_int_equal(s->n_inlines, 1);
    assert_int_equal(s->inlines[0].proto, 2);
    assert_int_equal(s->inlines[0].schema->n_properties, 2);
}

static void resources_get_lists_and_subresources(void **state)
{
    static const char text[] =
        META HEAD "kind Thing\n"
                  "  metadata meta.ObjectMeta 1\n"
                  "resource things Thing namespaced short=t,th verbs=get,list\n"
                  "  sub status Thing get update\n"
                  "  sub peek meta.ListMeta create\n";
    AUTO(arena_done) struct arena a = {0};
    AUTO(table_done) struct table t = {0};
    struct err e = {0};
    const struct resource *r;

    (void)state;
    assert_int_equal(read_one(&a, text, &t, &e), 0);
    r = t.resources[0];
    assert_string_equal(r->singular, "thing");
    assert_string_equal(r->short_names[1], "th");
    assert_string_equal(r->list_schema->name, "io.k8s.api.core.v1.ThingList");
    assert_ptr_equal(schema_member(r->list_schema, STR("items"))->items, r->schema);
    assert_string_equal(r->schema->group, "");
    assert_string_equal(r->schema->version, "v1");
    assert_true(resource_has_verb(r, "list"));
    assert_false(resource_has_verb(r, "create"));
    assert_string_equal(resource_sub(r, STR("peek"))->group, "meta.k8s.io");
    assert_string_equal(resource_sub(r, STR("peek"))->kind, "ListMeta");
    assert_null(resource_sub(r, STR("scale")));
}

static void the_tables_say_what_kubernetes_says(void **state)
{
    static const struct {
        const char *alias, *type, *field;
        uint32_t proto;
        const char *patch_key;
        enum schema_merge merge;
    } cases[] = {
        {"core", "PodSpec", "containers", 2, "name", SCHEMA_MERGE_MAP},
        {"core", "PodSpec", "tolerations", 22, NULL, SCHEMA_MERGE_ATOMIC},
        {"core", "Container", "ports", 6, "containerPort", SCHEMA_MERGE_MAP},
        {"core", "Container", "volumeMounts", 9, "mountPath", SCHEMA_MERGE_MAP},
        {"core", "ServiceSpec", "ports", 1, "port", SCHEMA_MERGE_MAP},
        {"meta", "ObjectMeta", "ownerReferences", 13, "uid", SCHEMA_MERGE_MAP},
        {"meta", "ObjectMeta", "finalizers", 14, NULL, SCHEMA_MERGE_SET},
        {"apps", "StatefulSetStatus", "conditions", 10, "type", SCHEMA_MERGE_MAP},
        {"policy", "PodDisruptionBudgetSpec", "selector", 2, NULL, SCHEMA_MERGE_ATOMIC},
    };
    AUTO(arena_done) struct arena a = {0};
    AUTO(table_done) struct table t = {0};
    struct err e = {0};

    (void)state;
    assert_int_equal(table_read(&a, table_texts, &t, &e), 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct schema *s = table_find(&t, cases[i].alias, cases[i].type)->schema;
        const struct schema_property *p = schema_property(s, str_of(cases[i].field));

        assert_non_null(p);
        assert_int_equal(p->proto, cases[i].proto);
        assert_true(streq(p->schema->patch_key, cases[i].patch_key));
        assert_int_equal(p->schema->merge, cases[i].merge);
    }
}

static void schemas_of_crds_are_recursive(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(table_done) struct table t = {0};
    struct err e = {0};
    const struct schema *s;

    (void)state;
    assert_int_equal(table_read(&a, table_texts, &t, &e), 0);
    s = table_find(&t, "apiextensions", "JSONSchemaProps")->schema;
    assert_ptr_equal(schema_member(s, STR("not")), s);
    assert_ptr_equal(schema_member(s, STR("properties"))->additional, s);
    assert_int_equal(schema_member(s, STR("items"))->codec, SCHEMA_OR_ARRAY);
    assert_ptr_equal(schema_member(s, STR("items"))->items, s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_embedded_tables_are_sound_and_read_fast),
        cmocka_unit_test(mistakes_are_named_with_file_and_line),
        cmocka_unit_test(attributes_reach_the_schema),
        cmocka_unit_test(embedded_structs_are_spread_and_noted),
        cmocka_unit_test(resources_get_lists_and_subresources),
        cmocka_unit_test(the_tables_say_what_kubernetes_says),
        cmocka_unit_test(schemas_of_crds_are_recursive),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
