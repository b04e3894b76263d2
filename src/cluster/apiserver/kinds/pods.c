/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pods.
 *
 * On creation admission fills in what others decide (pods_admit.c), then the pod gets its first
 * status.  Later it can hardly be changed: images, the deadline (downwards), more tolerations.
 */
#include "src/cluster/apiserver/kinds/pods.h"
#include "src/cluster/apiserver/kinds/kinds.h"
#include "src/cluster/apiserver/kinds/podspec.h"

/* podIP is the first of podIPs; who writes one has written both. */
static void default_addresses(struct arena *a, struct jsn *status)
{
    const char *ip = kind_text(status, "podIP");
    struct jsn *ips = jsn_key(status, "podIPs");
    const char *first = kind_text(jsn_item(ips, 0), "ip");
    struct jsn *item;

    if (ip[0] == '\0' && first[0] != '\0') {
        jsn_set_str(a, status, "podIP", first);
    } else if (ip[0] != '\0' && !streq(ip, first)) {
        item = jsn_object(a);
        jsn_set_str(a, item, "ip", ip);
        ips = jsn_array(a);
        jsn_append(a, ips, item);
        jsn_set(a, status, "podIPs", ips);
    }
}

static void set_defaults(struct arena *a, struct jsn *pod)
{
    podspec_default(a, jsn_key(pod, "spec"), true);
    if (jsn_is(jsn_key(pod, "status"), JSN_OBJECT))
        default_addresses(a, jsn_key(pod, "status"));
}

/* A pod's name becomes its host name, and names of hosts are shorter and have no dots. */
static void warn_of_name(struct api_call *c, const struct jsn *pod)
{
    const char *name = kind_text(pod, "metadata.name");
    struct name_faults f = names_check(FORM_DNS_LABEL, str_of(name));

    if (f.n && names_good(FORM_DNS_SUBDOMAIN, name))
        call_warn(c,
                  "metadata.name: this is used in the Pod's hostname, which can result in "
                  "surprising behavior; a DNS label is recommended: [%s%s%s]",
                  f.text[0], f.n > 1 ? " " : "", f.n > 1 ? f.text[1] : "");
}

static int prepare_create(struct api_call *c, struct jsn *pod)
{
    struct jsn *spec = jsn_ensure_object(&c->arena, pod, "spec");
    struct jsn *status = jsn_object(&c->arena);
    int r = pods_admit(c, pod);

    if (r < 0)
        return r;
    warn_of_name(c, pod);
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

/* Ephemeral containers come through a door of their own, and nothing else comes through it. */
static int prepare_update(struct api_call *c, struct jsn *pod, const struct jsn *old)
{
    struct jsn *added = jsn_get(pod, "spec.ephemeralContainers");
    struct causes cs = {.arena = &c->arena};
    struct jsn *spec;

    if (c->binding)
        note_scheduled(c, pod);
    if (c->sub && streq(c->sub->name, "ephemeralcontainers")) {
        spec = jsn_clone(&c->arena, jsn_key(old, "spec"));
        if (jsn_len(added) > jsn_len(jsn_get(old, "spec.ephemeralContainers")))
            call_warn(c, "spec.ephemeralContainers: the node of this cluster starts no containers "
                         "in a pod that runs; look into it with kubectl exec: its containers have "
                         "the programs of the machine");
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
            place_invalid_text(cs, at, "null",
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
                        "`spec.containers[*].image`,`spec.initContainers[*].image`,"
                        "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to "
                        "existing tolerations),`spec.terminationGracePeriodSeconds` (allow it "
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
