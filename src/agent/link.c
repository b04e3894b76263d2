/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lanes to libslurm.
 *
 * Each lane is a queue of calls and at most one child.  One call at a time is in the child's hands;
 * the others wait here, so that a child that dies or is killed takes exactly one call with it.  The
 * child is started when there is a call and none is there.
 *
 * A call whose time is over while it waits just fails.  One that is in hand when its time is over
 * has its child killed: libslurm cannot be interrupted, and a late answer is of no use.  The next
 * call gets a new child at once, unless several children in a row ended without answering anything:
 * then the lane waits before it starts the next one, longer each time.
 */
#include "src/agent/link.h"

#include "src/agent/child.h"
#include "src/agent/frame.h"
#include "src/base/alloc.h"

#define CALLS_MAX 4096
#define BACKOFF_FIRST_MS 50
#define BACKOFF_MAX_MS 5000

struct lane;

struct call {
    struct list link;
    struct lane *lane;
    struct buf request;
    char name[32]; /* for messages */
    struct loop_source *deadline;
    link_answer_fn fn;
    void *arg;
};

struct lane {
    struct children *children;
    struct agent_child *child;
    struct call *in_hand;
    struct list waiting;
    struct loop_source *pause; /* armed: no child is started before it fires */
    unsigned failures;         /* children in a row that ended without an answer */
    bool stale;                /* the child is to be replaced as soon as it is idle */
    struct err last;           /* how the last child ended, while failures > 0 */
    struct link_stats stats;
};

/* The link to children of our own. */
struct children {
    struct link link; /* what others see of it */
    struct loop *loop;
    char *program;
    char *slurm_conf;
    char *library_path;
    struct list family;
    struct lane lanes[LANE_N];
};

static void lane_next(struct lane *lane);

static void call_free(struct call *c)
{
    list_remove(&c->link);
    loop_source_free(c->deadline);
    buf_done(&c->request);
    free(c);
}

/* Tell the caller; the call is gone afterwards. */
static void call_answer(struct call *c, int r, const struct jsn *answer, const struct err *e)
{
    link_answer_fn fn = c->fn;
    void *arg = c->arg;

    c->lane->stats.calls++;
    c->lane->stats.waiting--;
    call_free(c);
    fn(arg, r, answer, e);
}

static void call_fail(struct call *c, const struct err *why)
{
    struct err e = *why;
    int r = err_wrap(&e, why->num, "%s", c->name);

    call_answer(c, r, NULL, &e);
}

/* Is the child there and idle?  One that is asked for again goes first. */
static void lane_refresh(struct lane *lane)
{
    if (!lane->stale || lane->in_hand)
        return;
    lane->stale = false;
    if (lane->child)
        child_dismiss(TAKE(lane->child));
}

static void lane_backoff(struct lane *lane, const struct err *why)
{
    int64_t delay = BACKOFF_FIRST_MS;

    lane->last = *why;
    lane->failures++;
    if (lane->failures < 2)
        return;
    for (unsigned i = 2; i < lane->failures && delay < BACKOFF_MAX_MS; i++)
        delay *= 2;
    delay = MIN(delay, BACKOFF_MAX_MS);
    /* half of it is left to chance, so that lanes do not start in step */
    loop_timer_arm(lane->pause, delay / 2 + (int64_t)(random() % (delay / 2 + 1)));
}

static int error_number(const char *kind)
{
    static const struct {
        const char *kind;
        int r;
    } kinds[] = {
        {"refused", -EREMOTEIO}, {"down", -EHOSTDOWN}, {"denied", -EACCES},
        {"busy", -EBUSY},        {"invalid", -EINVAL},
    };

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (streq(kind, kinds[i].kind))
            return kinds[i].r;
    return -EREMOTEIO;
}

/* The sentence of an answer that says no; what libslurm wrote to standard error stands after it.
 */
