/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of what server-side apply does with values. */
#include "src/json/test/json_text.h"

#include "src/json/apply.h"
#include "src/json/test/widget.h"

static void configurations_are_checked(void **state)
{
    static const char *const cases[][2] = {
        {"{'spec':{'replicas':1,'free':{'x':[1]},'any':{'y':1},'map':{'z':'1'}}}", ""},
        {"{'spec':{'replicas':null,'tags':null,'nested':null}}", ""},
        {"{'spec':{'bogus':1}}", ".spec.bogus: field not declared in schema"},
        {"{'bogus':1,'spec':{'x':1}}", ".bogus: field not declared in schema"},
        {"{'spec':{'tags':['a','b','a']}}", ".spec.tags: duplicate entries for key [=\"a\"]"},
        {"{'spec':{'ports':[{'port':80},{'port':80,'protocol':'TCP'}]}}",
         ".spec.ports: duplicate entries for key [port=80,protocol=\"TCP\"]"},
        {"{'spec':{'ports':[{'name':'x'}]}}", ""}, /* protocol has a default, and is enough */
        {"{'spec':{'ports':[{'name':'x'},{'protocol':'TCP'}]}}",
         ".spec.ports: duplicate entries for key [protocol=\"TCP\"]"},
        {"{'spec':{'ports':[null]}}",
         ".spec.ports: element 0: associative list with keys may not have a null element"},
        {"{'spec':{'ports':['x']}}",
         ".spec.ports: element 0: associative list with keys may not have non-map elements"},
        {"{'spec':{'tags':[{}]}}", ".spec.tags: element 0: associative list without keys has an "
                                   "element that's a map type"},
        {"{'spec':{'tags':[null]}}", ".spec.tags: element 0: associative list without keys has an "
                                     "element that's an explicit null"},
        {"{'spec':{'replicas':'x'}}",
         ".spec.replicas: expected numeric (int or float), got string"},
        {"{'spec':{'name':1}}",
         ".spec.name: expected string, got &value.valueUnstructured{Value:1}"},
        {"{'spec':{'on':'yes'}}", ".spec.on: expected boolean, got &{yes}"},
        {"{'spec':[]}", ".spec: expected map, got &{[]}"},
        {"{'spec':{'atom':{'a':1}}}", ".spec.atom: expected list, got &{map[a:1]}"},
        {"{'spec':{'atom':['a',2]}}",
         ".spec.atom[1]: expected string, got &value.valueUnstructured{Value:2}"},
        {"{'spec':{'ports':[{'port':1,'name':2}]}}",
         ".spec.ports[port=1,protocol=\"TCP\"].name: expected string, got "
         "&value.valueUnstructured{Value:2}"},
        {"{'spec':{'replicas':'x','name':1}}",
         "errors:\n  .spec.replicas: expected numeric (int or float), got string\n  .spec.name: "
         "expected string, got &value.valueUnstructured{Value:1}"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct err e = {0};
        int r = apply_check(widget_schema(&a), json_of(&a, cases[i][0]), &e);

        assert_string_equal(e.text, cases[i][1]);
        assert_int_equal(r, cases[i][1][0] ? -EINVAL : 0);
    }
}

static void fields_are_extracted(void **state)
{
    static const char *const cases[][2] = {
        {"{}", "{}"},
        {"{'spec':{'replicas':1,'name':'x'}}", "{'f:spec':{'f:name':{},'f:replicas':{}}}"},
        {"{'metadata':{'labels':{'b':'1','a':'2'}}}",
         "{'f:metadata':{'f:labels':{'f:a':{},'f:b':{}}}}"},
        {"{'metadata':{'labels':{}}}", "{'f:metadata':{'f:labels':{}}}"},
        {"{'spec':{'tags':['b','a']}}", "{'f:spec':{'f:tags':{'v:\\'a\\'':{},'v:\\'b\\'':{}}}}"},
        {"{'spec':{'tags':[]}}", "{}"},
        {"{'spec':{'ports':[{'port':80,'name':'x'}]}}",
         "{'f:spec':{'f:ports':{'k:{\\'port\\':80,\\'protocol\\':\\'TCP\\'}':{'.':{},'f:name':{},"
         "'f:port':{}}}}}"},
        {"{'spec':{'atom':['a'],'atomMap':{'x':'1'}}}", "{'f:spec':{'f:atom':{},'f:atomMap':{}}}"},
        {"{'spec':{'free':{'x':{'y':[1]},'z':{}}}}",
         "{'f:spec':{'f:free':{'f:x':{'.':{},'f:y':{}},'f:z':{}}}}"},
        {"{'spec':{'any':5}}", "{'f:spec':{'f:any':{}}}"},
        {"{'spec':{'any':{'x':1}}}", "{'f:spec':{'f:any':{'f:x':{}}}}"},
        {"{'spec':{'nested':null,'replicas':null}}", "{'f:spec':{'f:nested':{},'f:replicas':{}}}"},
        {"{'spec':{'tags':['a','a','b']}}",
         "{'f:spec':{'f:tags':{'v:\\'a\\'':{},'v:\\'b\\'':{}}}}"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct fieldset *set;

        assert_int_equal(apply_extract(&a, widget_schema(&a), json_of(&a, cases[i][0]), &set, NULL),
                         0);
        assert_string_equal(text_of(&a, fieldset_to_jsn(&a, set)), cases[i][1]);
    }
}

static void differences_are_found(void **state)
{
    static const struct {
        const char *before, *after, *added, *modified, *removed;
    } cases[] = {
        {"{}", "{}", "{}", "{}", "{}"},
        {"{'spec':{'replicas':1}}", "{'spec':{'replicas':1.0}}", "{}", "{}", "{}"},
        {"{'spec':{'replicas':1}}", "{'spec':{'replicas':2}}", "{}", "{'f:spec':{'f:replicas':{}}}",
         "{}"},
        {"{}", "{'spec':{'replicas':2}}", "{'f:spec':{'.':{},'f:replicas':{}}}", "{}", "{}"},
        {"{'spec':{'map':{'a':'1','b':'2'}}}", "{'spec':{'map':{'b':'3','c':'4'}}}",
         "{'f:spec':{'f:map':{'f:c':{}}}}", "{'f:spec':{'f:map':{'f:b':{}}}}",
         "{'f:spec':{'f:map':{'f:a':{}}}}"},
        {"{'spec':{'tags':['a','b']}}", "{'spec':{'tags':['b','c']}}",
         "{'f:spec':{'f:tags':{'v:\\'c\\'':{}}}}", "{}", "{'f:spec':{'f:tags':{'v:\\'a\\'':{}}}}"},
        {"{'spec':{'atom':['a']}}", "{'spec':{'atom':['b']}}", "{}", "{'f:spec':{'f:atom':{}}}",
         "{}"},
        {"{'spec':{'ports':[{'port':1,'name':'a'}]}}", "{'spec':{'ports':[{'port':1,'name':'b'}]}}",
         "{}", "{'f:spec':{'f:ports':{'k:{\\'port\\':1,\\'protocol\\':\\'TCP\\'}':{'f:name':{}}}}}",
         "{}"},
        {"{'spec':{'any':1}}", "{'spec':{'any':{'x':1}}}", "{'f:spec':{'f:any':{'f:x':{}}}}",
         "{'f:spec':{'f:any':{}}}", "{}"},
        {"{'spec':{'any':{'x':1}}}", "{'spec':{'any':1}}", "{}", "{'f:spec':{'f:any':{}}}",
         "{'f:spec':{'f:any':{'f:x':{}}}}"},
        {"{'spec':{'map':{}}}", "{'spec':{'map':null}}", "{}", "{'f:spec':{'f:map':{}}}", "{}"},
        /* Items that stand twice count as one. */
        {"{'spec':{'tags':['a','a']}}", "{'spec':{'tags':['a','a']}}", "{}", "{}", "{}"},
        {"{'spec':{'tags':['a']}}", "{'spec':{'tags':['a','a']}}",
         "{'f:spec':{'f:tags':{'v:\\'a\\'':{}}}}", "{}", "{'f:spec':{'f:tags':{'v:\\'a\\'':{}}}}"},
        {"{'spec':{'ports':[{'port':1,'name':'a'},{'port':1,'name':'b'}]}}",
         "{'spec':{'ports':[{'port':1,'name':'a'},{'port':1,'name':'c'}]}}", "{}",
         "{'f:spec':{'f:ports':{'k:{\\'port\\':1,\\'protocol\\':\\'TCP\\'}':{}}}}", "{}"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct apply_comparison diff;

        assert_int_equal(apply_compare(&a, widget_schema(&a), json_of(&a, cases[i].before),
                                       json_of(&a, cases[i].after), &diff, NULL),
                         0);
        assert_string_equal(text_of(&a, fieldset_to_jsn(&a, diff.added)), cases[i].added);
        assert_string_equal(text_of(&a, fieldset_to_jsn(&a, diff.modified)), cases[i].modified);
        assert_string_equal(text_of(&a, fieldset_to_jsn(&a, diff.removed)), cases[i].removed);
    }
}

static void configurations_merge(void **state)
{
    static const char *const cases[][3] = {
        {"{}", "{'spec':{'replicas':1}}", "{'spec':{'replicas':1}}"},
        {"{'spec':{'replicas':1,'name':'x'}}", "{'spec':{'replicas':2}}",
         "{'spec':{'replicas':2,'name':'x'}}"},
        {"{'spec':{'map':{'a':'1'}}}", "{'spec':{'map':{'b':'2'}}}",
         "{'spec':{'map':{'a':'1','b':'2'}}}"},
        {"{'spec':{'map':{'a':'1'}}}", "{'spec':{'map':null}}", "{'spec':{'map':{'a':'1'}}}"},
        {"{'spec':{'atomMap':{'a':'1'}}}", "{'spec':{'atomMap':{'b':'2'}}}",
         "{'spec':{'atomMap':{'b':'2'}}}"},
        {"{'spec':{'atom':['a']}}", "{'spec':{'atom':['b']}}", "{'spec':{'atom':['b']}}"},
        {"{'spec':{'any':[1]}}", "{'spec':{'any':null}}", "{'spec':{'any':null}}"},
        {"{'spec':{'tags':['a','b','c']}}", "{'spec':{'tags':['c','a']}}",
         "{'spec':{'tags':['b','c','a']}}"},
        {"{'spec':{'tags':['a','b']}}", "{'spec':{'tags':['x','a','y']}}",
         "{'spec':{'tags':['x','a','b','y']}}"},
        {"{'spec':{'tags':['a']}}", "{'spec':{'tags':[]}}", "{'spec':{'tags':['a']}}"},
        {"{'spec':{'ports':[{'port':1,'protocol':'TCP','name':'a'}]}}",
         "{'spec':{'ports':[{'port':1,'name':'b'},{'port':2}]}}",
         "{'spec':{'ports':[{'port':1,'protocol':'TCP','name':'b'},{'port':2}]}}"},
        {"{'spec':{'tags':['a','b','a']}}", "{'spec':{'tags':['a']}}",
         "{'spec':{'tags':['a','b']}}"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct jsn *v;

        assert_int_equal(apply_merge(&a, widget_schema(&a), json_of(&a, cases[i][0]),
                                     json_of(&a, cases[i][1]), &v, NULL),
                         0);
        assert_string_equal(text_of(&a, v), cases[i][2]);
    }
}

static void fields_are_removed(void **state)
{
    static const char *const cases[][3] = {
        {"{'spec':{'replicas':1,'name':'x'}}", "{'f:spec':{'f:replicas':{}}}",
         "{'spec':{'name':'x'}}"},
        {"{'spec':{'tags':['a','b']}}", "{'f:spec':{'f:tags':{'v:\\'a\\'':{}}}}",
         "{'spec':{'tags':['b']}}"},
        {"{'spec':{'tags':['a']}}", "{'f:spec':{'f:tags':{'v:\\'a\\'':{}}}}",
         "{'spec':{'tags':null}}"},
        {"{'spec':{'ports':[{'port':1,'name':'a'},{'port':2}]}}",
         "{'f:spec':{'f:ports':{'k:{\\'port\\':1,\\'protocol\\':\\'TCP\\'}':{'f:name':{}}}}}",
         "{'spec':{'ports':[{'port':1},{'port':2}]}}"},
        {"{'spec':{'x':1}}", "{}", "{'spec':{'x':1}}"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct fieldset *set;

        /* The escaped quotes of keys come back through swap_quotes as \'. */
        assert_int_equal(fieldset_from_jsn(&a, json_of(&a, cases[i][1]), &set, NULL), 0);
        assert_string_equal(
            text_of(&a, apply_remove(&a, widget_schema(&a), json_of(&a, cases[i][0]), set)),
            cases[i][2]);
    }
}

static void sets_follow_the_schema(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct fieldset *set;

    (void)state;
    assert_int_equal(
        fieldset_from_jsn(&a,
                          json_of(&a, "{'f:spec':{'f:atomMap':{'f:x':{}},'f:atom':{'i:0':{}},"
                                      "'f:map':{'f:x':{}},'f:free':{'f:y':{'f:z':{}}}}}"),
                          &set, NULL),
        0);
    assert_string_equal(text_of(&a, fieldset_to_jsn(&a, apply_fit(&a, widget_schema(&a), set))),
                        "{'f:spec':{'f:atom':{},'f:atomMap':{},'f:free':{'f:y':{'f:z':{}}},"
                        "'f:map':{'f:x':{}}}}");
    assert_string_equal(
        text_of(&a, fieldset_to_jsn(&a, apply_name_fields(&a, widget_schema(&a), set))),
        "{'f:spec':{'.':{},'f:atom':{'.':{},'i:0':{}},'f:atomMap':{'.':{},'f:x':{}},"
        "'f:free':{'.':{},'f:y':{'f:z':{}}},'f:map':{'.':{},'f:x':{}}}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(configurations_are_checked), cmocka_unit_test(fields_are_extracted),
        cmocka_unit_test(differences_are_found),      cmocka_unit_test(configurations_merge),
        cmocka_unit_test(fields_are_removed),         cmocka_unit_test(sets_follow_the_schema),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
