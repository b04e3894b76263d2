/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of Kubernetes nodes: what of them drains, in which words. */
#include "src/base/test/unit.h"

#include "src/json/test/json_text.h"
#include "src/plan/machine.h"

#define NODE "{'metadata':{'name':'n1'%s},'spec':{%s},'status':{'conditions':[%s]}}"
#define WHY ",'annotations':{'" MACHINE_CORDON_REASON "':'disk \\u0007swap'}"
#define READY "{'type':'Ready','status':'True'},"
#define DISK "{'type':'DiskPressure','status':'True','reason':'Full','message':'99 %'}"

static void a_cordon_and_wanted_conditions_drain(void **state)
{
    static const struct {
        const char *meta, *spec, *conditions, *types, *want;
    } rows[] = {
        {"", "", READY DISK, NULL, NULL},
        {"", "", READY DISK, "Ready2,Disk", NULL},
        {"", "", READY DISK, "XPressure, DiskPressure", "Node (n1): (Full: 99 %)"},
        {"", "", "{'type':'DiskPressure','status':'False'}", "DiskPressure", NULL},
        {"", "", "{'type':'A','status':'True'},{'type':'B','status':'True','reason':'r'}", "A,B",
         "Node (n1): (A); (r)"},
        {"", "'unschedulable':true", "", NULL, "Node (n1) was cordoned"},
        {WHY, "'unschedulable':true", DISK, "DiskPressure", "Node (n1): disk swap"},
        {WHY, "", "", NULL, NULL},
        {"", "'unschedulable':true", DISK, "DiskPressure", "Node (n1): (Full: 99 %)"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct plan_machine m;
        const char *got;

        plan_machine_decode(
            &a, json_of(&a, arena_printf(&a, NODE, rows[i].meta, rows[i].spec, rows[i].conditions)),
            &m);
        got = plan_machine_drains(&a, &m, rows[i].types);
        assert_string_equal(got ? got : "", rows[i].want ? rows[i].want : "");
    }
}

static void long_texts_are_cut_where_a_character_ends(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct plan_machine m = {.name = "n", .cordoned = true};
    char text[400];

    (void)state;
    memset(text, 'x', 255);
    memcpy(text + 255, "\xc3\xa4 and more", 12);
    m.reason = text;
    assert_int_equal(strlen(plan_machine_drains(&a, &m, NULL)), strlen("Node (n): ") + 255);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cordon_and_wanted_conditions_drain),
        cmocka_unit_test(long_texts_are_cut_where_a_character_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
