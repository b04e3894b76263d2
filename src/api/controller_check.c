/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Validation of a Controller: what the object alone tells, and what may not change.
 *
 * The rules of Slinky's webhook and CRD are all here, since the embedded API server evaluates no
 * CEL; and those that it leaves to chance: names that grow too long when things are made from
 * them, a cluster name that is no directory, references without a name.
 */
#include "src/api/controller.h"
#include "src/api/names.h"
#include "src/slurm/profile.h"

static void check_names(const struct controller *c, struct api_problems *p)
{
    const char *name = c->meta.name ? c->meta.name : "";
    const char *cluster = controller_cluster_name(p->arena, c);
    const char *fault = name_label_fault(str_of(name));

    if (name[0] && !fault && !(name[0] >= 'a' && name[0] <= 'z'))
        fault = "must begin with a letter, since Services are named after it";
    if (fault)
        api_problem_value(p, API_INVALID, "metadata.name", name_shown(p, name), "a name %s", fault);
    else if (strlen(name) > CONTROLLER_NAME_MAX)
        api_problem_value(p, API_INVALID, "metadata.name", name_shown(p, name),
                          "may have %d characters, so that the names of what is made from it fit",
                          CONTROLLER_NAME_MAX);
    fault = name_cluster_fault(str_of(cluster));
    if (fault)
        api_problem_value(p, API_INVALID, "spec.clusterName", name_shown(p, cluster),
                          "a cluster name %s", fault);
    if (strlen(cluster) > CONTROLLER_CLUSTER_NAME_MAX)
        api_problem_value(p, API_INVALID, "spec.clusterName", name_shown(p, cluster),
                          "Slurm allows %d characters%s", CONTROLLER_CLUSTER_NAME_MAX,
                          c->spec.cluster_name ? ""
                                               : "; without clusterName it is made of namespace "
                                                 "and name, so set a shorter one");
}

static void check_keys(const struct controller *c, struct api_problems *p)
{
    const struct controller_spec *s = &c->spec;

    name_check_key_ref(p, "spec.slurmKeyRef", s->slurm_key_ref);
    name_check_key_ref(p, "spec.jwtKeyRef", s->jwt_key_ref);
    name_check_key_ref(p, "spec.jwtHs256KeyRef", s->jwt_hs256_key_ref);
    name_check_key_ref(p, "spec.jwksKeyRef", s->jwks_key_ref);
    name_check_needed(p, "spec.slurmKeyRef", s->slurm_key_ref);
    if (s->jwt_hs256_key_ref)
        api_problem_add(p, API_WARNING, "spec.jwtHs256KeyRef",
                        s->jwt_key_ref ? "is ignored beside jwtKeyRef"
                                       : "is an older name; write jwtKeyRef");
    if (s->external && !s->slurm_key_ref)
        api_problem_add(p, API_WARNING, "spec.slurmKeyRef",
                        "an external slurmctld has a key of its own: without a reference to it "
                        "nobody here can talk to it");
}

static void check_unused_external(const struct controller *c, struct api_problems *p)
{
    static const char own[] =
        "is ignored, since the configuration of an external slurmctld is its own";
    struct controller_ref_list lists[CONTROLLER_REF_LISTS];
    const struct controller_spec *s = &c->spec;

    if (s->ha.enabled)
        api_problem_add(p, API_WARNING, "spec.ha", "is ignored, since external is true");
    if (s->extra_conf && s->extra_conf[0])
        api_problem_add(p, API_WARNING, "spec.extraConf", "%s", own);
    controller_ref_lists(c, lists);
    for (size_t i = 0; i < CONTROLLER_REF_LISTS; i++)
        if (lists[i].refs->n)
            api_problem_add(p, API_WARNING, api_problem_path(p, "spec.%s", lists[i].field), "%s",
                            own);
    if (s->metrics.enabled)
        api_problem_add(p, API_WARNING, "spec.metrics.enabled",
                        "is ignored, since external is true");
}

static void check_external(const struct controller *c, struct api_problems *p)
{
    const struct controller_spec *s = &c->spec;

    if (s->external && !s->external_config)
        api_problem_add(p, API_REQUIRED, "spec.externalConfig",
                        "must say where slurmctld is, since external is true");
    if (s->external_config && !s->external_config->host[0])
        api_problem_add(p, API_REQUIRED, "spec.externalConfig.host",
                        "must be the host name or address of slurmctld");
    if (s->external_config && !s->external)
        api_problem_add(p, API_WARNING, "spec.externalConfig",
                        "is not used, since external is false");
    if (s->external)
        check_unused_external(c, p);
}

