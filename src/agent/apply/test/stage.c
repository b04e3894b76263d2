/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stage: store, hub and engine as in the agent, over a scripted worker, on a clock that moves
 * when nothing else is left to do.
 *
 * This file brings the clocks and the crash points of the program.  At every crash point the files
 * are looked at: whatever is there then is what slurmctld would start from.
 */
#include "src/agent/apply/test/stage.h"

#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

#include "src/agent/candidate.h"
#include "src/agent/crash.h"
#include "src/agent/rehearse.h"
#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/file.h"

#define START_S 1800000000 /* the year 2027 */
#define PATIENCE_MS 600000
#define ENTRY_POINT_MS 20 /* how often slurmctld's entry point looks */

static int64_t now_ns = (int64_t)START_S * 1000000000;
static struct ctld *watched;

int64_t clock_mono_ns(void)
{
    return now_ns;
}

int64_t clock_mono_ms(void)
{
    return now_ns / 1000000;
}

int64_t clock_wall_us(void)
{
    return now_ns / 1000;
}

void crash_point(const char *name)
{
    (void)name;
    if (!watched)
        return;
    ctld_look(watched);
    if (++watched->points == watched->kill_at)
        (void)kill(getpid(), SIGKILL);
}

struct rehearsal {
    struct stage *stage;
    struct loop_source *timer;
    rehearse_fn fn;
    void *arg;
};

static struct stage *on_stage; /* rehearsals have no argument of ours */

static struct rehearsal *rehearsal_stop(struct rehearsal *r)
{
    if (!r)
        return NULL;
    (void)loop_source_free(r->timer);
    free(r);
    return NULL;
}

static void rehearsed(void *arg)
{
    struct rehearsal *r = arg;
    rehearse_fn fn = r->fn;
    void *fn_arg = r->arg;
    const char *words = r->stage->rehearse_words;
    int ret = r->stage->rehearse_r;
    struct err e = {0};

    if (r->stage->rehearse_once)
        r->stage->rehearse_r = 0;
    (void)rehearsal_stop(r);
    if (ret < 0)
        (void)err_set(&e, ret, ERR_PERMANENT, "%s",
                      words ? words : "a slurmctld does not start with it");
    fn(fn_arg, ret, &e);
}

static int rehearsal_start(struct loop *l, const struct rehearse_options *o,
                           const struct candidate *c, rehearse_fn fn, void *arg,
                           struct rehearsal **ret, struct err *e)
{
    struct rehearsal *r = xcalloc(1, sizeof(*r));

    (void)o;
    (void)c;
    (void)e;
    *r = (struct rehearsal){.stage = on_stage, .fn = fn, .arg = arg};
    r->timer = loop_add_timer(l, rehearsed, r);
    loop_timer_arm(r->timer, 30);
    on_stage->rehearsals++;
    *ret = r;
    return 0;
}

static const struct rehearse_ops rehearsal_ops = {rehearsal_start, rehearsal_stop};

static bool nobody_talks(uint64_t *ret_accepted)
{
    *ret_accepted = 0;
    return true;
}

static bool moves[PROGRESS_N][PROGRESS_N];

static bool is_legal(enum apply_progress from, enum apply_progress to)
{
    static const unsigned after[PROGRESS_N] = {
        [PROGRESS_QUEUED] = 1U << PROGRESS_ASKING,
        [PROGRESS_ASKING] = 1U << PROGRESS_CHECKING,
        [PROGRESS_CHECKING] = 1U << PROGRESS_STEPS | 1U << PROGRESS_UNDOING | 1U << PROGRESS_OVER,
        [PROGRESS_STEPS] = 1U << PROGRESS_UNDOING | 1U << PROGRESS_OVER,
        [PROGRESS_UNDOING] = 1U << PROGRESS_OVER,
    };

    return after[from] & 1U << to;
}

static void on_progress(void *arg, enum apply_progress from, enum apply_progress to)
{
    (void)arg;
    assert_true(is_legal(from, to));
    moves[from][to] = true;
}

void stage_expect_all_moves(void)
{
    for (int from = 0; from < PROGRESS_N; from++)
        for (int to = 0; to < PROGRESS_N; to++)
            if (is_legal((enum apply_progress)from, (enum apply_progress)to) && !moves[from][to])
                fail_msg("never seen: %s -> %s", progress_name((enum apply_progress)from),
                         progress_name((enum apply_progress)to));
}

static void on_up(void *arg)
{
    struct stage *s = arg;

    engine_on_up(s->engine);
}

