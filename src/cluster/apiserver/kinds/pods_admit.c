/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Admission of pods: what plugins of kube-apiserver fill in when a pod is made.
 *
 *   - the service account, its pull secrets, and a volume with its token mounted into every
 *     container, unless the pod or the account declines (automountServiceAccountToken: false);
 *   - the priority of its class;
 *   - tolerations for nodes that are away for less than five minutes.
 *
 * The account "default" is made a moment after its namespace: a pod need not wait for that.
 */
#include "src/cluster/apiserver/kinds/pods.h"

#include "src/base/encode.h"
#include "src/cluster/apiserver/kinds/kinds.h"
#include "src/cluster/apiserver/kinds/lookup.h"

#define TOKEN_DIR "/var/run/secrets/kubernetes.io/serviceaccount"

/* The pod's account; *ret_account is NULL for one that is still to be made. */
static int find_account(struct api_call *c, struct jsn *pod, struct jsn *spec,
                        struct jsn **ret_account)
{
    const char *name = kind_text(spec, "serviceAccountName");
    int r;

    if (name[0] == '\0')
        name = "default";
    jsn_set_str(&c->arena, spec, "serviceAccountName", name);
    jsn_set_str(&c->arena, spec, "serviceAccount", name);
    *ret_account = NULL;
    r = lookup_get(c, "serviceaccounts", c->ns, name, ret_account);
    if (r != -ENOENT || streq(name, "default"))
        return r == -ENOENT ? 0 : r;
    return status_forbidden(c, kind_text(pod, "metadata.name"),
                            "error looking up service account %s/%s: serviceaccount \"%s\" not "
                            "found",
                            c->ns, name, name);
}

static bool wants_token(const struct jsn *spec, const struct jsn *account)
{
    const struct jsn *own = jsn_key(spec, "automountServiceAccountToken");

    if (jsn_is(own, JSN_BOOL))
        return own->b;
    return jsn_get_bool(account, "automountServiceAccountToken", true);
}

/* "kube-api-access-x7k2m" */
static const char *token_volume_name(struct arena *a)
{
    char suffix[6] = "";

    encode_random(suffix, sizeof(suffix) - 1);
    encode_letters(suffix, sizeof(suffix) - 1);
    return arena_printf(a, "kube-api-access-%s", suffix);
}

/* Token, certificate of the server, namespace: what in-cluster clients read. */
static struct jsn *token_volume(struct arena *a, const char *name)
{
    static const char text[] =
        "{\"projected\":{\"sources\":[{\"serviceAccountToken\":{\"expirationSeconds\":3607,"
        "\"path\":\"token\"}},{\"configMap\":{\"name\":\"kube-root-ca.crt\",\"items\":[{\"key\":"
        "\"ca.crt\",\"path\":\"ca.crt\"}]}},{\"downwardAPI\":{\"items\":[{\"path\":\"namespace\","
        "\"fieldRef\":{\"apiVersion\":\"v1\",\"fieldPath\":\"metadata.namespace\"}}]}}],"
        "\"defaultMode\":420}}";
    struct jsn *volume;
    struct err e = {0};
    int r = jsn_parse(a, str_of(text), NULL, &volume, &e);

    assert(r == 0);
    jsn_set_str(a, volume, "name", name);
    return volume;
}

static bool mounts_token(const struct jsn *container)
{
    JSN_FOR_ITEMS (mount, jsn_key(container, "volumeMounts"))
        if (streq(jsn_get_str(mount, "mountPath"), TOKEN_DIR))
            return true;
    return false;
}

static struct jsn *ensure_array(struct arena *a, struct jsn *object, const char *key)
{
    struct jsn *list = jsn_key(object, key);

    if (jsn_is(list, JSN_ARRAY))
        return list;
    list = jsn_array(a);
    jsn_set(a, object, key, list);
    return list;
}

static void mount_token(struct arena *a, struct jsn *container, const char *volume)
{
    struct jsn *mount = jsn_object(a);

    jsn_set_str(a, mount, "name", volume);
    jsn_set_bool(a, mount, "readOnly", true);
    jsn_set_str(a, mount, "mountPath", TOKEN_DIR);
    jsn_append(a, ensure_array(a, container, "volumeMounts"), mount);
}

static void admit_token(struct arena *a, struct jsn *spec)
{
    static const char *const lists[] = {"initContainers", "containers"};
    const char *name = token_volume_name(a);
    bool needed = false;

    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        JSN_FOR_ITEMS (container, jsn_key(spec, lists[i])) {
            if (mounts_token(container) || !jsn_is(container, JSN_OBJECT))
                continue;
            mount_token(a, container, name);
            needed = true;
        }
    if (needed)
        jsn_append(a, ensure_array(a, spec, "volumes"), token_volume(a, name));
}

static int admit_service_account(struct api_call *c, struct jsn *pod, struct jsn *spec)
{
    struct jsn *account;
    struct jsn *secrets;
    int r = find_account(c, pod, spec, &account);

    if (r < 0)
        return r;
    secrets = jsn_key(account, "imagePullSecrets");
    if (jsn_len(secrets) > 0 && jsn_len(jsn_key(spec, "imagePullSecrets")) == 0)
        jsn_set(&c->arena, spec, "imagePullSecrets", jsn_clone(&c->arena, secrets));
    if (wants_token(spec, account))
        admit_token(&c->arena, spec);
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
    given = jsn_key(spec, "preemptionPolicy");
    if (!p.preemption)
        p.preemption = "PreemptLowerPriority";
    if (jsn_text(given) && !streq(jsn_text(given), p.preemption))
        return status_forbidden(c, kind_text(pod, "metadata.name"),
                                "the string value of PreemptionPolicy (%s) must not be provided "
                                "in pod spec; priority admission controller computed %s from the "
                                "given PriorityClass name",
                                jsn_text(given), p.preemption);
    jsn_set_str(&c->arena, spec, "preemptionPolicy", p.preemption);
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

int pods_admit(struct api_call *c, struct jsn *pod)
{
    struct jsn *spec = jsn_ensure_object(&c->arena, pod, "spec");
    int r = admit_service_account(c, pod, spec);

    if (r == 0)
        r = admit_priority(c, pod, spec);
    if (r == 0)
        admit_tolerations(&c->arena, spec);
    return r;
}
