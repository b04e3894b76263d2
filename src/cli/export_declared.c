/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What of an object was declared.
 *
 * A manifest has the kind, the name, labels and annotations, and the spec (or the data).  What the
 * API server adds (uid, times, versions, managed fields, status), what the operator adds (owners,
 * finalizers, digests) and what kubectl and helm write about themselves is left out, so that the
 * manifest can be applied anywhere, by whatever tool.
 */
#include "src/api/kinds.h"
#include "src/cli/export.h"
#include "src/plan/finalizer.h"
#include "src/plan/sync.h"

/* Annotations and labels that tell of a tool or of a moment, and not of a wish. */
static const char *const tool_marks[] = {
    "kubectl.kubernetes.io/last-applied-configuration",
    "deployment.kubernetes.io/revision",
    "meta.helm.sh/",
    "helm.sh/chart",
    "app.kubernetes.io/managed-by",
    "pv.kubernetes.io/",
    "volume.kubernetes.io/",
    "volume.beta.kubernetes.io/",
    "kubernetes.io/metadata.name",
    (SYNC_APPLIED), /* put together: in parentheses, or clang-tidy misses a comma in them */
    (FORCE_DELETE),
};

static bool is_wish(const struct jsn_member *m, const void *context)
{
    (void)context;
    for (size_t i = 0; i < ARRAY_LEN(tool_marks); i++)
        if (starts_with(m->key.p, tool_marks[i]))
            return false;
    return true;
}

static struct jsn *declared_meta(struct arena *a, const struct jsn *object)
{
    static const char *const maps[] = {"labels", "annotations"};
    struct jsn *meta = jsn_object(a);

    for (const char *const *k = (const char *const[]){"name", "namespace", NULL}; *k; k++) {
        const char *text = jsn_text(jsn_key(jsn_key(object, "metadata"), *k));

        if (text)
            jsn_set_str(a, meta, *k, text);
    }
    for (size_t i = 0; i < ARRAY_LEN(maps); i++) {
        const struct jsn *map = jsn_key(jsn_key(object, "metadata"), maps[i]);
        struct jsn *kept = jsn_is(map, JSN_OBJECT) ? jsn_clone(a, map) : NULL;

        if (kept)
            jsn_keep_members(kept, is_wish, NULL);
        if (jsn_len(kept))
            jsn_set(a, meta, maps[i], kept);
    }
    return meta;
}

struct jsn *export_declared(struct arena *a, const struct jsn *object)
{
    static const char *const first[] = {"apiVersion", "kind"};
    struct jsn *o = jsn_object(a);

    for (size_t i = 0; i < ARRAY_LEN(first); i++)
        jsn_set(a, o, first[i], jsn_clone(a, jsn_key(object, first[i])));
    jsn_set(a, o, "metadata", declared_meta(a, object));
    JSN_FOR_MEMBERS (m, object)
        if (!str_eqz(m->key, "status") && !str_eqz(m->key, "secrets") && !jsn_member(o, m->key))
            jsn_set_member(a, o, m->key, jsn_clone(a, m->value));
    if (streq(jsn_get_str(o, "kind"), "PersistentVolumeClaim"))
        (void)jsn_del_path(o, "spec.volumeName");
    if (streq(jsn_get_str(o, "kind"), "Namespace"))
        (void)jsn_del(o, "spec");
    return o;
}