static void on_round(void *arg)
{
    struct stage *s = arg;

    engine_on_round(s->engine);
}

static char *path_of(const struct stage *s, const char *name)
{
    return xasprintf("%s/%s", s->dir, name);
}

void stage_agent_start(struct stage *s)
{
    struct hub_events events = {.on_up = on_up, .on_round = on_round, .activity = nobody_talks};
    AUTO(free) char *live = path_of(s, "live");
    struct engine_options o = {0};
    struct err e = {0};

    on_stage = s;
    watched = s->ctld;
    assert_int_equal(loop_new(&s->loop, NULL), 0);
    assert_int_equal(store_open(live, &s->store, &e), 0);
    s->script = script_new(s->loop, s->ctld);
    s->hub = hub_new(s->loop, script_link(s->script), &events, s);
    s->metrics = metrics_new();
    o = (struct engine_options){
        .loop = s->loop,
        .link = script_link(s->script),
        .store = s->store,
        .hub = s->hub,
        .metrics = s->metrics,
        .slurmctld = "/usr/sbin/slurmctld",
        .rehearse = &rehearsal_ops,
        .on_progress = on_progress,
        .marker = s->no_marker ? NULL : s->ctld->marker,
    };
    s->engine = engine_new(&o);
    assert_int_equal(engine_start(s->engine, &e), 0);
    hub_start(s->hub);
}

void stage_agent_stop(struct stage *s)
{
    if (!s->engine)
        return;
    s->engine = engine_free(s->engine);
    s->script = script_free(s->script);
    s->hub = hub_free(s->hub);
    s->metrics = metrics_free(s->metrics);
    s->store = store_free(s->store);
    s->loop = loop_free(s->loop);
    watched = NULL;
}

/* A test that fails does not get to the end of its stage. */
static char left_behind[64];

static void sweep(void)
{
    if (left_behind[0])
        (void)!file_remove_tree(left_behind, NULL);
}

static void sweep_at_exit(const char *dir)
{
    static bool once;

    if (!once)
        (void)atexit(sweep);
    once = true;
    sweep();
    (void)snprintf(left_behind, sizeof(left_behind), "%s", dir);
}

struct stage *stage_new(const char *conf)
{
    struct stage *s = xcalloc(1, sizeof(*s));
    AUTO(free) char *live = NULL;
    AUTO(free) char *slurm_conf = NULL;
    AUTO(free) char *marker = NULL;
    AUTO(free) char *started = NULL;
    struct err e = {0};

    /* thousands of small files are synced: memory is quicker where it can be had */
    (void)snprintf(s->dir, sizeof(s->dir), "%s/sk-apply-XXXXXX",
                   access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(s->dir));
    sweep_at_exit(s->dir);
    live = path_of(s, "live");
    slurm_conf = path_of(s, "live/slurm.conf");
    marker = path_of(s, "restart");
    started = path_of(s, "started"); /* the entry point is ours */
    assert_int_equal(mkdir(live, 0755), 0);
    assert_int_equal(file_write(slurm_conf, str_of(conf), 0644, &e), 0);
    assert_int_equal(file_write(started, STR(""), 0644, &e), 0);
    s->ctld = ctld_new(live, marker);
    ctld_start(s->ctld);
    return s;
}

void stage_free(struct stage *s)
{
    struct err e = {0};

    stage_agent_stop(s);
    assert_int_equal(file_remove_tree(s->dir, &e), 0);
    left_behind[0] = '\0';
    assert_string_equal(s->ctld->harm, "");
    ctld_free(s->ctld);
    free(s);
}

int stage_setup(void **state)
{
    struct stage *s = stage_new(STAGE_ALL);

    stage_agent_start(s);
    stage_run(s, 5000);
    script_forget(s->script);
    *state = s;
    return 0;
}

int stage_teardown(void **state)
{
    stage_free(*state);
    return 0;
}

/* One turn; where there was nothing to do, time goes by until something is due. */
static void turn(struct stage *s, int64_t end_ms)
{
    int64_t wait;

    if (loop_turn(s->loop, 0) > 0)
        return;
    wait = loop_wait_ms(s->loop);
    wait = wait < 0 ? 1000 : MAX(wait, 1);
    if (!s->ctld->up)
        wait = MIN(wait, ENTRY_POINT_MS);
    now_ns += MIN(wait, MAX(end_ms - clock_mono_ms(), 1)) * 1000000;
    ctld_entry_point(s->ctld);
}

