/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of pruning and defaulting by schema. */
#include "src/json/test/schema_of.h"

#include "src/json/structural.h"

/* The schema of a resource whose spec has the field x. */
static struct schema *resource(struct arena *a, const char *x)
{
    return schema_of(a, arena_printf(a,
                                     "{'type':'object','properties':{'spec':{'type':'object',"
                                     "'properties':{'x':%s}}}}",
                                     x));
}

static const char *joined(struct arena *a, const struct schema_unknown *u)
{
    AUTO(buf_done) struct buf b = {0};

    for (size_t i = 0; i < u->n; i++)
        buf_printf(&b, "%s%s", i ? " " : "", u->paths[i]);
    return arena_str(a, buf_view(&b));
}

#define IN "{'type':'object','properties':{'a':{'type':'string'}}}"

static const struct {
    const char *schema; /* of spec.x */
    const char *value;
    const char *pruned;
    const char *unknown;
} prune_cases[] = {
    {IN, "{'a':'1'}", "{'a':'1'}", ""},
    {IN, "{'a':'1','b':2,'c':{'d':1}}", "{'a':'1'}", "spec.x.b spec.x.c"},
    {IN, "{'a':{'b':1}}", "{'a':{}}", "spec.x.a.b"},
    {"{'type':'array','items':" IN "}", "[{'a':'1','b':1},{'c':1},5]", "[{'a':'1'},{},5]",
     "spec.x[0].b spec.x[1].c"},
    {"{'type':'object','additionalProperties':" IN "}", "{'k':{'a':'1','b':1}}", "{'k':{'a':'1'}}",
     "spec.x.k.b"},
    {"{'type':'object','additionalProperties':true}", "{'a':{'b':1},'c':1,'d':[{'e':1}]}",
     "{'a':{},'c':1,'d':[{}]}", "spec.x.a.b spec.x.d[0].e"},
    {"{'type':'object','additionalProperties':false}", "{'a':{'b':1}}", "{'a':{}}", "spec.x.a.b"},
    {"{'type':'object','x-kubernetes-preserve-unknown-fields':true,'properties':{'in':" IN "}}",
     "{'z':{'q':1},'in':{'a':'1','b':'2'}}", "{'z':{'q':1},'in':{'a':'1'}}", "spec.x.in.b"},
    {"{'x-kubernetes-preserve-unknown-fields':true}", "[{'a':[{'b':1}]}]", "[{'a':[{'b':1}]}]", ""},
    {"{'type':'array','x-kubernetes-preserve-unknown-fields':true,'items':" IN "}",
     "[{'a':{'b':1},'c':1}]", "[{'a':{},'c':1}]", "spec.x[0].a.b"},
    {"{'type':'object','x-kubernetes-embedded-resource':true,'properties':{'spec':" IN "}}",
     "{'apiVersion':'v1','kind':'P','metadata':{'name':'n','foo':1,'creationTimestamp':null},"
     "'spec':{'b':1},'zz':1}",
     "{'apiVersion':'v1','kind':'P','metadata':{'name':'n'},'spec':{}}",
     "spec.x.metadata.foo spec.x.spec.b spec.x.zz"},
    {"{'type':'object','x-kubernetes-embedded-resource':true,"
     "'x-kubernetes-preserve-unknown-fields':true}",
     "{'metadata':{'name':'n','foo':1},'z':{'y':1}}", "{'metadata':{'name':'n'},'z':{'y':1}}",
     "spec.x.metadata.foo"},
    {"{'type':'string'}", "{'a':1}", "{}", "spec.x.a"},
    {"{'type':'integer'}", "'text'", "'text'", ""},
};

static void unknown_fields_go_and_are_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(prune_cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        const struct structural how = {
            .object_meta = schema_of(&a, "{'type':'object','properties':{'name':{'type':'string'},"
                                         "'creationTimestamp':{'type':'string'}}}")};
        struct schema *s = resource(&a, prune_cases[i].schema);
        struct jsn *v = json_of(&a, arena_printf(&a, "{'spec':{'x':%s}}", prune_cases[i].value));
        struct schema_unknown removed = {.arena = &a};

        schema_prune(&how, v, s, &removed);
        assert_string_equal(joined(&a, &removed), prune_cases[i].unknown);
        assert_string_equal(text_of(&a, jsn_get(v, "spec.x")), prune_cases[i].pruned);
        schema_prune(&how, v, s, NULL);
        assert_string_equal(text_of(&a, jsn_get(v, "spec.x")), prune_cases[i].pruned);
    }
}

static void a_resource_keeps_what_every_object_has(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct schema_unknown u = {.arena = &a};
    struct schema *s = schema_of(&a, "{'type':'object','properties':{'metadata':{'type':'object',"
                                     "'properties':{'name':{'type':'string'}}}}}");
    struct jsn *v =
        json_of(&a, "{'b':1,'apiVersion':'g/v1','kind':'K','a':1,'metadata':{'name':'n','z':1}}");

    (void)state;
    schema_prune(&(struct structural){0}, v, s, &u);
    assert_string_equal(text_of(&a, v), "{'apiVersion':'g/v1','kind':'K','metadata':{'name':'n'}}");
    assert_string_equal(joined(&a, &u), "metadata.z a b"); /* metadata first, the rest sorted */
}

