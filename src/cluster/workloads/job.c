/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plan for a job.
 *
 * Pods run until `completions` of them have succeeded (without that number: until one has and the
 * rest have ended), at most `parallelism` at a time.  An indexed job needs one success for each
 * index.  More than backoffLimit failures, or activeDeadlineSeconds, fail the job: what still runs
 * is deleted.  A suspended job has no running pods.  A finished one is deleted when
 * ttlSecondsAfterFinished have passed.
 *
 * Successes and failures are counted from the pods that are there, so a finished pod that somebody
 * deletes before the job has ended is run again; the counts in a finished job's status stay.
 */
#include "src/cluster/workloads/job.h"

#include "src/base/clock.h"
#include "src/cluster/apiserver/inside.h"
#include "src/cluster/workloads/pod.h"

#define RESOURCE "jobs.batch"
#define INDEX "batch.kubernetes.io/job-completion-index"
#define INDEX_MAX 100000
#define BURST 500
#define BACKOFF_MIN_US (1000000LL)
#define BACKOFF_MAX_US (360LL * 1000000)

struct job_state {
    struct plan *p;
    const struct jsn *job;
    struct jsn *active;
    int64_t succeeded, failed, ready;
    int64_t last_failure_us;
    bool *done; /* by index; NULL: not indexed */
    bool *runs;
    int64_t completions; /* -1: a work queue */
    int64_t parallelism;
};

static int64_t index_of(const struct jsn *pod)
{
    const char *text = jsn_text(jsn_key(jsn_get(pod, "metadata.annotations"), INDEX));
    int64_t i;

    return text && str_to_i64(str_of(text), &i) == 0 ? i : -1;
}

static int64_t time_of(const struct jsn *object, const char *path)
{
    const char *text = jsn_get_str(object, path);
    int64_t us;

    return text && clock_parse_rfc3339(str_of(text), &us) == 0 ? us : 0;
}

/* When its last container ended. */
static int64_t ended_us(const struct jsn *pod)
{
    int64_t last = time_of(pod, "metadata.creationTimestamp");

    JSN_FOR_ITEMS (c, jsn_get(pod, "status.containerStatuses"))
        last = MAX(last, time_of(c, "state.terminated.finishedAt"));
    return last;
}

static void count_pod(struct job_state *x, struct jsn *pod)
{
    int64_t i = x->done ? index_of(pod) : -1;
    bool known = i >= 0 && i < x->completions;

    if (pod_in_phase(pod, "Succeeded")) {
        if (!x->done || (known && !x->done[i]))
            x->succeeded++;
        if (known)
            x->done[i] = true;
    } else if (pod_in_phase(pod, "Failed")) {
        x->failed++;
        x->last_failure_us = MAX(x->last_failure_us, ended_us(pod));
    } else if (!object_deleting(pod)) {
        jsn_append(x->p->arena, x->active, pod);
        x->ready += pod_ready(pod);
        if (known)
            x->runs[i] = true;
    }
}

static void read_job(struct job_state *x, const struct jsn *pods)
{
    bool indexed = streq(jsn_get_str(x->job, "spec.completionMode"), "Indexed");

    x->active = jsn_array(x->p->arena);
    x->completions = jsn_get_int(x->job, "spec.completions", -1);
    x->parallelism = jsn_get_int(x->job, "spec.parallelism", 1);
    if (indexed) {
        x->completions = MIN(MAX(x->completions, 0), INDEX_MAX);
        x->done = arena_calloc(x->p->arena, (size_t)x->completions + 1, sizeof(bool));
        x->runs = arena_calloc(x->p->arena, (size_t)x->completions + 1, sizeof(bool));
    }
    JSN_FOR_ITEMS (pod, pods)
        count_pod(x, pod);
}

static bool is_finished(const struct jsn *job)
{
    return streq(jsn_get_str(pod_condition(job, "Complete"), "status"), "True") ||
           streq(jsn_get_str(pod_condition(job, "Failed"), "status"), "True");
}

static void add_env(struct arena *a, struct jsn *list, const char *value)
{
    JSN_FOR_ITEMS (container, list) {
        struct jsn *env = jsn_key(container, "env");
        struct jsn *o = jsn_object(a);

        if (!jsn_is(env, JSN_ARRAY)) {
            env = jsn_array(a);
            jsn_set(a, container, "env", env);
        }
        jsn_set_str(a, o, "name", "JOB_COMPLETION_INDEX");
        jsn_set_str(a, o, "value", value);
        jsn_append(a, env, o);
    }
}