void stage_run(struct stage *s, int64_t ms)
{
    int64_t end = clock_mono_ms() + ms;

    while (clock_mono_ms() < end)
        turn(s, end);
}

void stage_wait(struct stage *s, const struct push *p)
{
    int64_t end = clock_mono_ms() + PATIENCE_MS;

    while (p->answers == 0) {
        assert_true(clock_mono_ms() < end);
        turn(s, end);
    }
}

static void copy_text(char *to, size_t size, const char *from)
{
    (void)snprintf(to, size, "%s", from ? from : "");
}

static void on_answer(void *arg, int status, const struct jsn *answer)
{
    struct push *p = arg;

    p->answers++;
    p->status = status;
    p->waiter = NULL;
    p->json = jsn_clone(&p->arena, answer);
    copy_text(p->result, sizeof(p->result), jsn_get_str(answer, "result"));
    copy_text(p->step, sizeof(p->step), jsn_get_str(answer, "step"));
    copy_text(p->error, sizeof(p->error), jsn_get_str(answer, "error"));
}

void push_done(struct push *p)
{
    arena_done(&p->arena);
}

static struct record *record_of(const char *conf)
{
    static int64_t generation;
    struct record *r = record_new();
    struct err e = {0};

    assert_int_equal(fileset_put(&r->files, "slurm.conf", str_of(conf), 0644, &e), 0);
    fileset_hash(&r->files, r->hash);
    r->generation = ++generation;
    return r;
}

const char *stage_hash(const char *conf)
{
    static char hash[SHA256_HEX_LEN + 1];
    AUTO(record_free) struct record *r = record_of(conf);

    memcpy(hash, r->hash, sizeof(hash));
    return hash;
}

void stage_push(struct stage *s, const char *conf, struct push *p)
{
    p->waiter = engine_push(s->engine, record_of(conf), on_answer, p);
}

void stage_push_wait(struct stage *s, const char *conf, struct push *p)
{
    stage_push(s, conf, p);
    stage_wait(s, p);
}

void stage_plan_wait(struct stage *s, const char *conf, struct push *p)
{
    p->waiter = engine_plan(s->engine, record_of(conf), on_answer, p);
    stage_wait(s, p);
}

char *stage_conf(const struct stage *s)
{
    AUTO(free) char *path = path_of(s, "live/slurm.conf");
    char *text = NULL;
    size_t n;

    assert_int_equal(file_read(path, (size_t)1 << 20, &text, &n, NULL), 0);
    return text;
}

void stage_expect(const struct stage *s, const char *key, const char *text)
{
    AUTO(buf_done) struct buf live = {0};

    ctld_print(s->ctld, key, &live);
    assert_string_equal(buf_str(&live), text);
}

struct jsn *stage_section(struct stage *s, struct arena *a, const char *section)
{
    AUTO(buf_done) struct buf text = {0};
    struct jsn *state = NULL;

    hub_print(s->hub, "", &text);
    assert_int_equal(jsn_parse(a, buf_view(&text), NULL, &state, NULL), 0);
    return jsn_key(state, section);
}

struct jsn *stage_state(struct stage *s, struct arena *a)
{
    return stage_section(s, a, "config");
}

/* The same partitions with the same settings as a slurmctld that starts from the files. */
static bool ctld_is_as(const struct stage *s)
{
    struct ctld *fresh = ctld_new(s->ctld->live, "");
    bool same;

    ctld_start(fresh);
    same = fresh->n == s->ctld->n;
    for (size_t i = 0; same && i < fresh->n; i++) {
        const char *name = fresh->parts[i].name;

        for (size_t k = 0; k < 3; k++) {
            static const char *const keys[] = {"State", "MaxTime", "Nodes"};
            AUTO(arena_done) struct arena a = {0};

            same = same && streq(ctld_value(&a, fresh, name, keys[k]),
                                 ctld_value(&a, s->ctld, name, keys[k]));
        }
    }
    ctld_free(fresh);
    return same;
}

bool stage_is_settled(struct stage *s, const char *conf)
{
    AUTO(free) char *text = stage_conf(s);

    return streq(text, conf) && !store_pending(s->store) && store_good(s->store) &&
           store_good(s->store)->n_kept == 0 && ctld_is_as(s);
}

void stage_expect_settled(struct stage *s, const char *conf)
{
    AUTO(free) char *text = stage_conf(s);

    assert_string_equal(text, conf);
    assert_null(store_pending(s->store));
    assert_int_equal(store_good(s->store)->n_kept, 0);
    assert_true(ctld_is_as(s));
}
