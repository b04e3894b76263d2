/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ControllerRevisions.
 *
 * Each distinct template of a stateful set is kept as a revision, numbered in the order in which
 * they were last asked for.  The data is a strategic merge patch that replaces the template, since
 * `kubectl rollout undo` sends it to the server as it stands.  Templates are compared by meaning;
 * the hash only makes a name, and where two different templates share one a count of collisions
 * goes into the hash.
 */
#include "src/cluster/workloads/revision.h"

#include "src/cluster/apiserver/inside.h"
#include "src/cluster/workloads/pod.h"

#define RESOURCE "controllerrevisions.apps"
#define COLLISIONS_MAX 64

struct jsn *revision_template(struct arena *a, const struct jsn *revision)
{
    struct jsn *template = jsn_clone(a, jsn_get(revision, "data.spec.template"));

    (void)jsn_del(template, "$patch");
    return template;
}

static int64_t number(const struct jsn *revision)
{
    return jsn_get_int(revision, "revision", 0);
}

static const struct jsn *find_named(const struct jsn *list, const char *name)
{
    JSN_FOR_ITEMS (r, list)
        if (name && streq(object_name(r), name))
            return r;
    return NULL;
}

/* The newest whose template is this one. */
static const struct jsn *find_equal(struct arena *a, const struct jsn *list,
                                    const struct jsn *template)
{
    const struct jsn *best = NULL;

    JSN_FOR_ITEMS (r, list)
        if (jsn_get(r, "data.spec.template") && jsn_equal(revision_template(a, r), template) &&
            (!best || number(r) > number(best)))
            best = r;
    return best;
}

static void copy_annotations(struct arena *a, struct jsn *revision, const struct jsn *set)
{
    struct jsn *kept;

    if (jsn_len(jsn_get(set, "metadata.annotations")) == 0)
        return;
    kept = jsn_clone(a, jsn_get(set, "metadata.annotations"));
    (void)jsn_del(kept, "kubectl.kubernetes.io/last-applied-configuration");
    jsn_set_path(a, revision, "metadata.annotations", kept);
}

static struct jsn *make(struct plan *p, const struct owner *o, const char *hash, int64_t n)
{
    struct arena *a = p->arena;
    struct jsn *r = jsn_object(a);
    struct jsn *template = jsn_clone(a, jsn_get(o->object, "spec.template"));
    const struct jsn *labels = jsn_get(template, "metadata.labels");
    struct jsn *own = labels ? jsn_clone(a, labels) : jsn_object(a);

    jsn_set_str(a, own, "controller.kubernetes.io/hash", hash);
    jsn_set_path(a, r, "metadata.name", jsn_stringf(a, "%s-%s", object_name(o->object), hash));
    jsn_set_path(a, r, "metadata.namespace", jsn_string(a, object_namespace(o->object)));
    jsn_set_path(a, r, "metadata.labels", own);
    copy_annotations(a, r, o->object);
    owned_set(a, r, o);
    jsn_set_str(a, template, "$patch", "replace");
    jsn_set_path(a, r, "data.spec.template", template);
    jsn_set_int(a, r, "revision", n);
    return r;
}

/* A revision under a name that is free. */
static const struct jsn *make_new(struct plan *p, const struct owner *o, const struct jsn *owned,
                                  int64_t n, int64_t *collisions)
{
    struct jsn *r = NULL;

    for (int i = 0; i < COLLISIONS_MAX; i++) {
        const char *hash =
            template_hash(p->arena, jsn_get(o->object, "spec.template"), *collisions);

        r = make(p, o, hash, n);
        if (!find_named(owned, object_name(r)))
            break;
        (*collisions)++;
    }
    plan_add(p, ACTION_CREATE, RESOURCE, r);
    return r;
}

struct revisions revision_find(struct plan *p, const struct owner *o, const struct jsn *owned)
{
    struct revisions r = {.collisions = jsn_get_int(o->object, "status.collisionCount", 0)};
    const struct jsn *equal = find_equal(p->arena, owned, jsn_get(o->object, "spec.template"));
    int64_t newest = 0;

    JSN_FOR_ITEMS (item, owned)
        newest = MAX(newest, number(item));
    if (!equal) {
        r.update = make_new(p, o, owned, newest + 1, &r.collisions);
    } else if (number(equal) < newest) {
        struct jsn *again = jsn_clone(p->arena, equal);

        jsn_set_int(p->arena, again, "revision", newest + 1);
        plan_add(p, ACTION_UPDATE, RESOURCE, again);
        r.update = again;
    } else {
        r.update = equal;
    }
    r.current = find_named(owned, jsn_get_str(o->object, "status.currentRevision"));
    if (!r.current)
        r.current = r.update;
    return r;
}

static bool in_use(const struct jsn *revision, const struct revisions *r, const struct jsn *pods)
{
    const char *name = object_name(revision);

    if (streq(name, object_name(r->current)) || streq(name, object_name(r->update)))
        return true;
    JSN_FOR_ITEMS (pod, pods)
        if (streq(jsn_text(jsn_key(jsn_get(pod, "metadata.labels"), "controller-revision-hash")),
                  name))
            return true;
    return false;
}

void revision_trim(struct plan *p, const struct jsn *set, const struct jsn *owned,
                   const struct revisions *r, const struct jsn *pods)
{
    int64_t limit = jsn_get_int(set, "spec.revisionHistoryLimit", 10);
    struct jsn *idle = jsn_array(p->arena);

    JSN_FOR_ITEMS (item, owned)
        if (!in_use(item, r, pods))
            jsn_append(p->arena, idle, item);
    while ((int64_t)jsn_len(idle) > MAX(limit, 0)) {
        size_t oldest = 0;

        for (size_t i = 1; i < jsn_len(idle); i++)
            if (number(jsn_item(idle, i)) < number(jsn_item(idle, oldest)))
                oldest = i;
        plan_add(p, ACTION_DELETE, RESOURCE, jsn_item(idle, oldest));
        jsn_remove_at(idle, oldest);
    }
}
