/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kind LoginSet: its tables.
 *
 * Fields and defaults are Slinky's.  The container settings and the strategy are kept as they were
 * written: they are Kubernetes' own, and the API server checks the Deployment that comes of them.
 */
#include "src/api/loginset.h"

#include "src/api/kinds.h"

#define SPEC(member) offsetof(struct loginset_spec, member)
#define SUB(path_, member, flags_, table, doc_)                                                    \
    {path_,      JSN_SUB,      SPEC(member),                                                       \
     flags_,     .sub = table, .size = sizeof(((struct loginset_spec *)NULL)->member),             \
     .doc = doc_}

static const struct jsn_field spec_fields[] = {
    SUB("controllerRef", controller_ref, JSN_REQ, api_controller_ref_fields,
        "The Controller whose cluster people work with. Cannot be changed later."),
    {"replicas", JSN_I32, SPEC(replicas), JSN_HAS_MIN | JSN_KEEP, .def = "1", .min = 0,
     .doc = "How many pods there should be to log in to."},
    {"login", JSN_RAW, SPEC(login), 0,
     .doc = "Settings of the login container: image, resources, env, volumeMounts and all else "
            "that a container has."},
    {"initconf", JSN_RAW, SPEC(initconf), 0,
     .doc = "Settings of a container that first hands a copy of the key to the user slurm, for "
            "images whose sackd is not started by root. Left out, there is none."},
    SUB("template", template, 0, api_template_fields, "What to lay over the pods."),
    {"rootSshAuthorizedKeys", JSN_STR, SPEC(root_keys), 0,
     .doc = "Public keys with which root may log in, one in a line."},
    {"extraSshdConfig", JSN_STR, SPEC(extra_sshd_config), 0, .doc = "Lines to add to sshd_config."},
    {"sssdConfRef", JSN_SUB, SPEC(sssd_conf_ref), JSN_REQ, .sub = api_secret_key_fields,
     .size = sizeof(struct api_key_ref), .list_type = "atomic",
     .doc = "The sssd.conf that tells who the users are."},
    {"strategy", JSN_RAW, SPEC(strategy), 0,
     .doc = "How pods come to a changed template: a DeploymentStrategy."},
    SUB("service", service, 0, api_service_fields, "The Service that leads to the pods."),
    JSN_END,
};

#define STATUS(member) offsetof(struct loginset_status, member)

const struct jsn_field loginset_status_fields[] = {
    {"replicas", JSN_I32, STATUS(replicas), JSN_KEEP, .doc = "How many pods there are."},
    {"readyReplicas", JSN_I32, STATUS(ready_replicas), JSN_KEEP,
     .doc = "How many of them can be logged in to."},
    {"observedGeneration", JSN_I64, STATUS(observed_generation), 0,
     .doc = "The metadata.generation that this status speaks of."},
    API_CONDITIONS_ROW(struct loginset_status),
    {"selector", JSN_STR, STATUS(selector), JSN_KEEP, .doc = "Selects the pods; for autoscalers."},
    JSN_END,
};

const struct jsn_field loginset_fields[] = {
    API_META_ROW(struct loginset),
    {"spec", JSN_SUB, offsetof(struct loginset, spec), JSN_REQ, .sub = spec_fields,
     .size = sizeof(struct loginset_spec), .doc = "The logins as they should be."},
    {"status", JSN_SUB, offsetof(struct loginset, status), 0, .sub = loginset_status_fields,
     .size = sizeof(struct loginset_status), .doc = "The logins as they are."},
    JSN_END,
};

int loginset_decode(struct arena *a, const struct jsn *v, struct loginset *ret, struct err *e)
{
    *ret = (struct loginset){0};
    return fields_decode(a, loginset_fields, v, ret, e);
}

int64_t loginset_grace_s(const struct loginset *l)
{
    const char *said = api_annotation(&l->meta, LOGIN_GRACE_ANNOTATION);
    int64_t seconds;

    if (!said || str_to_i64(str_of(said), &seconds) < 0 || seconds < 0 ||
        seconds > LOGIN_GRACE_MAX_S)
        return LOGIN_GRACE_DEFAULT_S;
    return seconds;
}

static const char *const short_names[] = {"lss", "sackd", NULL};
static const struct api_column columns[] = {
    {"REPLICAS", "integer", ".status.replicas", "How many pods there are.", false},
    {"READY", "integer", ".status.readyReplicas", "How many can be logged in to.", true},
    {"AGE", "date", ".metadata.creationTimestamp", "When it was made.", false},
    {NULL},
};

const struct api_kind api_kind_loginset = {
    API_LOGINSET_NAMES,
    .id = KIND_LOGINSET,
    .singular = "loginset",
    .short_names = short_names,
    .doc = "Pods that people log in to by ssh, to submit jobs to a Slurm cluster.",
    .fields = loginset_fields,
    .columns = columns,
    .scale = true,
    .needed = false,
    .slurm_name = api_no_slurm_name,
};