static int answer_error(struct call *c, const struct jsn *answer, struct err *e)
{
    const char *text = jsn_get_str(answer, "error.text");
    const char *said = child_said(c->lane->child, 240);
    int r = error_number(jsn_get_str(answer, "error.kind"));

    return err_set(e, r, r == -EHOSTDOWN || r == -EBUSY ? ERR_RETRY : ERR_PERMANENT, "%s: %s%s%s%s",
                   c->name, text ? text : "no reason was given", said[0] ? " (" : "", said,
                   said[0] ? ")" : "");
}

static void lane_spoilt(struct lane *lane, const char *why)
{
    struct call *c = TAKE(lane->in_hand);
    struct err e = {0};

    child_abandon(TAKE(lane->child));
    (void)err_set(&e, -EBADMSG, ERR_RETRY, "the libslurm process answered nonsense: %s", why);
    lane_backoff(lane, &e);
    if (c)
        call_fail(c, &e);
    lane_next(lane);
}

static void child_answered(void *arg, struct str body)
{
    struct lane *lane = arg;
    AUTO(arena_done) struct arena a = {0};
    struct jsn *answer = NULL;
    struct err e = {0};
    struct call *c;
    int r = 0;

    if (!lane->in_hand) {
        lane_spoilt(lane, "nobody had asked");
        return;
    }
    if (jsn_parse(&a, body, NULL, &answer, &e) < 0 || !jsn_is(answer, JSN_OBJECT)) {
        lane_spoilt(lane, e.num ? e.text : "it is no JSON object");
        return;
    }
    c = TAKE(lane->in_hand);
    lane->failures = 0;
    if (!jsn_get_bool(answer, "ok", false))
        r = answer_error(c, answer, &e);
    child_forget_said(lane->child); /* but not what a child says that ends before it is asked */
    /* the child is about to end: the next call is for another one */
    if (jsn_get_bool(answer, "last", false))
        child_dismiss(TAKE(lane->child));
    call_answer(c, r, answer, &e);
    lane_next(lane);
}

static void child_ended(void *arg, int r, const struct err *e)
{
    struct lane *lane = arg;
    struct call *c = TAKE(lane->in_hand);

    (void)r;
    lane->child = NULL;
    lane->stale = false;
    lane_backoff(lane, e);
    if (c) {
        lane->stats.deaths++;
        call_fail(c, e);
    }
    lane_next(lane);
}

static const struct child_events child_events = {child_answered, child_ended};

static int lane_start(struct lane *lane, struct err *e)
{
    struct children *c = lane->children;
    char conf_option[] = "--conf";
    char path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    AUTO(free)
    char *library = c->library_path ? xasprintf("LD_LIBRARY_PATH=%s", c->library_path) : NULL;
    /* libslurm changes its ways by SLURM_JWT, SLURM_CONF and a dozen more: none gets through */
    char *envp[] = {path, library, NULL};
    char *argv[] = {c->program, conf_option, c->slurm_conf, NULL};
    int r = child_start(c->loop, &c->family, argv, envp, &child_events, lane, &lane->child, e);

    lane->stats.starts += r == 0;
    return r;
}

static void call_begin(struct lane *lane)
{
    struct call *c = LIST_ENTRY(lane->waiting.next, struct call, link);

    list_remove(&c->link);
    lane->in_hand = c;
    child_send(lane->child, buf_view(&c->request));
}

/* Have the next call begin, if there is one and nothing stands in its way. */
static void lane_next(struct lane *lane)
{
    struct err e = {0};

    lane_refresh(lane);
    if (lane->in_hand || list_empty(&lane->waiting) || loop_timer_armed(lane->pause))
        return;
    if (!lane->child && lane_start(lane, &e) < 0) {
        lane_backoff(lane, &e);
        if (!loop_timer_armed(lane->pause))
            loop_timer_arm(lane->pause, BACKOFF_FIRST_MS);
        return;
    }
    call_begin(lane);
}

static void pause_over(void *arg)
{
    lane_next(arg);
}

