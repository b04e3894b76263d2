/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the plan for deployments and replica sets. */
#include "src/cluster/workloads/test/observed.h"

#include "src/cluster/workloads/deployment.h"
#include "src/cluster/workloads/replicaset.h"

#define ROLLING                                                                                    \
    "'strategy':{'type':'RollingUpdate','rollingUpdate':{'maxSurge':1,'maxUnavailable':1}},"
#define CAREFUL                                                                                    \
    "'strategy':{'type':'RollingUpdate','rollingUpdate':{'maxSurge':'25%','maxUnavailable':0}},"
#define RECREATE "'strategy':{'type':'Recreate'},"

/* Sets from "old:3/3 new:1/0": template and revision by name, wanted and available pods. */
static struct jsn *sets_of(struct arena *a, const char *text, int64_t desired)
{
    struct jsn *list = jsn_array(a);
    struct str rest = str_of(text);
    struct str word;
    int made = 0;

    while (text[0] && str_split(&rest, ' ', &word)) {
        size_t colon = str_find(word, ':');
        const char *name = arena_str(a, (struct str){word.p, colon});
        int want = word.p[colon + 1] - '0';
        int available = word.p[colon + 3] - '0';

        made++;
        jsn_append(
            a, list,
            json_of(
                a,
                arena_printf(
                    a,
                    "{'metadata':{'name':'d-%s','namespace':'n','uid':'%s','generation':1,"
                    "'labels':{'a':'b','pod-template-hash':'%s'},'creationTimestamp':"
                    "'2026-01-01T0%d:00:00Z'," OWNED_BY(
                        "Deployment",
                        "u") ",'annotations':{'deployment.kubernetes.io/revision':'%d',"
                             "'deployment.kubernetes.io/desired-replicas':'%lld',"
                             "'deployment.kubernetes.io/max-replicas':'%lld'}},"
                             "'spec':{'replicas':%d,'template':{'metadata':{'labels':{'a':'b',"
                             "'pod-template-hash':'%s'}},'spec':{'containers':[{'image':'%s'}]}}},"
                             "'status':{'observedGeneration':1,'replicas':%d,'readyReplicas':%d,"
                             "'availableReplicas':%d}}",
                    name, name, name, made, made, (long long)desired, (long long)desired + 1, want,
                    name, name, want, available, available)));
    }
    return list;
}

static struct jsn *deployment_of(struct arena *a, const char *spec)
{
    return json_of(a,
                   arena_printf(a,
                                "{'metadata':{'name':'d','namespace':'n','uid':'u','generation':2},"
                                "'spec':{%s'selector':{'matchLabels':{'a':'b'}},'template':{"
                                "'metadata':{'labels':{'a':'b'}},'spec':{'containers':[{'image':"
                                "'new'}]}}}}",
                                spec));
}

/* The sizes that the plan gives to sets: "d-old=2 d-new=2". */
static const char *sizes(const struct plan *p, int64_t *ret_fresh)
{
    AUTO(buf_done) struct buf b = {0};

    *ret_fresh = -1;
    for (size_t i = 0; i < p->n; i++) {
        const struct jsn *o = p->items[i].object;

        if (!streq(p->items[i].resource, "replicasets.apps"))
            continue;
        if (p->items[i].verb == ACTION_CREATE)
            *ret_fresh = jsn_get_int(o, "spec.replicas", -1);
        else if (p->items[i].verb == ACTION_UPDATE)
            buf_printf(&b, "%s%s=%lld", b.n ? " " : "", object_name(o) + 2,
                       (long long)jsn_get_int(o, "spec.replicas", -1));
    }
    return arena_strdup(p->arena, buf_str(&b));
}

