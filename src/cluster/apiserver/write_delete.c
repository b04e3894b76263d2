/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Deleting objects.
 *
 * An object goes at once if nothing holds it.  Finalizers and a grace period hold it: then it gets
 * a deletionTimestamp and stays until whoever is responsible is done.  The propagation policy is
 * itself a finalizer: foregroundDeletion and orphan are taken off by the garbage collector.  A
 * later deletion may shorten the grace period, never prolong it.
 */
#include "src/base/clock.h"
#include "src/cluster/apiserver/body.h"
#include "src/cluster/apiserver/object.h"
#include "src/cluster/apiserver/options.h"
#include "src/cluster/apiserver/strategy.h"
#include "src/cluster/apiserver/write.h"

static int read_propagation(struct api_call *c, const char *text, enum propagation *ret)
{
    static const struct {
        const char *text;
        enum propagation value;
    } known[] = {{"Background", PROPAGATE_BACKGROUND},
                 {"Foreground", PROPAGATE_FOREGROUND},
                 {"Orphan", PROPAGATE_ORPHAN}};
    struct causes cs = {.arena = &c->arena};
    static const char *const supported[] = {"Foreground", "Background", "Orphan", "nil", NULL};

    if (!text)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (streq(text, known[i].text)) {
            *ret = known[i].value;
            return 0;
        }
    }
    cause_not_supported(&cs, "propagationPolicy", jsn_string(&c->arena, text), supported);
    return options_invalid(c, "DeleteOptions", &cs);
}

static int read_query(struct api_call *c, struct delete_options *o)
{
    const char *grace = call_param(c, "gracePeriodSeconds");
    const char *orphan = call_param(c, "orphanDependents");

    if (grace && str_to_i64(str_of(grace), &o->grace_s) < 0)
        return status_bad_request(c, "gracePeriodSeconds: '%s' is not a number", grace);
    if (orphan)
        o->propagation = streq(orphan, "true") ? PROPAGATE_ORPHAN : PROPAGATE_BACKGROUND;
    return read_propagation(c, call_param(c, "propagationPolicy"), &o->propagation);
}

static int read_body(struct api_call *c, const struct jsn *body, struct delete_options *o)
{
    const struct jsn *orphan = jsn_key(body, "orphanDependents");
    const struct jsn *dry = jsn_key(body, "dryRun");
    struct causes cs = {.arena = &c->arena};

    if (jsn_is(orphan, JSN_BOOL) && jsn_get_str(body, "propagationPolicy")) {
        cause_invalid(&cs, "propagationPolicy", jsn_key(body, "propagationPolicy"),
                      "orphanDependents and deletionPropagation cannot be both set");
        return options_invalid(c, "DeleteOptions", &cs);
    }
    o->grace_s = jsn_get_int(body, "gracePeriodSeconds", o->grace_s);
    o->uid = jsn_get_str(body, "preconditions.uid");
    o->version = jsn_get_str(body, "preconditions.resourceVersion");
    if (jsn_is(orphan, JSN_BOOL))
        o->propagation = orphan->b ? PROPAGATE_ORPHAN : PROPAGATE_BACKGROUND;
    JSN_FOR_ITEMS (item, dry) {
        if (!streq(jsn_text(item), "All"))
            return options_bad_dry_run(c, "DeleteOptions", jsn_text(item) ? jsn_text(item) : "");
        c->dry_run = true;
    }
    return read_propagation(c, jsn_get_str(body, "propagationPolicy"), &o->propagation);
}

int delete_options_read(struct api_call *c, struct delete_options *ret_options)
{
    struct delete_options o = {.grace_s = -1};
    struct jsn *body = NULL;
    int r = body_read_options(c, "DeleteOptions", &body);

    if (r == 0)
        r = read_query(c, &o);
    if (r == 0 && body)
        r = read_body(c, body, &o);
    if (r == 0)
        *ret_options = o;
    return r;
}

static int check_preconditions(struct api_call *c, const struct jsn *object,
                               const struct delete_options *o)
{
    const char *version = jsn_get_str(object, "metadata.resourceVersion");

    if (o->uid && !streq(o->uid, object_uid(object)))
        return status_precondition(c, object_name(object),
                                   "the UID in the precondition (%s) does not match the UID in "
                                   "record (%s). The object might have been deleted and then "
                                   "recreated",
                                   o->uid, object_uid(object));
    if (o->version && !streq(o->version, version))
        return status_precondition(c, object_name(object),
                                   "the ResourceVersion in the precondition (%s) does not match "
                                   "the ResourceVersion in record (%s). The object might have been "
                                   "modified",
                                   o->version, version);
    return 0;
}

