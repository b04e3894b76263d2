/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pod.json and state.json of a pod.
 *
 * The object may change while its containers run, and they point into it: so what they are is taken
 * from the first version and stays; later versions bring labels and annotations, the wish to delete
 * it, its deadline, and the status that the API has.
 */
#include "src/cluster/node/pods/worker_state.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/base/log.h"
#include "src/cluster/node/record.h"

#define MAX_OBJECT ((size_t)4 << 20)

static enum pod_outcome outcome_of(const char *phase)
{
    if (streq(phase, "Succeeded"))
        return POD_SUCCEEDED;
    return streq(phase, "Failed") ? POD_FAILED : POD_GOES_ON;
}

static int load_first(struct worker *w, struct str text, struct err *e)
{
    struct jsn *pod;
    int r = jsn_parse(&w->arena, text, NULL, &pod, e);

    if (r == 0)
        r = pod_spec_decode(&w->arena, pod, &w->spec, e);
    if (r < 0)
        return r;
    if (w->outcome == POD_GOES_ON)
        w->outcome = outcome_of(jsn_get_str(pod, "status.phase"));
    return 0;
}

int worker_state_load_object(struct worker *w, struct str text, struct err *e)
{
    struct arena fresh = {0};
    struct pod_spec *spec = NULL;
    struct jsn *pod = NULL;
    int r = w->spec ? 0 : load_first(w, text, e);

    if (r == 0)
        r = jsn_parse(&fresh, text, NULL, &pod, e);
    if (r == 0)
        r = pod_spec_decode(&fresh, pod, &spec, e);
    if (r < 0) {
        arena_done(&fresh);
        return r;
    }
    w->spec->json = pod;
    w->spec->deadline_s = spec->deadline_s;
    w->spec->deleting = spec->deleting;
    w->spec->delete_grace_s = spec->delete_grace_s;
    w->api_status = jsn_key(pod, "status");
    arena_done(&w->object_arena);
    w->object_arena = fresh;
    return 0;
}

int worker_state_save_object(struct worker *w, struct str text, struct err *e)
{
    AUTO(free) char *path = xasprintf("%s/pod.json", w->dir);

    return record_write(path, text, 0600, e);
}

static void load_decisions(struct worker *w, const struct jsn *v)
{
    const char *start = jsn_get_str(v, "startTime");

    w->initialized = jsn_get_bool(v, "initialized", false);
    w->unknown = jsn_get_bool(v, "unknown", false);
    w->outcome = outcome_of(jsn_get_str(v, "phase"));
    w->reason = xstrdup_null(jsn_get_str(v, "reason"));
    w->message = xstrdup_null(jsn_get_str(v, "message"));
    w->host_image_told = true;
    if (!start || clock_parse_rfc3339(str_of(start), &w->start_us) < 0)
        w->start_us = clock_wall_us();
}

int worker_state_load(struct worker *w, struct err *e)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(free) char *object_path = xasprintf("%s/pod.json", w->dir);
    AUTO(free) char *state_path = xasprintf("%s/state.json", w->dir);
    AUTO(free) char *object = NULL;
    AUTO(free) char *state = NULL;
    struct jsn *v = NULL;
    size_t n, n_state;
    int r = file_read(object_path, MAX_OBJECT, &object, &n, e);

    if (r < 0)
        return r;
    if (file_read(state_path, MAX_OBJECT, &state, &n_state, NULL) == 0)
        (void)!jsn_parse(&a, (struct str){state, n_state}, NULL, &v, NULL);
    load_decisions(w, v);
    return worker_state_load_object(w, (struct str){object, n}, e);
}

void worker_state_save(struct worker *w)
{
    static const char *const phases[] = {"Running", "Succeeded", "Failed"};
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf b = {0};
    AUTO(free) char *path = xasprintf("%s/state.json", w->dir);
    struct jsn *v = jsn_object(&a);
    char start[CLOCK_RFC3339_LEN];
    struct err e = {0};

    clock_rfc3339(w->start_us, start);
    jsn_set_bool(&a, v, "initialized", w->initialized);
    if (w->unknown)
        jsn_set_bool(&a, v, "unknown", true);
    jsn_set_str(&a, v, "phase", phases[w->outcome]);
    jsn_set_str(&a, v, "startTime", start);
    if (w->reason)
        jsn_set_str(&a, v, "reason", w->reason);
    if (w->message)
        jsn_set_str(&a, v, "message", w->message);
    jsn_print(&b, v);
    if (record_write(path, buf_view(&b), 0600, &e) < 0)
        log_warn("pod %s/%s: %s", w->spec->ns, w->spec->name, e.text);
}
