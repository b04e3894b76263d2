/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What ends up in pods.
 *
 * Containers, pod specs, claims and Services stand in our objects as they were written.  What is
 * wrong in them would show when a pod is to be made, after the one before it has gone.  So it is
 * told when it is written, by the very rules that the embedded server has for pods: first types and
 * fields of each piece, under its own path; then, if they are right, the pod that would be made.
 *
 * A server that is not ours may know fields that our tables lack: there an unknown field is a
 * warning.
 */
#include "src/admission/pods.h"

#include "src/build/controller_app.h"
#include "src/build/login.h"
#include "src/build/nodeset_pod.h"
#include "src/build/restapi.h"
#include "src/build/set_pod.h"
#include "src/cluster/apiserver/podrules/podrules.h"

struct piece {
    const char *path; /* from the object */
    enum podrules_type type;
};

struct teller {
    const struct admission_request *in;
    struct api_problems *p;
    const char *path; /* of the piece */
};

static bool has_changed(const struct admission_request *in, const char *path)
{
    const struct jsn *now = jsn_get(in->object, path);
    const struct jsn *old = in->old ? jsn_get(in->old, path) : NULL;

    return now ? !old || !jsn_equal(now, old) : old != NULL;
}

static void tell(void *arg, enum podrules_fault fault, const char *field, const char *text)
{
    const struct teller *t = arg;
    const char *dot = field[0] && field[0] != '[' ? "." : "";
    bool warn = fault == PODRULES_UNKNOWN && t->in->foreign_pods;

    api_problem_add(t->p, warn ? API_WARNING : API_INVALID,
                    api_problem_path(t->p, "%s%s%s", t->path, dot, field), "%s%s", text,
                    warn ? " that slurmkeeper knows; the API server may drop it" : "");
}

static void check_piece(const struct admission_request *in, const struct piece *piece,
                        struct api_problems *p)
{
    struct teller t = {in, p, piece->path};

    if (has_changed(in, piece->path))
        podrules_types(p->arena, piece->type, jsn_get(in->object, piece->path), tell, &t);
}

/* The pod as a whole: its paths are not those of the object. */
static void tell_pod(void *arg, enum podrules_fault fault, const char *field, const char *text)
{
    const struct teller *t = arg;

    if (fault != PODRULES_UNKNOWN) /* told with its piece */
        api_problem_add(t->p, API_INVALID, t->path,
                        "the pod that is made of it would be refused: %s: %s", field, text);
}

static bool any_changed(const struct admission_request *in, const char *const *paths)
{
    for (; *paths; paths++)
        if (has_changed(in, *paths))
            return true;
    return false;
}

static void check_pieces(const struct admission_request *in, const struct piece *pieces, size_t n,
                         struct api_problems *p)
{
    for (size_t i = 0; i < n; i++)
        check_piece(in, &pieces[i], p);
}

static void check_pod(const struct admission_request *in, const char *path,
                      const struct jsn *pod_spec, struct api_problems *p)
{
    struct teller t = {in, p, path};

    podrules_pod(p->arena, pod_spec, tell_pod, &t);
}

/* persistence is a claim's spec with two members of ours. */
static void check_persistence(const struct admission_request *in, struct api_problems *p)
{
    static const char path[] = "spec.persistence";
    struct jsn *claim = jsn_object(p->arena);
    struct teller t = {in, p, path};

    if (!has_changed(in, path))
        return;
    JSN_FOR_MEMBERS (m, jsn_get(in->object, path))
        if (!str_eqz(m->key, "enabled") && !str_eqz(m->key, "existingClaim"))
            jsn_set_member(p->arena, claim, m->key, m->value);
    podrules_types(p->arena, PODRULES_CLAIM_SPEC, claim, tell, &t);
}

void pods_check_controller(const struct admission_request *in, const struct controller *c,
                           uint32_t release, struct api_problems *p)
{
    static const struct piece pieces[] = {
        {"spec.slurmctld", PODRULES_CONTAINER},       {"spec.reconfigure", PODRULES_CONTAINER},
        {"spec.logfile", PODRULES_CONTAINER},         {"spec.template.spec", PODRULES_POD_SPEC},
        {"spec.service.spec", PODRULES_SERVICE_SPEC},
    };
    static const char *const in_pod[] = {"spec.slurmctld", "spec.reconfigure", "spec.logfile",
                                         "spec.template",  "spec.persistence", NULL};
    struct build_env env = {.release = release, .host_slurm = in->host_slurm};
    struct build_cluster cluster = {.env = &env, .controller = c, .lookup = in->lookup};
    size_t errors = p->errors;

    check_pieces(in, pieces, ARRAY_LEN(pieces), p);
    check_persistence(in, p);
    if (p->errors == errors && !c->spec.external && any_changed(in, in_pod))
        check_pod(in, "spec.template.spec",
                  jsn_get(build_set_pod(p->arena, build_controller_app(p->arena, &cluster, "", p)),
                          "spec"),
                  p);
}

