/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of strategic merge patch; the outcomes were compared with kube-apiserver's own code.
 */
#include "src/json/test/json_text.h"

#include "src/json/patch_strategic.h"
#include "src/json/test/schema_from.h"

/*
 * l: objects by "name", whose own list e merges by "k"; f: scalars that merge; r: an object that is
 * replaced; s: retainKeys; t: a list that is replaced; w: merges without a key.
 */
static const char schema_text[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"l\":{\"type\":\"array\",\"x-kubernetes-patch-strategy\":\"merge\","
    "\"x-kubernetes-patch-merge-key\":\"name\",\"items\":{\"type\":\"object\",\"properties\":{"
    "\"name\":{\"type\":\"string\"},\"v\":{\"type\":\"integer\"},"
    "\"e\":{\"type\":\"array\",\"x-kubernetes-patch-strategy\":\"merge\","
    "\"x-kubernetes-patch-merge-key\":\"k\",\"items\":{\"type\":\"object\"}}}}},"
    "\"f\":{\"type\":\"array\",\"x-kubernetes-patch-strategy\":\"merge\","
    "\"items\":{\"type\":\"string\"}},"
    "\"r\":{\"type\":\"object\",\"x-kubernetes-patch-strategy\":\"replace\"},"
    "\"s\":{\"type\":\"object\",\"x-kubernetes-patch-strategy\":\"retainKeys\"},"
    "\"t\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},"
    "\"w\":{\"type\":\"array\",\"x-kubernetes-patch-strategy\":\"merge\","
    "\"items\":{\"type\":\"object\"}},"
    "\"m\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}}}";

static struct jsn *parse(struct arena *a, const char *text)
{
    struct jsn *v;

    assert_int_equal(jsn_parse(a, str_of(text), NULL, &v, NULL), 0);
    return v;
}

static const char *merged(struct arena *a, const struct schema *schema, const char *original,
                          const char *patch)
{
    AUTO(buf_done) struct buf b = {0};
    struct err e = {0};
    struct jsn *v;

    if (patch_strategic(a, schema, parse(a, swap_quotes(a, original, '\'', '\"')),
                        parse(a, swap_quotes(a, patch, '\'', '\"')), &v, &e) < 0)
        return arena_strdup(a, e.text);
    jsn_print(&b, v);
    return arena_str(a, buf_view(&b));
}

static void check(const char *const cases[][3], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        AUTO(arena_done) struct arena a = {0};
        const struct schema *schema = schema_from_text(&a, schema_text);

        assert_string_equal(
            swap_quotes(&a, merged(&a, schema, cases[i][0], cases[i][1]), '\'', '"'),
            swap_quotes(&a, cases[i][2], '\'', '"'));
    }
}

static void objects_merge_and_nulls_delete(void **state)
{
    static const char *const cases[][3] = {
        {"{'m':{'a':'1','b':'2'}}", "{'m':{'a':null,'c':'3'}}", "{'m':{'b':'2','c':'3'}}"},
        {"{'m':{'a':'1'}}", "{'m':null,'x':null}", "{}"},
        {"{}", "{'m':{'a':null,'b':'1'}}", "{'m':{'b':'1'}}"},
        {"{'m':'text'}", "{'m':{'a':null}}", "{'m':{}}"},
        {"{'r':{'a':1,'b':2}}", "{'r':{'c':3}}", "{'r':{'c':3}}"},
        {"{'m':{'a':'1'}}", "{'m':{'$patch':'replace','b':'2','c':null}}", "{'m':{'b':'2'}}"},
        {"{'m':{'a':'1'}}", "{'m':{'$patch':'delete'}}", "{'m':{}}"},
        {"{'m':{'a':'1'}}", "{'m':{'$patch':'merge'}}",
         "unknown patch type: merge in map: map[$patch:merge]"},
        {"{'a':1}", "{'$patch':'replace','b':2}", "{'b':2}"},
        {"{'unknown':{'x':{'y':1},'l':[1]}}", "{'unknown':{'x':{'z':2},'l':[2]}}",
         "{'unknown':{'x':{'y':1,'z':2},'l':[2]}}"},
    };

    (void)state;
    check(cases, ARRAY_LEN(cases));
}

