/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names, labels and owners of what is made.
 *
 * All of them are Slinky's, so that a cluster can be taken over: selectors and names of
 * StatefulSets cannot change.  An object without uid (from a file) owns nothing, and what is made
 * from it has no owner reference.
 */
#include "src/build/labels.h"

#include <assert.h>

const struct labels_app labels_slurmctld = {"slurmctld", "controller", KIND_CONTROLLER};
const struct labels_app labels_slurmd = {"slurmd", "worker", KIND_NODESET};
const struct labels_app labels_login = {"login", "login", KIND_LOGINSET};
const struct labels_app labels_slurmrestd = {"slurmrestd", "restapi", KIND_RESTAPI};
const struct labels_app labels_slurmdbd = {"slurmdbd", "accounting", KIND_ACCOUNTING};
const struct labels_app labels_mariadb = {"mariadb", "database", KIND_ACCOUNTING};

const struct labels_app *labels_app_find(const char *name)
{
    static const struct labels_app *const apps[] = {&labels_slurmctld, &labels_slurmd,
                                                    &labels_login,     &labels_slurmrestd,
                                                    &labels_slurmdbd,  &labels_mariadb};

    for (size_t i = 0; i < ARRAY_LEN(apps); i++)
        if (streq(apps[i]->name, name))
            return apps[i];
    return NULL;
}

const char *labels_accounting(struct arena *a, const char *acct)
{
    return arena_printf(a, "%s-accounting", acct);
}

const char *labels_database(struct arena *a, const char *acct)
{
    return arena_printf(a, "%s-database", acct);
}

const char *labels_controller(struct arena *a, const char *controller)
{
    return arena_printf(a, "%s-controller", controller);
}

const char *labels_internal(struct arena *a, const char *controller)
{
    return arena_printf(a, "%s-controller-internal", controller);
}

const char *labels_config(struct arena *a, const char *controller)
{
    return arena_printf(a, "%s-config", controller);
}

const char *labels_agent(struct arena *a, const char *controller)
{
    return arena_printf(a, "%s-agent", controller);
}

const char *labels_keys(struct arena *a, const char *controller)
{
    return arena_printf(a, "%s-keys", controller);
}

const char *labels_agent_host(struct arena *a, const char *controller, const char *ns)
{
    return arena_printf(a, "%s-agent.%s", controller, ns);
}

const char *labels_workers(struct arena *a, const char *controller)
{
    return arena_printf(a, "slurm-workers-%s", controller);
}

const char *labels_workers_pdb(struct arena *a, const char *controller)
{
    return arena_printf(a, "slurm-workers-pdb-%s", controller);
}

struct jsn *labels_selector(struct arena *a, const struct labels_app *app, const char *instance)
{
    struct jsn *labels = jsn_object(a);

    jsn_set_str(a, labels, LABEL_INSTANCE, instance);
    jsn_set_str(a, labels, LABEL_NAME, app->name);
    return labels;
}

struct jsn *labels_all(struct arena *a, const struct labels_app *app, const char *instance)
{
    struct jsn *labels = jsn_object(a);

    jsn_set_str(a, labels, LABEL_COMPONENT, app->component);
    jsn_set_str(a, labels, LABEL_INSTANCE, instance);
    jsn_set_str(a, labels, LABEL_NAME, app->name);
    jsn_set_str(a, labels, LABEL_OLD_COMPONENT, app->name);
    return labels;
}

const char *labels_selector_text(struct arena *a, const struct labels_app *app,
                                 const char *instance)
{
    return arena_printf(a, LABEL_INSTANCE "=%s," LABEL_NAME "=%s", instance, app->name);
}

struct jsn *labels_owner(struct arena *a, const char *kind, const struct api_meta *m,
                         bool controller)
{
    const struct api_kind *of = api_kind_find(kind);
    struct jsn *owner;

    assert(of);
    if (!m->uid || !m->uid[0])
        return NULL;
    owner = jsn_object(a);
    jsn_set(a, owner, "apiVersion", jsn_stringf(a, "%s/%s", of->group, of->version));
    jsn_set_str(a, owner, "kind", kind);
    jsn_set_str(a, owner, "name", m->name);
    jsn_set_str(a, owner, "uid", m->uid);
    if (controller)
        jsn_set_bool(a, owner, "controller", true);
    jsn_set_bool(a, owner, "blockOwnerDeletion", true);
    return owner;
}

struct jsn *labels_meta(struct arena *a, const char *name, const char *ns, struct jsn *labels,
                        struct jsn *annotations, struct jsn *owner)
{
    struct jsn *meta = jsn_object(a);

    jsn_set_str(a, meta, "name", name);
    jsn_set_str(a, meta, "namespace", ns);
    jsn_set(a, meta, "labels", labels);
    if (jsn_len(annotations))
        jsn_set(a, meta, "annotations", annotations);
    if (owner) {
        struct jsn *owners = jsn_array(a);

        jsn_append(a, owners, owner);
        jsn_set(a, meta, "ownerReferences", owners);
    }
    return meta;
}

void labels_add_annotations(struct arena *a, struct jsn *annotations, const struct jsn_map *from)
{
    static const char *const tools[] = {"kubectl.kubernetes.io/last-applied", "meta.helm.sh/",
                                        "argocd.argoproj.io/", "kustomize.toolkit.fluxcd.io/",
                                        (API_OWN_GROUP "/")};

    for (size_t i = 0; i < from->n; i++) {
        bool skip = false;

        for (size_t k = 0; k < ARRAY_LEN(tools); k++)
            skip = skip || starts_with(from->items[i].key, tools[k]);
        if (!skip)
            jsn_set_str(a, annotations, from->items[i].key, from->items[i].value);
    }
}
