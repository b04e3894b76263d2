/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of a pod's life: what is seen, and what to do next. */
#include "src/cluster/node/test/parse.h"

#include <stdio.h>

#include "src/cluster/node/pods/lifecycle.h"

#define NOW 100000

/* "volumes sandbox start:0 stop:1 release | failed initialized wake:5000" */
static void print_plan(const struct pod_plan *p, char *text, size_t size)
{
    static const char *const names[] = {"volumes", "sandbox", "start", "stop", "release"};
    static const char *const outcomes[] = {"", " succeeded", " failed"};
    size_t n = 0;

    text[0] = '\0';
    for (size_t i = 0; i < p->n; i++) {
        const struct pod_action *a = &p->actions[i];
        bool of_container = a->act == ACT_START || a->act == ACT_STOP;

        n += (size_t)snprintf(text + n, size - n, of_container ? "%s%s:%zu" : "%s%s", n ? " " : "",
                              names[a->act], a->ctr);
    }
    n += (size_t)snprintf(text + n, size - n, "|%s%s", outcomes[p->outcome],
                          p->initialized ? " initialized" : "");
    if (p->wake_ms)
        (void)snprintf(text + n, size - n, " wake:%lld", (long long)p->wake_ms);
}

/* One letter a container: i idle, s starting, u up, U up and started, c condemned, x stopping,
 * 0-9 ended with that code, w ended with code 1 and waiting. */
static void view_of(const char *letters, struct ctr_view *views)
{
    for (size_t i = 0; letters[i]; i++) {
        char c = letters[i];

        views[i] = (struct ctr_view){.phase = CTR_DOWN};
        if (c == 'i')
            views[i].phase = CTR_IDLE;
        else if (c == 's')
            views[i].phase = CTR_STARTING;
        else if (c == 'u' || c == 'U' || c == 'c')
            views[i] =
                (struct ctr_view){.phase = CTR_UP, .started = c == 'U', .condemned = c == 'c'};
        else if (c == 'x')
            views[i].phase = CTR_STOPPING;
        else if (c == 'w')
            views[i] = (struct ctr_view){.phase = CTR_DOWN, .exit_code = 1, .retry_ms = NOW + 500};
        else
            views[i].exit_code = c - '0';
    }
}

/* Containers: a plain init, a sidecar, two main ones. */
#define FULL                                                                                       \
    "{'initContainers':[{'name':'i'},{'name':'s','restartPolicy':'Always'}],"                      \
    "'containers':[{'name':'a'},{'name':'b'}],'restartPolicy':'%s'}"

struct step {
    const char *what;
    const char *restart;
    const char *flags; /* v volumes, s sandbox, n initialized, d deleting, e expired, F failed */
    const char *seen;
    const char *plan;
};

static const struct step steps[] = {
    {"a new pod gets volumes and a sandbox", "Always", "", "iiii", "volumes sandbox|"},
    {"the sandbox is waited for", "Always", "v", "iiii", "sandbox|"},
    {"the first init container starts alone", "Always", "vs", "iiii", "start:0|"},
    {"a starting one is waited for", "Always", "vs", "siii", "|"},
    {"the next comes when it is through", "Always", "vs", "0iii", "start:1|"},
    {"a sidecar must have started", "Always", "vs", "0uii", "|"},
    {"then all main containers start", "Always", "vs", "0Uii", "start:2 start:3| initialized"},
    {"a failed init container starts again", "Always", "vs", "1iii", "start:0|"},
    {"after its delay", "Always", "vs", "wiii", "| wake:100500"},
    {"or fails a pod that never restarts", "Never", "vs", "1iii", "release| failed"},
    {"all is well", "Always", "vsn", "0UUU", "| initialized"},
    {"an ended container is started again", "Always", "vsn", "0U0U", "start:2| initialized"},
    {"with a delay", "Always", "vsn", "0UwU", "| initialized wake:100500"},
    {"on failure only after a failure", "OnFailure", "vsn", "0U0U", "| initialized"},
    {"on failure after a failure", "OnFailure", "vsn", "0U2U", "start:2| initialized"},
    {"never means never", "Never", "vsn", "0U2U", "| initialized"},
    {"sidecars are always restarted", "Never", "vsn", "03UU", "start:1| initialized"},
    {"what a probe condemns is stopped", "Always", "vsn", "0UcU", "stop:2| initialized"},
    {"also a sidecar", "Always", "vsn", "0cUU", "stop:1| initialized"},
    {"when all have ended the sidecar goes", "Never", "vsn", "0U00",
     "stop:1| succeeded initialized"},
    {"one failure fails the pod", "Never", "vsn", "0U02", "stop:1| failed initialized"},
    {"then everything is released", "Never", "vsn", "0000", "release| succeeded initialized"},
    {"an outcome is never undone", "Always", "vsnF", "0i00", "release| failed initialized"},
    {"deletion stops main containers first", "Always", "vsnd", "0UUU",
     "stop:2 stop:3| initialized"},
    {"and the sidecar when they are gone", "Always", "vsnd", "0U0x", "| initialized"},
    {"and the sidecar at last", "Always", "vsnd", "0U00", "stop:1| initialized"},
    {"deletion in the middle of init", "Always", "vsd", "Uiii", "stop:0|"},
    {"deletion before anything", "Always", "d", "iiii", "release|"},
    {"a deadline fails the pod", "Always", "vsne", "0UUU", "stop:2 stop:3| failed initialized"},
    {"a lost sandbox stops everything", "Always", "v", "0UUx", "stop:2|"},
    {"and is then made again", "Always", "v", "iiii", "sandbox|"},
};