static void call_timeout(void *arg)
{
    struct call *c = arg;
    struct lane *lane = c->lane;
    struct err e = {0};
    bool in_hand = lane->in_hand == c;

    if (in_hand) {
        lane->in_hand = NULL;
        lane->stats.timeouts++;
        (void)err_set(&e, -ETIMEDOUT, ERR_RETRY,
                      "no answer in time; whether slurmctld has done it is not known");
        child_abandon(TAKE(lane->child));
    } else if (lane->failures > 0) {
        (void)err_set(&e, -ETIMEDOUT, ERR_RETRY, "not sent in time: %s", lane->last.text);
    } else {
        (void)err_set(&e, -ETIMEDOUT, ERR_RETRY, "not sent in time: other calls took too long");
    }
    call_fail(c, &e);
    if (in_hand)
        lane_next(lane);
}

static struct children *children_of(struct link *link)
{
    return CONTAINER_OF(link, struct children, link);
}

static int children_call(struct link *link, enum link_lane lane_id, const struct jsn *request,
                         uint64_t timeout_ms, link_answer_fn fn, void *arg)
{
    struct children *all = children_of(link);
    struct lane *lane = &all->lanes[lane_id];
    const char *name = jsn_get_str(request, "call");
    struct call *c;

    if (lane->stats.waiting >= CALLS_MAX)
        return -E2BIG;
    c = xcalloc(1, sizeof(*c));
    *c = (struct call){.lane = lane, .fn = fn, .arg = arg};
    buf_init(&c->request, FRAME_MAX_BYTES);
    jsn_print(&c->request, request);
    if (c->request.overflow) {
        call_free(c);
        return -E2BIG;
    }
    (void)snprintf(c->name, sizeof(c->name), "%s", name ? name : "call");
    c->deadline = loop_add_timer(all->loop, call_timeout, c);
    loop_timer_arm(c->deadline, (int64_t)MIN(timeout_ms, (uint64_t)INT32_MAX));
    list_append(&lane->waiting, &c->link);
    lane->stats.waiting++;
    lane_next(lane);
    return 0;
}

static void children_restart(struct link *link)
{
    struct children *c = children_of(link);

    for (unsigned i = 0; i < LANE_N; i++) {
        c->lanes[i].stale = true;
        lane_refresh(&c->lanes[i]);
        c->lanes[i].failures = 0;
        loop_timer_disarm(c->lanes[i].pause);
        lane_next(&c->lanes[i]);
    }
}

static void children_stats(struct link *link, enum link_lane lane, struct link_stats *ret)
{
    *ret = children_of(link)->lanes[lane].stats;
}

static void children_free(struct link *link)
{
    struct children *c = children_of(link);

    child_family_end(&c->family);
    for (unsigned i = 0; i < LANE_N; i++) {
        struct lane *lane = &c->lanes[i];

        if (lane->in_hand)
            call_free(lane->in_hand);
        LIST_FOR_EACH (call, &lane->waiting, struct call, link)
            call_free(call);
        loop_source_free(lane->pause);
    }
    free(c->program);
    free(c->slurm_conf);
    free(c->library_path);
    free(c);
}

static const struct link_ops children_ops = {
    .call = children_call,
    .restart = children_restart,
    .stats = children_stats,
    .free = children_free,
};

struct link *link_new(struct loop *l, const struct link_options *options)
{
    struct children *c = xcalloc(1, sizeof(*c));

    c->link.ops = &children_ops;
    c->loop = l;
    c->program = xstrdup(options->program);
    c->slurm_conf = xstrdup(options->slurm_conf);
    c->library_path = xstrdup_null(options->library_path);
    list_init(&c->family);
    for (unsigned i = 0; i < LANE_N; i++) {
        c->lanes[i].children = c;
        list_init(&c->lanes[i].waiting);
        c->lanes[i].pause = loop_add_timer(l, pause_over, &c->lanes[i]);
    }
    return &c->link;
}

struct link *link_free(struct link *link)
{
    if (link)
        link->ops->free(link);
    return NULL;
}

int link_call(struct link *link, enum link_lane lane, const struct jsn *request,
              uint64_t timeout_ms, link_answer_fn fn, void *arg)
{
    return link->ops->call(link, lane, request, timeout_ms, fn, arg);
}

void link_restart(struct link *link)
{
    link->ops->restart(link);
}

void link_lane_stats(struct link *link, enum link_lane lane, struct link_stats *ret)
{
    link->ops->stats(link, lane, ret);
}
