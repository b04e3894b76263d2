/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of carrying out plans: stages, failures in the middle, the end of the lead. */
#include "src/base/test/unit.h"

#include "src/base/alloc.h"
#include "src/kube/test/peer.h"
#include "src/operator/executor.h"

/* What the API server answers to writes of some objects. */
struct script {
    const char *name; /* part of the path or body */
    int status;
    const char *message; /* NULL: "no" */
};

struct rig {
    struct peer peer;
    struct executor ex;
    struct script scripts[4];
    struct arena arena;
    struct actions list;
    struct execution_end end;
    int done;
    int writes_left; /* until the lead is lost; -1: never */
    char step[64];
};

static void serve(struct peer *p, struct http_exchange *x)
{
    const struct http_request *q = http_exchange_request(x);
    struct rig *r = p->arg;

    for (size_t i = 0; i < ARRAY_LEN(r->scripts); i++) {
        const struct script *s = &r->scripts[i];

        if (s->name &&
            (strstr(q->path, s->name) || memmem(q->body.p, q->body.n, s->name, strlen(s->name)))) {
            AUTO(buf_done) struct buf b = {0};

            buf_printf(&b, "{\"kind\":\"Status\",\"message\":\"%s\"}",
                       s->message ? s->message : "no");
            peer_answer(x, s->status, buf_str(&b));
            return;
        }
    }
    peer_answer(x, 200, "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}");
}

static bool may_write(void *arg)
{
    struct rig *r = arg;

    if (r->writes_left > 0)
        r->writes_left--;
    else if (r->writes_left == 0)
        return false;
    return true;
}

static void rig_init(struct rig *r)
{
    *r = (struct rig){.writes_left = -1};
    peer_init(&r->peer, serve, &(struct kube_client_options){.per_second = -1});
    r->peer.arg = r;
    r->ex = (struct executor){
        .client = r->peer.client,
        .recorder = kube_recorder_new(r->peer.client, "test", NULL),
        .may_write = may_write,
        .arg = r,
    };
    r->list.arena = &r->arena;
}

static void rig_done(struct rig *r)
{
    (void)kube_recorder_free(r->ex.recorder);
    arena_done(&r->arena);
    peer_done(&r->peer);
}
DEFINE_AUTO_DONE(struct rig, rig_done);

static void on_done(void *arg, const struct execution_end *end)
{
    struct rig *r = arg;

    r->end = *end;
    r->done++;
    (void)snprintf(r->step, sizeof(r->step), "%s", end->step ? end->step : "");
    r->end.step = r->step;
}

static void add_write(struct rig *r, enum action_verb verb, const char *name)
{
    struct action *a = actions_add(&r->list, verb);
    struct jsn *body = jsn_object(&r->arena);

    jsn_set_path(&r->arena, body, "metadata.name", jsn_string(&r->arena, name));
    a->kind = plan_kind_find("Pod");
    a->namespace = "n";
    a->name = name;
    a->body = body;
}

static struct execution *start(struct rig *r)
{
    struct kube_reference about = {.kind = "NodeSet", .namespace = "n", .name = "s", .uid = "u"};

    return execution_start(&r->ex, &about, &r->arena, &r->list, on_done, r);
}

static void run(struct rig *r)
{
    (void)start(r);
    assert_int_equal(r->done, 0); /* never inside of the start */
    peer_run_until(&r->peer, &r->done, 1);
}

/* "POST PATCH" of what was asked for, without events; in order. */
static void writes(struct rig *r, struct buf *out)
{
    for (size_t i = 0; i < r->peer.n_seen; i++) {
        if (strstr(r->peer.seen[i], "/events"))
            continue;
        buf_printf(out, "%s%.*s", out->n ? " " : "", (int)strcspn(r->peer.seen[i], " "),
                   r->peer.seen[i]);
        if (strstr(r->peer.seen[i], "/status"))
            buf_adds(out, "/status");
    }
}

static void expect_writes(struct rig *r, const char *text)
{
    AUTO(buf_done) struct buf b = {0};

    writes(r, &b);
    assert_string_equal(buf_str(&b), text);
}

static void stages_follow_one_another(void **state)
{
    AUTO(rig_done) struct rig r;

    (void)state;
    rig_init(&r);
    actions_step(&r.list, "One");
    add_write(&r, ACTION_CREATE, "a");
    actions_step(&r.list, "Two");
    add_write(&r, ACTION_PATCH, "a");
    actions_step(&r.list, "Three");
    add_write(&r, ACTION_DELETE, "a");
    actions_step(&r.list, "Status");
    add_write(&r, ACTION_STATUS, "a");
    run(&r);
    expect_writes(&r, "POST PATCH DELETE PATCH/status");
    assert_int_equal(r.end.writes, 4);
    assert_int_equal(r.end.failures, 0);
}

