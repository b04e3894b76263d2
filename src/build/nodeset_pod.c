/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Worker pods.
 *
 * A pod has slurmd and, beside it, the log sidecar.  It gets the cluster's key and nothing else:
 * slurmd fetches its configuration from slurmctld.  The host's name is the Slurm node's name and is
 * found by all others through the headless Service of the cluster's workers.
 *
 * After the user's template has been laid over, four things are put back if it took them away: the
 * toleration for workers' nodes, the DNS search domain, the rule that one Kubernetes node has one
 * worker (unless oversubscribeNode), and the place of a pod that has one.
 */
#include "src/build/nodeset_pod.h"

#include "src/build/containers.h"
#include "src/build/controller_config.h"
#include "src/build/labels.h"
#include "src/build/merge.h"
#include "src/build/node_line.h"
#include "src/build/nodeset_confine.h"
#include "src/build/scripts.h"

#define KEY_MODE 0600
#define SCRIPT_MODE 0755
#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"

struct maker {
    struct arena *a;
    const struct build_cluster *c;
    const struct nodeset *ns;
    const struct build_worker *w;
    struct api_problems *p;
};

static const char *main_image(const struct maker *m)
{
    const char *image = jsn_get_str(m->ns->spec.slurmd, "image");

    return image ? image : build_default_image(m->a, m->c, "slurmd");
}

static bool uses_ssh(const struct maker *m)
{
    return m->ns->spec.ssh && m->ns->spec.ssh->enabled;
}

/* Slurm that cannot hand out scripts gets them by a mount. */
static bool mounts_scripts(const struct maker *m)
{
    return !build_has(m->c, PROFILE_PROLOG_REPEATS);
}

static int64_t limit_value(const struct maker *m, const char *resource)
{
    return node_limit(m->ns->spec.slurmd, m->ns->spec.template.spec, resource);
}

static struct jsn *make_mounts(const struct maker *m)
{
    struct jsn *mounts =
        build_tree(m->a,
                   "[{'name':'slurm-etc','mountPath':'/etc/slurm','readOnly':true},"
                   "{'name':'slurm-logfile','mountPath':'/var/log/slurm'}]",
                   NULL);

    if (mounts_scripts(m))
        build_append_all(m->a, mounts,
                         build_tree(m->a,
                                    "[{'name':'slurm-prolog','mountPath':'" PROLOG_DIR
                                    "','readOnly':true},{'name':'slurm-epilog','mountPath':"
                                    "'" EPILOG_DIR "','readOnly':true}]",
                                    NULL));
    if (uses_ssh(m))
        build_append_all(m->a, mounts,
                         build_tree(m->a,
                                    "[{'name':'sshd-config','mountPath':'/etc/ssh/sshd_config',"
                                    "'subPath':'sshd_config','readOnly':true}]",
                                    NULL));
    if (build_has_directory(m->c, m->ns))
        build_append_all(m->a, mounts,
                         build_tree(m->a,
                                    "[{'name':'sssd-conf','mountPath':'/etc/sssd/sssd.conf',"
                                    "'subPath':'sssd.conf','readOnly':true}]",
                                    NULL));
    return mounts;
}

