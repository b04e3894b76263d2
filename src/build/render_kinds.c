/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rendering, kind by kind.
 *
 * Each object is checked by itself when it is taken.  What depends on the Slurm release is checked
 * when all are there, since the Controller may stand after its NodeSets and Partitions.
 */
#include "src/build/render_kinds.h"

#include "src/api/loginset.h"
#include "src/api/restapi.h"
#include "src/api/token.h"
#include "src/json/fields.h"

#define ROW(ID, name) [KIND_##ID] = &render_##name,
const struct render_kind *const render_kinds[API_N_KINDS] = {API_KINDS(ROW)};

/* Decoded and found good; false: what is wrong has been told. */
static bool check_fields(struct renderer *r, const struct jsn *object, const char *place,
                         const struct jsn_field *fields, int decoded, const struct err *e)
{
    const char *unknown = fields_unknown(r->a, fields, object);

    if (decoded < 0 || unknown)
        r->p->object = render_describe(r, object, place);
    if (decoded < 0)
        api_problem_add(r->p, API_INVALID, "", "%s", e->text);
    if (unknown)
        api_problem_add(r->p, API_INVALID, unknown, "there is no such field");
    return decoded == 0 && !unknown;
}

void render_check_only(struct renderer *r, const struct jsn *object, const char *place)
{
    (void)check_fields(r, object, place, api_kind_of(object)->fields, 0, NULL);
}

void render_settle_nothing(struct renderer *r, const struct build_env *env)
{
    (void)r;
    (void)env;
}

static void check_accounting(struct renderer *r, const struct jsn *object, const char *place)
{
    struct accounting acct;
    struct err e = {0};
    int decoded = accounting_decode(r->a, object, &acct, &e);

    r->p->object = render_describe(r, object, place);
    if (check_fields(r, object, place, accounting_fields, decoded, &e))
        accounting_check(&acct, r->p);
}

static void add_controller(struct renderer *r, const struct jsn *object, const char *place)
{
    struct site *s = arena_calloc(r->a, 1, sizeof(*s));
    struct err e = {0};
    int decoded = controller_decode(r->a, object, &s->controller, &e);

    r->p->object = render_describe(r, object, place);
    s->place = place;
    if (!check_fields(r, object, place, controller_fields, decoded, &e))
        return;
    controller_check(&s->controller, controller_release(&s->controller), r->p);
    map_put(&r->sites, str_of(api_full_name(r->a, &s->controller.meta)), s);
    arena_reserve(r->a, &r->order, &r->cap, r->n + 1, sizeof(struct site *));
    r->order[r->n++] = s;
}

static void add_loginset(struct renderer *r, const struct jsn *object, const char *place)
{
    struct loginset l;
    struct err e = {0};
    int decoded = loginset_decode(r->a, object, &l, &e);

    if (!check_fields(r, object, place, loginset_fields, decoded, &e))
        return;
    r->p->object = render_describe(r, object, place);
    loginset_check(&l, r->p);
}

static void add_nodeset(struct renderer *r, const struct jsn *object, const char *place)
{
    struct nodeset *ns = arena_calloc(r->a, 1, sizeof(*ns));
    struct err e = {0};
    int decoded = nodeset_decode(r->a, object, ns, &e);

    if (!check_fields(r, object, place, nodeset_fields, decoded, &e))
        return;
    arena_reserve(r->a, &r->nodesets, &r->cap_nodesets, r->n_nodesets + 1,
                  sizeof(struct nodeset *));
    r->nodesets[r->n_nodesets++] = ns;
}

static void add_partition(struct renderer *r, const struct jsn *object, const char *place)
{
    struct api_partition *part = arena_calloc(r->a, 1, sizeof(*part));
    struct err e = {0};
    int decoded = api_partition_decode(r->a, object, part, &e);

    if (!check_fields(r, object, place, api_partition_fields, decoded, &e))
        return;
    arena_reserve(r->a, &r->partitions, &r->cap_partitions, r->n_partitions + 1,
                  sizeof(struct api_partition *));
    r->partitions[r->n_partitions++] = part;
}

static void add_restapi(struct renderer *r, const struct jsn *object, const char *place)
{
    struct restapi api;
    struct err e = {0};
    int decoded = restapi_decode(r->a, object, &api, &e);

    r->p->object = render_describe(r, object, place);
    if (check_fields(r, object, place, restapi_fields, decoded, &e))
        restapi_check(&api, r->p);
}