/* Replace the two finalizers that stand for a policy by the one asked for. */
static void set_policy(struct api_call *c, struct jsn *object, enum propagation p)
{
    static const char *const names[] = {
        [PROPAGATE_FOREGROUND] = "foregroundDeletion", [PROPAGATE_ORPHAN] = "orphan"};
    struct jsn *old = jsn_get(object, "metadata.finalizers");
    struct jsn *list = jsn_array(&c->arena);

    if (p == PROPAGATE_DEFAULT)
        return;
    JSN_FOR_ITEMS (item, old)
        if (!streq(jsn_text(item), "foregroundDeletion") && !streq(jsn_text(item), "orphan"))
            jsn_append(&c->arena, list, item);
    if (p == PROPAGATE_FOREGROUND || p == PROPAGATE_ORPHAN)
        jsn_append(&c->arena, list, jsn_string(&c->arena, names[p]));
    if (jsn_len(list))
        jsn_set_path(&c->arena, object, "metadata.finalizers", list);
    else
        (void)jsn_del_path(object, "metadata.finalizers");
}

/* How long it may still run; 0 for kinds without a grace period. */
static int64_t grace_of(const struct strategy *st, const struct jsn *object,
                        const struct delete_options *o)
{
    const char *phase = jsn_get_str(object, "status.phase");
    const char *node = jsn_get_str(object, "spec.nodeName");
    int64_t grace;

    if (!st->default_grace)
        return 0;
    if (!node || !node[0] || streq(phase, "Succeeded") || streq(phase, "Failed"))
        return 0;
    grace = o->grace_s;
    if (grace == -1)
        grace = jsn_get_int(object, st->default_grace, 30);
    return grace < 0 ? 1 : grace;
}

/* A pod that is going already: a shorter grace moves its end; returns false if nothing changes. */
static bool shorten(struct api_call *c, struct jsn *object, int64_t grace)
{
    struct jsn *meta = jsn_key(object, "metadata");
    int64_t was = jsn_get_int(meta, "deletionGracePeriodSeconds", 0);
    char text[CLOCK_RFC3339_LEN];
    int64_t when;

    if (grace >= was)
        return false;
    if (clock_parse_rfc3339(str_of(jsn_get_str(meta, "deletionTimestamp")), &when) == 0) {
        clock_rfc3339(when + clock_s_to_us(grace - was), text);
        jsn_set_str(&c->arena, meta, "deletionTimestamp", text);
    }
    jsn_set_int(&c->arena, meta, "deletionGracePeriodSeconds", grace);
    return true;
}

static void mark_deleting(struct api_call *c, struct jsn *object, int64_t grace)
{
    struct jsn *meta = jsn_key(object, "metadata");
    int64_t generation = jsn_get_int(meta, "generation", 0);
    char text[CLOCK_RFC3339_LEN];

    clock_rfc3339(clock_wall_us() + clock_s_to_us(grace), text);
    jsn_set_str(&c->arena, meta, "deletionTimestamp", text);
    if (strategy_of(c->stored)->bare_deletion)
        return;
    jsn_set_int(&c->arena, meta, "deletionGracePeriodSeconds", grace);
    if (generation > 0)
        jsn_set_int(&c->arena, meta, "generation", generation + 1);
}

static bool held(const struct jsn *object)
{
    return jsn_len(jsn_get(object, "metadata.finalizers")) > 0 ||
           jsn_len(jsn_get(object, "spec.finalizers")) > 0;
}

static int answer_object(struct api_call *c, struct jsn *object, struct jsn **ret_answer)
{
    *ret_answer = object_present(c, object);
    return 0;
}

int write_delete(struct api_call *c, struct jsn *object, const struct delete_options *o,
                 struct jsn **ret_answer)
{
    const struct strategy *st = strategy_of(c->stored);
    struct jsn *before = jsn_clone(&c->arena, object);
    int64_t grace = grace_of(st, object, o);
    int r = check_preconditions(c, object, o);

    if (r == 0 && st->check_delete)
        r = st->check_delete(c, object);
    if (r < 0)
        return r;
    set_policy(c, object, o->propagation);
    if (object_deleting(object))
        (void)shorten(c, object, grace);
    else if (held(object) || grace > 0)
        mark_deleting(c, object, grace);
    if (streq(c->stored->plural, "namespaces") && object_deleting(object))
        jsn_set_path(&c->arena, object, "status.phase", jsn_string(&c->arena, "Terminating"));
    if (held(object) || (object_deleting(object) &&
                         jsn_get_int(object, "metadata.deletionGracePeriodSeconds", 0) > 0)) {
        if (!c->dry_run && !jsn_equal(before, object) && (r = object_put(c, object)) < 0)
            return r;
        return answer_object(c, object, ret_answer);
    }
    if (!c->dry_run && (r = object_drop(c, object)) < 0)
        return r;
    if (st->deletes_to_object)
        return answer_object(c, object, ret_answer);
    *ret_answer = status_deleted(c, object_name(object), object_uid(object));
    return 0;
}
