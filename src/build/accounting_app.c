/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The StatefulSet and the Service of slurmdbd.
 *
 * One pod.  Its keys are those that the cluster's pods have (Secret <controller>-keys), so that it
 * goes along when they change; each stage of a change makes the pod again, which slurmctld bridges:
 * then it is certain that no slurmdbd runs with the keys of before.  Where no slurmctld runs here
 * they come from the Accounting's own Secrets.
 *
 * It is ready when it answers a question for which it has to ask its database.
 */
#include "src/build/accounting.h"

#include "src/build/containers.h"
#include "src/build/labels.h"
#include "src/build/live_keys.h"
#include "src/build/merge.h"
#include "src/json/patch_merge.h"
#include "src/slurm/keyfiles.h"

#define CONF_MODE 0600

/* Images without Slurm's client commands have a port that is open at least. */
#define PROBE                                                                                      \
    "command -v sacctmgr >/dev/null || exec bash -c ': </dev/tcp/127.0.0.1/6819'; "                \
    "dir=/run/slurmdbd; [ -r $dir/" ACCOUNTING_PROBE " ] || dir=" SLURM_ETC "; "                   \
    "SLURM_CONF=$dir/" ACCOUNTING_PROBE " exec sacctmgr -n -P show cluster format=cluster"

static struct jsn *make_ports(struct arena *a, const struct accounting *acct)
{
    const struct api_service *user = &acct->spec.service;
    struct jsn *ports = jsn_array(a);

    JSN_FOR_ITEMS (p, jsn_get(user->spec, "ports"))
        if (!streq(jsn_get_str(p, "name"), "slurmdbd"))
            jsn_append(a, ports, p);
    jsn_append(a, ports,
               build_tree(a,
                          "{'name':'slurmdbd','protocol':'TCP','port':'$port','nodePort':'$node',"
                          "'targetPort':'slurmdbd'}",
                          SLOTS({"port", jsn_int(a, user->port ? user->port : ACCOUNTING_PORT)},
                                {"node", user->node_port ? jsn_int(a, user->node_port) : NULL})));
    return ports;
}

struct jsn *build_accounting_service(struct arena *a, const struct build_accounting *b)
{
    const struct api_meta *m = &b->acct->meta;
    const struct api_service *user = &b->acct->spec.service;
    struct jsn *labels = labels_all(a, APP_ACCOUNTING, m->name);
    struct jsn *annotations = jsn_object(a);
    struct jsn *spec = jsn_object(a);

    build_add_map(a, labels, &user->metadata.labels);
    build_add_map(a, annotations, &user->metadata.annotations);
    if (user->spec)
        spec = patch_merge(a, spec, user->spec);
    jsn_set(a, spec, "ports", make_ports(a, b->acct));
    jsn_set(a, spec, "selector", labels_selector(a, APP_ACCOUNTING, m->name));
    (void)jsn_del(spec, "externalIPs");
    return build_tree(
        a, "{'apiVersion':'v1','kind':'Service','metadata':'$meta','spec':'$spec'}",
        SLOTS({"meta", labels_meta(a, labels_accounting(a, m->name), api_namespace(m), labels,
                                   annotations, labels_owner(a, "Accounting", m, true))},
              {"spec", spec}));
}

static void add_own_keys(struct arena *a, const struct build_accounting *b, struct jsn *sources)
{
    const struct api_key_ref *slurm = b->acct->spec.slurm_key_ref;
    const struct api_key_ref *jwt = accounting_jwt_key(b->acct);
    const char *file = build_uses_munge(b->cluster)      ? KEYFILE_MUNGE
                       : accounting_has_key_set(b->acct) ? KEYFILE_SLURM_SET
                                                         : KEYFILE_SLURM;

    if (slurm)
        jsn_append(a, sources, volume_key_source(a, "secret", slurm, file));
    if (jwt)
        jsn_append(a, sources, volume_key_source(a, "secret", jwt, KEYFILE_JWT));
}

static struct jsn *make_sources(struct arena *a, const struct build_accounting *b)
{
    const struct controller *ctl = b->cluster->controller;
    const struct api_key_ref *jwks = b->acct->spec.jwks_key_ref;
    struct jsn *sources = jsn_array(a);

    jsn_append(
        a, sources,
        build_tree(a, "{'secret':{'name':'$name'}}",
                   SLOTS({"name", jsn_string(a, labels_accounting(a, b->acct->meta.name))})));
    if (b->own_keys) {
        add_own_keys(a, b, sources);
    } else {
        volume_add_auth(a, b->cluster, sources);
        volume_add_live(a, b->cluster, KEYFILE_JWT, controller_jwt_key(a, ctl).optional, sources);
        jwks = jwks ? jwks : ctl->spec.jwks_key_ref;
    }
    if (jwks)
        jsn_append(a, sources, volume_key_source(a, "configMap", jwks, KEYFILE_JWT_SET));
    return sources;
}