static struct jsn *make_slurmd(const struct maker *m)
{
    static const char ask[] = "['scontrol','show','slurmd']";
    struct jsn *base = build_tree(
        m->a,
        "{'name':'slurmd','image':'$image','args':'$args',"
        "'env':[{'name':'SLINKY_TOPOLOGY','valueFrom':{'fieldRef':{'fieldPath':'$topology'}}},"
        "'$pod_topology',{'name':'POD_CPUS','value':'$cpus'},{'name':'POD_MEMORY','value':'$memory'"
        "}],"
        "'ports':[{'name':'slurmd','containerPort':6818,'protocol':'TCP'},'$ssh'],"
        "'startupProbe':'$startup','readinessProbe':'$ready','livenessProbe':'$live',"
        "'resources':{},"
        "'lifecycle':{'preStop':{'exec':{'command':['bash','-c','$stop','retire','$host','$port']}}"
        "},"
        "'securityContext':{'privileged':true,'capabilities':{'add':['BPF','NET_ADMIN',"
        "'SYS_ADMIN','SYS_NICE']}},'volumeMounts':'$mounts'}",
        SLOTS({"image", jsn_string(m->a, main_image(m))},
              {"args", worker_slurmd_args(m->a, m->c, m->ns)},
              {"topology", jsn_string(m->a, "metadata.annotations['" ANNOTATION_TOPOLOGY "']")},
              {"pod_topology",
               worker_takes_topology(m->a, m->c, m->ns)
                   ? build_tree(m->a,
                                "{'name':'POD_TOPOLOGY','valueFrom':{'fieldRef':{'fieldPath':"
                                "'$topology'}}}",
                                SLOTS({"topology",
                                       jsn_string(m->a, "metadata.annotations['" ANNOTATION_TOPOLOGY
                                                        "']")}))
                   : NULL},
              {"cpus", jsn_stringf(m->a, "%lld", (long long)limit_value(m, "cpu"))},
              {"memory", jsn_stringf(m->a, "%lld", (long long)(limit_value(m, "memory") >> 20))},
              {"ssh", uses_ssh(m) ? build_tree(m->a,
                                               "{'name':'ssh','containerPort':22,"
                                               "'protocol':'TCP'}",
                                               NULL)
                                  : NULL},
              {"startup", container_probe(m->a, m->c, PROBE_STARTUP, "/livez", "slurmd", ask)},
              {"ready", container_probe(m->a, m->c, PROBE_READY, "/readyz", "slurmd", ask)},
              {"live", container_probe(m->a, m->c, PROBE_LIVE, "/livez", "slurmd", ask)},
              {"stop", jsn_string(m->a, script_retire)},
              {"host", jsn_string(m->a, build_slurmctld_host(m->a, m->c))},
              {"port", jsn_stringf(m->a, "%d", build_slurmctld_port(m->c))},
              {"mounts", make_mounts(m)}));

    return merge_container(m->a, base, m->ns->spec.slurmd, "spec.slurmd", m->p);
}

static struct jsn *script_volume(const struct maker *m, const char *name, const char *option)
{
    return build_tree(
        m->a, "{'name':'$name','configMap':{'name':'$map','optional':true,'defaultMode':'$mode'}}",
        SLOTS({"name", jsn_string(m->a, name)},
              {"map", jsn_string(m->a, build_script_map_name(m->a, m->c, option))},
              {"mode", jsn_int(m->a, SCRIPT_MODE)}));
}

static struct jsn *sshd_volume(const struct maker *m)
{
    return build_tree(m->a,
                      "{'name':'sshd-config','configMap':{'name':'$config','defaultMode':'$mode'}}",
                      SLOTS({"config", jsn_stringf(m->a, "%s-ssh-config", m->ns->meta.name)},
                            {"mode", jsn_int(m->a, KEY_MODE)}));
}

static struct jsn *sssd_volume(const struct maker *m)
{
    const struct api_key_ref *sssd = &m->ns->spec.ssh->sssd_conf_ref;

    return build_tree(m->a,
                      "{'name':'sssd-conf','secret':{'secretName':'$secret','defaultMode':'$mode',"
                      "'items':[{'key':'$key','path':'sssd.conf'}]}}",
                      SLOTS({"secret", jsn_string(m->a, sssd->name ? sssd->name : "")},
                            {"key", jsn_string(m->a, sssd->key ? sssd->key : "sssd.conf")},
                            {"mode", jsn_int(m->a, KEY_MODE)}));
}

static struct jsn *make_volumes(const struct maker *m)
{
    struct jsn *sources = jsn_array(m->a);
    struct jsn *volumes;

    volume_add_auth(m->a, m->c, sources);
    jsn_append(
        m->a, sources,
        build_tree(m->a,
                   "{'downwardAPI':{'items':[{'path':'register','fieldRef':{'fieldPath':"
                   "'$annotation'}}]}}",
                   SLOTS({"annotation",
                          jsn_string(m->a, "metadata.annotations['" ANNOTATION_REGISTER "']")})));
    volumes =
        build_tree(m->a,
                   "[{'name':'slurm-etc','projected':{'defaultMode':'$mode','sources':'$sources'}},"
                   "{'name':'slurm-logfile','emptyDir':{'medium':'Memory'}}]",
                   SLOTS({"mode", jsn_int(m->a, KEY_MODE)}, {"sources", sources}));
    if (mounts_scripts(m)) {
        jsn_append(m->a, volumes, script_volume(m, "slurm-prolog", "Prolog"));
        jsn_append(m->a, volumes, script_volume(m, "slurm-epilog", "Epilog"));
    }
    if (uses_ssh(m))
        jsn_append(m->a, volumes, sshd_volume(m));
    if (build_has_directory(m->c, m->ns))
        jsn_append(m->a, volumes, sssd_volume(m));
    return volumes;
}

