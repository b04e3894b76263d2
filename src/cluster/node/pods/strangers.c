/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pods that run here and that the API server does not have.
 *
 * Not knowing counts as busy: such a pod runs on until it is certain that somebody deleted it.
 *
 *   missing --judged, the store goes on--> gone: ended, as any deleted pod
 *           --judged, another store------> unknown: kept, told of, until a person decides
 *   unknown --an object with its uid-----> known again (`slurmkeeper recover --adopt`)
 *           --that object is deleted-----> ended (`slurmkeeper recover --give-up`)
 *
 * To judge, three questions are asked one after the other: which store is this, which pods has it,
 * and is it still the same store.  So the list of pods is of the store that is judged, whatever is
 * restarted or exchanged in between.  The verdict is seen_judge's.  Pods are marked on disk before
 * the new store is noted: a process that dies in between judges again.
 *
 * A pod that runs and has no record that can be read (the state directory is another one than that
 * it was started from) is not ours to end either: it is named, and left alone.
 *
 * Once a minute the first question alone is asked, so that a store that was exchanged without a pod
 * missing is noted as well.
 */
#include "src/cluster/node/pods/strangers.h"

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/base/log.h"
#include "src/cluster/node/machine.h"
#include "src/cluster/node/pods/seen.h"
#include "src/cluster/node/pods/worker.h"
#include "src/cluster/node/record.h"

#define RETRY_MS 1000
#define LOOK_MS 60000
#define SAVE_MS 1000
#define MAX_NAMED 8

enum question { ASK_NOTHING, ASK_STORE, ASK_PODS, ASK_AGAIN };

struct strangers {
    struct node *node;
    char *path;
    char *judged;      /* a file that is there once this process has judged: `up` waits for it */
    struct seen seen;  /* as it is on disk */
    struct seen asked; /* the answer to the first question */
    struct map unrecorded; /* uids of pods that run without a record that can be read */
    struct map listed;     /* uids of the answer to the second one */
    enum question question;
    bool wanted; /* judge, also where the store is the one that was seen */
    bool ready;  /* the first judgement is made */
    bool dirty;
    bool told; /* that nothing can be judged */
    struct kube_call *call;
    struct loop_source *timer;
    struct loop_source *saver;
};

static void ask(struct strangers *s, enum question q);

static void save(void *arg)
{
    struct strangers *s = arg;
    struct err e = {0};

    s->dirty = false;
    if (s->seen.store && seen_save(s->path, &s->seen, &e) < 0)
        log_warn("what was seen of the API server is not noted: %s", e.text);
}

void strangers_note_version(struct strangers *s, const char *version)
{
    int64_t n;

    if (!s->ready || !version || str_to_i64(str_of(version), &n) < 0 || n <= s->seen.version)
        return;
    s->seen.version = n;
    if (!s->dirty)
        loop_timer_arm(s->saver, SAVE_MS);
    s->dirty = true;
}

static void on_timer(void *arg)
{
    struct strangers *s = arg;

    if (!s->call)
        ask(s, ASK_STORE);
}

struct strangers *strangers_new(struct node *n)
{
    struct strangers *s = xcalloc(1, sizeof(*s));

    s->node = n;
    s->path = xasprintf("%s/seen.json", n->dir);
    s->judged = xasprintf("%s/judged", n->dir);
    (void)unlink(s->judged);
    s->wanted = true;
    seen_load(s->path, &s->seen);
    map_init(&s->listed, NULL);
    map_init(&s->unrecorded, NULL);
    s->timer = loop_add_timer(n->loop, on_timer, s);
    s->saver = loop_add_timer(n->loop, save, s);
    return s;
}

struct strangers *strangers_free(struct strangers *s)
{
    if (!s)
        return NULL;
    if (s->dirty)
        save(s);
    if (s->call)
        kube_call_cancel(s->call);
    (void)loop_source_free(s->timer);
    (void)loop_source_free(s->saver);
    seen_done(&s->seen);
    seen_done(&s->asked);
    map_done(&s->listed);
    map_done(&s->unrecorded);
    free(s->path);
    free(s->judged);
    free(s);
    return NULL;
}

