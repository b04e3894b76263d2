/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pods: what the controllers read from them and how they make them.
 *
 * Times come from the wall clock, since that is what stands in the objects; they only ever decide
 * how long a pod must have been ready (minReadySeconds), and a clock that jumps makes that shorter
 * or longer, nothing else.
 */
#include "src/cluster/workloads/pod.h"

#include "src/base/clock.h"
#include "src/base/encode.h"
#include "src/base/hash.h"
#include "src/cluster/apiserver/inside.h"

const struct jsn *pod_condition(const struct jsn *object, const char *type)
{
    JSN_FOR_ITEMS (c, jsn_get(object, "status.conditions"))
        if (streq(jsn_get_str(c, "type"), type))
            return c;
    return NULL;
}

bool pod_in_phase(const struct jsn *pod, const char *phase)
{
    return streq(jsn_get_str(pod, "status.phase"), phase);
}

bool pod_ready(const struct jsn *pod)
{
    return pod_in_phase(pod, "Running") &&
           streq(jsn_get_str(pod_condition(pod, "Ready"), "status"), "True");
}

bool pod_over(const struct jsn *pod)
{
    return pod_in_phase(pod, "Succeeded") || pod_in_phase(pod, "Failed");
}

bool pod_active(const struct jsn *pod)
{
    return !pod_over(pod) && !object_deleting(pod);
}

int64_t pods_room(const struct jsn *pods)
{
    int64_t unplaced = 0;

    JSN_FOR_ITEMS (pod, pods) {
        const char *node = jsn_get_str(pod, "spec.nodeName");

        unplaced += pod_active(pod) && !(node && node[0]);
    }
    return MAX(PODS_UNPLACED_MAX - unplaced, 0);
}

bool pod_available(struct plan *p, const struct jsn *pod, int64_t min_ready_s)
{
    const char *since = jsn_get_str(pod_condition(pod, "Ready"), "lastTransitionTime");
    int64_t since_us;
    int64_t left_us;

    if (!pod_ready(pod))
        return false;
    if (min_ready_s <= 0)
        return true;
    if (!since || clock_parse_rfc3339(str_of(since), &since_us) < 0)
        return false;
    left_us = since_us + clock_s_to_us(min_ready_s) - p->now_us;
    if (left_us <= 0)
        return true;
    plan_again(p, left_us / 1000 + 1);
    return false;
}

struct jsn *pod_of_template(struct arena *a, const struct jsn *template, const struct owner *o)
{
    static const char *const kept[] = {"labels", "annotations", "finalizers"};
    struct jsn *pod = jsn_object(a);
    struct jsn *meta = jsn_object(a);
    const struct jsn *spec = jsn_key(template, "spec");

    for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
        const struct jsn *v = jsn_key(jsn_key(template, "metadata"), kept[i]);

        if (jsn_len(v) > 0)
            jsn_set(a, meta, kept[i], jsn_clone(a, v));
    }
    jsn_set_str(a, meta, "namespace", object_namespace(o->object));
    jsn_set(a, pod, "metadata", meta);
    jsn_set(a, pod, "spec", spec ? jsn_clone(a, spec) : jsn_object(a));
    owned_set(a, pod, o);
    return pod;
}

const char *template_hash(struct arena *a, const struct jsn *template, int64_t collisions)
{
    AUTO(buf_done) struct buf b = {0};
    char *text;

    jsn_print(&b, template);
    if (collisions > 0)
        buf_printf(&b, "%lld", (long long)collisions);
    text = arena_printf(a, "%u", hash_stable32(buf_view(&b)));
    encode_letters(text, strlen(text));
    return text;
}

int64_t count_of(const struct jsn *v, int64_t of, bool up, int64_t otherwise)
{
    struct str s = str_of(jsn_text(v));
    int64_t percent;

    if (jsn_is(v, JSN_INT))
        return v->i;
    if (s.n < 2 || s.p[s.n - 1] != '%' || str_to_i64((struct str){s.p, s.n - 1}, &percent) < 0)
        return otherwise;
    return (of * percent + (up ? 99 : 0)) / 100;
}
