/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pod that a StatefulSet makes, before it is made: to be checked, and tried.
 *
 * Claims of the StatefulSet's own are volumes of the pod, which its template mounts by name only.
 */
#include "src/build/set_pod.h"

#include "src/build/tree.h"

static void add_claims(struct arena *a, struct jsn *spec, const struct jsn *set, const char *name)
{
    if (!jsn_is(jsn_key(spec, "volumes"), JSN_ARRAY))
        jsn_set(a, spec, "volumes", jsn_array(a));
    JSN_FOR_ITEMS (claim, jsn_get(set, "spec.volumeClaimTemplates")) {
        const char *of = jsn_get_str(claim, "metadata.name");

        jsn_append(a, jsn_key(spec, "volumes"),
                   build_tree(a, "{'name':'$name','persistentVolumeClaim':{'claimName':'$claim'}}",
                              SLOTS({"name", jsn_string(a, of)},
                                    {"claim", jsn_stringf(a, "%s-%s-0", of, name)})));
    }
}

struct jsn *build_set_pod(struct arena *a, const struct jsn *set)
{
    const char *name = jsn_get_str(set, "metadata.name");
    struct jsn *meta = jsn_clone(a, jsn_get(set, "spec.template.metadata"));
    struct jsn *spec = jsn_clone(a, jsn_get(set, "spec.template.spec"));

    add_claims(a, spec, set, name);
    jsn_set(a, meta, "name", jsn_stringf(a, "%s-0", name));
    jsn_set_str(a, meta, "namespace", jsn_get_str(set, "metadata.namespace"));
    return build_tree(a, "{'apiVersion':'v1','kind':'Pod','metadata':'$meta','spec':'$spec'}",
                      SLOTS({"meta", meta}, {"spec", spec}));
}