static void tell(struct strangers *s, const struct worker *w, enum seen_verdict v)
{
    struct kube_reference about = {
        .api_version = "v1", .kind = "Node", .name = s->node->name, .uid = s->node->name};

    log_warn("pod %s/%s (%s) runs here, and the API server does not know it: it has %s. The pod is "
             "kept; 'slurmkeeper recover' adopts it or gives it up",
             w->spec->ns, w->spec->name, w->uid, seen_text(v));
    kube_recorder_emit(s->node->recorder, &about, KUBE_EVENT_WARNING, "UnknownPod",
                       "pod %s/%s runs here, and the API server does not know it: it has %s. The "
                       "pod is kept; 'slurmkeeper recover' adopts it or gives it up",
                       w->spec->ns, w->spec->name, seen_text(v));
}

/* One that has ended, or was being ended, needs nobody's word. */
static bool is_worth_keeping(const struct worker *w)
{
    return !w->spec->deleting && w->outcome == POD_GOES_ON;
}

static void judge_one(struct strangers *s, struct worker *w, enum seen_verdict v)
{
    bool missing = w->missing;

    w->missing = false;
    if (w->unknown || w->object_gone || map_get(&s->listed, str_of(w->uid)))
        return;
    if (v != SEEN_SAME && is_worth_keeping(w)) {
        worker_set_unknown(w, true);
        tell(s, w, v);
    } else if (v != SEEN_SAME || missing) {
        worker_object_gone(w);
    }
}

static void conclude(struct strangers *s)
{
    enum seen_verdict v = seen_judge(&s->seen, &s->asked);
    struct worker *w;
    size_t at = 0;

    while (map_next(&s->node->workers, &at, NULL, &w))
        judge_one(s, w, v);
    s->ready = true;
    at = 0;
    while (map_next(&s->node->workers, &at, NULL, &w))
        worker_refresh_volumes(w); /* what has changed before it was clear whose pods they are */
    if (s->seen.store && v != SEEN_SAME)
        log_warn("the API server has %s; pods that it does not know are kept", seen_text(v));
    seen_done(&s->seen);
    s->seen = s->asked;
    s->asked = (struct seen){0};
    s->wanted = false;
    save(s);
    (void)!record_write(s->judged, STR("yes\n"), 0600, NULL);
    machine_tell(s->node->machine);
    node_begin_pods(s->node);
}

static void take_pods(struct strangers *s, const struct jsn *list)
{
    map_done(&s->listed);
    map_init(&s->listed, NULL);
    JSN_FOR_ITEMS (pod, jsn_key(list, "items")) {
        const char *uid = jsn_get_str(pod, "metadata.uid");

        if (uid)
            (void)map_put(&s->listed, str_of(uid), s);
    }
}

/* The next question, or the end. */
static enum question proceed(struct strangers *s, const struct jsn *answer)
{
    AUTO(seen_done) struct seen now = {0};
    struct err e = {0};

    if (s->question == ASK_PODS) {
        take_pods(s, answer);
        return ASK_AGAIN;
    }
    if (seen_of_namespaces(answer, &now, &e) < 0) {
        if (!s->told)
            log_warn("%s: no pod begins before it does", e.text);
        s->told = true;
        return ASK_STORE;
    }
    s->told = false;
    if (s->question == ASK_AGAIN && streq(now.store, s->asked.store) &&
        now.version >= s->asked.version) {
        conclude(s);
        return ASK_NOTHING;
    }
    if (s->question == ASK_STORE && !s->wanted && seen_judge(&s->seen, &now) == SEEN_SAME)
        return ASK_NOTHING;
    seen_done(&s->asked);
    s->asked = now;
    now = (struct seen){0};
    return ASK_PODS;
}

static void on_answer(void *arg, const struct kube_answer *a, const struct kube_failure *f)
{
    struct strangers *s = arg;
    enum question next = ASK_STORE;

    s->call = NULL;
    if (!f)
        next = proceed(s, a->value);
    if (f || (next == ASK_STORE && s->question == ASK_STORE))
        loop_timer_arm(s->timer, RETRY_MS);
    else if (next != ASK_NOTHING)
        ask(s, next);
    else
        loop_timer_arm(s->timer, s->wanted ? 0 : LOOK_MS);
}