/* What a claim that is made here would be like. */
static bool describes_claim(const struct controller_persistence *s)
{
    return s->storage_class || s->volume_name || s->selector || s->data_source ||
           s->data_source_ref || s->attributes_class;
}

static void check_persistence(const struct controller *c, struct api_problems *p)
{
    const struct controller_persistence *s = &c->spec.persistence;
    bool existing = s->existing_claim && s->existing_claim[0];

    if (!s->enabled && existing && !c->spec.ha.enabled)
        api_problem_add(p, API_WARNING, "spec.persistence.existingClaim",
                        "is not used, since persistence.enabled is false");
    if ((!s->enabled || existing) && describes_claim(s))
        api_problem_add(p, API_WARNING, "spec.persistence",
                        "what it says of a claim to be made is not used: %s",
                        s->enabled ? "existingClaim names one that is there" : "enabled is false");
}

static void check_ha(const struct controller *c, struct api_problems *p)
{
    const struct controller_persistence *store = &c->spec.persistence;

    if (c->spec.external || !c->spec.ha.enabled)
        return;
    if (!store->enabled)
        api_problem_add(p, API_INVALID, "spec.persistence.enabled",
                        "ha needs state that all slurmctlds share: set it to true");
    if (!store->existing_claim || !store->existing_claim[0])
        api_problem_add(p, API_REQUIRED, "spec.persistence.existingClaim",
                        "ha needs an existing claim with access mode ReadWriteMany");
}

static void check_ref_list(struct api_problems *p, const struct controller_ref_list *list)
{
    for (size_t i = 0; i < list->refs->n; i++) {
        const char *field = api_problem_path(p, "spec.%s[%zu].name", list->field, i);

        name_check_ref(p, field, list->refs->items[i].name);
        for (size_t k = 0; k < i; k++)
            if (streq(list->refs->items[k].name, list->refs->items[i].name))
                api_problem_value(p, API_DUPLICATE, field, name_shown(p, list->refs->items[i].name),
                                  "stands twice");
    }
}

/* The agent has an image of its own; who names another one for this container should know. */
static void check_reconfigure(const struct controller *c, struct api_problems *p)
{
    const char *image = jsn_get_str(c->spec.reconfigure, "image");
    const char *slurmctld = jsn_get_str(c->spec.slurmctld, "image");

    if (image && image[0] && !c->spec.external && !streq(image, slurmctld))
        api_problem_add(p, API_WARNING, "spec.reconfigure.image",
                        "is not used: slurmkeeper-agent runs there, and the "
                        "annotation " API_AGENT_IMAGE_ANNOTATION " chooses its image");
}

static void check_service(const struct controller *c, uint32_t release, struct api_problems *p)
{
    const struct api_metrics *m = &c->spec.metrics;

    if (jsn_len(jsn_get(c->spec.service.spec, "externalIPs")))
        api_problem_add(p, API_WARNING, "spec.service.spec.externalIPs",
                        "is ignored: it would let this namespace take traffic of others");
    if (m->enabled && release && !profile_has(release, PROFILE_METRICS))
        api_problem_add(p, API_WARNING, "spec.metrics.enabled",
                        "is ignored: slurmctld has metrics from Slurm 25.11 on");
    if (m->monitor.enabled && !m->enabled)
        api_problem_add(p, API_WARNING, "spec.metrics.serviceMonitor.enabled",
                        "is ignored, since metrics.enabled is false");
    for (size_t i = 0; i < m->monitor.endpoints.n; i++)
        if (m->monitor.endpoints.items[i].path[0] != '/')
            api_problem_value(
                p, API_INVALID,
                api_problem_path(p, "spec.metrics.serviceMonitor.endpoints[%zu].path", i),
                name_shown(p, m->monitor.endpoints.items[i].path), "must begin with '/'");
}