static void lists_merge_by_key(void **state)
{
    static const char *const cases[][3] = {
        {"{'l':[{'name':'a','v':1},{'name':'b','v':2}]}", "{'l':[{'name':'b','v':3}]}",
         "{'l':[{'name':'a','v':1},{'name':'b','v':3}]}"},
        {"{'l':[{'name':'a','v':1}]}", "{'l':[{'name':'b','v':null}]}",
         "{'l':[{'name':'b'},{'name':'a','v':1}]}"},
        {"{'l':[{'name':'a'},{'name':'b'},{'name':'c'}]}", "{'l':[{'name':'b','$patch':'delete'}]}",
         "{'l':[{'name':'a'},{'name':'c'}]}"},
        {"{'l':[{'name':'a'},{'name':'b'}]}", "{'l':[{'name':'z'},{'$patch':'replace'}]}",
         "{'l':[{'name':'z'}]}"},
        {"{'l':[{'name':'a'}]}", "{'l':[{'$patch':'replace'}]}", "{'l':[]}"},
        {"{'l':[{'name':'a','e':[{'k':1,'v':1},{'k':2}]}]}",
         "{'l':[{'name':'a','e':[{'k':1,'v':2},{'k':2,'$patch':'delete'},{'k':3}]}]}",
         "{'l':[{'name':'a','e':[{'k':1,'v':2},{'k':3}]}]}"},
        {"{'t':[{'a':1},{'b':2}]}", "{'t':[{'c':3}]}", "{'t':[{'c':3}]}"},
        {"{'l':[]}", "{'l':[]}", "{'l':[]}"},
        /* A list that was not there is taken as it is. */
        {"{}", "{'l':[{'name':'a','$patch':'delete'}]}", "{'l':[{'name':'a','$patch':'delete'}]}"},
        {"{'l':[{'name':'a'}]}", "{'l':[{'v':1}]}",
         "map: map[v:1] does not contain declared merge key: name"},
        {"{'l':[{'name':'a'}]}", "{'l':[{'$patch':'delete'}]}",
         "map: map[$patch:delete] does not contain declared merge key: name"},
        {"{'l':[{'name':'a'}]}", "{'l':[{'name':'a','$patch':'merge'}]}",
         "merging lists cannot yet be specified in the patch"},
        {"{'l':[{'name':'a'}]}", "{'l':[{'name':'a','$patch':5}]}",
         "unknown patch type: 5 in map: map[$patch:5 name:a]"},
        {"{'l':[{'name':'a'}]}", "{'l':['a']}",
         "list element types are not identical: object and string"},
        {"{'l':[['a']]}", "{'l':[['b']]}", "lists of lists are not supported"},
        {"{'w':[{'a':1}]}", "{'w':[{'a':2}]}", "cannot merge lists without merge key for struct"},
    };

    (void)state;
    check(cases, ARRAY_LEN(cases));
}

static void scalar_lists_merge_as_sets(void **state)
{
    static const char *const cases[][3] = {
        {"{'f':['a','b']}", "{'f':['c','a']}", "{'f':['c','a','b']}"},
        {"{'f':['a','b','c']}", "{'$deleteFromPrimitiveList/f':['b']}", "{'f':['a','c']}"},
        {"{'f':['a','b']}", "{'$deleteFromPrimitiveList/f':['b'],'f':['d']}", "{'f':['d','a']}"},
        {"{}", "{'$deleteFromPrimitiveList/f':['b']}", "{}"},
        {"{'f':['a']}", "{'$deleteFromPrimitiveList':['b']}",
         "invalid patch format of primitive list"},
        {"{'f':['a','b','c']}", "{'$setElementOrder/f':['c','a'],'f':['c']}",
         "{'f':['b','c','a']}"},
    };

    (void)state;
    check(cases, ARRAY_LEN(cases));
}