static void ask(struct strangers *s, enum question q)
{
    static const char *const query[] = {"fieldSelector", "metadata.name=kube-system", NULL};
    struct kube_request r = {.verb = KUBE_LIST,
                             .resource = {"", "v1", q == ASK_PODS ? "pods" : "namespaces"},
                             .query = q == ASK_PODS ? NULL : query,
                             .fn = on_answer,
                             .arg = s};

    s->question = q;
    s->call = kube_call_start(s->node->client, &r);
}

/* "podUID" in the control groups, with processes in it, and nobody looks after it. */
static void look_at_group(void *arg, const char *name)
{
    struct strangers *s = arg;
    AUTO(free) char *group = xasprintf("%s/%s", cgroup_root(s->node->cgroups), name);

    if (!starts_with(name, "pod") || map_get(&s->node->workers, str_of(name + 3)) ||
        !cgroup_busy(s->node->cgroups, group))
        return;
    log_error("pod %s runs here without a record that can be read. It is kept; nobody looks after "
              "it unless the API server knows it",
              name + 3);
    (void)map_put(&s->unrecorded, str_of(name + 3), s);
}

void strangers_look_for_unrecorded(struct strangers *s)
{
    cgroup_children(s->node->cgroups, look_at_group, s);
}

void strangers_look(struct strangers *s)
{
    s->wanted = true;
    if (!s->call)
        ask(s, ASK_STORE);
}

void strangers_missing(struct strangers *s, struct worker *w)
{
    if (w->missing || w->unknown || w->object_gone)
        return;
    w->missing = true;
    strangers_look(s);
}

void strangers_found(struct strangers *s, struct worker *w)
{
    w->missing = false;
    if (!w->unknown)
        return;
    worker_set_unknown(w, false);
    log_info("pod %s/%s (%s) is known to the API server", w->spec->ns, w->spec->name, w->uid);
    machine_tell(s->node->machine);
}

bool strangers_ready(const struct strangers *s)
{
    return s->ready;
}

bool strangers_take_unrecorded(struct strangers *s, const char *uid)
{
    AUTO(free) char *dir = xasprintf("%s/pods/%s/containers", s->node->dir, uid);

    if (!map_get(&s->unrecorded, str_of(uid)) || !file_exists(dir))
        return false;
    (void)map_take(&s->unrecorded, str_of(uid));
    machine_tell(s->node->machine);
    return true;
}

bool strangers_hold(const struct strangers *s, const char *ns, const char *name, const char *uid)
{
    AUTO(free) char *dir = xasprintf("%s/pods/%s/containers", s->node->dir, uid);
    struct worker *w;
    size_t at = 0;

    if (!s->ready || (map_get(&s->unrecorded, str_of(uid)) && !file_exists(dir)))
        return true;
    while (map_next(&s->node->workers, &at, NULL, &w))
        if ((w->unknown || w->missing) && streq(w->spec->ns, ns) && streq(w->spec->name, name) &&
            !streq(w->uid, uid))
            return true;
    return false;
}

static const char *unrecorded_sentence(const struct strangers *s, struct arena *a)
{
    AUTO(buf_done) struct buf uids = {0};
    struct str uid;
    size_t at = 0;

    while (map_next(&s->unrecorded, &at, &uid, NULL))
        buf_printf(&uids, "%s" STR_FMT, uids.n ? ", " : "", STR_ARG(uid));
    if (uids.n == 0)
        return NULL;
    return arena_printf(a,
                        "pods run here without a record that can be read, and are kept: %s. Is "
                        "this the state directory that they were started from?",
                        buf_str(&uids));
}

const char *strangers_sentence(const struct strangers *s, struct arena *a)
{
    AUTO(buf_done) struct buf names = {0};
    struct worker *w;
    size_t at = 0;
    size_t n = 0;

    while (map_next(&s->node->workers, &at, NULL, &w)) {
        if (!w->unknown)
            continue;
        if (n++ < MAX_NAMED)
            buf_printf(&names, "%s%s/%s", names.n ? ", " : "", w->spec->ns, w->spec->name);
    }
    if (n == 0)
        return unrecorded_sentence(s, a);
    return arena_printf(a,
                        "%zu pod%s run%s here that the API server does not know: %s%s. %s kept; "
                        "'slurmkeeper recover' adopts or gives up",
                        n, n == 1 ? "" : "s", n == 1 ? "s" : "", buf_str(&names),
                        n > MAX_NAMED ? ", ..." : "", n == 1 ? "It is" : "They are");
}
