/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The StatefulSet of slurmctld.
 *
 * One pod, or one and its backups; each has slurmctld and two sidecars: `reconfigure` makes it load
 * changes (unless inplaceReconfigure is false), `logfile` shows its log.  What is declared comes by
 * one projected volume of our ConfigMap, the keys and the user's ConfigMaps, so that a change of
 * any of them shows up there.
 *
 * With the agent (controller_agent.c) that volume is the agent's, and /etc/slurm is what the agent
 * makes of it.  Without, it is /etc/slurm itself.  Everything may be overridden by the Controller's
 * settings; what is laid over last is template.spec.
 */
#include "src/build/controller_app.h"

#include "src/build/containers.h"
#include "src/build/controller_agent.h"
#include "src/build/labels.h"
#include "src/build/live_keys.h"
#include "src/build/merge.h"
#include "src/build/scripts.h"
#include "src/slurm/keyfiles.h"

#define ETC_MODE 0650 /* scripts of slurmctld are among the files, and its group reads them */
#define CLAIM_SIZE "4Gi"
#define SLURMCTLD_RUN "/run/slurmctld" /* shared with the agent */

struct app {
    struct arena *a;
    const struct build_cluster *c;
    const struct controller *ctl;
    const char *config_hash;
    struct api_problems *p;
};

static const char *main_image(const struct app *w)
{
    const char *image = jsn_get_str(w->ctl->spec.slurmctld, "image");

    return image ? image : build_default_image(w->a, w->c, "slurmctld");
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The user's ConfigMaps, each once, sorted by name. */
static void add_user_maps(const struct app *w, struct jsn *sources)
{
    struct controller_ref_list lists[CONTROLLER_REF_LISTS];
    const char **names;
    size_t n = 0;

    controller_ref_lists(w->ctl, lists);
    for (size_t i = 0; i < CONTROLLER_REF_LISTS; i++)
        n += lists[i].refs->n;
    names = arena_calloc(w->a, n + 1, sizeof(*names));
    n = 0;
    for (size_t i = 0; i < CONTROLLER_REF_LISTS; i++)
        for (size_t k = 0; k < lists[i].refs->n; k++)
            names[n++] = lists[i].refs->items[k].name;
    qsort(names, n, sizeof(*names), by_name);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || !streq(names[i], names[i - 1]))
            jsn_append(w->a, sources, volume_map_source(w->a, names[i]));
}

static struct jsn *etc_sources(const struct app *w)
{
    struct jsn *sources = jsn_array(w->a);

    jsn_append(w->a, sources, volume_map_source(w->a, labels_config(w->a, w->ctl->meta.name)));
    volume_add_auth(w->a, w->c, sources);
    volume_add_live(w->a, w->c, KEYFILE_JWT, controller_jwt_key(w->a, w->ctl).optional, sources);
    add_user_maps(w, sources);
    if (w->ctl->spec.jwks_key_ref)
        jsn_append(
            w->a, sources,
            volume_key_source(w->a, "configMap", w->ctl->spec.jwks_key_ref, KEYFILE_JWT_SET));
    return sources;
}

/* The volume of the state, where it is not from a claim of the StatefulSet's own. */
static struct jsn *state_volume(const struct app *w)
{
    const struct controller_persistence *s = &w->ctl->spec.persistence;

    if (!s->enabled)
        return build_tree(w->a, "{'name':'statesave','emptyDir':{}}", NULL);
    if (s->existing_claim && s->existing_claim[0])
        return build_tree(w->a,
                          "{'name':'statesave','persistentVolumeClaim':{'claimName':'$claim'}}",
                          SLOTS({"claim", jsn_string(w->a, s->existing_claim)}));
    return NULL;
}

static struct jsn *make_volumes(const struct app *w)
{
    return build_tree(
        w->a,
        "[{'name':'slurm-etc','projected':{'defaultMode':'$mode','sources':'$sources'}},'$live',"
        "{'name':'slurm-logfile','emptyDir':{'medium':'Memory'}},"
        "{'name':'run','emptyDir':{'medium':'Memory'}},"
        "{'name':'slurm-authsocket','emptyDir':{}},'$munge','$agent','$state']",
        SLOTS({"mode", jsn_int(w->a, ETC_MODE)}, {"sources", etc_sources(w)},
              {"live", agent_live_volume(w->a, w->c)}, {"agent", agent_key_volume(w->a, w->c)},
              {"munge", build_uses_munge(w->c)
                            ? build_tree(w->a, "{'name':'munge-socket','emptyDir':{}}", NULL)
                            : NULL},
              {"state", state_volume(w)}));
}