static void a_stage_starts_slowly_and_then_goes_wide(void **state)
{
    AUTO(rig_done) struct rig r;

    (void)state;
    rig_init(&r);
    actions_step(&r.list, "Pods");
    for (int i = 0; i < 40; i++)
        add_write(&r, ACTION_CREATE, "a");
    run(&r);
    assert_int_equal(r.end.writes, 40);
}

static void a_refusal_ends_its_stage_and_the_status(void **state)
{
    AUTO(rig_done) struct rig r;

    (void)state;
    rig_init(&r);
    r.scripts[0] = (struct script){"bad", 403};
    actions_step(&r.list, "Pods");
    add_write(&r, ACTION_CREATE, "bad");
    add_write(&r, ACTION_CREATE, "good");
    add_write(&r, ACTION_CREATE, "good");
    actions_step(&r.list, "Later");
    add_write(&r, ACTION_PATCH, "good");
    actions_step(&r.list, "Status");
    add_write(&r, ACTION_STATUS, "good");
    run(&r);
    /* One pod was tried, the later stage went on, the status was left out. */
    expect_writes(&r, "POST PATCH");
    assert_int_equal(r.end.failures, 1);
    assert_string_equal(r.end.step, "Pods");
    assert_int_equal(r.end.first.class, ERR_PERMANENT);
}

/* A pod is tried; another is to go for it, and a third anyhow. */
static void try_and_delete(struct rig *r, const char *name, bool same_size)
{
    struct jsn *pod = jsn_object(&r->arena);

    jsn_set_path(&r->arena, pod, "metadata.name", jsn_string(&r->arena, name));
    jsn_set_path(&r->arena, pod, "metadata.namespace", jsn_string(&r->arena, "n"));
    actions_step(&r->list, "Successor");
    actions_try_pod(&r->list, pod, same_size);
    actions_step(&r->list, "Removal");
    add_write(r, ACTION_DELETE, "old");
    r->list.items[r->list.n - 1].guarded = true;
    add_write(r, ACTION_PATCH, "other");
    actions_step(&r->list, "Status");
    add_write(r, ACTION_STATUS, "a");
}

static void what_is_tried_is_not_made_and_lets_the_rest_go_on(void **state)
{
    AUTO(rig_done) struct rig r;

    (void)state;
    rig_init(&r);
    try_and_delete(&r, "new", false);
    run(&r);
    expect_writes(&r, "POST DELETE PATCH PATCH/status");
    assert_non_null(strstr(r.peer.seen[0], "dryRun=All"));
    assert_int_equal(r.end.writes, 3);
}