static void give_index(struct arena *a, struct jsn *pod, const struct jsn *job, int64_t i)
{
    struct jsn *meta = jsn_key(pod, "metadata");
    const char *text = arena_printf(a, "%lld", (long long)i);

    jsn_set_str(a, jsn_ensure_object(a, meta, "annotations"), INDEX, text);
    jsn_set_str(a, jsn_ensure_object(a, meta, "labels"), INDEX, text);
    add_env(a, jsn_get(pod, "spec.containers"), text);
    add_env(a, jsn_get(pod, "spec.initContainers"), text);
    jsn_set_path(a, pod, "spec.hostname", jsn_stringf(a, "%s-%s", object_name(job), text));
}

static void make_pod(struct job_state *x, int64_t i)
{
    struct arena *a = x->p->arena;
    struct owner o = {"batch/v1", "Job", x->job, NULL, NULL};
    struct jsn *pod = pod_of_template(a, jsn_get(x->job, "spec.template"), &o);
    const char *base = i >= 0 ? arena_printf(a, "%s-%lld-", object_name(x->job), (long long)i)
                              : arena_printf(a, "%s-", object_name(x->job));

    if (i >= 0)
        give_index(a, pod, x->job, i);
    jsn_set_path(a, pod, "metadata.generateName", jsn_string(a, base));
    plan_add(x->p, ACTION_CREATE, "pods", pod);
}

/* The next index that neither runs nor is done; -1 if there is none. */
static int64_t free_index(struct job_state *x)
{
    for (int64_t i = 0; i < x->completions; i++) {
        if (!x->done[i] && !x->runs[i]) {
            x->runs[i] = true;
            return i;
        }
    }
    return -1;
}

/* How many should run now. */
static int64_t wanted(const struct job_state *x)
{
    if (jsn_get_bool(x->job, "spec.suspend", false))
        return 0;
    if (x->completions < 0)
        return x->succeeded > 0 ? (int64_t)jsn_len(x->active) : x->parallelism;
    return MIN(x->parallelism, x->completions - x->succeeded);
}

/* After failures new pods wait, longer each time. */
static bool must_wait(struct job_state *x)
{
    int64_t delay = BACKOFF_MIN_US << MIN(x->failed, 9);
    int64_t left;

    if (x->failed == 0)
        return false;
    left = x->last_failure_us + MIN(delay, BACKOFF_MAX_US) - x->p->now_us;
    if (left > 0)
        plan_again(x->p, left / 1000 + 1);
    return left > 0;
}

static void run(struct job_state *x)
{
    int64_t have = (int64_t)jsn_len(x->active);
    int64_t want = wanted(x);
    int64_t room = pods_room(x->active);

    for (int64_t i = want; i < have && i - want < BURST; i++)
        plan_add(x->p, ACTION_DELETE, "pods", jsn_item(x->active, (size_t)i));
    if (want <= have || must_wait(x))
        return;
    for (int64_t i = have; i < want && i - have < room; i++) {
        int64_t index = x->done ? free_index(x) : -1;

        if (!x->done || index >= 0)
            make_pod(x, index);
    }
}

static void set_condition(struct job_state *x, struct jsn *status, const char *type,
                          const char *value, const char *reason, const char *message)
{
    struct arena *a = x->p->arena;
    const struct jsn *old = pod_condition(x->job, type);
    struct jsn *list = jsn_array(a);
    struct jsn *o = jsn_object(a);

    if (streq(jsn_get_str(old, "status"), value) || (!old && streq(value, "False")))
        return;
    JSN_FOR_ITEMS (c, jsn_key(status, "conditions"))
        if (!streq(jsn_get_str(c, "type"), type))
            jsn_append(a, list, c);
    jsn_set_str(a, o, "type", type);
    jsn_set_str(a, o, "status", value);
    jsn_set_str(a, o, "lastProbeTime", plan_now(x->p));
    jsn_set_str(a, o, "lastTransitionTime", plan_now(x->p));
    if (reason)
        jsn_set_str(a, o, "reason", reason);
    if (message)
        jsn_set_str(a, o, "message", message);
    jsn_append(a, list, o);
    jsn_set(a, status, "conditions", list);
}

static void put_count(struct arena *a, struct jsn *status, const char *key, int64_t n)
{
    if (n > 0)
        jsn_set_int(a, status, key, n);
    else
        (void)jsn_del(status, key);
}

