/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmrestd.
 *
 * It runs as nobody, holds no key where daemons know each other by munge, and hands each caller's
 * token on to slurmctld, which checks it (auth/jwt).  Of slurm.conf it reads where slurmctld is and
 * how to talk to it, once, when it starts: a digest of just that stands in the pods' annotations,
 * so that they are made again for a change of it, and not for an edit of a partition.
 *
 * It listens on IPv4, or where its Service has addresses of IPv6 on both: one socket does that, and
 * a second one could not be bound beside it.  Where there is no slurmdbd, plugins that need one are
 * left out, or it would not start: by their new names from 23.11 on; before that the entry point
 * picks them among those that are installed (SLURMRESTD_PLUGINS=slurmctld).
 */
#include "src/build/restapi.h"

#include "src/base/hash.h"
#include "src/build/config_files.h"
#include "src/build/config_impl.h"
#include "src/build/containers.h"
#include "src/build/labels.h"
#include "src/build/merge.h"
#include "src/json/patch_merge.h"
#include "src/slurm/profile.h"

#define NOBODY 65534
#define ETC_MODE 0600
#define LABELS (&labels_slurmrestd)

const char *build_restapi_name(struct arena *a, const struct restapi *r)
{
    return arena_printf(a, "%s-restapi", r->meta.name);
}

static struct jsn *make_ports(struct arena *a, const struct api_service *user)
{
    struct jsn *ports =
        build_tree(a,
                   "[{'name':'slurmrestd','protocol':'TCP','port':'$port','nodePort':'$node',"
                   "'targetPort':'slurmrestd'}]",
                   SLOTS({"port", jsn_int(a, user->port ? user->port : RESTAPI_PORT)},
                         {"node", user->node_port ? jsn_int(a, user->node_port) : NULL}));

    JSN_FOR_ITEMS (p, jsn_get(user->spec, "ports"))
        if (!streq(jsn_get_str(p, "name"), "slurmrestd"))
            jsn_append(a, ports, p);
    return ports;
}

static struct jsn *make_labels(struct arena *a, const struct restapi *r, const struct jsn_map *user)
{
    struct jsn *labels = build_map(a, user);

    JSN_FOR_MEMBERS (own, labels_all(a, LABELS, r->meta.name))
        jsn_set_member(a, labels, own->key, own->value);
    return labels;
}

struct jsn *build_restapi_service(struct arena *a, const struct restapi *r)
{
    const struct api_service *user = &r->spec.service;
    struct jsn *spec = jsn_object(a);

    if (user->spec)
        spec = patch_merge(a, spec, user->spec);
    jsn_set(a, spec, "ports", make_ports(a, user));
    jsn_set(a, spec, "selector", labels_selector(a, LABELS, r->meta.name));
    (void)jsn_del(spec, "externalIPs");
    return build_tree(
        a, "{'apiVersion':'v1','kind':'Service','metadata':'$meta','spec':'$spec'}",
        SLOTS({"meta", labels_meta(a, build_restapi_name(a, r), api_namespace(&r->meta),
                                   make_labels(a, r, &user->metadata.labels),
                                   build_map(a, &user->metadata.annotations),
                                   labels_owner(a, "RestApi", &r->meta, true))},
              {"spec", spec}));
}

static bool has_accounting(struct arena *a, const struct build_cluster *c)
{
    struct config_accounting found;

    return config_accounting_find(a, c, &found);
}

/* As the API server has given addresses to the Service. */
static bool wants_ipv6(struct arena *a, const struct build_cluster *c, const struct restapi *r)
{
    const struct jsn *service = NULL;

    (void)api_lookup_get(c->lookup, "Service", api_namespace(&r->meta), build_restapi_name(a, r),
                         &service);
    return build_has_string(jsn_get(service, "spec.ipFamilies"), "IPv6");
}

/* Ours, the user's, and last where it listens. */
static struct jsn *make_args(struct arena *a, const struct build_cluster *c,
                             const struct restapi *r)
{
    struct jsn *args = jsn_array(a);
    bool named = build_has(c, PROFILE_RESTD_PLUGINS);

    if (named && !has_accounting(a, c))
        build_append_all(a, args, build_tree(a, "['-s','openapi/slurmctld']", NULL));
    build_append_all(a, args, jsn_key(r->spec.slurmrestd, "args"));
    jsn_append(a, args,
               jsn_stringf(a, "%s:%d", wants_ipv6(a, c, r) ? "[::]" : "0.0.0.0", RESTAPI_PORT));
    return args;
}

