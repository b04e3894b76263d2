/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of `slurmkeeper partition`: nodes added and taken away. */
#include "src/base/test/unit.h"

#include "src/cli/partition_edit.h"
#include "src/json/test/json_text.h"

static void nodes_come_and_go_by_name(void **state)
{
    static const struct {
        const char *spec;
        const char *word;
        const char *result; /* the spec without controllerRef; or what is wrong */
    } cases[] = {
        {"'nodeSetRefs':[{'name':'a'}]", "nodes+=b", "{'nodeSetRefs':[{'name':'a'},{'name':'b'}]}"},
        {"'nodeSetRefs':[{'name':'a'},{'name':'b'}]", "nodes-=a", "{'nodeSetRefs':[{'name':'b'}]}"},
        {"'nodes':'n[1-3]'", "nodes+=n5", "{'nodes':'n[1-3,5]'}"},
        {"'nodes':'n[1-3]'", "nodes+=n[2-4]", "{'nodes':'n[1-4]'}"},
        {"'nodes':'n[1-3]'", "nodes-=n2", "{'nodes':'n[1,3]'}"},
        {"'nodes':'n1'", "nodes-=n1", "{'nodes':null}"},
        {"'nodes':'n1'", "nodes+=a,r[1-2]", "{'nodes':'n1,r[1-2]','nodeSetRefs':[{'name':'a'}]}"},
        {"'nodeSetRefs':[{'name':'a'}]", "nodes+=a", "NodeSet a is in it already"},
        {"'nodeSetRefs':[{'name':'a'}]", "nodes-=b", "NodeSet b is not in it"},
        {"'nodes':'n1'", "nodes-=n2",
         "n2: there is no such NodeSet in its cluster, nor such a node in it"},
        {"'nodes':'n1'", "nodes=n2", "'nodes=n2' is neither nodes+=NAMES nor nodes-=NAMES"},
        {"'nodes':'n1'", "nodes+=", "'nodes+=' is neither nodes+=NAMES nor nodes-=NAMES"},
        {"'all':true", "nodes+=a", "it has all nodes of the cluster (spec.all)"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct jsn *sets =
            json_of(&a, "[{'metadata':{'name':'a'},'spec':{'controllerRef':{'name':'c'}}},"
                        "{'metadata':{'name':'b'},'spec':{'controllerRef':{'name':'c'}}},"
                        "{'metadata':{'name':'far'},'spec':{'controllerRef':{'name':'other'}}}]");
        struct jsn *spec =
            json_of(&a, arena_printf(&a, "{%s,'controllerRef':{'name':'c'}}", cases[i].spec));
        struct err e = {0};

        if (partition_edit(&a, spec, sets, cases[i].word, &e) < 0) {
            assert_string_equal(e.text, cases[i].result);
            continue;
        }
        (void)jsn_del(spec, "controllerRef");
        assert_string_equal(text_of(&a, spec), cases[i].result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_come_and_go_by_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
