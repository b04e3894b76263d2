/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of what the parser need not be asked for. */
#include "src/base/test/unit.h"

#include "src/agent/vouch.h"

#define NOW RELEASE(22, 5, 8)

static void plain_lines_are_certain_and_others_are_not(void **state)
{
    static const struct {
        const char *line;
        bool certain;
    } cases[] = {
        {"PartitionName=a Nodes=c[0001-0010],d3 MaxTime=90", true},
        {"PartitionName=a-1.x Nodes=ALL Default=YES State=DRAIN", true},
        {"PartitionName=a MaxTime=24:00:00 DefaultTime=UNLIMITED", true},
        {"PartitionName=a PriorityTier=9999 MaxNodes=100000 OverSubscribe=EXCLUSIVE", true},
        {"PartitionName=a AllowGroups=x,y AllowAccounts=ALL Hidden=NO", true},
        {"NodeSet=gpu Feature=gpu", true},
        {"NodeSet=gpu Nodes=c1", false},
        {"NodeSet=gpu", false},
        {"NodeSet=gpu Feature=a,b", false},
        {"NodeSet=gpu Feature=a&b", false},
        {"NodeSet=gpu Feature=a Nodes=b", false},
        {"NodeSet=default Feature=a", false},
        {"NodeSet=ALL Feature=a", false},
        /* not what we write */
        {"PartitionName=a", false},
        {"PartitionName=", false},
        {"PartitionName= Nodes=a", false},
        {" PartitionName=a Nodes=a", false},
        {"PartitionName=a  Nodes=a", true},
        {"PartitionName=a Nodes=a ", true},
        {"PartitionName=a\tNodes=a", false},
        {"partitionname=a Nodes=a", false},
        {"PartitionName=a nodes=a", false},
        {"PartitionName=a/b Nodes=a", false},
        {"PartitionName=a Nodes=\"a\"", false},
        {"PartitionName=a Nodes=a # b", false},
        {"PartitionName=a Nodes=a \\", false},
        {"PartitionName=a Nodes", false},
        {"PartitionName=a Nodes=", false},
        {"PartitionName=a Nodes+=a", false},
        {"PartitionName=a PartitionName=b", false},
        /* the parser's business */
        {"PartitionName=a MaxTime=soon", false},
        {"PartitionName=a MaxTime=1-0", false},
        {"PartitionName=a MaxTime=1:2:3", false},
        {"PartitionName=a MaxTime=010", false},
        {"PartitionName=a MaxTime=-1", false},
        {"PartitionName=a MaxTime=99999999999", false},
        {"PartitionName=a PriorityTier=70000", false},
        {"PartitionName=a Default=yes", false},
        {"PartitionName=a State=drain", false},
        {"PartitionName=a PreemptMode=OFF", false},
        {"PartitionName=a TRESBillingWeights=CPU=1", false},
        {"PartitionName=a QOS=x", false},
        {"PartitionName=a Bogus=1", false},
        {"PartitionName=a MaxTime=1 MaxTime=2", false},
        /* of a later release */
        {"PartitionName=a MaxCPUsPerSocket=2", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (vouch_line(str_of(cases[i].line), NOW) != cases[i].certain)
            fail_msg("%s", cases[i].line);
}

static void a_text_is_certain_if_only_plain_lines_are_new(void **state)
{
    static const struct {
        const char *known, *text;
        bool certain;
    } cases[] = {
        {"A=1\nPartitionName=a Nodes=x\n", "A=1\nPartitionName=a Nodes=y\n", true},
        {"A=1\nPartitionName=a Nodes=x\n", "A=1\n", true},
        {"A=1\n", "A=1\nPartitionName=a Nodes=x\nPartitionName=b Nodes=x\n", true},
        /* what is not plain was taken before */
        {"PartitionName=a MaxTime=1-0\n", "PartitionName=a MaxTime=1-0\nPartitionName=b Nodes=x\n",
         true},
        {"A=1\nNodeSet=g Feature=g\nPartitionName=a Nodes=x\n",
         "A=1\nNodeSet=g Feature=g\nNodeSet=h Feature=h\nPartitionName=a Nodes=x\n", true},
        {"A=1\nNodeSet=g Nodes=x\n", "A=1\nNodeSet=g Feature=g\n", true},
        {"A=1\nNodeSet=g Feature=g\n", "A=1\nNodeSet=g Nodes=x\n", false},
        {"A=1 \\\nNodeSet=g Feature=g\n", "A=1 \\\nNodeSet=g Feature=h\n", false},
        {"A=1\nPartitionName=a Nodes=x\n", "A=2\nPartitionName=a Nodes=x\n", false},
        {"A=1\nPartitionName=a Nodes=x\n", "A=1\nB=1\nPartitionName=a Nodes=x\n", false},
        {"A=1\nB=1\nPartitionName=a Nodes=x\n", "A=1\nPartitionName=a Nodes=x\n", false},
        {"A=1\nB=1\n", "B=1\nA=1\n", false},
        {"PartitionName=a Nodes=x\n", "PartitionName=a MaxTime=1-0\n", false},
        {"PartitionName=DEFAULT MaxTime=1\nPartitionName=a Nodes=x\n",
         "PartitionName=DEFAULT MaxTime=1\nPartitionName=a Nodes=y\n", false},
        {"Include b\nPartitionName=a Nodes=x\n", "Include b\nPartitionName=a Nodes=y\n", false},
        {"A=1 \\\nPartitionName=a Nodes=x\n", "A=1 \\\nPartitionName=a Nodes=y\n", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (vouch_text(str_of(cases[i].text), str_of(cases[i].known), NOW) != cases[i].certain)
            fail_msg("case %zu: %s", i, cases[i].text);
}

static void of_an_unknown_release_nothing_is_certain(void **state)
{
    static const char known[] = "PartitionName=a Nodes=x\n";
    static const char text[] = "PartitionName=a Nodes=y\n";

    (void)state;
    assert_true(vouch_text(str_of(text), str_of(known), RELEASE(26, 5, 3)));
    assert_false(vouch_text(str_of(text), str_of(known), RELEASE(26, 11, 0)));
    assert_false(vouch_text(str_of(text), str_of(known), 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_lines_are_certain_and_others_are_not),
        cmocka_unit_test(a_text_is_certain_if_only_plain_lines_are_new),
        cmocka_unit_test(of_an_unknown_release_nothing_is_certain),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