static void nothing_goes_for_what_cannot_be_made(void **state)
{
    static const char full[] = "exceeded quota: q, requested: pods=1, used: pods=3, limited: "
                               "pods=3";
    static const struct {
        const char *message;
        bool same_size;
        const char *writes;
    } rows[] = {
        {"error looking up service account n/none", true, "POST PATCH"},
        {full, false, "POST PATCH"},
        {full, true, "POST DELETE PATCH PATCH/status"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(rig_done) struct rig r;

        rig_init(&r);
        r.scripts[0] = (struct script){"new", 403, rows[i].message};
        try_and_delete(&r, "new", rows[i].same_size);
        run(&r);
        expect_writes(&r, rows[i].writes);
    }
}

static void the_worst_failure_is_told(void **state)
{
    AUTO(rig_done) struct rig r;

    (void)state;
    rig_init(&r);
    r.scripts[0] = (struct script){"moved", 409};
    r.scripts[1] = (struct script){"broken", 500};
    r.scripts[2] = (struct script){"bad", 422};
    actions_step(&r.list, "One");
    add_write(&r, ACTION_PATCH, "moved");
    actions_step(&r.list, "Two");
    add_write(&r, ACTION_PATCH, "broken");
    actions_step(&r.list, "Three");
    add_write(&r, ACTION_PATCH, "bad");
    run(&r);
    assert_int_equal(r.end.failures, 3);
    assert_int_equal(r.end.first.class, ERR_PERMANENT);
    assert_string_equal(r.end.step, "Three");
}

static void what_is_gone_or_there_already_is_a_conflict(void **state)
{
    static const struct {
        enum action_verb verb;
        int status;
        size_t failures;
    } rows[] = {
        {ACTION_DELETE, 404, 0},
        {ACTION_PATCH, 404, 1},
        {ACTION_CREATE, 409, 1},
        {ACTION_PATCH, 409, 1},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(rig_done) struct rig r;

        rig_init(&r);
        r.scripts[0] = (struct script){"odd", rows[i].status};
        actions_step(&r.list, "One");
        add_write(&r, rows[i].verb, "odd");
        run(&r);
        assert_int_equal(r.end.failures, rows[i].failures);
        if (rows[i].failures)
            assert_int_equal(r.end.first.class, ERR_CONFLICT);
        assert_int_equal(kube_recorder_pending(r.ex.recorder), 0); /* nothing to shout about */
    }
}

static void nothing_is_written_once_the_lead_is_lost(void **state)
{
    AUTO(rig_done) struct rig r;

    (void)state;
    rig_init(&r);
    r.writes_left = 2;
    for (int i = 0; i < 5; i++) {
        actions_step(&r.list, "Step");
        add_write(&r, ACTION_PATCH, "a");
    }
    actions_step(&r.list, "Status");
    add_write(&r, ACTION_STATUS, "a");
    run(&r);
    expect_writes(&r, "PATCH PATCH");
    assert_int_equal(r.end.writes, 2);
    assert_int_equal(r.end.first.class, ERR_CONFLICT);
}

static void a_server_that_dies_in_the_middle_is_a_failure_to_try_again(void **state)
{
    AUTO(rig_done) struct rig r;

    (void)state;
    rig_init(&r);
    actions_step(&r.list, "One");
    add_write(&r, ACTION_PATCH, "a");
    actions_step(&r.list, "Status");
    add_write(&r, ACTION_STATUS, "a");
    peer_down(&r.peer);
    run(&r);
    assert_int_equal(r.end.failures, 1);
    assert_int_equal(r.end.first.class, ERR_RETRY);
    peer_up(&r.peer);
}

static void what_is_for_an_agent_fails_without_one(void **state)
{
    AUTO(rig_done) struct rig r;

    (void)state;
    rig_init(&r);
    actions_step(&r.list, "Config");
    actions_push(&r.list, "n", "lab", jsn_object(&r.arena));
    actions_step(&r.list, "Cordon");
    actions_node(&r.list, "n", "lab", "a", "drain", "why", NULL);
    actions_step(&r.list, "Later");
    add_write(&r, ACTION_PATCH, "a");
    run(&r);
    assert_int_equal(r.end.failures, 2);
    assert_int_equal(r.end.first.class, ERR_CONFLICT);
    expect_writes(&r, "PATCH");
}

static void the_earliest_wish_to_come_back_counts(void **state)
{
    AUTO(rig_done) struct rig r;

    (void)state;
    rig_init(&r);
    actions_requeue(&r.list, 500);
    actions_requeue(&r.list, 300);
    actions_requeue(&r.list, 400);
    run(&r);
    assert_true(r.end.has_requeue);
    assert_int_equal(r.end.requeue_us, 300);
}

static void a_cancelled_plan_is_silent(void **state)
{
    AUTO(rig_done) struct rig r;
    struct execution *x;

    (void)state;
    rig_init(&r);
    actions_step(&r.list, "One");
    add_write(&r, ACTION_PATCH, "a");
    x = start(&r);
    (void)loop_turn(r.peer.loop, 0);
    (void)execution_cancel(x);
    peer_run_for(&r.peer, 50);
    assert_int_equal(r.done, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stages_follow_one_another),
        cmocka_unit_test(a_stage_starts_slowly_and_then_goes_wide),
        cmocka_unit_test(a_refusal_ends_its_stage_and_the_status),
        cmocka_unit_test(what_is_tried_is_not_made_and_lets_the_rest_go_on),
        cmocka_unit_test(nothing_goes_for_what_cannot_be_made),
        cmocka_unit_test(the_worst_failure_is_told),
        cmocka_unit_test(what_is_gone_or_there_already_is_a_conflict),
        cmocka_unit_test(nothing_is_written_once_the_lead_is_lost),
        cmocka_unit_test(a_server_that_dies_in_the_middle_is_a_failure_to_try_again),
        cmocka_unit_test(what_is_for_an_agent_fails_without_one),
        cmocka_unit_test(the_earliest_wish_to_come_back_counts),
        cmocka_unit_test(a_cancelled_plan_is_silent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