static struct jsn *make_container(struct arena *a, const struct build_accounting *b,
                                  struct api_problems *p)
{
    const char *image = jsn_get_str(b->acct->spec.slurmdbd, "image");
    struct jsn *base = build_tree(
        a,
        "{'name':'slurmdbd','image':'$image',"
        "'ports':[{'name':'slurmdbd','containerPort':6819,'protocol':'TCP'}],"
        "'readinessProbe':{'exec':{'command':['bash','-c','$probe']},'timeoutSeconds':15,"
        "'periodSeconds':5},"
        "'resources':{},'terminationMessagePolicy':'FallbackToLogsOnError',"
        "'securityContext':{'runAsNonRoot':true,'runAsUser':'$uid','runAsGroup':'$gid'},"
        "'volumeMounts':[{'name':'slurm-etc','mountPath':'/etc/slurm','readOnly':true},"
        "{'name':'run','mountPath':'/run'}]}",
        SLOTS({"image",
               jsn_string(a, image ? image : build_default_image(a, b->cluster, "slurmdbd"))},
              {"probe", jsn_string(a, PROBE)}, {"uid", jsn_int(a, build_slurm_uid(b->cluster))},
              {"gid", jsn_int(a, build_slurm_gid(b->cluster))}));

    return merge_container(a, base, b->acct->spec.slurmdbd, "spec.slurmdbd", p);
}

static struct jsn *make_pod_spec(struct arena *a, const struct build_accounting *b,
                                 struct api_problems *p)
{
    struct jsn *base =
        build_tree(a,
                   "{'automountServiceAccountToken':false,"
                   "'securityContext':{'runAsNonRoot':true,'runAsUser':'$uid','runAsGroup':'$gid',"
                   "'fsGroup':'$gid'},'containers':['$slurmdbd'],'volumes':["
                   "{'name':'slurm-etc','projected':{'defaultMode':'$mode','sources':'$sources'}},"
                   "{'name':'run','emptyDir':{'medium':'Memory'}}]}",
                   SLOTS({"uid", jsn_int(a, build_slurm_uid(b->cluster))},
                         {"gid", jsn_int(a, build_slurm_gid(b->cluster))},
                         {"slurmdbd", make_container(a, b, p)}, {"mode", jsn_int(a, CONF_MODE)},
                         {"sources", make_sources(a, b)}));

    return merge_pod_spec(a, base, b->acct->spec.template.spec, "spec.template.spec", p);
}

/* Hashes of keys that have no stages: of the Accounting's own, and of the tokens' key. */
static void add_key_hashes(struct arena *a, const struct build_accounting *b, struct jsn *notes)
{
    const struct api_key_ref live = {.name = labels_keys(a, b->cluster->controller->meta.name),
                                     .key = KEYFILE_JWT};
    const struct api_key_ref *slurm = b->own_keys ? b->acct->spec.slurm_key_ref : NULL;
    const struct api_key_ref *jwt = b->own_keys ? accounting_jwt_key(b->acct) : &live;

    jsn_set_str(a, notes, ANNOTATION_SLURM_KEY_HASH,
                slurm ? build_key_hash(a, b->cluster, slurm) : "");
    jsn_set_str(a, notes, ANNOTATION_JWT_KEY_HASH, jwt ? build_key_hash(a, b->cluster, jwt) : "");
    if (!b->own_keys && b->key_stage)
        jsn_set_str(a, notes, ANNOTATION_KEY_STAGE, b->key_stage);
}

static struct jsn *make_pod_meta(struct arena *a, const struct build_accounting *b,
                                 const char *conf_hash)
{
    const struct accounting *acct = b->acct;
    struct jsn *labels = build_map(a, &acct->spec.template.metadata.labels);
    struct jsn *annotations = jsn_object(a);
    uint32_t release;
    const char *said = controller_release_said(b->cluster->controller, &release);

    labels_add_annotations(a, annotations, &acct->meta.annotations);
    build_add_map(a, annotations, &acct->spec.template.metadata.annotations);
    JSN_FOR_MEMBERS (own, labels_all(a, APP_ACCOUNTING, acct->meta.name))
        jsn_set_member(a, labels, own->key, own->value);
    if (said)
        jsn_set_str(a, annotations, API_RELEASE_ANNOTATION, said);
    add_key_hashes(a, b, annotations);
    jsn_set_str(a, annotations, ANNOTATION_DBD_HASH, conf_hash);
    jsn_set_str(a, annotations, ANNOTATION_DEFAULT_CONTAINER, "slurmdbd");
    return build_tree(a, "{'labels':'$labels','annotations':'$annotations'}",
                      SLOTS({"labels", labels}, {"annotations", annotations}));
}

struct jsn *build_accounting_app(struct arena *a, const struct build_accounting *b,
                                 const char *conf_hash, struct api_problems *p)
{
    const struct api_meta *m = &b->acct->meta;
    const char *name = labels_accounting(a, m->name);
    struct jsn *meta =
        labels_meta(a, name, api_namespace(m), labels_all(a, APP_ACCOUNTING, m->name), NULL,
                    labels_owner(a, "Accounting", m, true));

    return build_tree(a,
                      "{'apiVersion':'apps/v1','kind':'StatefulSet','metadata':'$meta','spec':{"
                      "'podManagementPolicy':'Parallel','replicas':1,'revisionHistoryLimit':0,"
                      "'serviceName':'$service','selector':{'matchLabels':'$selector'},"
                      "'template':{'metadata':'$pod_meta','spec':'$pod'}}}",
                      SLOTS({"meta", meta}, {"service", jsn_string(a, name)},
                            {"selector", labels_selector(a, APP_ACCOUNTING, m->name)},
                            {"pod_meta", make_pod_meta(a, b, conf_hash)},
                            {"pod", make_pod_spec(a, b, p)}));
}