static void check_claim_templates(const struct admission_request *in, const struct nodeset *ns,
                                  struct api_problems *p)
{
    for (size_t i = 0; i < ns->spec.claim_templates.n; i++) {
        struct teller t = {in, p, api_problem_path(p, "spec.volumeClaimTemplates[%zu].spec", i)};

        if (has_changed(in, "spec.volumeClaimTemplates"))
            podrules_types(p->arena, PODRULES_CLAIM_SPEC, ns->spec.claim_templates.items[i].spec,
                           tell, &t);
    }
}

/* The Controller that the object belongs to, or one that stands for it. */
static void find_controller(const struct admission_request *in, const struct api_meta *m,
                            const char *name, struct arena *a, struct controller *ret)
{
    const struct jsn *found = NULL;

    if (api_lookup_get(in->lookup, "Controller", api_namespace(m), name, &found) == API_PRESENT &&
        controller_decode(a, found, ret, NULL) == 0)
        return;
    *ret = (struct controller){
        .meta = {.name = name && name[0] ? name : "none", .namespace = api_namespace(m)}};
}

void pods_check_nodeset(const struct admission_request *in, const struct nodeset *ns,
                        uint32_t release, struct api_problems *p)
{
    static const struct piece pieces[] = {
        {"spec.slurmd", PODRULES_CONTAINER},
        {"spec.logfile", PODRULES_CONTAINER},
        {"spec.template.spec", PODRULES_POD_SPEC},
    };
    static const char *const in_pod[] = {
        "spec.slurmd", "spec.logfile", "spec.ssh", "spec.template", "spec.volumeClaimTemplates",
        NULL};
    struct controller *c = arena_calloc(p->arena, 1, sizeof(*c));
    struct build_env env = {.release = release, .host_slurm = in->host_slurm};
    struct build_cluster cluster = {.env = &env, .controller = c, .lookup = in->lookup};
    size_t errors = p->errors;

    check_pieces(in, pieces, ARRAY_LEN(pieces), p);
    check_claim_templates(in, ns, p);
    if (p->errors != errors || !any_changed(in, in_pod))
        return;
    find_controller(in, &ns->meta, ns->spec.controller_ref.name, p->arena, c);
    check_pod(
        in, "spec.template.spec",
        jsn_get(build_worker_pod(p->arena, &cluster, ns, &(struct build_worker){.hash = ""}, p),
                "spec"),
        p);
}

void pods_check_loginset(const struct admission_request *in, const struct loginset *l,
                         struct api_problems *p)
{
    static const struct piece pieces[] = {
        {"spec.login", PODRULES_CONTAINER},
        {"spec.initconf", PODRULES_CONTAINER},
        {"spec.template.spec", PODRULES_POD_SPEC},
        {"spec.service.spec", PODRULES_SERVICE_SPEC},
    };
    static const char *const in_pod[] = {"spec.login", "spec.initconf", "spec.template", NULL};
    struct controller *c = arena_calloc(p->arena, 1, sizeof(*c));
    struct build_env env = {.release = in->release, .host_slurm = in->host_slurm};
    struct build_cluster cluster = {.env = &env, .controller = c, .lookup = in->lookup};
    size_t errors = p->errors;

    check_pieces(in, pieces, ARRAY_LEN(pieces), p);
    if (p->errors != errors || !any_changed(in, in_pod))
        return;
    find_controller(in, &l->meta, l->spec.controller_ref.name, p->arena, c);
    check_pod(in, "spec.template.spec",
              jsn_get(build_login_app(p->arena, &cluster, l, p), "spec.template.spec"), p);
}

void pods_check_restapi(const struct admission_request *in, const struct restapi *r,
                        struct api_problems *p)
{
    static const struct piece pieces[] = {
        {"spec.slurmrestd", PODRULES_CONTAINER},
        {"spec.template.spec", PODRULES_POD_SPEC},
        {"spec.service.spec", PODRULES_SERVICE_SPEC},
    };
    static const char *const in_pod[] = {"spec.slurmrestd", "spec.template", NULL};
    struct controller *c = arena_calloc(p->arena, 1, sizeof(*c));
    struct build_env env = {.release = in->release, .host_slurm = in->host_slurm};
    struct build_cluster cluster = {.env = &env, .controller = c, .lookup = in->lookup};
    size_t errors = p->errors;

    check_pieces(in, pieces, ARRAY_LEN(pieces), p);
    if (p->errors != errors || !any_changed(in, in_pod))
        return;
    find_controller(in, &r->meta, r->spec.controller_ref.name, p->arena, c);
    check_pod(in, "spec.template.spec",
              jsn_get(build_restapi_deployment(p->arena, &cluster, r, p), "spec.template.spec"), p);
}