/* "0,2-4": the indexes that are done. */
static const char *done_text(struct job_state *x)
{
    AUTO(buf_done) struct buf b = {0};

    for (int64_t i = 0; i < x->completions; i++) {
        int64_t last = i;

        if (!x->done[i])
            continue;
        while (last + 1 < x->completions && x->done[last + 1])
            last++;
        buf_printf(&b, "%s%lld", b.n ? "," : "", (long long)i);
        if (last > i)
            buf_printf(&b, "%c%lld", last > i + 1 ? '-' : ',', (long long)last);
        i = last;
    }
    return arena_strdup(x->p->arena, buf_str(&b));
}

static struct jsn *counts(struct job_state *x, bool over)
{
    struct arena *a = x->p->arena;
    const struct jsn *old = jsn_key(x->job, "status");
    struct jsn *status = old ? jsn_clone(a, old) : jsn_object(a);
    bool suspended = jsn_get_bool(x->job, "spec.suspend", false);

    put_count(a, status, "active", over ? 0 : (int64_t)jsn_len(x->active));
    put_count(a, status, "succeeded", x->succeeded);
    put_count(a, status, "failed", x->failed);
    jsn_set_int(a, status, "ready", over ? 0 : x->ready);
    if (x->done)
        jsn_set_str(a, status, "completedIndexes", done_text(x));
    if (!jsn_key(status, "startTime") && !suspended)
        jsn_set_str(a, status, "startTime", plan_now(x->p));
    if (suspended)
        (void)jsn_del(status, "startTime");
    set_condition(x, status, "Suspended", suspended ? "True" : "False",
                  suspended ? "JobSuspended" : "JobResumed",
                  suspended ? "Job suspended" : "Job resumed");
    return status;
}

static bool past_deadline(struct job_state *x)
{
    int64_t limit_s = jsn_get_int(x->job, "spec.activeDeadlineSeconds", -1);
    int64_t start = time_of(x->job, "status.startTime");
    int64_t left;

    if (limit_s < 0 || start == 0 || jsn_get_bool(x->job, "spec.suspend", false))
        return false;
    left = start + clock_s_to_us(limit_s) - x->p->now_us;
    if (left > 0)
        plan_again(x->p, left / 1000 + 1);
    return left <= 0;
}

static bool complete(const struct job_state *x)
{
    if (x->completions >= 0)
        return x->succeeded >= x->completions;
    return x->succeeded > 0 && jsn_len(x->active) == 0;
}

static void fail(struct job_state *x, const char *reason, const char *message)
{
    struct jsn *status;

    JSN_FOR_ITEMS (pod, x->active)
        plan_add(x->p, ACTION_DELETE, "pods", pod);
    x->failed += (int64_t)jsn_len(x->active);
    status = counts(x, true);
    set_condition(x, status, "Failed", "True", reason, message);
    plan_status(x->p, RESOURCE, x->job, status);
}

/* A finished job goes when its time has come. */
static void expire(struct plan *p, const struct jsn *job)
{
    const struct jsn *ttl = jsn_get(job, "spec.ttlSecondsAfterFinished");
    const struct jsn *over = pod_condition(job, "Complete");
    int64_t since;
    int64_t left;

    if (!jsn_is(ttl, JSN_INT))
        return;
    since = time_of(over ? over : pod_condition(job, "Failed"), "lastTransitionTime");
    left = since + clock_s_to_us(ttl->i) - p->now_us;
    if (left <= 0)
        plan_add(p, ACTION_DELETE, RESOURCE, jsn_clone(p->arena, job));
    else
        plan_again(p, left / 1000 + 1);
}

void job_plan(struct plan *p, const struct jsn *job, const struct jsn *pods)
{
    struct owner o = {"batch/v1", "Job", job, jsn_get(job, "spec.selector"), NULL};
    struct job_state x = {.p = p, .job = job};
    struct jsn *status;

    if (object_deleting(job))
        return;
    if (is_finished(job)) {
        expire(p, job);
        return;
    }
    read_job(&x, owned_claim(p, &o, "pods", pods));
    if (x.failed > jsn_get_int(job, "spec.backoffLimit", 6)) {
        fail(&x, "BackoffLimitExceeded", "Job has reached the specified backoff limit");
        return;
    }
    if (past_deadline(&x)) {
        fail(&x, "DeadlineExceeded", "Job was active longer than specified deadline");
        return;
    }
    if (!complete(&x))
        run(&x);
    status = counts(&x, complete(&x));
    if (complete(&x)) {
        set_condition(&x, status, "Complete", "True", NULL, NULL);
        jsn_set_str(p->arena, status, "completionTime", plan_now(p));
    }
    plan_status(p, RESOURCE, job, status);
}
