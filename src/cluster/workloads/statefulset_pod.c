/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The identity of a stateful set's pods, and their claims.
 *
 * A pod is set-ORDINAL, has that as its host name and as a label, and the set's service as its
 * subdomain, which together give it a name in DNS.  For every claim template it mounts the claim
 * TEMPLATE-SET-ORDINAL, which outlives the pod; whether it outlives the set, or the ordinal, is
 * what persistentVolumeClaimRetentionPolicy says.
 */
#include "src/cluster/apiserver/inside.h"
#include "src/cluster/workloads/pod.h"
#include "src/cluster/workloads/statefulset.h"

static const char *claim_name(struct arena *a, const struct jsn *set, const struct jsn *template,
                              int64_t ordinal)
{
    return arena_printf(a, "%s-%s-%lld", object_name(template), object_name(set),
                        (long long)ordinal);
}

int64_t statefulset_ordinal(const struct jsn *set, const struct jsn *pod)
{
    struct str name = str_of(object_name(pod));
    struct str parent = str_of(object_name(set));
    int64_t ordinal;

    if (name.n < parent.n + 2 || memcmp(name.p, parent.p, parent.n) != 0 ||
        name.p[parent.n] != '-' || name.n - parent.n - 1 > 10)
        return -1;
    name = (struct str){name.p + parent.n + 1, name.n - parent.n - 1};
    if (str_to_i64(name, &ordinal) < 0 || ordinal < 0 || (name.p[0] == '0' && name.n > 1))
        return -1;
    return ordinal;
}

static void set_label(struct arena *a, struct jsn *pod, const char *key, const char *value)
{
    struct jsn *meta = jsn_ensure_object(a, pod, "metadata");

    jsn_set_str(a, jsn_ensure_object(a, meta, "labels"), key, value);
}

/* The claims as volumes; they take the place of volumes of the same name. */
static void add_volumes(struct arena *a, const struct jsn *set, struct jsn *pod, int64_t ordinal)
{
    const struct jsn *templates = jsn_get(set, "spec.volumeClaimTemplates");
    struct jsn *volumes = jsn_array(a);

    if (jsn_len(templates) == 0)
        return;
    JSN_FOR_ITEMS (t, templates) {
        struct jsn *v = jsn_object(a);

        jsn_set_str(a, v, "name", object_name(t));
        jsn_set_path(a, v, "persistentVolumeClaim.claimName",
                     jsn_string(a, claim_name(a, set, t, ordinal)));
        jsn_append(a, volumes, v);
    }
    JSN_FOR_ITEMS (old, jsn_get(pod, "spec.volumes")) {
        bool replaced = false;

        JSN_FOR_ITEMS (t, templates)
            replaced = replaced || streq(object_name(t), jsn_get_str(old, "name"));
        if (!replaced)
            jsn_append(a, volumes, old);
    }
    jsn_set_path(a, pod, "spec.volumes", volumes);
}

struct jsn *statefulset_pod(struct arena *a, const struct owner *o, const struct jsn *revision,
                            int64_t ordinal)
{
    struct jsn *pod = pod_of_template(a, revision_template(a, revision), o);
    const char *name = arena_printf(a, "%s-%lld", object_name(o->object), (long long)ordinal);
    const char *service = jsn_get_str(o->object, "spec.serviceName");
    struct jsn *spec = jsn_key(pod, "spec");

    jsn_set_path(a, pod, "metadata.name", jsn_string(a, name));
    set_label(a, pod, "statefulset.kubernetes.io/pod-name", name);
    set_label(a, pod, "apps.kubernetes.io/pod-index", arena_printf(a, "%lld", (long long)ordinal));
    set_label(a, pod, "controller-revision-hash", object_name(revision));
    jsn_set_str(a, spec, "hostname", name);
    if (service && service[0])
        jsn_set_str(a, spec, "subdomain", service);
    add_volumes(a, o->object, pod, ordinal);
    return pod;
}

static const struct jsn *find_claim(const struct jsn *claims, const char *name)
{
    JSN_FOR_ITEMS (c, claims)
        if (streq(object_name(c), name))
            return c;
    return NULL;
}

static bool policy_is(const struct jsn *set, const char *when, const char *what)
{
    const struct jsn *policy = jsn_get(set, "spec.persistentVolumeClaimRetentionPolicy");

    return streq(jsn_get_str(policy, when), what);
}

/* A reference that is no controller's: a claim belongs to nobody who would adopt it. */
static void refer(struct arena *a, struct jsn *object, const char *version, const char *kind,
                  const struct jsn *owner)
{
    struct jsn *ref = jsn_object(a);
    struct jsn *list = jsn_array(a);

    jsn_set_str(a, ref, "apiVersion", version);
    jsn_set_str(a, ref, "kind", kind);
    jsn_set_str(a, ref, "name", object_name(owner));
    jsn_set_str(a, ref, "uid", object_uid(owner));
    jsn_append(a, list, ref);
    jsn_set_path(a, object, "metadata.ownerReferences", list);
}

static struct jsn *make_claim(struct arena *a, const struct jsn *set, const struct jsn *template,
                              const char *name)
{
    struct jsn *claim = jsn_clone(a, template);
    struct jsn *meta = jsn_ensure_object(a, claim, "metadata");
    struct jsn *labels = jsn_ensure_object(a, meta, "labels");

    (void)jsn_del(claim, "kind");
    (void)jsn_del(claim, "apiVersion");
    (void)jsn_del(claim, "status");
    jsn_set_str(a, meta, "name", name);
    jsn_set_str(a, meta, "namespace", object_namespace(set));
    JSN_FOR_MEMBERS (m, jsn_get(set, "spec.selector.matchLabels"))
        jsn_set_member(a, labels, m->key, m->value);
    if (policy_is(set, "whenDeleted", "Delete"))
        refer(a, claim, "apps/v1", "StatefulSet", set);
    return claim;
}

void statefulset_claims_make(struct plan *p, const struct statefulset_view *v, int64_t ordinal)
{
    JSN_FOR_ITEMS (t, jsn_get(v->set, "spec.volumeClaimTemplates")) {
        const char *name = claim_name(p->arena, v->set, t, ordinal);

        if (!find_claim(v->claims, name))
            plan_add(p, ACTION_CREATE, "persistentvolumeclaims",
                     make_claim(p->arena, v->set, t, name));
    }
}

void statefulset_claims_condemn(struct plan *p, const struct statefulset_view *v,
                                const struct jsn *pod)
{
    int64_t ordinal = statefulset_ordinal(v->set, pod);

    if (!policy_is(v->set, "whenScaled", "Delete"))
        return;
    JSN_FOR_ITEMS (t, jsn_get(v->set, "spec.volumeClaimTemplates")) {
        const struct jsn *claim = find_claim(v->claims, claim_name(p->arena, v->set, t, ordinal));
        struct jsn *changed;

        if (!claim || object_deleting(claim))
            continue;
        changed = jsn_clone(p->arena, claim);
        refer(p->arena, changed, "v1", "Pod", pod);
        plan_add(p, ACTION_UPDATE, "persistentvolumeclaims", changed);
    }
}