static struct jsn *make_container(struct arena *a, const struct build_cluster *c,
                                  const struct restapi *r, struct api_problems *p)
{
    struct jsn *probe =
        build_tree(a, "{'tcpSocket':{'port':6820},'failureThreshold':6,'periodSeconds':10}", NULL);
    struct jsn *base = build_tree(
        a,
        "{'name':'slurmrestd','image':'$image',"
        "'env':[{'name':'SLURM_JWT','value':'daemon'},{'name':'SLURMRESTD_SECURITY','value':"
        "'disable_unshare_files,disable_unshare_sysv'},'$plugins'],"
        "'ports':[{'name':'slurmrestd','containerPort':6820,'protocol':'TCP'}],"
        "'startupProbe':{'tcpSocket':{'port':6820},'failureThreshold':60,'periodSeconds':1},"
        "'livenessProbe':'$live','readinessProbe':{'tcpSocket':{'port':6820}},'resources':{},"
        "'securityContext':{'runAsNonRoot':true,'runAsUser':'$id','runAsGroup':'$id'},"
        "'volumeMounts':[{'name':'slurm-etc','mountPath':'/etc/slurm','readOnly':true}]}",
        SLOTS({"image", jsn_string(a, build_default_image(a, c, "slurmrestd"))},
              {"plugins",
               build_has(c, PROFILE_RESTD_PLUGINS) || has_accounting(a, c)
                   ? NULL
                   : build_tree(a, "{'name':'SLURMRESTD_PLUGINS','value':'slurmctld'}", NULL)},
              {"live", probe}, {"id", jsn_int(a, NOBODY)}));
    struct jsn *made = merge_container(a, base, r->spec.slurmrestd, "spec.slurmrestd", p);

    jsn_set(a, made, "args", make_args(a, c, r));
    return made;
}

/* What slurmrestd reads: slurm.conf, what that includes, and the daemons' key if they have one
 * that commands need, too. */
static struct jsn *make_volumes(struct arena *a, const struct build_cluster *c)
{
    const struct controller *ctl = c->controller;
    struct jsn *sources = jsn_array(a);

    jsn_append(a, sources, volume_map_source(a, labels_config(a, ctl->meta.name)));
    for (size_t i = 0; i < ctl->spec.config_file_refs.n; i++)
        jsn_append(a, sources, volume_map_source(a, ctl->spec.config_file_refs.items[i].name));
    if (!build_uses_munge(c))
        volume_add_auth(a, c, sources);
    return build_tree(
        a, "[{'name':'slurm-etc','projected':{'defaultMode':'$mode','sources':'$sources'}}]",
        SLOTS({"mode", jsn_int(a, ETC_MODE)}, {"sources", sources}));
}

static struct jsn *make_spec(struct arena *a, const struct build_cluster *c,
                             const struct restapi *r, struct api_problems *p)
{
    struct jsn *spec = build_tree(
        a,
        "{'automountServiceAccountToken':false,'enableServiceLinks':false,"
        "'securityContext':{'runAsNonRoot':true,'runAsUser':'$id','runAsGroup':'$id','fsGroup':"
        "'$id'},'containers':['$main'],'volumes':'$volumes'}",
        SLOTS({"id", jsn_int(a, NOBODY)}, {"main", make_container(a, c, r, p)},
              {"volumes", make_volumes(a, c)}));

    return merge_pod_spec(a, spec, r->spec.template.spec, "spec.template.spec", p);
}

/* Of all that slurmrestd takes from the cluster when it starts. */
static const char *start_hash(struct arena *a, const struct build_cluster *c)
{
    AUTO(buf_done) struct buf b = {0};
    char *hex = arena_alloc(a, SHA256_HEX_LEN + 1);

    buf_printf(&b, "%s %d %u %d", build_slurmctld_host(a, c), build_slurmctld_port(c),
               (unsigned)build_release(c), build_uses_munge(c));
    buf_printf(&b, " %s %d", controller_cluster_name(a, c->controller),
               (int)controller_replicas(c->controller));
    hash_sha256_hex(buf_view(&b), hex);
    return hex;
}

static struct jsn *make_annotations(struct arena *a, const struct build_cluster *c,
                                    const struct restapi *r)
{
    struct jsn *annotations = jsn_object(a);

    labels_add_annotations(a, annotations, &r->meta.annotations);
    build_add_map(a, annotations, &r->spec.template.metadata.annotations);
    jsn_set_str(a, annotations, ANNOTATION_CONFIG_HASH, start_hash(a, c));
    jsn_set_str(a, annotations, ANNOTATION_DEFAULT_CONTAINER, "slurmrestd");
    return annotations;
}

struct jsn *build_restapi_deployment(struct arena *a, const struct build_cluster *c,
                                     const struct restapi *r, struct api_problems *p)
{
    return build_tree(
        a,
        "{'apiVersion':'apps/v1','kind':'Deployment','metadata':'$meta','spec':{"
        "'replicas':'$replicas','revisionHistoryLimit':0,'selector':{'matchLabels':'$selector'},"
        "'template':{'metadata':{'labels':'$labels','annotations':'$annotations'},"
        "'spec':'$spec'}}}",
        SLOTS({"meta", labels_meta(a, build_restapi_name(a, r), api_namespace(&r->meta),
                                   labels_all(a, LABELS, r->meta.name), NULL,
                                   labels_owner(a, "RestApi", &r->meta, true))},
              {"replicas", jsn_int(a, r->spec.replicas)},
              {"selector", labels_selector(a, LABELS, r->meta.name)},
              {"labels", make_labels(a, r, &r->spec.template.metadata.labels)},
              {"annotations", make_annotations(a, c, r)}, {"spec", make_spec(a, c, r, p)}));
}
