/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The service account token of a pod.
 *
 * Unless the pod or its service account declines, every container gets a read-only directory with a
 * token, the authority's certificate and the namespace: what a client inside the pod needs to talk
 * to the API.  It is a projected volume; whoever runs the pod fills it and keeps the token fresh.
 */
#include "src/cluster/apiserver/kinds/pod_token.h"

#include "src/base/encode.h"

#define TOKEN_PATH "/var/run/secrets/kubernetes.io/serviceaccount"
#define TOKEN_SECONDS 3607 /* as Kubernetes asks for: an hour, told apart from an explicit 3600 */

static const char *volume_name(struct arena *a)
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    unsigned char random[5];
    char suffix[sizeof(random) + 1] = "";

    encode_random(random, sizeof(random));
    for (size_t i = 0; i < sizeof(random); i++)
        suffix[i] = letters[random[i] % (sizeof(letters) - 1)];
    return arena_printf(a, "kube-api-access-%s", suffix);
}

static struct jsn *volume(struct arena *a, const char *name)
{
    AUTO(buf_done) struct buf b = {0};
    struct jsn *v = NULL;

    buf_printf(&b,
               "{\"name\":\"%s\",\"projected\":{\"sources\":["
               "{\"serviceAccountToken\":{\"expirationSeconds\":%d,\"path\":\"token\"}},"
               "{\"configMap\":{\"name\":\"kube-root-ca.crt\","
               "\"items\":[{\"key\":\"ca.crt\",\"path\":\"ca.crt\"}]}},"
               "{\"downwardAPI\":{\"items\":[{\"path\":\"namespace\",\"fieldRef\":"
               "{\"apiVersion\":\"v1\",\"fieldPath\":\"metadata.namespace\"}}]}}],"
               "\"defaultMode\":420}}",
               name, TOKEN_SECONDS);
    if (jsn_parse(a, buf_view(&b), NULL, &v, NULL) < 0)
        abort();
    return v;
}

static struct jsn *list_of(struct arena *a, struct jsn *object, const char *key)
{
    struct jsn *list = jsn_key(object, key);

    if (!jsn_is(list, JSN_ARRAY)) {
        list = jsn_array(a);
        jsn_set(a, object, key, list);
    }
    return list;
}

/* Whoever mounts something there already knows what they want. */
static bool mount_token(struct arena *a, struct jsn *container, const char *name)
{
    struct jsn *mounts = list_of(a, container, "volumeMounts");
    struct jsn *m;

    JSN_FOR_ITEMS (item, mounts)
        if (streq(jsn_get_str(item, "mountPath"), TOKEN_PATH))
            return false;
    m = jsn_object(a);
    jsn_set_str(a, m, "name", name);
    jsn_set_bool(a, m, "readOnly", true);
    jsn_set_str(a, m, "mountPath", TOKEN_PATH);
    jsn_append(a, mounts, m);
    return true;
}

void pod_mount_token(struct arena *a, struct jsn *spec, const struct jsn *account)
{
    static const char *const lists[] = {"initContainers", "containers"};
    bool account_wants = jsn_get_bool(account, "automountServiceAccountToken", true);
    const char *name = volume_name(a);
    bool mounted = false;

    if (!jsn_get_bool(spec, "automountServiceAccountToken", account_wants))
        return;
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        JSN_FOR_ITEMS (container, jsn_key(spec, lists[i]))
            mounted = mount_token(a, container, name) || mounted;
    if (mounted)
        jsn_append(a, list_of(a, spec, "volumes"), volume(a, name));
}
