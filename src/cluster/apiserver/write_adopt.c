/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A pod that runs, and that the store does not know, is put back.
 *
 * It keeps its uid, by which the node knows it, its status and its age.  Its owners may have been
 * made again under other uids (the store is an older one): references are turned to the owner of
 * the same kind and name.  Where there is none the pod is refused, for the garbage collector would
 * delete it, with the jobs in it; and so is a pod whose storage claim is not the one it was started
 * with, for its next start would find an empty directory.  A pod of the same name that was made
 * since goes in the same transaction: no controller comes in between.  The node has not begun it.
 */
#include "src/cluster/apiserver/access.h"
#include "src/cluster/apiserver/collector.h"
#include "src/cluster/apiserver/object.h"
#include "src/cluster/apiserver/server.h"
#include "src/cluster/apiserver/shape.h"
#include "src/cluster/apiserver/strategy.h"
#include "src/cluster/apiserver/write.h"

bool write_adopt_asked(const struct api_call *c)
{
    return call_param_true(c, "slurmkeeperAdopt") && resource_is_stored_as(c->stored, "pods");
}

/* Turn a reference to the owner of that kind and name, whatever its uid is now. */
static int mend_owner(struct api_call *c, const struct jsn *object, struct jsn *ref)
{
    const struct resource *res = collector_resource_of(c->server, ref);
    const char *name = jsn_get_str(ref, "name");
    AUTO(call_done_inner) struct api_call inner = {0};
    struct jsn *owner = NULL;

    if (!res || !name)
        return status_conflict(c, object_name(object), "its owner is of an unknown kind");
    call_init_inner(&inner, c->server, res->stored ? res->stored : res);
    if (object_find(&inner, res->namespaced ? c->ns : "", name, &owner) < 0 ||
        object_deleting(owner))
        return status_conflict(
            c, object_name(object),
            "its owner, %s %s, is not in the store: without it the pod would be "
            "deleted. Declare it again (kubectl apply) or restore a backup first",
            res->kind, name);
    jsn_set_str(&c->arena, ref, "uid", object_uid(owner));
    return 0;
}

static int check_claim(struct api_call *c, const struct jsn *object, const char *name)
{
    AUTO(call_done_inner) struct api_call inner = {0};
    const char *made = jsn_get_str(object, "metadata.creationTimestamp");
    struct jsn *claim = NULL;

    call_init_inner(
        &inner, c->server,
        registry_find(c->server->registry, STR(""), STR("v1"), STR("persistentvolumeclaims")));
    if (object_find(&inner, c->ns, name, &claim) == 0 && made &&
        strcmp(jsn_get_str(claim, "metadata.creationTimestamp"), made) <= 0)
        return 0;
    return status_conflict(c, object_name(object),
                           "its storage claim %s is %s: its next start would find an empty "
                           "directory. Restore a backup that has the claim",
                           name, claim ? "younger than the pod" : "not in the store");
}

static int mend(struct api_call *c, struct jsn *object)
{
    int r = 0;

    JSN_FOR_ITEMS (ref, jsn_get(object, "metadata.ownerReferences"))
        if (r == 0)
            r = mend_owner(c, object, ref);
    JSN_FOR_ITEMS (v, jsn_get(object, "spec.volumes")) {
        const char *claim = jsn_get_str(v, "persistentVolumeClaim.claimName");

        if (r == 0 && claim)
            r = check_claim(c, object, claim);
    }
    return r;
}

/* What stands in its place: the same pod is known already, another one goes. */
static int make_room(struct api_call *c, const struct jsn *object)
{
    struct jsn *other = NULL;
    int r = object_find(c, c->ns, object_name(object), &other);

    if (r == -ENOENT)
        return 0;
    if (r < 0)
        return r;
    if (streq(object_uid(other), object_uid(object)))
        return status_already_exists(c, object_name(object), object_deleting(other));
    return object_drop(c, other);
}

int write_adopt(struct api_call *c, struct jsn *object)
{
    const struct strategy *st = strategy_of(c->stored);
    struct causes cs = {.arena = &c->arena};
    int r;

    if (!access_is_administrator(&c->user))
        return status_forbidden(c, object_name(object), "only administrators adopt pods");
    if (!object_uid(object)[0] || !jsn_get_str(object, "metadata.creationTimestamp") ||
        !jsn_get_str(object, "spec.nodeName"))
        return status_bad_request(c, "a pod that is adopted has a uid, a creationTimestamp and a "
                                     "node");
    (void)jsn_del_path(object, "metadata.resourceVersion");
    shape_default(c, object);
    validate_metadata(&cs, object, st->names, c->stored->namespaced);
    shape_validate(&cs, c, object, NULL);
    if (st->validate)
        st->validate(&cs, object);
    r = status_invalid(c, object_name(object), &cs);
    /* one that is put back to be ended needs no owner and no storage */
    if (r == 0 && !streq(call_param(c, "slurmkeeperAdopt"), "end"))
        r = mend(c, object);
    if (r < 0 || c->dry_run)
        return r;
    r = make_room(c, object);
    return r < 0 ? r : object_put(c, object);
}
