/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pods.
 *
 * On creation the server fills in what admission plugins do on Kubernetes: the service account, the
 * priority of the class, tolerations for nodes that are briefly away; then the first status.  The
 * token volume of a service account ("kube-api-access-...") is not added: there is no rotating
 * token to put into it, and who wants one can ask for it by name with a projected volume.
 *
 * A pod can hardly be changed: images, the deadline (downwards), more tolerations.
 */
#include "src/cluster/apiserver/kinds/kinds.h"
#include "src/cluster/apiserver/kinds/lookup.h"
#include "src/cluster/apiserver/kinds/pod_token.h"
#include "src/cluster/apiserver/kinds/podspec.h"

static void set_defaults(struct arena *a, struct jsn *pod)
{
    podspec_default(a, jsn_key(pod, "spec"), true);
}

/* The account "default" may not be there yet, right after its namespace: the pod is fine. */
static int admit_service_account(struct api_call *c, struct jsn *pod, struct jsn *spec)
{
    const char *name = kind_text(spec, "serviceAccountName");
    struct jsn *account = NULL;
    int r;

    if (name[0] == '\0') {
        name = "default";
        jsn_set_str(&c->arena, spec, "serviceAccountName", name);
        jsn_set_str(&c->arena, spec, "serviceAccount", name);
    }
    r = lookup_get(c, "serviceaccounts", c->ns, name, &account);
    if (r == -ENOENT && !streq(name, "default"))
        return status_forbidden(c, kind_text(pod, "metadata.name"),
                                "error looking up service account %s/%s: serviceaccount \"%s\" "
                                "not found",
                                c->ns, name, name);
    if (r < 0 && r != -ENOENT)
        return r;
    pod_mount_token(&c->arena, spec, account);
    return 0;
}

struct priority {
    const char *class_name; /* NULL: none */
    const char *preemption;
    int64_t value;
};

static bool take_global_default(void *arg, struct jsn *class)
{
    struct priority *p = arg;

    if (!jsn_get_bool(class, "globalDefault", false))
        return true;
    p->class_name = kind_text(class, "metadata.name");
    p->value = jsn_get_int(class, "value", 0);
    p->preemption = jsn_get_str(class, "preemptionPolicy");
    return false;
}

/* The two classes that every cluster has, whether their objects are there or not. */
static bool built_in_class(const char *name, struct priority *p)
{
    if (streq(name, "system-cluster-critical"))
        p->value = 2000000000;
    else if (streq(name, "system-node-critical"))
        p->value = 2000001000;
    else
        return false;
    p->class_name = name;
    return true;
}

static int find_priority(struct api_call *c, const struct jsn *pod, struct priority *p)
{
    const char *name = kind_text(pod, "spec.priorityClassName");
    struct jsn *class;
    int r;

    if (name[0] == '\0')
        return lookup_each_object(c, "priorityclasses.scheduling.k8s.io", "", take_global_default,
                                  p);
    r = lookup_get(c, "priorityclasses.scheduling.k8s.io", "", name, &class);
    if (r == -ENOENT && built_in_class(name, p))
        return 0;
    if (r == -ENOENT)
        return status_forbidden(c, kind_text(pod, "metadata.name"),
                                "no PriorityClass with name %s was found", name);
    if (r < 0)
        return r;
    p->class_name = name;
    p->value = jsn_get_int(class, "value", 0);
    p->preemption = jsn_get_str(class, "preemptionPolicy");
    return 0;
}

static int admit_priority(struct api_call *c, struct jsn *pod, struct jsn *spec)
{
    struct priority p = {0};
    const struct jsn *given = jsn_key(spec, "priority");
    int r = find_priority(c, pod, &p);

    if (r < 0)
        return r;
    if (jsn_is(given, JSN_INT) && given->i != p.value)
        return status_forbidden(c, kind_text(pod, "metadata.name"),
                                "the integer value of priority (%lld) must not be provided in pod "
                                "spec; priority admission controller computed %lld from the given "
                                "PriorityClass name",
                                (long long)given->i, (long long)p.value);
    jsn_set_int(&c->arena, spec, "priority", p.value);
    if (p.class_name)
        jsn_set_str(&c->arena, spec, "priorityClassName", p.class_name);
    if (!jsn_get_str(spec, "preemptionPolicy"))
        jsn_set_str(&c->arena, spec, "preemptionPolicy",
                    p.preemption ? p.preemption : "PreemptLowerPriority");
    return 0;
}