static void sets_are_sized_step_by_step(void **state)
{
    static const struct {
        const char *spec, *sets, *want;
        int64_t fresh, desired;
    } cases[] = {
        {ROLLING "'replicas':4,", "", "", 4, 4},
        {ROLLING "'replicas':4,", "old:4/4", "", 1, 4},
        {ROLLING "'replicas':4,", "old:4/4 new:1/0", "old=3", -1, 4},
        {ROLLING "'replicas':4,", "old:3/3 new:1/0", "new=2", -1, 4},
        {ROLLING "'replicas':4,", "old:3/3 new:2/0", "", -1, 4},
        {ROLLING "'replicas':4,", "old:3/3 new:2/2", "old=1", -1, 4},
        {ROLLING "'replicas':4,", "old:3/1 new:2/0", "", -1, 4},
        {ROLLING "'replicas':4,", "old:4/2 new:1/1", "old=2", -1, 4},
        {ROLLING "'replicas':4,", "old:0/0 new:4/4", "", -1, 4},
        {ROLLING "'replicas':4,", "old:1/1 new:4/4", "old=0", -1, 4},
        {CAREFUL "'replicas':4,", "old:4/4 new:1/0", "", -1, 4},
        {CAREFUL "'replicas':4,", "old:4/4 new:1/1", "old=3", -1, 4},
        {RECREATE "'replicas':4,", "old:4/4", "old=0", 0, 4},
        {RECREATE "'replicas':4,", "old:0/0 new:0/0", "new=4", -1, 4},
        {ROLLING "'paused':true,'replicas':4,", "old:4/4", "", -1, 4},
        /* A change of replicas is shared out. */
        {ROLLING "'replicas':2,", "new:4/4", "new=2", -1, 4},
        {ROLLING "'replicas':8,", "new:4/4", "new=8", -1, 4},
        {ROLLING "'paused':true,'replicas':6,", "old:4/4", "old=6", -1, 4},
        {ROLLING "'replicas':9,", "old:3/3 new:2/2", "old=6 new=4", -1, 4},
        {ROLLING "'replicas':0,", "old:3/3 new:2/2", "old=0 new=0", -1, 4},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct plan p = {.arena = &a, .now_us = NOW_US};
        struct deployment_view v = {.deployment = deployment_of(&a, cases[i].spec),
                                    .replicasets = sets_of(&a, cases[i].sets, cases[i].desired)};
        int64_t fresh;
        const char *got;

        deployment_plan(&p, &v);
        got = sizes(&p, &fresh);
        if (!streq(got, cases[i].want) || fresh != cases[i].fresh)
            fail_msg("%s with %s: '%s' and %lld instead of '%s' and %lld", cases[i].spec,
                     cases[i].sets, got, (long long)fresh, cases[i].want,
                     (long long)cases[i].fresh);
    }
}

static void recreate_waits_for_the_last_old_pod(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct plan p = {.arena = &a, .now_us = NOW_US};
    struct deployment_view v = {
        .deployment = deployment_of(&a, RECREATE "'replicas':4,"),
        .replicasets = sets_of(&a, "old:0/0 new:0/0", 4),
        .pods = json_of(&a, "[{'metadata':{'name':'x','deletionTimestamp':'t'," OWNED_BY(
                                "ReplicaSet", "old") "},'status':{'phase':'Running'}}]")};
    int64_t fresh;

    (void)state;
    deployment_plan(&p, &v);
    assert_string_equal(sizes(&p, &fresh), "new=0");
}

static void a_new_set_is_named_and_labelled_by_its_hash(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct plan p = {.arena = &a, .now_us = NOW_US};
    struct deployment_view v = {.deployment = deployment_of(&a, ROLLING "'replicas':1,"),
                                .replicasets = sets_of(&a, "old:1/1", 1)};
    const struct jsn *set;
    const char *hash;

    (void)state;
    deployment_plan(&p, &v);
    set = plan_object(&p, ACTION_CREATE, "replicasets.apps");
    hash = jsn_get_str(set, "metadata.labels.pod-template-hash");
    assert_string_equal(object_name(set), arena_printf(&a, "d-%s", hash));
    assert_string_equal(jsn_get_str(set, "spec.selector.matchLabels.pod-template-hash"), hash);
    assert_string_equal(jsn_get_str(set, "spec.template.metadata.labels.pod-template-hash"), hash);
    assert_int_equal(deployment_revision(set), 2);
    assert_int_equal(deployment_revision(plan_object(&p, ACTION_STATUS, "deployments.apps")), 2);
}

static void an_undo_gives_the_old_set_a_new_number(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct plan p = {.arena = &a, .now_us = NOW_US};
    struct deployment_view v = {.deployment = deployment_of(&a, ROLLING "'replicas':4,"),
                                .replicasets = sets_of(&a, "new:0/0 bad:4/4", 4)};
    const struct jsn *set;

    (void)state;
    deployment_plan(&p, &v);
    set = plan_object(&p, ACTION_UPDATE, "replicasets.apps");
    assert_string_equal(object_name(set), "d-new");
    assert_int_equal(deployment_revision(set), 3);
}

static void history_is_trimmed(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct plan p = {.arena = &a, .now_us = NOW_US};
    struct deployment_view v = {
        .deployment = deployment_of(&a, ROLLING "'replicas':1,'revisionHistoryLimit':1,"),
        .replicasets = sets_of(&a, "x:0/0 y:0/0 z:0/0 new:1/1", 1)};

    (void)state;
    deployment_plan(&p, &v);
    assert_string_equal(plan_text(&p), "delete replicasets d-x; delete replicasets d-y");
}

