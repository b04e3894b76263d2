/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of JSONPath. */
#include "src/json/test/json_text.h"

#include "src/json/path.h"

static const char object_text[] =
    "{'metadata':{'name':'x','annotations':{'a.b/c':'note','d e':'blank'}},"
    "'spec':{'replicas':3,'list':[10,20,30,40],'ports':[{'name':'a','port':80},"
    "{'name':'b','port':443,'tls':true}]},"
    "'status':{'conditions':[{'type':'Ready','status':'True'},{'type':'Idle','status':'False'}]}}";

static const char *find(struct arena *a, const char *text)
{
    struct path *p;
    struct err e = {0};

    if (path_compile(a, text, &p, &e) < 0)
        return arena_strdup(a, e.text);
    return text_of(a, path_find(a, p, json_of(a, object_text)));
}

static void paths_find_values(void **state)
{
    static const char *const cases[][2] = {
        {".spec.replicas", "[3]"},
        {"{.spec.replicas}", "[3]"},
        {"$.spec.replicas", "[3]"},
        {".metadata.annotations.a\\.b/c", "['note']"},
        {".metadata.annotations['a.b/c']", "['note']"},
        {".metadata.annotations[\"d e\"]", "['blank']"},
        {"['spec']['replicas']", "[3]"},
        {".spec.list[0]", "[10]"},
        {".spec.list[-1]", "[40]"},
        {".spec.list[9]", "[]"},
        {".spec.list[-9]", "[]"},
        {".spec.list[1:3]", "[20,30]"},
        {".spec.list[:2]", "[10,20]"},
        {".spec.list[2:]", "[30,40]"},
        {".spec.list[-2:]", "[30,40]"},
        {".spec.list[*]", "[10,20,30,40]"},
        {".spec.ports[*].port", "[80,443]"},
        {".spec.ports.*.name", "['a','b']"},
        {".metadata.annotations.*", "['note','blank']"},
        {".status.conditions[?(@.type==\"Ready\")].status", "['True']"},
        {".status.conditions[?(@.type=='Idle')].status", "['False']"},
        {".status.conditions[?( @.type != 'Idle' )].type", "['Ready']"},
        {".spec.ports[?(@.port>80)].name", "['b']"},
        {".spec.ports[?(@.port>=80)].name", "['a','b']"},
        {".spec.ports[?(@.port<443)].name", "['a']"},
        {".spec.ports[?(@.port<=80)].name", "['a']"},
        {".spec.ports[?(@.tls)].name", "['b']"},
        {".spec.ports[?(@.tls==true)].name", "['b']"},
        {".spec.ports[?(@.name==@.name)].port", "[80,443]"},
        {".spec.ports[?(@.name>5)].port", "[]"},
        {".spec.ports[?(@.missing==1)].port", "[]"},
        {"..port", "[80,443]"},
        {".spec..name", "['a','b']"},
        {".nope.deeper[0].x", "[]"},
        {".spec.replicas.x", "[]"},
        {".spec.replicas[0]", "[]"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};

        assert_string_equal(find(&a, cases[i][0]), cases[i][1]);
    }
}

static void broken_paths_are_named_by_column(void **state)
{
    static const char *const cases[][2] = {
        {"spec", "path 'spec': column 1: expected . or ["},
        {".spec.", "path '.spec.': column 7: expected a name"},
        {".a[", "path '.a[': column 4: expected a position, a range, a key in quotes, * or ?"},
        {".a[x]", "path '.a[x]': column 4: expected a position, a range, a key in quotes, * or ?"},
        {".a[0", "path '.a[0': column 5: expected ]"},
        {".a['x]", "path '.a['x]': column 7: the text ends inside quotes"},
        {"{.a", "path '{.a': column 4: expected }"},
        {".a}", "path '.a}': column 3: expected . or ["},
        {".a[?@.x]", "path '.a[?@.x]': column 5: expected ( after ?"},
        {".a[?(x)]", "path '.a[?(x)]': column 6: expected @"},
        {".a[?(@.x==)]",
         "path '.a[?(@.x==)]': column 11: expected a text in quotes, a number, true "
         "or false"},
        {".a[?(@.x==1]",
         "path '.a[?(@.x==1]': column 11: expected a text in quotes, a number, true "
         "or false"},
        {".a[?(@[?(@[?(@[?(@[?(@[?(@[?(@[?(@[?(@.x)])])])])])])])])]",
         "path '.a[?(@[?(@[?(@[?(@[?(@[?(@[?(@[?(@[?(@.x)])])])])])])])])]': column 37: filters "
         "are "
         "nested too deep"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};

        assert_string_equal(find(&a, cases[i][0]), cases[i][1]);
    }
}

static void work_is_bounded(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *v = jsn_array(&a);
    struct path *p;

    (void)state;
    for (int i = 0; i < 300; i++) {
        struct jsn *outer = jsn_array(&a);

        jsn_append(&a, outer, v);
        v = outer;
    }
    assert_int_equal(path_compile(&a, "..*..*..*..*..*..x", &p, NULL), 0);
    assert_int_equal(jsn_len(path_find(&a, p, v)), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_find_values),
        cmocka_unit_test(broken_paths_are_named_by_column),
        cmocka_unit_test(work_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
