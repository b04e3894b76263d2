/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the rules by which slurmctld's messages reach this machine. */
#include "src/base/test/unit.h"

#include "src/cluster/node/network/callback.h"
#include "src/cluster/node/test/parse.h"

static void only_pods_of_slurmctld_have_them(void **state)
{
    AUTO(arena_done) struct arena a = {0};

    (void)state;
    assert_true(callback_wanted(pod_of(&a, "{'containers':[{'name':'x'},{'name':'slurmctld'}]}")));
    assert_false(callback_wanted(pod_of(&a, "{'containers':[{'name':'slurmd'}]}")));
    assert_false(
        callback_wanted(pod_of(&a, "{'hostNetwork':true,'containers':[{'name':'slurmctld'}]}")));
}

static void they_are_for_slurmctld_alone_where_its_user_is_known(void **state)
{
    static const struct {
        const char *security;
        const char *match;
        const char * not;
    } cases[] = {
        {"{'runAsUser':401}", "meta skuid 401 tcp dport 1024-65535", "32768"},
        {"{}", "tcp dport 32768-60999", "skuid"},
        {"{'runAsUser':0}", "tcp dport 32768-60999", "skuid"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        AUTO(buf_done) struct buf b = {0};

        callback_print(&b,
                       pod_of(&a, arena_printf(&a,
                                               "{'securityContext':%s,'containers':[{'name':"
                                               "'slurmctld'}]}",
                                               cases[i].security)),
                       "10.131.0.1");
        assert_non_null(strstr(buf_str(&b), cases[i].match));
        assert_null(strstr(buf_str(&b), cases[i].not));
        assert_non_null(strstr(buf_str(&b), "dnat to 10.131.0.1\n"));
        assert_non_null(strstr(buf_str(&b), "ct state != { established, related } drop"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_pods_of_slurmctld_have_them),
        cmocka_unit_test(they_are_for_slurmctld_alone_where_its_user_is_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