static struct jsn *munge_mount(const struct app *w)
{
    return build_uses_munge(w->c)
               ? build_tree(w->a, "{'name':'munge-socket','mountPath':'/run/munge'}", NULL)
               : NULL;
}

/* The agent asks for restarts; an image whose entry point knows nothing of it needs help. */
static struct jsn *make_lifecycle(const struct app *w)
{
    if (!build_has_agent(w->c))
        return NULL;
    return build_tree(
        w->a,
        "{'postStart':{'exec':{'command':['sh','-c','$revive','revive','" SLURMCTLD_RUN "']}}}",
        SLOTS({"revive", jsn_string(w->a, script_revive)}));
}

/* In HA a backup answers /livez only. */
static struct jsn *make_slurmctld(const struct app *w)
{
    static const char ping[] = "['scontrol','ping']";
    const char *ready = w->ctl->spec.ha.enabled ? "/livez" : "/readyz";
    struct jsn *base = build_tree(
        w->a,
        "{'name':'slurmctld','image':'$image',"
        "'ports':[{'name':'slurmctld','containerPort':6817,'protocol':'TCP'}],"
        "'startupProbe':'$startup','readinessProbe':'$ready','livenessProbe':'$live',"
        "'lifecycle':'$lifecycle','resources':{},"
        "'securityContext':{'runAsNonRoot':true,'runAsUser':'$uid','runAsGroup':'$gid'},"
        "'volumeMounts':[{'name':'$etc','mountPath':'/etc/slurm','readOnly':true},"
        "{'name':'run','mountPath':'/run'},{'name':'statesave','mountPath':'$state'},"
        "{'name':'slurm-authsocket','mountPath':'" SLURMCTLD_RUN "'},'$munge',"
        "{'name':'slurm-logfile','mountPath':'/var/log/slurm'}]}",
        SLOTS({"image", jsn_string(w->a, main_image(w))},
              {"etc", jsn_string(w->a, build_has_agent(w->c) ? AGENT_LIVE_VOLUME : "slurm-etc")},
              {"startup", container_probe(w->a, w->c, PROBE_STARTUP, "/livez", "slurmctld", ping)},
              {"ready", container_probe(w->a, w->c, PROBE_READY, ready, "slurmctld", ping)},
              {"live", container_probe(w->a, w->c, PROBE_LIVE, "/livez", "slurmctld", ping)},
              {"lifecycle", make_lifecycle(w)}, {"uid", jsn_int(w->a, build_slurm_uid(w->c))},
              {"gid", jsn_int(w->a, build_slurm_gid(w->c))},
              {"state",
               jsn_stringf(w->a, "/var/spool/slurmctld/%s", controller_cluster_name(w->a, w->ctl))},
              {"munge", munge_mount(w)}));

    return merge_container(w->a, base, w->ctl->spec.slurmctld, "spec.slurmctld", w->p);
}

static struct jsn *make_reconfigure(const struct app *w)
{
    struct jsn *base = build_tree(
        w->a,
        "{'name':'reconfigure','image':'$image','command':['bash','-c','$script'],'resources':{},"
        "'restartPolicy':'$restart',"
        "'volumeMounts':[{'name':'slurm-etc','mountPath':'/etc/slurm','readOnly':true},"
        "{'name':'slurm-authsocket','mountPath':'/run/slurmctld','readOnly':true},'$munge']}",
        SLOTS({"image", jsn_string(w->a, main_image(w))},
              {"script", jsn_string(w->a, script_reconfigure)},
              {"restart", w->c->env->no_sidecars ? NULL : jsn_string(w->a, "Always")},
              {"munge", munge_mount(w)}));

    return merge_container(w->a, base, w->ctl->spec.reconfigure, "spec.reconfigure", w->p);
}

static struct jsn *make_sidecars(const struct app *w)
{
    struct jsn *list = jsn_array(w->a);

    if (build_has_agent(w->c))
        jsn_append(w->a, list, agent_container(w->a, w->c, munge_mount(w), w->p));
    else if (w->ctl->spec.inplace_reconfigure)
        jsn_append(w->a, list, make_reconfigure(w));
    jsn_append(
        w->a, list,
        container_logfile(w->a, w->c, "slurmctld", main_image(w), w->ctl->spec.logfile, w->p));
    return list;
}

static struct jsn *make_pod_spec(const struct app *w)
{
    struct jsn *selector = labels_selector(w->a, APP_CONTROLLER, w->ctl->meta.name);
    struct jsn *gid = jsn_int(w->a, build_slurm_gid(w->c));
    struct jsn *base = build_tree(
        w->a,
        "{'automountServiceAccountToken':false,"
        "'securityContext':{'runAsNonRoot':true,'runAsUser':'$uid','runAsGroup':'$gid',"
        "'fsGroup':'$gid'},"
        "'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':["
        "{'topologyKey':'kubernetes.io/hostname','labelSelector':{'matchLabels':'$selector'}}]}},"
        "'containers':['$slurmctld'],'volumes':'$volumes'}",
        SLOTS({"uid", jsn_int(w->a, build_slurm_uid(w->c))}, {"gid", gid}, {"selector", selector},
              {"slurmctld", make_slurmctld(w)}, {"volumes", make_volumes(w)}));

