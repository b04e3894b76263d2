/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kind Controller: its tables, and the names that follow from it.
 *
 * A Controller without slurmKeyRef or jwtKeyRef is fine: the operator makes both Secrets once,
 * `<name>-auth-slurm` and `<name>-auth-jwt`, and keeps them.  inplaceReconfigure is true unless
 * said otherwise: a change of the configuration reaches the running slurmctld instead of starting
 * it again.
 */
#include "src/api/controller.h"

#include "src/api/kinds.h"
#include "src/slurm/keyfiles.h"
#include "src/slurm/profile.h"

#define RULE(rule, message) "{\"rule\":\"" rule "\",\"message\":\"" message "\"}"

static const struct jsn_field ha_fields[] = {
    {"enabled", JSN_FLAG, offsetof(struct controller_ha, enabled), 0, .def = "false",
     .doc = "Whether to run backup slurmctlds beside the first."},
    {"backups", JSN_I32, offsetof(struct controller_ha, backups), JSN_HAS_MIN | JSN_HAS_MAX,
     .def = "1", .min = 1, .max = 9, .doc = "How many backups to run."},
    JSN_END,
};

#define CLAIM(member) offsetof(struct controller_persistence, member)
/* Two rows of ours, then those of a PersistentVolumeClaimSpec. */
static const struct jsn_field persistence_fields[] = {
    {"enabled", JSN_FLAG, CLAIM(enabled), 0, .def = "true",
     .doc = "Whether slurmctld's state outlives its pod. Without it jobs are forgotten with the "
            "pod."},
    {"existingClaim", JSN_STR, CLAIM(existing_claim), 0,
     .doc = "A PersistentVolumeClaim to use instead of making one."},
    {"accessModes", JSN_STRS, CLAIM(access_modes), 0, .list_type = "atomic",
     .doc = "Access modes of the claim; ReadWriteOnce if left out."},
    {"resources", JSN_RAW, CLAIM(resources), 0,
     .doc = "How much storage to claim; 4Gi if left out."},
    {"storageClassName", JSN_STR, CLAIM(storage_class), 0, .doc = "Storage class of the claim."},
    {"volumeName", JSN_STR, CLAIM(volume_name), 0, .doc = "The volume to bind to."},
    {"volumeMode", JSN_STR, CLAIM(volume_mode), 0, .doc = "Filesystem or Block."},
    {"volumeAttributesClassName", JSN_STR, CLAIM(attributes_class), 0,
     .doc = "Class of the volume's attributes."},
    {"selector", JSN_RAW, CLAIM(selector), 0, .doc = "Which volumes may be bound."},
    {"dataSource", JSN_RAW, CLAIM(data_source), 0, .doc = "What to fill the volume from."},
    {"dataSourceRef", JSN_RAW, CLAIM(data_source_ref), 0,
     .doc = "What to fill the volume from, of any kind."},
    JSN_END,
};

const struct jsn_field *const controller_claim_fields = &persistence_fields[2];

#define SPEC(member) offsetof(struct controller_spec, member)
#define REFS(path_, member, doc_)                                                                  \
    {path_,                                                                                        \
     JSN_SUBS,                                                                                     \
     SPEC(member),                                                                                 \
     JSN_NULLABLE,                                                                                 \
     .sub = api_ref_fields,                                                                        \
     .size = sizeof(struct api_ref),                                                               \
     .list_type = "atomic",                                                                        \
     .doc = doc_}
#define KEY(path_, member, table, doc_)                                                            \
    {path_,                                                                                        \
     JSN_SUB,                                                                                      \
     SPEC(member),                                                                                 \
     JSN_PTR,                                                                                      \
     .sub = table,                                                                                 \
     .size = sizeof(struct api_key_ref),                                                           \
     .list_type = "atomic",                                                                        \
     .doc = doc_}
#define SUB(path_, member, table, doc_)                                                            \
    {path_,      JSN_SUB,      SPEC(member),                                                       \
     0,          .sub = table, .size = sizeof(((struct controller_spec *)NULL)->member),           \
     .doc = doc_}