/* The object at a path, made if it is missing. */
static struct jsn *ensure(struct arena *a, struct jsn *v, const char *const *path)
{
    for (; *path; path++)
        v = jsn_ensure_object(a, v, *path);
    return v;
}

static struct jsn *ensure_array(struct arena *a, struct jsn *object, const char *key)
{
    if (!jsn_is(jsn_key(object, key), JSN_ARRAY))
        jsn_set(a, object, key, jsn_array(a));
    return jsn_key(object, key);
}

static void put_back_toleration(const struct maker *m, struct jsn *spec)
{
    struct jsn *list = ensure_array(m->a, spec, "tolerations");

    JSN_FOR_ITEMS (item, list)
        if (streq(jsn_get_str(item, "key"), TAINT_WORKER))
            return;
    jsn_append(m->a, list,
               build_tree(m->a,
                          "{'key':'" TAINT_WORKER "','operator':'Equal','effect':'NoExecute'}",
                          NULL));
}

static void put_back_search(const struct maker *m, struct jsn *spec)
{
    struct jsn *list = ensure_array(m->a, jsn_ensure_object(m->a, spec, "dnsConfig"), "searches");

    const char *domain = build_search_domain(m->a, m->c);

    if (!build_has_string(list, domain))
        jsn_append(m->a, list, jsn_string(m->a, domain));
}

static void put_back_affinity(const struct maker *m, struct jsn *spec)
{
    if (!m->ns->spec.oversubscribe_node)
        jsn_append(m->a,
                   ensure_array(m->a,
                                ensure(m->a, spec,
                                       (const char *const[]){"affinity", "podAntiAffinity", NULL}),
                                REQUIRED),
                   build_tree(m->a,
                              "{'topologyKey':'kubernetes.io/hostname','labelSelector':{"
                              "'matchExpressions':[{'key':'" LABEL_NAME
                              "','operator':'In','values':['slurmd']}]}}",
                              NULL));
    if (m->w->node)
        jsn_set(m->a, ensure(m->a, spec, (const char *const[]){"affinity", "nodeAffinity", NULL}),
                REQUIRED,
                build_tree(m->a,
                           "{'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name',"
                           "'operator':'In','values':['$node']}]}]}",
                           SLOTS({"node", jsn_string(m->a, m->w->node)})));
}

/* The pod's claims as volumes; they take the place of volumes of the same name. */
static void add_claim_volumes(const struct maker *m, struct jsn *spec)
{
    const struct nodeset_claim_templates *t = &m->ns->spec.claim_templates;
    struct jsn *volumes = ensure_array(m->a, spec, "volumes");

    for (size_t i = 0; i < t->n; i++) {
        const char *name = jsn_get_str(t->items[i].metadata, "name");

        for (size_t k = jsn_len(volumes); k-- > 0;)
            if (streq(jsn_get_str(jsn_item(volumes, k), "name"), name))
                jsn_remove_at(volumes, k);
        jsn_append(
            m->a, volumes,
            build_tree(
                m->a, "{'name':'$name','persistentVolumeClaim':{'claimName':'$claim'}}",
                SLOTS({"name", jsn_string(m->a, name)},
                      {"claim", jsn_string(m->a, worker_claim_name(m->a, m->ns, m->w, name))})));
    }
}

static struct jsn *make_spec(const struct maker *m)
{
    struct jsn *sidecars = jsn_array(m->a);
    struct jsn *spec =
        build_tree(m->a,
                   "{'automountServiceAccountToken':false,'enableServiceLinks':false,"
                   "'containers':['$slurmd'],'volumes':'$volumes'}",
                   SLOTS({"slurmd", make_slurmd(m)}, {"volumes", make_volumes(m)}));

