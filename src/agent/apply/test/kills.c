/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent is killed at every point between two steps of every kind of change.
 *
 * Each time a process of its own applies the change and dies; slurmctld and the disk live on.  The
 * next agent must bring it to an end by itself, or know nothing of it: then whoever pushed tries
 * again.  A refused change that is being undone ends as it was before.
 */
#include "src/agent/apply/test/scenes.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

enum kill_also {
    KILL_AGENT,
    KILL_SLURMCTLD, /* it starts again from the files that it finds */
    KILL_REFUSED,   /* the change is refused at its end */
    KILL_N,
};

/* The life of an agent that is to be killed; returns only if it was not. */
static void life(struct stage *s, const struct scene *c, enum kill_also also)
{
    AUTO(push_done) struct push p = {0};

    stage_agent_start(s);
    stage_run(s, 5000);
    s->ctld->points = 0;
    if (also == KILL_REFUSED)
        script_next(s->script, "partitions", 1, SCRIPT_REFUSE);
    stage_push_wait(s, c->to, &p);
    _exit(p.answers == 1 ? 0 : 1);
}

/* Have an agent die at a point; false: it did not come so far. */
static bool die_at(struct stage *s, const struct scene *c, enum kill_also also, unsigned point)
{
    pid_t pid;
    int status = 0;

    s->ctld->points = 1U << 30; /* not while it starts */
    s->ctld->kill_at = point;
    pid = fork();
    if (pid == 0)
        life(s, c, also);
    assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
    s->ctld->kill_at = 0;
    if (WIFEXITED(status))
        assert_int_equal(WEXITSTATUS(status), 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

/* Files that are not as before are those of a record: the next agent knows what is under way. */
static void expect_record(const struct stage *s, const struct scene *c, unsigned point)
{
    AUTO(free) char *conf = stage_conf(s);
    AUTO(store_free) struct store *store = NULL;
    struct err e = {0};

    if (streq(conf, c->from))
        return;
    assert_int_equal(store_open(s->ctld->live, &store, &e), 0);
    if (!store_pending(store) && streq(stage_hash(c->from), store_good(store)->hash))
        fail_msg("%s, killed at point %u: files are written, and no record tells", c->name, point);
}

static void go_on(struct stage *s, const struct scene *c, enum kill_also also, unsigned point)
{
    AUTO(push_done) struct push p = {0};
    char what[64];

    (void)snprintf(what, sizeof(what), "killed at point %u%s", point,
                   also == KILL_SLURMCTLD ? " with slurmctld"
                   : also == KILL_REFUSED ? " of what is refused"
                                          : "");
    if (also == KILL_SLURMCTLD || !s->ctld->up)
        ctld_start(s->ctld);
    stage_agent_start(s);
    stage_run(s, 30000);
    if (also != KILL_REFUSED && !store_pending(s->store) && !stage_is_settled(s, scene_end(c))) {
        stage_push_wait(s, c->to, &p);
        assert_int_equal(p.answers, 1);
    }
    scene_play_out(s, c);
    /* the next agent knows nothing of the refusal, and may carry the change through */
    if (also == KILL_REFUSED && stage_is_settled(s, c->from))
        scene_expect(s, c, false, what);
    else
        scene_expect(s, c, true, what);
}

static unsigned kills_try(const struct scene *c, enum kill_also also)
{
    unsigned point = 1;

    for (bool died = true; died; point++) {
        struct stage *s = scene_prepare(c);

        died = die_at(s, c, also, point);
        if (died) {
            expect_record(s, c, point);
            go_on(s, c, also, point);
        }
        stage_free(s);
    }
    return point - 2;
}

static void killed_anywhere_the_next_agent_brings_it_to_an_end(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_scenes; i++)
        for (int also = 0; also < KILL_N; also++) {
            if (also == KILL_REFUSED && scenes[i].files)
                continue;
            assert_true(kills_try(&scenes[i], (enum kill_also)also) >= 5);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_anywhere_the_next_agent_brings_it_to_an_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
