/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kind RestApi: its tables and checks.
 *
 * slurmrestd answers whoever has a token of the cluster (auth/jwt); it has no key of its own, and
 * slurmctld checks the tokens.  So a RestApi may move to another Controller.
 */
#include "src/api/restapi.h"

#include "src/api/kinds.h"
#include "src/api/names.h"

#define SPEC(member) offsetof(struct restapi_spec, member)
#define SUB(path_, member, flags_, table, doc_)                                                    \
    {path_,      JSN_SUB,      SPEC(member),                                                       \
     flags_,     .sub = table, .size = sizeof(((struct restapi_spec *)NULL)->member),              \
     .doc = doc_}

static const struct jsn_field spec_fields[] = {
    SUB("controllerRef", controller_ref, JSN_REQ, api_controller_ref_fields,
        "The Controller whose cluster is served."),
    {"replicas", JSN_I32, SPEC(replicas), JSN_HAS_MIN | JSN_KEEP, .def = "1", .min = 0,
     .doc = "How many slurmrestd there should be."},
    {"slurmrestd", JSN_RAW, SPEC(slurmrestd), 0,
     .doc = "Settings of the slurmrestd container: image, resources, args, env and all else that a "
            "container has. args are put before the addresses that it listens on."},
    SUB("template", template, 0, api_template_fields, "What to lay over the pods."),
    SUB("service", service, 0, api_service_fields, "The Service in front of slurmrestd."),
    JSN_END,
};

#define STATUS(member) offsetof(struct restapi_status, member)

const struct jsn_field restapi_status_fields[] = {
    {"observedGeneration", JSN_I64, STATUS(observed_generation), 0,
     .doc = "The metadata.generation that this status speaks of."},
    {"replicas", JSN_I32, STATUS(replicas), JSN_KEEP, .doc = "How many pods there are."},
    {"readyReplicas", JSN_I32, STATUS(ready_replicas), JSN_KEEP, .doc = "How many of them answer."},
    API_CONDITIONS_ROW(struct restapi_status),
    JSN_END,
};

const struct jsn_field restapi_fields[] = {
    API_META_ROW(struct restapi),
    {"spec", JSN_SUB, offsetof(struct restapi, spec), JSN_REQ, .sub = spec_fields,
     .size = sizeof(struct restapi_spec), .doc = "slurmrestd as it should be."},
    {"status", JSN_SUB, offsetof(struct restapi, status), 0, .sub = restapi_status_fields,
     .size = sizeof(struct restapi_status), .doc = "slurmrestd as it is."},
    JSN_END,
};

int restapi_decode(struct arena *a, const struct jsn *v, struct restapi *ret, struct err *e)
{
    *ret = (struct restapi){0};
    return fields_decode(a, restapi_fields, v, ret, e);
}

static void check_name(const struct restapi *r, struct api_problems *p)
{
    const char *name = r->meta.name ? r->meta.name : "";
    const char *fault = name_label_fault(str_of(name));

    if (fault)
        api_problem_value(p, API_INVALID, "metadata.name", name_shown(p, name), "a name %s", fault);
    else if (strlen(name) > RESTAPI_NAME_MAX)
        api_problem_value(p, API_INVALID, "metadata.name", name_shown(p, name),
                          "is too long: %d characters at most, since more is added to it",
                          RESTAPI_NAME_MAX);
}

void restapi_check(const struct restapi *r, struct api_problems *p)
{
    const struct api_controller_ref *ref = &r->spec.controller_ref;

    check_name(r, p);
    name_check_ref(p, "spec.controllerRef.name", ref->name);
    if (ref->namespace && ref->namespace[0] && r->meta.namespace &&
        !streq(ref->namespace, r->meta.namespace))
        api_problem_value(
            p, API_INVALID, "spec.controllerRef.namespace", name_shown(p, ref->namespace),
            "the Controller must be in the RestApi's own namespace, %s", r->meta.namespace);
    if (jsn_get(r->spec.service.spec, "externalIPs"))
        api_problem_add(p, API_WARNING, "spec.service.spec.externalIPs",
                        "is ignored: it would let this namespace take traffic of others");
}

static const char *const short_names[] = {"slurmrestd", NULL};
static const struct api_column columns[] = {
    {"READY", "string", ".status.conditions[?(@.type==\"Ready\")].status",
     "Whether slurmrestd answers.", false},
    {"AGE", "date", ".metadata.creationTimestamp", "When it was made.", false},
    {NULL},
};

const struct api_kind api_kind_restapi = {
    API_RESTAPI_NAMES,
    .id = KIND_RESTAPI,
    .singular = "restapi",
    .short_names = short_names,
    .doc = "slurmrestd, Slurm's REST API, beside a cluster.",
    .fields = restapi_fields,
    .columns = columns,
    .scale = false,
    .needed = false,
    .slurm_name = api_no_slurm_name,
};