static void very_many_unknown_fields_take_no_time(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct schema *s = resource(&a, IN);
    struct jsn *v = jsn_object(&a), *x = jsn_object(&a);

    (void)state;
    jsn_set_path(&a, v, "spec.x", x);
    for (int i = 0; i < 100000; i++)
        jsn_set(&a, x, arena_printf(&a, "k%d", i), jsn_int(&a, i));
    jsn_set_str(&a, x, "a", "1");
    schema_prune(&(struct structural){0}, v, s, NULL);
    assert_string_equal(text_of(&a, v), "{'spec':{'x':{'a':'1'}}}");
}

static const struct {
    const char *schema; /* of spec.x */
    const char *value;  /* of spec */
    const char *result;
} default_cases[] = {
    {"{'type':'integer','default':5}", "{}", "{'x':5}"},
    {"{'type':'integer','default':5}", "{'x':0}", "{'x':0}"},
    {"{'type':'integer','default':5}", "{'x':null}", "{'x':5}"},
    {"{'type':'integer','nullable':true,'default':5}", "{'x':null}", "{'x':null}"},
    {"{'type':'integer','nullable':true,'default':5}", "{}", "{'x':5}"},
    {"{'type':'integer'}", "{'x':null}", "{}"},
    {"{'type':'integer','nullable':true}", "{'x':null}", "{'x':null}"},
    {"{'type':'object','properties':{'in':{'type':'string','default':'z'}}}", "{}", "{}"},
    {"{'type':'object','properties':{'in':{'type':'string','default':'z'}}}", "{'x':{}}",
     "{'x':{'in':'z'}}"},
    {"{'type':'object','properties':{'in':{'type':'string','default':'z'}}}", "{'x':null}", "{}"},
    {"{'type':'object','default':{},'properties':{'in':{'type':'string','default':'z'}}}", "{}",
     "{'x':{'in':'z'}}"},
    {"{'type':'object','additionalProperties':{'type':'object','properties':{'q':{'type':'integer',"
     "'default':1}}}}",
     "{'x':{'k':{},'n':null}}", "{'x':{'k':{'q':1}}}"},
    {"{'type':'object','additionalProperties':{'type':'integer','default':7}}", "{'x':{'k':null}}",
     "{'x':{'k':7}}"},
    {"{'type':'array','items':{'type':'object','properties':{'q':{'type':'integer','default':1}}}}",
     "{'x':[{},{'q':2}]}", "{'x':[{'q':1},{'q':2}]}"},
    {"{'type':'array','items':{'type':'string'}}", "{'x':['a',null]}", "{'x':['a',null]}"},
    {"{'type':'array','items':{'type':'string','default':'b'}}", "{'x':['a',null]}",
     "{'x':['a','b']}"},
    {"{'x-kubernetes-preserve-unknown-fields':true}", "{'x':{'a':null}}", "{'x':{'a':null}}"},
    {"{'type':'object','default':null}", "{}", "{}"},
};

static void defaults_fill_what_is_missing(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(default_cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct schema *s = resource(&a, default_cases[i].schema);
        struct jsn *v = json_of(&a, arena_printf(&a, "{'spec':%s}", default_cases[i].value));

        schema_default(&a, v, s);
        assert_string_equal(text_of(&a, jsn_get(v, "spec")), default_cases[i].result);
        schema_default(&a, v, s);
        assert_string_equal(text_of(&a, jsn_get(v, "spec")), default_cases[i].result);
    }
}

static void a_default_is_not_shared(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct schema *s = resource(&a, "{'type':'object','default':{'k':{}}}");
    struct jsn *one = json_of(&a, "{'spec':{}}"), *two = json_of(&a, "{'spec':{}}");

    (void)state;
    schema_default(&a, one, s);
    jsn_set_path(&a, one, "spec.x.k.new", jsn_int(&a, 1));
    schema_default(&a, two, s);
    assert_string_equal(text_of(&a, two), "{'spec':{'x':{'k':{}}}}");
}

static void metadata_gets_no_defaults(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct schema *s = schema_of(&a, "{'type':'object','properties':{'metadata':{'type':'object',"
                                     "'properties':{'x':{'type':'integer','default':1}}},"
                                     "'spec':{'type':'object','default':{}}}}");
    struct jsn *v = json_of(&a, "{'metadata':{'labels':null}}");

    (void)state;
    schema_default(&a, v, s);
    assert_string_equal(text_of(&a, v), "{'metadata':{'labels':null},'spec':{}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_fields_go_and_are_named),
        cmocka_unit_test(a_resource_keeps_what_every_object_has),
        cmocka_unit_test(very_many_unknown_fields_take_no_time),
        cmocka_unit_test(defaults_fill_what_is_missing),
        cmocka_unit_test(a_default_is_not_shared),
        cmocka_unit_test(metadata_gets_no_defaults),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