void controller_check_annotations(const struct controller *c, struct api_problems *p)
{
    const char *policy = api_annotation(&c->meta, API_DRIFT_ANNOTATION);

    if (policy && !streq(policy, "Report") && !streq(policy, "Revert"))
        api_problem_add(p, API_WARNING, "metadata.annotations[" API_DRIFT_ANNOTATION "]",
                        "%s is not Report or Revert: taken for Report", name_shown(p, policy));
}

static void check_auth(const struct controller *c, uint32_t release, struct api_problems *p)
{
    enum controller_auth auth = controller_auth(c);

    if (!controller_has_key_set(c))
        return;
    if (auth == CONTROLLER_AUTH_MUNGE)
        api_problem_add(p, API_INVALID, "spec.slurmKeyRef.key",
                        "munge knows one key and not a set of them (.jwks)");
    else if (release && !profile_has(release, PROFILE_AUTH_KEY_SET))
        api_problem_add(p, API_INVALID, "spec.slurmKeyRef.key",
                        "a set of keys (.jwks) needs Slurm 24.05");
}

void controller_check(const struct controller *c, uint32_t release, struct api_problems *p)
{
    struct controller_ref_list lists[CONTROLLER_REF_LISTS];

    check_names(c, p);
    check_keys(c, p);
    check_auth(c, release, p);
    check_external(c, p);
    check_ha(c, p);
    if (!c->spec.external)
        check_persistence(c, p);
    if (c->spec.accounting_ref)
        name_check_ref(p, "spec.accountingRef.name", c->spec.accounting_ref->name);
    controller_ref_lists(c, lists);
    for (size_t i = 0; i < CONTROLLER_REF_LISTS; i++)
        check_ref_list(p, &lists[i]);
    check_reconfigure(c, p);
    check_service(c, release, p);
    controller_check_annotations(c, p);
}

static void check_same(struct api_problems *p, const char *field, bool same, const char *why)
{
    if (!same)
        api_problem_add(p, API_FORBIDDEN, field, "cannot be changed: %s", why);
}

static bool same_claim(const struct controller_persistence *a,
                       const struct controller_persistence *b)
{
    return streq(a->storage_class, b->storage_class) && streq(a->volume_name, b->volume_name) &&
           streq(a->volume_mode, b->volume_mode) &&
           streq(a->attributes_class, b->attributes_class) &&
           jsn_equal(a->resources, b->resources) && jsn_equal(a->selector, b->selector) &&
           jsn_equal(a->data_source, b->data_source) &&
           jsn_equal(a->data_source_ref, b->data_source_ref);
}

void controller_check_update(const struct controller *c, const struct controller *old,
                             struct api_problems *p)
{
    struct api_key_ref slurm = controller_slurm_key(p->arena, c);
    struct api_key_ref old_slurm = controller_slurm_key(p->arena, old);
    struct api_key_ref jwt = controller_jwt_key(p->arena, c);
    struct api_key_ref old_jwt = controller_jwt_key(p->arena, old);
    const struct controller_persistence *store = &c->spec.persistence;
    const struct controller_persistence *old_store = &old->spec.persistence;
    const char *claim = store->existing_claim ? store->existing_claim : "";
    const char *old_claim = old_store->existing_claim ? old_store->existing_claim : "";

    check_same(p, "spec.clusterName",
               streq(controller_cluster_name(p->arena, c), controller_cluster_name(p->arena, old)),
               "slurmctld refuses the state of a cluster with another name");
    check_same(p, "spec.slurmKeyRef", api_key_ref_equal(&slurm, &old_slurm),
               "running daemons know only the key they started with; change the Secret's content "
               "instead");
    check_same(p, "spec.extraConf: AuthType", controller_auth(c) == controller_auth(old),
               "daemons that run would not know those that start; make the cluster again, or stop "
               "all of its pods first");
    check_same(p, "spec.jwtKeyRef", api_key_ref_equal(&jwt, &old_jwt),
               "tokens in use are signed with it; change the Secret's content instead");
    check_same(p, "spec.persistence.enabled", store->enabled == old_store->enabled,
               "the state of the cluster would be lost");
    check_same(p, "spec.persistence.existingClaim", streq(claim, old_claim),
               "the state of the cluster would be lost");
    if (store->enabled && !claim[0] && !same_claim(store, old_store))
        api_problem_add(p, API_WARNING, "spec.persistence",
                        "a claim that is there stays as it is: change the claim itself");
}
