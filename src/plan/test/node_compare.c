/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of a declared node and its record. */
#include "src/base/test/unit.h"

#include "src/json/test/json_text.h"
#include "src/plan/node_compare.h"

#define MACHINE .cpus = 8, .boards = 1, .sockets = 1, .cores = 4, .threads = 2, .memory = 4000

static const char *told(struct arena *a, const struct node_differences *d)
{
    AUTO(buf_done) struct buf b = {0};

    for (size_t i = 0; i < d->n; i++)
        buf_printf(&b, "%s%s %s->%s;", d->items[i].in_place ? "" : "!", d->items[i].key,
                   d->items[i].live ? d->items[i].live : "-", d->items[i].declared);
    return arena_strdup(a, buf_str(&b));
}

static void what_differs_is_told_by_its_meaning(void **state)
{
    static const struct {
        const char *spec; /* of the NodeSet */
        struct slurm_node_params live;
        const char *differences; /* those with ! need another record */
    } cases[] = {
        {"", {MACHINE, .weight = 1, .features = "gpu"}, ""},
        {"", {MACHINE, .weight = 1, .features = "gpu", .gres = "gpu:2", .core_spec = 1}, ""},
        {"'extraConf':'Features=h100'", {MACHINE, .weight = 1, .features = "h100,gpu"}, ""},
        {"'extraConf':'Feature=h100'",
         {MACHINE, .weight = 1, .features = "gpu,a100"},
         "Features gpu,a100->gpu,h100;"},
        {"", {MACHINE, .weight = 1}, "Features -->gpu;"},
        {"'extraConf':'Weight=7'", {MACHINE, .weight = 1, .features = "gpu"}, "Weight 1->7;"},
        {"", {MACHINE, .features = "gpu", .weight = 7}, "Weight 7->1;"},
        {"'extraConf':'Gres=gpu:2'",
         {MACHINE, .weight = 1, .features = "gpu", .gres = "gpu:2(S:0,1)"},
         ""},
        {"'extraConf':'Gres=gpu,nic:2'",
         {MACHINE, .weight = 1, .features = "gpu", .gres = "nic:2,gpu:1"},
         ""},
        {"'extraConf':'Gres=gpu:h100:2'",
         {MACHINE, .weight = 1, .features = "gpu", .gres = "gpu:a100:2"},
         "!Gres gpu:a100:2->gpu:h100:2;"},
        {"'extraConf':'RealMemory=3000 Procs=8'",
         {MACHINE, .weight = 1, .features = "gpu"},
         "!RealMemory 4000->3000;"},
        /* Limits of the pod: three of eight threads are two of four cores. */
        {"'slurmd':{'resources':{'limits':{'cpu':3,'memory':'1000Mi'}}}",
         {MACHINE, .weight = 1, .features = "gpu", .core_spec = 2, .mem_spec = 3000},
         ""},
        {"'slurmd':{'resources':{'limits':{'cpu':'6','memory':'2000Mi'}}}",
         {MACHINE, .weight = 1, .features = "gpu", .core_spec = 2, .mem_spec = 3000},
         "!CoreSpecCount 2->1;!MemSpecLimit 3000->2000;"},
        {"'slurmd':{'resources':{'limits':{'cpu':64,'memory':'64Gi'}}}",
         {MACHINE, .weight = 1, .features = "gpu"},
         ""},
        {"'extraConf':'CoreSpecCount=1','slurmd':{'resources':{'limits':{'cpu':3}}}",
         {MACHINE, .weight = 1, .features = "gpu", .core_spec = 1},
         ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct slurm_node n = {"gpu-0", NODE_BASE_IDLE, .params = &cases[i].live};
        struct node_declared d;
        struct node_differences ret;
        struct nodeset ns;
        struct err e = {0};

        assert_int_equal(
            nodeset_decode(&a,
                           json_of(&a, arena_printf(&a,
                                                    "{'metadata':{'name':'gpu'},'spec':{"
                                                    "'controllerRef':{'name':'c'}%s%s}}",
                                                    cases[i].spec[0] ? "," : "", cases[i].spec)),
                           &ns, &e),
            0);
        node_declare(&a, &ns, false, &d);
        node_compare(&a, &d, &n, &ret);
        assert_string_equal(told(&a, &ret), cases[i].differences);
        n.params = NULL;
        node_compare(&a, &d, &n, &ret);
        assert_int_equal(ret.n, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_differs_is_told_by_its_meaning),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
