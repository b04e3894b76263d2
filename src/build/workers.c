/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the NodeSets of a cluster share: the headless Service that gives workers their names, and
 * the budget that keeps those with jobs from being evicted (they carry a label while they are
 * busy).  All NodeSets own both, so that the last one takes them away.
 *
 * They do not block the deletion of a NodeSet.  While one is deleted in the foreground the garbage
 * collector takes it from among the owners, and the next plan puts it back, since its pods still
 * need the Service.  If that reference blocked, the two could go on like this for ever.
 */
#include "src/build/workers.h"

#include "src/build/conf_text.h"
#include "src/build/labels.h"

static int by_name(const void *a, const void *b)
{
    const struct nodeset *x = *(const struct nodeset *const *)a;
    const struct nodeset *y = *(const struct nodeset *const *)b;

    return strcmp(x->meta.name, y->meta.name);
}

static struct jsn *make_owners(struct arena *a, const struct build_cluster *c)
{
    const struct nodeset **list = arena_calloc(a, c->n_nodesets + 1, sizeof(*list));
    struct jsn *owners = jsn_array(a);

    for (size_t i = 0; i < c->n_nodesets; i++)
        list[i] = c->nodesets[i];
    qsort(list, c->n_nodesets, sizeof(*list), by_name);
    for (size_t i = 0; i < c->n_nodesets; i++) {
        struct jsn *owner = labels_owner(a, "NodeSet", &list[i]->meta, false);

        if (!owner)
            continue;
        jsn_set_bool(a, owner, "blockOwnerDeletion", false);
        jsn_append(a, owners, owner);
    }
    return jsn_len(owners) ? owners : NULL;
}

static struct jsn *make_meta(struct arena *a, const struct build_cluster *c, const char *name)
{
    struct jsn *owners = make_owners(a, c);
    struct jsn *labels = labels_all(a, APP_WORKER, c->controller->meta.name);
    struct jsn *meta;

    jsn_set_str(a, labels, LABEL_CLUSTER, c->controller->meta.name);
    meta = labels_meta(a, name, api_namespace(&c->controller->meta), labels, NULL, NULL);
    if (owners)
        jsn_set(a, meta, "ownerReferences", owners);
    return meta;
}

struct jsn *build_workers_service(struct arena *a, const struct build_cluster *c)
{
    const char *name = c->controller->meta.name;

    return build_tree(
        a,
        "{'apiVersion':'v1','kind':'Service','metadata':'$meta','spec':{'clusterIP':'None',"
        "'publishNotReadyAddresses':true,"
        "'selector':{'" LABEL_NAME "':'slurmd','" LABEL_CLUSTER "':'$cluster'},"
        "'ports':[{'name':'slurmd','protocol':'TCP','port':6818,'targetPort':'slurmd'}]}}",
        SLOTS({"meta", make_meta(a, c, labels_workers(a, name))},
              {"cluster", jsn_string(a, name)}));
}

struct jsn *build_workers_pdb(struct arena *a, const struct build_cluster *c)
{
    const char *name = c->controller->meta.name;

    return build_tree(
        a,
        "{'apiVersion':'$version','kind':'PodDisruptionBudget','metadata':'$meta','spec':{"
        "'maxUnavailable':0,'selector':{'matchLabels':{'" LABEL_POD_PROTECT
        "':'true','" LABEL_CLUSTER "':'$cluster'}}}}",
        SLOTS({"version", jsn_string(a, c->env->policy_v1beta1 ? "policy/v1beta1" : "policy/v1")},
              {"meta", make_meta(a, c, labels_workers_pdb(a, name))},
              {"cluster", jsn_string(a, name)}));
}

struct jsn *build_ssh_config(struct arena *a, const struct nodeset *ns)
{
    AUTO(conf_text_done) struct conf_text t = {.arena = a};
    const char *extra;

    if (!ns->spec.ssh || !ns->spec.ssh->enabled)
        return NULL;
    extra = ns->spec.ssh->extra_sshd_config;
    conf_text_header(&t, "GENERAL");
    conf_text_line(&t, "Include /etc/ssh/sshd_config.d/*.conf");
    conf_text_line(&t, "UsePAM yes");
    conf_text_line(&t, "Subsystem sftp internal-sftp");
    conf_text_line(&t, "AuthenticationMethods publickey password");
    conf_text_header(&t, "EXTRA CONFIG");
    conf_text_block(&t, extra ? extra : "");
    return build_tree(a,
                      "{'apiVersion':'v1','kind':'ConfigMap','metadata':'$meta',"
                      "'data':{'sshd_config':'$text'}}",
                      SLOTS({"meta", labels_meta(a, arena_printf(a, "%s-ssh-config", ns->meta.name),
                                                 api_namespace(&ns->meta),
                                                 labels_all(a, APP_WORKER, ns->meta.name), NULL,
                                                 labels_owner(a, "NodeSet", &ns->meta, true))},
                            {"text", jsn_str(a, buf_view(&t.text))}));
}