static void each_step_is_as_the_table_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        AUTO(arena_done) struct arena a = {0};
        const struct step *s = &steps[i];
        struct pod_spec *p = pod_of(&a, arena_printf(&a, FULL, s->restart));
        struct pod_view v = {.sandbox = strchr(s->flags, 's'),
                             .volumes = strchr(s->flags, 'v'),
                             .initialized = strchr(s->flags, 'n'),
                             .deleting = strchr(s->flags, 'd'),
                             .expired = strchr(s->flags, 'e'),
                             .outcome = strchr(s->flags, 'F') ? POD_FAILED : POD_GOES_ON};
        struct ctr_view views[4];
        static struct pod_plan plan;
        char text[256];

        view_of(s->seen, views);
        lifecycle_plan(p, &v, views, NOW, &plan);
        print_plan(&plan, text, sizeof(text));
        if (!streq(text, s->plan))
            fail_msg("%s: '%s' instead of '%s'", s->what, text, s->plan);
    }
}

static void the_delay_doubles_from_ten_seconds_to_five_minutes(void **state)
{
    static const int64_t seconds[] = {0, 0, 10, 20, 40, 80, 160, 300, 300};

    (void)state;
    for (unsigned int i = 0; i < ARRAY_LEN(seconds); i++)
        assert_int_equal(lifecycle_backoff_ms(i), seconds[i] * 1000);
}

static void whatever_is_seen_nothing_runs_beside_its_own_end(void **state)
{
    static const char letters[] = "isuUcx01w";
    AUTO(arena_done) struct arena a = {0};
    struct pod_spec *p = pod_of(&a, arena_printf(&a, FULL, "Always"));
    static struct pod_plan plan;

    (void)state;
    for (unsigned int n = 0; n < 9 * 9 * 9 * 9 * 32; n++) {
        unsigned int k = n / 32;
        char seen[5] = {letters[k % 9], letters[k / 9 % 9], letters[k / 81 % 9],
                        letters[k / 729 % 9], 0};
        struct pod_view v = {.sandbox = n & 1,
                             .volumes = n & 2,
                             .initialized = n & 4,
                             .deleting = n & 8,
                             .expired = n & 16};
        struct ctr_view views[4];

        view_of(seen, views);
        lifecycle_plan(p, &v, views, NOW, &plan);
        for (size_t i = 0; i < plan.n; i++) {
            const struct ctr_view *c = &views[plan.actions[i].ctr];

            if (plan.actions[i].act == ACT_START) {
                assert_true(c->phase == CTR_IDLE || c->phase == CTR_DOWN);
                assert_true(v.sandbox && v.volumes && !v.deleting && !v.expired);
            }
            if (plan.actions[i].act == ACT_STOP)
                assert_true(c->phase == CTR_UP || c->phase == CTR_STARTING);
            if (plan.actions[i].act == ACT_RELEASE)
                for (size_t m = 0; m < 4; m++)
                    assert_true(views[m].phase == CTR_IDLE || views[m].phase == CTR_DOWN);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_step_is_as_the_table_says),
        cmocka_unit_test(the_delay_doubles_from_ten_seconds_to_five_minutes),
        cmocka_unit_test(whatever_is_seen_nothing_runs_beside_its_own_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
