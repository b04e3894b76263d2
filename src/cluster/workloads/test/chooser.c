/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of which services and budgets a pod's change concerns. */
#include "src/cluster/workloads/test/observed.h"

#include "src/cluster/workloads/chooser.h"

#define SERVICES "services"
#define BUDGETS "poddisruptionbudgets.policy"

static void put(struct choosers *c, const char *resource, const char *ns, const char *name,
                const char *text)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf b = {0};
    struct store_row row = {.key = {resource, ns, name}};

    jsn_print(&b, json_of(&a, text));
    row.data = buf_view(&b);
    choosers_put(c, &row);
}

/* One letter each, in order of the alphabet. */
static void note(void *arg, const struct store_key *key)
{
    ((char *)arg)[key->name[0] - 'a'] = key->name[0];
}

static const char *concerned(struct arena *a, const struct choosers *c, const char *before,
                             const char *now)
{
    char found[27] = "";
    AUTO(buf_done) struct buf b = {0};

    choosers_each(c, "n", before ? json_of(a, before) : NULL, now ? json_of(a, now) : NULL, note,
                  found);
    for (size_t i = 0; i < sizeof(found); i++)
        if (found[i])
            buf_addc(&b, found[i]);
    return arena_strdup(a, buf_str(&b));
}

#define POD(labels, status)                                                                        \
    "{'metadata':{'labels':{" labels "}},'spec':{'nodeName':'m'},'status':{" status "}}"
#define UNBOUND "{'metadata':{'labels':{'app':'x'}},'status':{'podIP':'10.0.0.1'}}"
#define X "'app':'x'"
#define Y "'app':'y'"
#define IP "'podIP':'10.0.0.1'"

static void a_change_concerns_who_chooses_the_pod_now_or_before(void **state)
{
    static const struct {
        const char *before, *now, *want;
    } cases[] = {
        {NULL, POD(X, ""), "d"}, /* without an address it is behind no service */
        {NULL, UNBOUND, "d"},    /* nor without a node */
        {UNBOUND, POD(X, IP), "ad"},
        {NULL, POD(X, IP), "ad"},
        {POD(X, ""), POD(X, IP), "ad"},
        {POD(X, IP), POD(Y, IP), "abd"},
        {POD(X, IP ",'phase':'Failed'"), POD(X, IP ",'phase':'Failed'"), "d"},
        {POD(X, IP), POD(X, IP ",'phase':'Failed'"), "ad"},
        {NULL, POD("'app':'z'", IP), ""},
        {NULL, NULL, ""},
    };
    AUTO(choosers_free) struct choosers *c = choosers_new();

    (void)state;
    put(c, SERVICES, "n", "a", "{'spec':{'selector':{'app':'x'}}}");
    put(c, SERVICES, "n", "b", "{'spec':{'selector':{'app':'y'}}}");
    put(c, SERVICES, "other", "c", "{'spec':{'selector':{'app':'x'}}}");
    put(c, BUDGETS, "n", "d", "{'spec':{'selector':{'matchLabels':{'app':'x'}}}}");
    put(c, BUDGETS, "n", "e", "{'spec':{'selector':{}}}");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};

        assert_string_equal(concerned(&a, c, cases[i].before, cases[i].now), cases[i].want);
    }
}

static void choosers_change_and_go(void **state)
{
    static const char pod[] = POD(X, IP);
    AUTO(choosers_free) struct choosers *c = choosers_new();
    AUTO(arena_done) struct arena a = {0};

    (void)state;
    put(c, SERVICES, "n", "a", "{'spec':{'selector':{'app':'x'}}}");
    assert_string_equal(concerned(&a, c, NULL, pod), "a");
    put(c, SERVICES, "n", "a", "{'spec':{'selector':{'app':'y'}}}");
    assert_string_equal(concerned(&a, c, NULL, pod), "");
    put(c, SERVICES, "n", "a", "{'spec':{'selector':{'app':'x'}}}");
    choosers_drop(c, &(struct store_key){SERVICES, "n", "a"});
    assert_string_equal(concerned(&a, c, NULL, pod), "");
}

static void a_service_without_a_selector_chooses_nothing(void **state)
{
    AUTO(choosers_free) struct choosers *c = choosers_new();
    AUTO(arena_done) struct arena a = {0};

    (void)state;
    put(c, SERVICES, "n", "a", "{'spec':{}}");
    put(c, SERVICES, "n", "b", "{}");
    assert_string_equal(concerned(&a, c, NULL, POD(X, IP)), "");
    assert_true(choosers_take(SERVICES));
    assert_false(choosers_take("pods"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_concerns_who_chooses_the_pod_now_or_before),
        cmocka_unit_test(choosers_change_and_go),
        cmocka_unit_test(a_service_without_a_selector_chooses_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