static void add_token(struct renderer *r, const struct jsn *object, const char *place)
{
    struct api_token t;
    struct err e = {0};
    int decoded = api_token_decode(r->a, object, &t, &e);

    r->p->object = render_describe(r, object, place);
    if (check_fields(r, object, place, api_token_fields, decoded, &e))
        api_token_check(&t, r->p);
}

static const char *place_of(const struct renderer *r, const char *kind, const struct api_meta *m)
{
    const struct written *w =
        map_get(&r->objects, str_of(render_key(r->a, kind, api_namespace(m), m->name)));

    return arena_printf(r->a, "%s: %s %s", w->place, kind, api_full_name(r->a, m));
}

/* The site of an object's Controller, and the release there; 0: there is none. */
static struct site *site_of(struct renderer *r, const struct build_env *env,
                            const struct api_meta *m, const char *controller, uint32_t *ret_release)
{
    const char *name = arena_printf(r->a, "%s/%s", api_namespace(m), controller);
    struct site *s = map_get(&r->sites, str_of(name));
    struct build_cluster c = {.env = env, .controller = s ? &s->controller : NULL};

    *ret_release = s ? build_release(&c) : 0;
    return s;
}

/* Name the object in what was found since; names are made only for what is wrong. */
static void name_problems(struct renderer *r, size_t before, const char *kind,
                          const struct api_meta *m)
{
    for (size_t i = before; i < r->p->n; i++)
        r->p->items[i].object = place_of(r, kind, m);
}

static void tell_missing(struct renderer *r, const char *kind, const struct api_meta *m,
                         const char *controller)
{
    r->p->object = place_of(r, kind, m);
    api_problem_add(r->p, API_NOT_FOUND, "spec.controllerRef.name",
                    "there is no Controller %s in namespace %s among the manifests", controller,
                    api_namespace(m));
}

/* Hand the NodeSet to its Controller, and check what depends on the release there. */
static void settle_nodeset(struct renderer *r, const struct build_env *env, struct nodeset *ns)
{
    uint32_t release;
    struct site *s = site_of(r, env, &ns->meta, ns->spec.controller_ref.name, &release);
    size_t before = r->p->n;

    nodeset_check(ns, release, r->p);
    name_problems(r, before, "NodeSet", &ns->meta);
    if (!s) {
        tell_missing(r, "NodeSet", &ns->meta, ns->spec.controller_ref.name);
        return;
    }
    arena_reserve(r->a, &s->nodesets, &s->cap, s->n + 1, sizeof(struct nodeset *));
    s->nodesets[s->n++] = ns;
}

static void settle_partition(struct renderer *r, const struct build_env *env,
                             struct api_partition *part)
{
    uint32_t release;
    struct site *s = site_of(r, env, &part->meta, part->spec.controller_ref.name, &release);
    size_t before = r->p->n;

    api_partition_check(part, release, r->p);
    name_problems(r, before, "Partition", &part->meta);
    if (!s) {
        tell_missing(r, "Partition", &part->meta, part->spec.controller_ref.name);
        return;
    }
    arena_reserve(r->a, &s->partitions, &s->cap_partitions, s->n_partitions + 1,
                  sizeof(struct api_partition *));
    s->partitions[s->n_partitions++] = part;
}

static void settle_nodesets(struct renderer *r, const struct build_env *env)
{
    for (size_t i = 0; i < r->n_nodesets; i++)
        settle_nodeset(r, env, r->nodesets[i]);
}

static void settle_partitions(struct renderer *r, const struct build_env *env)
{
    for (size_t i = 0; i < r->n_partitions; i++)
        settle_partition(r, env, r->partitions[i]);
}

const struct render_kind render_accounting = {check_accounting, render_settle_nothing};
const struct render_kind render_controller = {add_controller, render_settle_nothing};
const struct render_kind render_loginset = {add_loginset, render_settle_nothing};
const struct render_kind render_nodeset = {add_nodeset, settle_nodesets};
const struct render_kind render_partition = {add_partition, settle_partitions};
const struct render_kind render_restapi = {add_restapi, render_settle_nothing};
const struct render_kind render_token = {add_token, render_settle_nothing};