static void conditions_tell_how_a_rollout_goes(void **state)
{
#define PROGRESSING(reason, at)                                                                    \
    "{'conditions':[{'type':'Progressing','status':'True','reason':'" reason                       \
    "','lastUpdateTime':'" at "','lastTransitionTime':'" at "'}],'replicas':5,"                    \
    "'updatedReplicas':1,'readyReplicas':4,'availableReplicas':4}"
    static const struct {
        const char *spec, *sets, *status, *progressing, *available;
    } cases[] = {
        {"", "old:4/4", NULL, "True NewReplicaSetCreated", "True MinimumReplicasAvailable"},
        {"", "new:4/4", NULL, "True NewReplicaSetAvailable", "True MinimumReplicasAvailable"},
        {"", "new:4/2", NULL, "True ReplicaSetUpdated", "False MinimumReplicasUnavailable"},
        {"", "old:4/4 new:1/0", PROGRESSING("ReplicaSetUpdated", "2026-01-01T09:59:00Z"),
         "True ReplicaSetUpdated", "True MinimumReplicasAvailable"},
        {"", "old:3/3 new:2/0", PROGRESSING("ReplicaSetUpdated", "2026-01-01T09:00:00Z"),
         "True ReplicaSetUpdated", "False MinimumReplicasUnavailable"},
        {"'progressDeadlineSeconds':60,", "old:4/4 new:1/0",
         PROGRESSING("ReplicaSetUpdated", "2026-01-01T09:00:00Z"), "False ProgressDeadlineExceeded",
         "True MinimumReplicasAvailable"},
        {"'paused':true,", "old:4/4", NULL, "Unknown DeploymentPaused",
         "True MinimumReplicasAvailable"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct plan p = {.arena = &a, .now_us = NOW_US};
        struct jsn *d =
            deployment_of(&a, arena_printf(&a, "%s%s", CAREFUL "'replicas':4,", cases[i].spec));
        struct deployment_view v = {.deployment = d, .replicasets = sets_of(&a, cases[i].sets, 4)};
        const struct jsn *list;

        if (cases[i].status)
            jsn_set(&a, d, "status", json_of(&a, cases[i].status));
        deployment_plan(&p, &v);
        list = jsn_get(plan_object(&p, ACTION_STATUS, "deployments.apps"), "status.conditions");
        for (size_t k = 0; k < 2; k++) {
            const struct jsn *c = jsn_item(list, k);
            const char *got =
                arena_printf(&a, "%s %s", jsn_get_str(c, "status"), jsn_get_str(c, "reason"));
            const char *want = k == 0 ? cases[i].available : cases[i].progressing;

            if (!streq(got, want))
                fail_msg("case %zu: %s instead of %s", i, got, want);
        }
    }
}

/* Pods from "aR bP": name and state. */
static struct jsn *pods_of(struct arena *a, const char *text)
{
    struct jsn *list = jsn_array(a);
    struct str rest = str_of(text);
    struct str word;

    while (text[0] && str_split(&rest, ' ', &word)) {
        struct jsn *pod = json_of(
            a, arena_printf(a,
                            "{'metadata':{'name':'%c','labels':{'a':'b'},'creationTimestamp':"
                            "'2026-01-0%dT00:00:00Z'," OWNED_BY("ReplicaSet",
                                                                "u") "},"
                                                                     "'spec':{'nodeName':'n'}}",
                            word.p[0], word.p[0] - 'a' + 1));

        pod_set_state(a, pod, word.p[1]);
        jsn_append(a, list, pod);
    }
    return list;
}

static void a_replica_set_keeps_its_number_of_pods(void **state)
{
    static const struct {
        int replicas;
        const char *pods, *want;
    } cases[] = {
        {2, "", "create pods r-; create pods r-"},
        {2, "aR", "create pods r-"},
        {2, "aR bF", "create pods r-"},
        {2, "aR bT", "create pods r-"},
        {2, "aR bR", ""},
        {1, "aR bP cR", "delete pods b; delete pods c"},
        {1, "aD bR", "delete pods a"},
        {0, "aR bT", "delete pods a"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct plan p = {.arena = &a, .now_us = NOW_US};
        struct jsn *set = json_of(
            &a, arena_printf(&a,
                             "{'metadata':{'name':'r','uid':'u'},'spec':{'replicas':%d,'selector':"
                             "{'matchLabels':{'a':'b'}},'template':{'metadata':{'labels':{'a':'b'"
                             "}}}}}",
                             cases[i].replicas));

        replicaset_plan(&p, set, pods_of(&a, cases[i].pods));
        if (!streq(plan_text(&p), cases[i].want))
            fail_msg("%d of %s: '%s' instead of '%s'", cases[i].replicas, cases[i].pods,
                     plan_text(&p), cases[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_are_sized_step_by_step),
        cmocka_unit_test(recreate_waits_for_the_last_old_pod),
        cmocka_unit_test(a_new_set_is_named_and_labelled_by_its_hash),
        cmocka_unit_test(an_undo_gives_the_old_set_a_new_number),
        cmocka_unit_test(history_is_trimmed),
        cmocka_unit_test(conditions_tell_how_a_rollout_goes),
        cmocka_unit_test(a_replica_set_keeps_its_number_of_pods),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