    jsn_append(m->a, sidecars,
               container_logfile(m->a, m->c, "slurmd", main_image(m), m->ns->spec.logfile, m->p));
    container_add_sidecars(m->a, m->c, spec, sidecars);
    spec = merge_pod_spec(m->a, spec, m->ns->spec.template.spec, "spec.template.spec", m->p);
    jsn_set_str(m->a, spec, "hostname", worker_hostname(m->a, m->ns, m->w));
    jsn_set_str(m->a, spec, "subdomain", labels_workers(m->a, m->c->controller->meta.name));
    put_back_toleration(m, spec);
    put_back_search(m, spec);
    put_back_affinity(m, spec);
    add_claim_volumes(m, spec);
    return spec;
}

static struct jsn *make_labels(const struct maker *m)
{
    const struct nodeset *ns = m->ns;
    struct jsn *labels = build_map(m->a, &ns->spec.template.metadata.labels);

    JSN_FOR_MEMBERS (own, labels_all(m->a, APP_WORKER, ns->meta.name))
        jsn_set_member(m->a, labels, own->key, own->value);
    jsn_set_str(m->a, labels, LABEL_CLUSTER, ns->spec.controller_ref.name);
    jsn_set_str(m->a, labels, LABEL_SCALING_MODE, m->w->ordinal < 0 ? "DaemonSet" : "StatefulSet");
    jsn_set_str(m->a, labels, LABEL_POD_HOSTNAME, worker_hostname(m->a, ns, m->w));
    if (m->w->ordinal >= 0) {
        jsn_set_str(m->a, labels, LABEL_POD_NAME, worker_pod_name(m->a, ns, m->w->ordinal));
        jsn_set_str(m->a, labels, LABEL_POD_INDEX, worker_index(m->a, ns, m->w->ordinal));
    }
    if (m->w->hash)
        jsn_set_str(m->a, labels, LABEL_HASH, m->w->hash);
    return labels;
}

/*
 * The NodeSet manages the pod.  The Controller is an owner beside it, so that a foreground deletion
 * of the NodeSet, which does not ask for finalizers, leaves a pod that may run a job alone.
 */
struct jsn *build_worker_owners(struct arena *a, const struct build_cluster *c,
                                const struct nodeset *ns)
{
    struct jsn *owners = jsn_array(a);
    struct jsn *manager = labels_owner(a, "NodeSet", &ns->meta, true);
    struct jsn *anchor = labels_owner(a, "Controller", &c->controller->meta, false);

    if (manager)
        jsn_append(a, owners, manager);
    if (anchor)
        jsn_append(a, owners, anchor);
    return owners;
}

/* A value of the user's own stays. */
static void put_confinement(const struct maker *m, struct jsn *annotations)
{
    const char *list = worker_confinement(m->a, m->ns);

    if (list && !jsn_member(annotations, STR(ANNOTATION_CONFINE "slurmd")))
        jsn_set_str(m->a, annotations, ANNOTATION_CONFINE "slurmd", list);
}

struct jsn *build_worker_pod(struct arena *a, const struct build_cluster *c,
                             const struct nodeset *ns, const struct build_worker *w,
                             struct api_problems *p)
{
    struct maker m = {a, c, ns, w, p};
    struct jsn *annotations = build_map(a, &ns->spec.template.metadata.annotations);
    struct jsn *owners = build_worker_owners(a, c, ns);
    bool named = w->ordinal >= 0;

    jsn_set_str(a, annotations, ANNOTATION_DEFAULT_CONTAINER, "slurmd");
    put_confinement(&m, annotations);
    if (w->release)
        jsn_set_str(a, annotations, API_RELEASE_ANNOTATION, w->release);
    if (w->record_checked)
        jsn_set_str(a, annotations, ANNOTATION_RECORD_CHECKED, "true");
    return build_tree(
        a,
        "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'$name','generateName':'$prefix',"
        "'namespace':'$ns','labels':'$labels','annotations':'$annotations',"
        "'ownerReferences':'$owners'},'spec':'$spec'}",
        SLOTS({"name", named ? jsn_string(a, worker_pod_name(a, ns, w->ordinal)) : NULL},
              {"prefix", named ? NULL : jsn_stringf(a, "%s-", ns->meta.name)},
              {"ns", jsn_string(a, api_namespace(&ns->meta))}, {"labels", make_labels(&m)},
              {"annotations", annotations}, {"owners", jsn_len(owners) ? owners : NULL},
              {"spec", make_spec(&m)}));
}
