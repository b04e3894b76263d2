/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of `slurmkeeper adopt`: what a plan means for what runs, and whether a lease is held.
 */
#include "src/json/test/json_text.h"

#include "src/cli/adopt.h"
#include "src/plan/finalizer.h"

struct stage {
    struct arena a;
    struct actions plan;
    const struct jsn *live;
};

static const struct jsn *live_of(void *arg, const char *kind, const char *name)
{
    (void)kind;
    (void)name;
    return ((struct stage *)arg)->live;
}

static void add(struct stage *s, enum action_verb verb, const char *kind, const char *name,
                const char *body)
{
    struct action *a = actions_add(&s->plan, verb);

    a->kind = plan_kind_find(kind);
    a->name = name;
    a->body = json_of(&s->a, body);
}

static void expect(struct stage *s, const char *object, const struct plan_pod *const *pods,
                   size_t n, const char *want)
{
    static const char *const names[] = {"changed", "kept", "left", "replaced", "restart"};
    struct preview_plan subject = {json_of(&s->a, object), &s->plan, pods, n, live_of, s};
    struct adopt_effects list = {.a = &s->a};
    AUTO(buf_done) struct buf b = {0};

    adopt_judge(&subject, true, &list);
    for (size_t i = 0; i < list.n; i++)
        buf_printf(&b, "%s%s: %s", i ? "\n" : "", names[list.items[i].class], list.items[i].text);
    assert_string_equal(buf_str(&b), want);
    arena_done(&s->a);
}

static void a_changed_template_is_a_restart_and_names_the_containers(void **state)
{
    struct stage s = {0};

    (void)state;
    s.plan.arena = &s.a;
    s.live = json_of(&s.a, "{'spec':{'template':{'spec':{'initContainers':[{'name':'logfile'},"
                           "{'name':'reconfigure'}],'containers':[{'name':'slurmctld'}]}}}}");
    add(&s, ACTION_PATCH, "Controller", "lab", "{'metadata':{}}"); /* its finalizer */
    add(&s, ACTION_PATCH, "ConfigMap", "lab-config", "{'data':{}}");
    add(&s, ACTION_CREATE, "Secret", "lab-agent", "{}");
    add(&s, ACTION_PATCH, "StatefulSet", "lab-controller",
        "{'spec':{'template':{'spec':{'initContainers':[{'name':'logfile'},{'name':'agent'}]}}}}");
    add(&s, ACTION_PATCH, "StatefulSet", "other", "{'spec':{'replicas':2}}");
    add(&s, ACTION_STATUS, "Controller", "lab", "{}");
    expect(
        &s, "{'kind':'Controller','metadata':{'name':'lab'}}", NULL, 0,
        "changed: ConfigMap lab-config is changed\n"
        "changed: Secret lab-agent is made\n"
        "restart: pods of StatefulSet lab-controller (with agent; without reconfigure); jobs run "
        "on meanwhile\n"
        "changed: StatefulSet other is changed");
}

static void sessions_of_logins_are_told_of(void **state)
{
    struct stage s = {0};

    (void)state;
    s.plan.arena = &s.a;
    add(&s, ACTION_PATCH, "Deployment", "login", "{'spec':{'template':{'metadata':{}}}}");
    expect(&s, "{'kind':'LoginSet','metadata':{'name':'login'}}", NULL, 0,
           "restart: pods of Deployment login, one by one (another pod template); sessions in them "
           "end");
}

static void workers_of_the_declared_revision_stay(void **state)
{
    static const struct plan_pod mine = {.hash = "abc"};
    static const struct plan_pod old = {.hash = "old"};
    const struct plan_pod *const pods[] = {&mine, &mine, &old};
    struct stage s = {0};

    (void)state;
    s.plan.arena = &s.a;
    add(&s, ACTION_CREATE, "ControllerRevision", "n-abc-taken-over",
        "{'metadata':{'labels':{'controller.kubernetes.io/hash':'abc'}}}");
    expect(
        &s, "{'kind':'NodeSet','metadata':{'name':'n'}}", pods, 3,
        "kept: 2 worker pods of NodeSet n\n"
        "replaced: 1 worker pod of NodeSet n: not of the revision that is declared; each when no "
        "job can run on it");
    s = (struct stage){.plan.arena = &s.a};
    expect(&s, "{'kind':'NodeSet','metadata':{'name':'n'},'spec':{'scalingMode':'DaemonSet'}}",
           pods, 1,
           "left: 1 worker pod of NodeSet n: scalingMode DaemonSet is not there yet, they run on "
           "and are not looked after");
    s = (struct stage){.plan.arena = &s.a};
    expect(&s, "{'kind':'NodeSet','metadata':{'name':'n','finalizers':['" FINALIZER_NODESET "']}}",
           pods, 2, "kept: 2 worker pods of NodeSet n: our operator looks after them already");
}

static void a_lease_is_held_until_it_has_run_out(void **state)
{
    static const struct {
        const char *spec;
        bool held;
    } cases[] = {
        {"{'holderIdentity':'x','renewTime':'1970-01-01T00:01:40.000000Z','leaseDurationSeconds':"
         "15}",
         true},
        {"{'holderIdentity':'x','renewTime':'1970-01-01T00:01:20.000000Z','leaseDurationSeconds':"
         "15}",
         false},
        {"{'holderIdentity':'','renewTime':'1970-01-01T00:01:40.000000Z','leaseDurationSeconds':"
         "15}",
         false},
        {"{'holderIdentity':'x'}", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};

        assert_int_equal(adopt_lease_is_held(json_of(&a, cases[i].spec), 101 * 1000000LL),
                         cases[i].held);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_changed_template_is_a_restart_and_names_the_containers),
        cmocka_unit_test(sessions_of_logins_are_told_of),
        cmocka_unit_test(workers_of_the_declared_revision_stay),
        cmocka_unit_test(a_lease_is_held_until_it_has_run_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