static bool tolerates(const struct jsn *tolerations, const char *taint)
{
    JSN_FOR_ITEMS (t, tolerations) {
        const char *key = kind_text(t, "key");
        const char *effect = kind_text(t, "effect");

        if ((key[0] == '\0' || streq(key, taint)) &&
            (effect[0] == '\0' || streq(effect, "NoExecute")))
            return true;
    }
    return false;
}

static void admit_tolerations(struct arena *a, struct jsn *spec)
{
    static const char *const taints[] = {"node.kubernetes.io/not-ready",
                                         "node.kubernetes.io/unreachable"};

    for (size_t i = 0; i < ARRAY_LEN(taints); i++) {
        struct jsn *list = jsn_key(spec, "tolerations");
        struct jsn *t = jsn_object(a);

        if (tolerates(list, taints[i]))
            continue;
        if (!jsn_is(list, JSN_ARRAY)) {
            list = jsn_array(a);
            jsn_set(a, spec, "tolerations", list);
        }
        jsn_set_str(a, t, "key", taints[i]);
        jsn_set_str(a, t, "operator", "Exists");
        jsn_set_str(a, t, "effect", "NoExecute");
        jsn_set_int(a, t, "tolerationSeconds", 300);
        jsn_append(a, list, t);
    }
}

static int prepare_create(struct api_call *c, struct jsn *pod)
{
    struct jsn *spec = jsn_ensure_object(&c->arena, pod, "spec");
    struct jsn *status = jsn_object(&c->arena);
    int r = admit_service_account(c, pod, spec);

    if (r < 0 || (r = admit_priority(c, pod, spec)) < 0)
        return r;
    admit_tolerations(&c->arena, spec);
    jsn_set_str(&c->arena, status, "phase", "Pending");
    jsn_set_str(&c->arena, status, "qosClass", podspec_qos(spec));
    jsn_set(&c->arena, pod, "status", status);
    return 0;
}

/* A scheduler has chosen a node: say so in the conditions. */
static void note_scheduled(struct api_call *c, struct jsn *pod)
{
    struct jsn *status = jsn_ensure_object(&c->arena, pod, "status");
    struct jsn *list = jsn_array(&c->arena);
    struct jsn *condition = jsn_object(&c->arena);

    JSN_FOR_ITEMS (old, jsn_key(status, "conditions")) {
        if (!streq(jsn_get_str(old, "type"), "PodScheduled"))
            jsn_append(&c->arena, list, old);
    }
    jsn_set_str(&c->arena, condition, "type", "PodScheduled");
    jsn_set_str(&c->arena, condition, "status", "True");
    jsn_set(&c->arena, condition, "lastProbeTime", jsn_null(&c->arena));
    jsn_set_str(&c->arena, condition, "lastTransitionTime", call_now(c));
    jsn_append(&c->arena, list, condition);
    jsn_set(&c->arena, status, "conditions", list);
}

/* The older field and the newer list say the same. */
static void sync_addresses(struct arena *a, struct jsn *pod)
{
    const char *ip = kind_text(pod, "status.podIP");
    const char *first = jsn_get_str(jsn_item(jsn_get(pod, "status.podIPs"), 0), "ip");
    struct jsn *entry = jsn_object(a);
    struct jsn *list = jsn_array(a);

    if (ip[0] == '\0' && first) {
        jsn_set_path(a, pod, "status.podIP", jsn_string(a, first));
    } else if (ip[0] != '\0' && !streq(ip, first)) {
        jsn_set_str(a, entry, "ip", ip);
        jsn_append(a, list, entry);
        jsn_set_path(a, pod, "status.podIPs", list);
    }
}

/* Ephemeral containers come through a door of their own, and nothing else comes through it. */
static int prepare_update(struct api_call *c, struct jsn *pod, const struct jsn *old)
{
    struct jsn *added = jsn_get(pod, "spec.ephemeralContainers");
    struct causes cs = {.arena = &c->arena};
    struct jsn *spec;

    if (c->binding)
        note_scheduled(c, pod);
    sync_addresses(&c->arena, pod);
    if (c->sub && streq(c->sub->name, "ephemeralcontainers")) {
        spec = jsn_clone(&c->arena, jsn_key(old, "spec"));
        if (added)
            jsn_set(&c->arena, spec, "ephemeralContainers", added);
        jsn_set(&c->arena, pod, "spec", spec);
        return 0;
    }
    if (!check_same(added, jsn_get(old, "spec.ephemeralContainers")))
        cause_forbidden(&cs, "spec.ephemeralContainers",
                        "ephemeral containers may only be changed through the "
                        "ephemeralcontainers subresource");
    return status_invalid(c, kind_text(old, "metadata.name"), &cs);
}

