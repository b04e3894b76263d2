/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plan for a RestApi.
 *
 * Steps in order: Service, Deployment, Status.  Both objects go with the RestApi, by their owner.
 * Without a Controller slurmrestd would not know where slurmctld is: the Service is made, and what
 * runs goes on running.
 */
#include "src/plan/restapi.h"

#include "src/build/labels.h"
#include "src/build/restapi.h"
#include "src/plan/status.h"
#include "src/plan/sync.h"

struct hindrance {
    const char *reason; /* NULL: none */
    const char *text;
};

static struct hindrance plan_deployment(const struct plan_restapi *in, struct actions *to)
{
    const char *controller = in->r->spec.controller_ref.name;
    struct api_problems p = {.arena = to->arena};
    struct jsn *deployment;
    struct err e = {0};

    actions_step(to, "Deployment");
    if (!in->cluster->controller)
        return (struct hindrance){
            "ControllerNotFound",
            arena_printf(to->arena,
                         "there is no Controller %s in namespace %s; create it, or correct "
                         "spec.controllerRef.name",
                         controller, api_namespace(&in->r->meta))};
    restapi_check(in->r, &p);
    deployment = build_restapi_deployment(to->arena, in->cluster, in->r, &p);
    if (api_problems_error(&p, &e) < 0)
        return (struct hindrance){"Invalid", arena_strdup(to->arena, e.text)};
    (void)sync_built(to, in->cluster->lookup, deployment);
    return (struct hindrance){0};
}

/* Of this very Deployment, and of its present template. */
static bool is_observed(const struct jsn *deployment)
{
    return jsn_get_int(deployment, "status.observedGeneration", 0) >=
           jsn_get_int(deployment, "metadata.generation", 1);
}

static void judge(const struct plan_restapi *in, const struct hindrance *why,
                  const struct jsn *deployment, struct status_scribe *s)
{
    int64_t available = jsn_get_int(deployment, "status.availableReplicas", 0);
    int64_t updated = jsn_get_int(deployment, "status.updatedReplicas", 0);
    int64_t want = in->r->spec.replicas;

    if (why->reason)
        status_set(s, "Ready", STATUS_FALSE, true, why->reason, "%s", why->text);
    else if (available < want)
        status_set(s, "Ready", STATUS_FALSE, false, "PodsNotReady",
                   "%lld of %lld slurmrestd answer; see kubectl describe deployment %s",
                   (long long)available, (long long)want, build_restapi_name(s->to->arena, in->r));
    else if (!deployment || !is_observed(deployment) || updated < want)
        status_set(s, "Ready", STATUS_FALSE, false, "Updating",
                   "pods of an older template are being replaced");
    else
        status_set(s, "Ready", STATUS_TRUE, false, "SlurmrestdReady",
                   want ? "slurmrestd answers" : "none is asked for");
}

static void plan_status(const struct plan_restapi *in, const struct hindrance *why,
                        struct actions *to)
{
    struct restapi_status st = in->r->status;
    struct api_conditions list = {
        arena_calloc(to->arena, st.conditions.n + 1, sizeof(struct api_condition)),
        st.conditions.n};
    struct status_scribe scribe = {to, &list, in->r->meta.generation, in->now_us};
    const struct jsn *deployment = NULL;

    (void)api_lookup_get(in->cluster->lookup, "Deployment", api_namespace(&in->r->meta),
                         build_restapi_name(to->arena, in->r), &deployment);
    actions_step(to, "Status");
    if (list.n)
        memcpy(list.items, st.conditions.items, list.n * sizeof(*list.items));
    judge(in, why, deployment, &scribe);
    st.conditions = list;
    st.replicas = (int32_t)jsn_get_int(deployment, "status.replicas", 0);
    st.ready_replicas = (int32_t)jsn_get_int(deployment, "status.readyReplicas", 0);
    st.observed_generation = in->r->meta.generation;
    status_write(to, "RestApi", &in->r->meta, jsn_get(in->object, "status"),
                 fields_encode(to->arena, restapi_status_fields, &st));
}

void plan_restapi(const struct plan_restapi *in, struct actions *to)
{
    struct hindrance why;

    if (in->r->meta.deleted_us)
        return;
    actions_step(to, "Service");
    (void)sync_built(to, in->cluster->lookup, build_restapi_service(to->arena, in->r));
    why = plan_deployment(in, to);
    plan_status(in, &why, to);
}