static void order_follows_the_directive(void **state)
{
    static const char *const cases[][3] = {
        {"{'l':[{'name':'a'},{'name':'b'},{'name':'c'}]}",
         "{'$setElementOrder/l':[{'name':'c'},{'name':'a'}]}",
         "{'l':[{'name':'b'},{'name':'c'},{'name':'a'}]}"},
        {"{'l':[{'name':'a'},{'name':'b'}]}",
         "{'$setElementOrder/l':[{'name':'b'},{'name':'n'},{'name':'a'}],'l':[{'name':'n','v':1}]}",
         "{'l':[{'name':'b'},{'name':'n','v':1},{'name':'a'}]}"},
        /* What only the server has keeps its place among its neighbours. */
        {"{'l':[{'name':'x'},{'name':'a'},{'name':'y'},{'name':'b'}]}",
         "{'$setElementOrder/l':[{'name':'a'},{'name':'b'}],'l':[{'name':'a','v':1}]}",
         "{'l':[{'name':'x'},{'name':'a','v':1},{'name':'y'},{'name':'b'}]}"},
        /* An added item takes the place that a deleted one leaves at the end. */
        {"{'l':[{'name':'d'},{'name':'e'},{'name':'b'}]}",
         "{'$setElementOrder/l':[{'name':'a'},{'name':'d'}],"
         "'l':[{'name':'b','$patch':'delete'},{'name':'a'},{'name':'d','v':1}]}",
         "{'l':[{'name':'e'},{'name':'a'},{'name':'d','v':1}]}"},
        {"{}", "{'$setElementOrder/l':[{'name':'b'},{'name':'a'}],'l':[{'name':'b'},{'name':'a'}]}",
         "{'l':[{'name':'b'},{'name':'a'}]}"},
        {"{'m':{}}", "{'$setElementOrder/l':[{'name':'b'}]}", "{'m':{}}"},
        {"{'l':[{'name':'a'}]}",
         "{'$setElementOrder/l':[{'name':'b'},{'name':'a'}],'l':[{'name':'a'},{'name':'b'}]}",
         "The order in patch list doesn't match $setElementOrder list"},
        {"{'l':[{'name':'a'}]}", "{'$setElementOrder/l':[{'name':'b'}],'l':[{'name':'a'}]}",
         "The order in patch list doesn't match $setElementOrder list"},
        {"{'l':[{'name':'a'}]}", "{'$setElementOrder/l':'a'}",
         "invalid patch format of setElementOrder list"},
        {"{'l':[{'name':'a'}]}", "{'$setElementOrder':[]}",
         "invalid patch format of setElementOrder list"},
        {"{'l':[{'name':'a'}]}", "{'$setElementOrder/l':[{'v':'a'}],'l':[{'name':'a'}]}",
         "map: map[v:a] does not contain declared merge key: name"},
        {"{'l':{'a':1}}", "{'$setElementOrder/l':[],'l':[]}",
         "expected a []interface {}, but received a object"},
    };

    (void)state;
    check(cases, ARRAY_LEN(cases));
}

static void retain_keys_clears_the_others(void **state)
{
    static const char *const cases[][3] = {
        {"{'s':{'type':'RollingUpdate','rollingUpdate':{'maxSurge':1}}}",
         "{'s':{'$retainKeys':['type'],'type':'Recreate'}}", "{'s':{'type':'Recreate'}}"},
        {"{'s':{'a':1,'b':2}}", "{'s':{'$retainKeys':['a']}}", "{'s':{'a':1}}"},
        {"{'s':{'a':1}}", "{'s':{'$retainKeys':['a'],'b':2}}",
         "invalid patch format of retainKeys"},
        {"{'s':{'a':1}}", "{'s':{'$retainKeys':'a'}}", "invalid patch format of retainKeys"},
        {"{'s':{'a':1,'b':2}}", "{'s':{'$retainKeys':['b'],'a':null,'b':3}}", "{'s':{'b':3}}"},
    };

    (void)state;
    check(cases, ARRAY_LEN(cases));
}

static void arguments_are_left_alone(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    const struct schema *schema = schema_from_text(&a, schema_text);
    struct jsn *original = parse(&a, "{\"l\":[{\"name\":\"a\"}],\"m\":{\"x\":\"1\"}}");
    struct jsn *patch = parse(&a, "{\"l\":[{\"name\":\"b\"}],\"m\":{\"x\":null}}");
    struct jsn *was = jsn_clone(&a, original);
    struct jsn *patch_was = jsn_clone(&a, patch);
    struct err e = {0};
    struct jsn *v;

    (void)state;
    assert_int_equal(patch_strategic(&a, schema, original, patch, &v, &e), 0);
    assert_true(jsn_equal(original, was));
    assert_true(jsn_equal(patch, patch_was));
    assert_int_equal(patch_strategic(&a, schema, original, jsn_array(&a), &v, &e), -EINVAL);
    assert_string_equal(e.text, "invalid JSON document");
    assert_int_equal(patch_strategic(&a, NULL, original, patch, &v, &e), 0);
    assert_int_equal(jsn_len(jsn_key(v, "l")), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_merge_and_nulls_delete),
        cmocka_unit_test(lists_merge_by_key),
        cmocka_unit_test(scalar_lists_merge_as_sets),
        cmocka_unit_test(order_follows_the_directive),
        cmocka_unit_test(retain_keys_clears_the_others),
        cmocka_unit_test(arguments_are_left_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