static void validate(struct causes *cs, const struct jsn *pod)
{
    struct place root = place_root(pod);
    struct place spec = place_key(&root, "spec");

    podspec_check(cs, &spec, true);
}

static bool same_count(struct causes *cs, const struct place *list, const struct jsn *old)
{
    if (jsn_len(list->value) == jsn_len(old))
        return true;
    place_forbidden(cs, list, "pod updates may not add or remove containers");
    return false;
}

static bool check_deadline(struct causes *cs, const struct place *at, const struct jsn *old)
{
    size_t before = cs->n;

    if (!place_given(at)) {
        if (jsn_is(old, JSN_INT))
            place_invalid_text(cs, at, "\"null\"",
                               "must not update from a positive integer to nil value");
    } else if (jsn_is(old, JSN_INT) && place_int(at, 0) > old->i) {
        place_invalid(cs, at, "must be less than or equal to previous value");
    }
    return cs->n == before;
}

static bool same_toleration(const struct jsn *a, const struct jsn *b)
{
    static const char *const keys[] = {"key", "operator", "value", "effect"};

    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (!check_same(jsn_key(a, keys[i]), jsn_key(b, keys[i])))
            return false;
    return true;
}

static void check_tolerations_stay(struct causes *cs, const struct place *list,
                                   const struct jsn *old)
{
    JSN_FOR_ITEMS (was, old) {
        bool found = false;

        JSN_FOR_ITEMS (is, list->value) {
            found |= same_toleration(was, is);
        }
        if (found)
            continue;
        place_forbidden(cs, list,
                        "existing toleration can not be modified except its tolerationSeconds");
        return;
    }
}

/* The new spec with everything that may change put back to what it was. */
static struct jsn *without_changes(struct arena *a, const struct jsn *spec, const struct jsn *old)
{
    static const char *const lists[] = {"containers", "initContainers"};
    static const char *const free[] = {"activeDeadlineSeconds", "tolerations",
                                       "ephemeralContainers"};
    struct jsn *s = jsn_clone(a, spec);
    const struct jsn *grace = jsn_key(old, "terminationGracePeriodSeconds");

    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        JSN_FOR_ITEMS (container, jsn_key(s, lists[i])) {
            kind_keep(a, container, jsn_item(jsn_key(old, lists[i]), container_i), "image");
        }
    for (size_t i = 0; i < ARRAY_LEN(free); i++)
        kind_keep(a, s, old, free[i]);
    if (jsn_is(grace, JSN_INT) && grace->i < 0 &&
        jsn_get_int(s, "terminationGracePeriodSeconds", 0) == 1)
        kind_keep(a, s, old, "terminationGracePeriodSeconds");
    return s;
}

static void validate_update(struct causes *cs, const struct jsn *pod, const struct jsn *old)
{
    const struct jsn *old_spec = jsn_key(old, "spec");
    struct place root = place_root(pod);
    struct place spec = place_key(&root, "spec");
    struct place containers = place_key(&spec, "containers");
    struct place inits = place_key(&spec, "initContainers");
    struct place deadline = place_key(&spec, "activeDeadlineSeconds");
    struct place tolerations = place_key(&spec, "tolerations");
    struct jsn *rest;

    if (!same_count(cs, &containers, jsn_key(old_spec, "containers")) ||
        !same_count(cs, &inits, jsn_key(old_spec, "initContainers")) ||
        !check_deadline(cs, &deadline, jsn_key(old_spec, "activeDeadlineSeconds")))
        return;
    check_tolerations_stay(cs, &tolerations, jsn_key(old_spec, "tolerations"));
    rest = without_changes(cs->arena, spec.value, old_spec);
    if (!check_same(rest, old_spec))
        place_forbidden(cs, &spec,
                        "pod updates may not change fields other than "
                        "`spec.containers[*].image`, `spec.initContainers[*].image`, "
                        "`spec.activeDeadlineSeconds`, `spec.tolerations` (only additions to "
                        "existing tolerations) or `spec.terminationGracePeriodSeconds` (allow it "
                        "to be set to 1 if it was previously negative)%s",
                        kind_difference(cs->arena, rest, old_spec, "spec"));
}

const struct strategy strategy_pods = {
    .resource = "pods",
    .no_generation = true,
    .status_reset = true,
    .deletes_to_object = true,
    .default_grace = "spec.terminationGracePeriodSeconds",
    .set_defaults = set_defaults,
    .prepare_create = prepare_create,
    .prepare_update = prepare_update,
    .validate = validate,
    .validate_update = validate_update,
};