    if (build_has_agent(w->c))
        jsn_set(w->a, base, "initContainers", agent_init_containers(w->a, w->c));
    container_add_sidecars(w->a, w->c, base, make_sidecars(w));
    return merge_pod_spec(w->a, base, w->ctl->spec.template.spec, "spec.template.spec", w->p);
}

static struct jsn *make_pod_meta(const struct app *w)
{
    const struct controller *ctl = w->ctl;
    struct jsn *labels = build_map(w->a, &ctl->spec.template.metadata.labels);
    struct jsn *annotations = jsn_object(w->a);
    uint32_t release;
    const char *said = controller_release_said(ctl, &release);

    labels_add_annotations(w->a, annotations, &ctl->meta.annotations);
    build_add_map(w->a, annotations, &ctl->spec.template.metadata.annotations);
    /* ours last: Services and the StatefulSet find the pod by them */
    JSN_FOR_MEMBERS (own, labels_all(w->a, APP_CONTROLLER, ctl->meta.name))
        jsn_set_member(w->a, labels, own->key, own->value);
    jsn_set_str(w->a, annotations, ANNOTATION_DEFAULT_CONTAINER, "slurmctld");
    if (said)
        jsn_set_str(w->a, annotations, API_RELEASE_ANNOTATION, said);
    jsn_set_str(w->a, annotations, ANNOTATION_SLURM_KEY_HASH, build_live_hash(w->a, w->c, false));
    jsn_set_str(w->a, annotations, ANNOTATION_JWT_KEY_HASH, build_live_hash(w->a, w->c, true));
    if (!ctl->spec.inplace_reconfigure && !build_has_agent(w->c))
        jsn_set_str(w->a, annotations, ANNOTATION_CONFIG_HASH, w->config_hash);
    return build_tree(w->a, "{'labels':'$labels','annotations':'$annotations'}",
                      SLOTS({"labels", labels}, {"annotations", annotations}));
}

/* The claim that each pod gets; NULL where the state is elsewhere. */
static struct jsn *make_claims(const struct app *w)
{
    const struct controller_persistence *s = &w->ctl->spec.persistence;
    struct jsn *spec;

    if (state_volume(w))
        return NULL;
    spec = fields_encode(w->a, controller_claim_fields, s);
    if (s->access_modes.n == 0)
        jsn_set(w->a, spec, "accessModes", build_tree(w->a, "['ReadWriteOnce']", NULL));
    if (!jsn_get(spec, "resources.requests.storage"))
        jsn_set_path(w->a, spec, "resources.requests.storage", jsn_string(w->a, CLAIM_SIZE));
    return build_tree(w->a,
                      "[{'apiVersion':'v1','kind':'PersistentVolumeClaim',"
                      "'metadata':{'name':'statesave'},'spec':'$spec'}]",
                      SLOTS({"spec", spec}));
}

struct jsn *build_controller_app(struct arena *a, const struct build_cluster *c,
                                 const char *config_hash, struct api_problems *p)
{
    const struct controller *ctl = c->controller;
    struct app w = {a, c, ctl, config_hash, p};
    struct jsn *labels = labels_all(a, APP_CONTROLLER, ctl->meta.name);
    struct jsn *meta =
        labels_meta(a, labels_controller(a, ctl->meta.name), api_namespace(&ctl->meta), labels,
                    NULL, labels_owner(a, "Controller", &ctl->meta, true));

    return build_tree(
        a,
        "{'apiVersion':'apps/v1','kind':'StatefulSet','metadata':'$meta','spec':{"
        "'replicas':'$replicas','revisionHistoryLimit':0,'serviceName':'$service',"
        "'selector':{'matchLabels':'$selector'},"
        "'template':{'metadata':'$pod_meta','spec':'$pod'},'volumeClaimTemplates':'$claims'}}",
        SLOTS({"meta", meta}, {"replicas", jsn_int(a, controller_replicas(ctl))},
              {"service", jsn_string(a, labels_internal(a, ctl->meta.name))},
              {"selector", labels_selector(a, APP_CONTROLLER, ctl->meta.name)},
              {"pod_meta", make_pod_meta(&w)}, {"pod", make_pod_spec(&w)},
              {"claims", make_claims(&w)}));
}
