/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What follows from a cluster as a whole: its release, how daemons trust each other, where
 * slurmctld is.
 *
 * Of the Slurm releases, one thing shapes the objects: before 23.11 there is no auth/slurm, and
 * munge takes its place with a key made from the same Secret.  From then on munge is there for
 * those who declare it.
 */
#include "src/build/cluster.h"

#include "src/base/encode.h"
#include "src/base/hash.h"
#include "src/build/labels.h"

#define SLURM_ID 401

uint32_t build_release(const struct build_cluster *c)
{
    uint32_t release = c->runs ? c->runs : build_declared_release(c);

    if (!release)
        release = c->env->release;
    return release ? release : RELEASE_NEWEST;
}

/* Of an image that pods really run. */
static uint32_t image_release(const struct build_cluster *c, const char *image)
{
    uint32_t release;

    return image && !c->env->host_slurm && release_parse(str_of(image), &release, NULL) == 0
               ? release
               : 0;
}

uint32_t build_declared_release(const struct build_cluster *c)
{
    uint32_t release;
    const char *said = controller_release_said(c->controller, &release);

    if (said)
        return release;
    if (c->env->host_slurm)
        return c->env->release;
    return image_release(c, jsn_get_str(c->controller->spec.slurmctld, "image"));
}

uint32_t build_worker_release(const struct build_cluster *c, const struct nodeset *ns)
{
    uint32_t release = image_release(c, jsn_get_str(ns->spec.slurmd, "image"));

    return release ? release : build_declared_release(c);
}

bool build_has(const struct build_cluster *c, enum profile_feature feature)
{
    return profile_has(build_release(c), feature);
}

bool build_uses_munge(const struct build_cluster *c)
{
    enum controller_auth auth = controller_auth(c->controller);

    return !build_has(c, PROFILE_AUTH_SLURM) || auth == CONTROLLER_AUTH_MUNGE ||
           (auth == CONTROLLER_AUTH_DEFAULT && c->env->munge);
}

bool build_has_directory(const struct build_cluster *c, const struct nodeset *ns)
{
    const struct nodeset_ssh *ssh = ns->spec.ssh;
    const char *name = ssh ? ssh->sssd_conf_ref.name : NULL;

    if (!ssh || (ssh->enabled && !ssh->sssd_conf_ref.optional))
        return ssh != NULL;
    return name && name[0] &&
           api_lookup_get(c->lookup, "Secret", api_namespace(&ns->meta), name, NULL) == API_PRESENT;
}

bool build_has_agent(const struct build_cluster *c)
{
    return !c->env->no_agent && !c->controller->spec.external;
}

const char *build_slurmctld_host(struct arena *a, const struct build_cluster *c)
{
    const struct controller *ctl = c->controller;

    if (ctl->spec.external && ctl->spec.external_config)
        return ctl->spec.external_config->host;
    return arena_printf(a, "%s.%s", labels_controller(a, ctl->meta.name),
                        api_namespace(&ctl->meta));
}

int32_t build_slurmctld_port(const struct build_cluster *c)
{
    const struct controller *ctl = c->controller;

    if (ctl->spec.external && ctl->spec.external_config)
        return ctl->spec.external_config->port;
    return SLURMCTLD_PORT;
}

const char *build_search_domain(struct arena *a, const struct build_cluster *c)
{
    const char *domain = c->env->cluster_domain;

    return arena_printf(a, "%s.%s.svc.%s", labels_workers(a, c->controller->meta.name),
                        api_namespace(&c->controller->meta), domain ? domain : "cluster.local");
}

int64_t build_slurm_uid(const struct build_cluster *c)
{
    return c->env->slurm_uid ? c->env->slurm_uid : SLURM_ID;
}

int64_t build_slurm_gid(const struct build_cluster *c)
{
    return c->env->slurm_gid ? c->env->slurm_gid : SLURM_ID;
}

const char *build_default_image(struct arena *a, const struct build_cluster *c, const char *name)
{
    char series[RELEASE_TEXT_LEN];

    release_series_text(build_release(c), series);
    return arena_printf(a, "%s%s:%s", c->env->images ? c->env->images : "slurmkeeper/", name,
                        series);
}

const char *build_key_hash(struct arena *a, const struct build_cluster *c,
                           const struct api_key_ref *ref)
{
    const struct jsn *secret = NULL;
    AUTO(buf_done) struct buf data = {0};
    const struct jsn *value;
    char *hex = arena_alloc(a, SHA256_HEX_LEN + 1);

    (void)api_lookup_get(c->lookup, "Secret", api_namespace(&c->controller->meta), ref->name,
                         &secret);
    value = jsn_key(jsn_key(secret, "data"), ref->key);
    if (!jsn_is(value, JSN_STRING) || decode_base64(&data, value->s) < 0)
        return "";
    hash_sha256_hex(buf_view(&data), hex);
    return hex;
}