static const struct jsn_field spec_fields[] = {
    {"clusterName", JSN_STR, SPEC(cluster_name), JSN_HAS_MAX, .max = CONTROLLER_CLUSTER_NAME_MAX,
     .doc = "Slurm's ClusterName; <namespace>_<name> if left out. Cannot be changed later."},
    KEY("slurmKeyRef", slurm_key_ref, api_secret_key_fields,
        "The key by which the daemons know each other (slurm.key; munge's key where Slurm uses "
        "munge). A Secret <name>-auth-slurm is made if left out."),
    KEY("jwtHs256KeyRef", jwt_hs256_key_ref, api_secret_key_fields,
        "Older name of jwtKeyRef; used where that is left out."),
    KEY("jwtKeyRef", jwt_key_ref, api_secret_key_fields,
        "The key that signs users' tokens (HS256). A Secret <name>-auth-jwt is made if left out."),
    KEY("jwksKeyRef", jwks_key_ref, api_config_key_fields,
        "A JWKS file with further keys that sign users' tokens."),
    {"accountingRef", JSN_SUB, SPEC(accounting_ref), JSN_PTR, .sub = api_ref_fields,
     .size = sizeof(struct api_ref), .list_type = "atomic",
     .doc = "The Accounting (slurmdbd) to report to; none if left out."},
    {"external", JSN_FLAG, SPEC(external), 0, .def = "false",
     .doc = "Whether slurmctld runs somewhere else; then only what its clients need is made."},
    {"externalConfig", JSN_SUB, SPEC(external_config), JSN_PTR, .sub = api_external_fields,
     .size = sizeof(struct api_external), .doc = "Where an external slurmctld is."},
    SUB("ha", ha, ha_fields, "Slurm's own high availability: backup slurmctlds on shared state."),
    {"slurmctld", JSN_RAW, SPEC(slurmctld), 0,
     .doc = "Settings of the slurmctld container: image, resources, args, env and all else that a "
            "container has."},
    {"inplaceReconfigure", JSN_FLAG, SPEC(inplace_reconfigure), 0, .def = "true",
     .doc = "Whether the running slurmctld loads a changed configuration; false: it is started "
            "again for it. Partitions change while it runs, either way."},
    {"reconfigure", JSN_RAW, SPEC(reconfigure), 0,
     .doc = "Settings of the container that makes slurmctld load changes."},
    {"logfile", JSN_RAW, SPEC(logfile), 0,
     .doc = "Settings of the container that shows slurmctld's log."},
    SUB("template", template, api_template_fields, "What to lay over slurmctld's pods."),
    {"extraConf", JSN_STR, SPEC(extra_conf), 0,
     .doc = "Lines to add to slurm.conf, such as SchedulerParameters=... or a partition over "
            "several NodeSets. The last line with a key counts; options of AuthAltParameters, "
            "AuthInfo and SlurmctldParameters are added to those that are needed anyway."},
    REFS("configFileRefs", config_file_refs,
         "ConfigMaps whose keys become files beside slurm.conf: gres.conf, topology.yaml, "
         "plugstack.conf, ... A cgroup.conf here replaces the one that is made."),
    REFS("prologScriptRefs", prolog_refs,
         "ConfigMaps of scripts that slurmd runs before a job (Prolog)."),
    REFS("epilogScriptRefs", epilog_refs,
         "ConfigMaps of scripts that slurmd runs after a job (Epilog)."),
    REFS("prologSlurmctldScriptRefs", prolog_slurmctld_refs,
         "ConfigMaps of scripts that slurmctld runs before a job (PrologSlurmctld)."),
    REFS("epilogSlurmctldScriptRefs", epilog_slurmctld_refs,
         "ConfigMaps of scripts that slurmctld runs after a job (EpilogSlurmctld)."),
    SUB("persistence", persistence, persistence_fields,
        "Where slurmctld keeps its state. Cannot be switched later."),
    SUB("service", service, api_service_fields, "The Service in front of slurmctld."),
    SUB("metrics", metrics, api_metrics_fields, "Metrics of the cluster for Prometheus."),
    JSN_END,
};

const struct jsn_field controller_status_fields[] = {
    {"observedGeneration", JSN_I64, offsetof(struct controller_status, observed_generation), 0,
     .doc = "The metadata.generation that this status speaks of."},
    API_CONDITIONS_ROW(struct controller_status),
    JSN_END,
};

const struct jsn_field controller_fields[] = {
    API_META_ROW(struct controller),
    {"spec", JSN_SUB, offsetof(struct controller, spec), 0, .sub = spec_fields,
     .size = sizeof(struct controller_spec), .doc = "The cluster as it should be.",
     .extra = "{\"x-kubernetes-validations\":[" RULE(
         "!(has(self.external) && self.external) || has(self.externalConfig)",
         "externalConfig is needed where external is true") "," RULE("!(has(self.ha) && "
                                                                     "has(self.ha.enabled) && "
                                                                     "self.ha.enabled) || "
                                                                     "(has(self.persistence)"
                                                                     " && "
                                                                     "has(self.persistence."
                                                                     "existingClaim) && "
                                                                     "size(self.persistence."
                                                                     "existingClaim) > 0"
                                                                     " && "
                                                                     "(!has(self.persistence."
                                                                     "enabled) || "
                                                                     "self.persistence.enabled))",
                                                                     "ha needs "
                                                                     "persistence.existingClaim, a "
                                                                     "claim with access mode "
                                                                     "ReadWriteMany") "]}"},
    {"status", JSN_SUB, offsetof(struct controller, status), 0, .sub = controller_status_fields,
     .size = sizeof(struct controller_status), .doc = "The cluster as it is."},
    JSN_END,
};

int controller_decode(struct arena *a, const struct jsn *v, struct controller *ret, struct err *e)
{
    *ret = (struct controller){0};
    return fields_decode(a, controller_fields, v, ret, e);
}

const char *controller_cluster_name(struct arena *a, const struct controller *c)
{
    if (c->spec.cluster_name && c->spec.cluster_name[0])
        return c->spec.cluster_name;
    return arena_printf(a, "%s_%s", api_namespace(&c->meta), c->meta.name);
}

static bool is_named(const struct api_key_ref *ref)
{
    return ref && ref->name && ref->name[0];
}

static const struct api_key_ref *jwt_ref(const struct controller *c)
{
    return is_named(c->spec.jwt_key_ref) ? c->spec.jwt_key_ref : c->spec.jwt_hs256_key_ref;
}

bool controller_makes_slurm_key(const struct controller *c)
{
    return !c->spec.external && !is_named(c->spec.slurm_key_ref);
}

bool controller_makes_jwt_key(const struct controller *c)
{
    return !c->spec.external && !is_named(jwt_ref(c));
}

static struct api_key_ref key_or(struct arena *a, const struct controller *c,
                                 const struct api_key_ref *ref, const char *suffix, const char *key)
{
    if (is_named(ref))
        return *ref;
    return (struct api_key_ref){.name = arena_printf(a, "%s-auth-%s", c->meta.name, suffix),
                                .key = key};
}

struct api_key_ref controller_slurm_key(struct arena *a, const struct controller *c)
{
    return key_or(a, c, c->spec.slurm_key_ref, "slurm", KEYFILE_SLURM);
}

struct api_key_ref controller_jwt_key(struct arena *a, const struct controller *c)
{
    return key_or(a, c, jwt_ref(c), "jwt", KEYFILE_JWT);
}

int32_t controller_replicas(const struct controller *c)
{
    return c->spec.ha.enabled ? 1 + c->spec.ha.backups : 1;
}

const char *controller_release_said(const struct controller *c, uint32_t *ret_release)
{
    const char *said = api_annotation(&c->meta, API_RELEASE_ANNOTATION);

    return said && release_parse(str_of(said), ret_release, NULL) == 0 ? said : NULL;
}

uint32_t controller_release(const struct controller *c)
{
    const char *image = jsn_get_str(c->spec.slurmctld, "image");
    uint32_t release;

    if (controller_release_said(c, &release))
        return release;
    if (image && release_parse(str_of(image), &release, NULL) == 0)
        return release;
    return 0;
}

void controller_ref_lists(const struct controller *c,
                          struct controller_ref_list ret_lists[CONTROLLER_REF_LISTS])
{
    const struct controller_spec *s = &c->spec;
    const struct controller_ref_list lists[CONTROLLER_REF_LISTS] = {
        {"configFileRefs", NULL, &s->config_file_refs},
        {"prologSlurmctldScriptRefs", "PrologSlurmctld", &s->prolog_slurmctld_refs},
        {"epilogSlurmctldScriptRefs", "EpilogSlurmctld", &s->epilog_slurmctld_refs},
        {"prologScriptRefs", "Prolog", &s->prolog_refs},
        {"epilogScriptRefs", "Epilog", &s->epilog_refs},
    };

    memcpy(ret_lists, lists, sizeof(lists));
}

static const char *const short_names[] = {"slurmctld", NULL};
static const struct api_column columns[] = {
    {"READY", "string", ".status.conditions[?(@.type==\"Ready\")].status",
     "Whether the cluster is up.", false},
    {"AGE", "date", ".metadata.creationTimestamp", "When it was made.", false},
    {NULL},
};

const struct api_kind api_kind_controller = {
    API_CONTROLLER_NAMES,
    .id = KIND_CONTROLLER,
    .singular = "controller",
    .short_names = short_names,
    .doc = "A Slurm cluster: its slurmctld, and the configuration of all its daemons.",
    .fields = controller_fields,
    .columns = columns,
    .scale = false,
    .needed = true,
    .slurm_name = api_no_slurm_name,
};
