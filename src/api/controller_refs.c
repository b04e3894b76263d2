/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Validation of a Controller against other objects.
 *
 * ConfigMaps that are referred to must exist, must not bring files that are made here, and no file
 * may come from two of them, since all of them become files of one directory.  A missing Secret or
 * Accounting is only warned about: it may be made later, and its absence shows as a condition.
 */
#include "src/api/controller.h"
#include "src/api/names.h"
#include "src/api/partition_conf.h"
#include "src/base/map.h"
#include "src/slurm/keyfiles.h"

/* Files that come from elsewhere, beside the keys. */
static const char *const made_here[] = {"slurm.conf", "slurmdbd.conf"};
/* Files that Slurm reads from its directory. */
static const char *const known_files[] = {
    "acct_gather.conf", "burst_buffer.conf",  "cgroup.conf",    "cli_filter.lua", "gres.conf",
    "helpers.conf",     "job_container.conf", "job_submit.lua", "mpi.conf",       "namespace.yaml",
    "oci.conf",         "plugstack.conf",     "topology.conf",  "topology.yaml"};

static bool is_in(const char *const *list, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_eqz(name, list[i]))
            return true;
    return false;
}

static bool is_made_here(struct str name)
{
    const struct keyfile *key = keyfile_find(name);

    return (key && key->ours) || is_in(made_here, ARRAY_LEN(made_here), name);
}

struct files {
    struct api_problems *p;
    struct map seen; /* file name to the ConfigMap that brings it */
    bool config;     /* configuration files, not scripts */
    const char *field;
    const char *map;
};

static void check_file(struct files *f, struct str name)
{
    const char *first = map_get(&f->seen, name);

    if (is_made_here(name))
        api_problem_add(f->p, API_FORBIDDEN, f->field,
                        "ConfigMap %s has a key " STR_FMT ", which is made by the operator%s",
                        f->map, STR_ARG(name),
                        str_eqz(name, "slurm.conf") ? "; use extraConf" : "");
    else if (first && !streq(first, f->map))
        api_problem_add(f->p, API_DUPLICATE, f->field,
                        "ConfigMaps %s and %s both have a key " STR_FMT
                        ", and they become files of one directory",
                        first, f->map, STR_ARG(name));
    else if (f->config && !is_in(known_files, ARRAY_LEN(known_files), name))
        api_problem_add(f->p, API_WARNING, f->field,
                        "ConfigMap %s: Slurm does not read a file " STR_FMT " by itself", f->map,
                        STR_ARG(name));
    if (!first)
        map_put(&f->seen, name, (void *)(uintptr_t)arena_strdup(f->p->arena, f->map));
}

static void check_list(struct files *f, const struct controller *c, const struct api_lookup *l,
                       const struct controller_ref_list *list)
{
    for (size_t i = 0; i < list->refs->n; i++) {
        const struct jsn *map = NULL;
        enum api_found found;

        f->map = list->refs->items[i].name;
        f->field = api_problem_path(f->p, "spec.%s[%zu].name", list->field, i);
        f->config = !list->option;
        if (!f->map || !f->map[0])
            continue;
        found = api_lookup_get(l, "ConfigMap", api_namespace(&c->meta), f->map, &map);
        if (found == API_ABSENT)
            api_problem_value(f->p, API_NOT_FOUND, f->field, name_shown(f->p, f->map),
                              "there is no ConfigMap %s in namespace %s; create it first", f->map,
                              api_namespace(&c->meta));
        JSN_FOR_MEMBERS (m, jsn_key(map, "data"))
            check_file(f, m->key);
        JSN_FOR_MEMBERS (m, jsn_key(map, "binaryData"))
            check_file(f, m->key);
    }
}

static void warn_missing(const struct controller *c, const struct api_lookup *l,
                         struct api_problems *p, const char *field, const char *kind,
                         const char *name)
{
    if (name && name[0] &&
        api_lookup_get(l, kind, api_namespace(&c->meta), name, NULL) == API_ABSENT)
        api_problem_add(p, API_WARNING, field, "there is no %s %s in namespace %s yet", kind, name,
                        api_namespace(&c->meta));
}

static void warn_missing_key(const struct controller *c, const struct api_lookup *l,
                             struct api_problems *p, const char *field, const char *kind,
                             const struct api_key_ref *ref)
{
    if (ref && !ref->optional)
        warn_missing(c, l, p, field, kind, ref->name);
}

static bool has_mode(const struct jsn *claim, const char *mode)
{
    JSN_FOR_ITEMS (item, jsn_get(claim, "spec.accessModes"))
        if (streq(jsn_text(item), mode))
            return true;
    return false;
}

static void check_claim(const struct controller *c, const struct api_lookup *l,
                        struct api_problems *p)
{
    const char *name = c->spec.persistence.existing_claim;
    const struct jsn *claim;

    if (c->spec.external || !c->spec.persistence.enabled || !name || !name[0])
        return;
    switch (api_lookup_get(l, "PersistentVolumeClaim", api_namespace(&c->meta), name, &claim)) {
    case API_PRESENT:
        if (c->spec.ha.enabled && !has_mode(claim, "ReadWriteMany"))
            api_problem_value(p, API_INVALID, "spec.persistence.existingClaim", name_shown(p, name),
                              "ha needs a claim with access mode ReadWriteMany");
        break;
    case API_ABSENT:
        api_problem_add(p, API_WARNING, "spec.persistence.existingClaim",
                        "there is no PersistentVolumeClaim %s in namespace %s yet", name,
                        api_namespace(&c->meta));
        break;
    case API_UNKNOWN:
        break;
    }
}

struct claims {
    const struct controller *c;
    const struct api_lookup *l;
    struct api_problems *p;
};

/* A partition of extraConf: nobody else of the cluster may have one of that name. */
static bool check_partition(void *arg, const struct partition_claim *own)
{
    const struct claims *x = arg;
    struct partition_claim other;

    if (partition_claim_find(x->p->arena, x->l, api_namespace(&x->c->meta), x->c->meta.name,
                             own->name, "Controller", x->c->meta.name, &other))
        api_problem_add(x->p, API_DUPLICATE, "spec.extraConf",
                        "%s %s has a partition %s already; remove the line or rename one of both",
                        other.kind, other.object, own->name);
    return true;
}

void controller_check_refs(const struct controller *c, const struct api_lookup *l,
                           struct api_problems *p)
{
    struct controller_ref_list lists[CONTROLLER_REF_LISTS];
    struct files f = {.p = p};
    struct claims claims = {c, l, p};

    controller_ref_lists(c, lists);
    for (size_t i = 0; i < CONTROLLER_REF_LISTS; i++)
        check_list(&f, c, l, &lists[i]);
    map_done(&f.seen);
    warn_missing_key(c, l, p, "spec.slurmKeyRef.name", "Secret", c->spec.slurm_key_ref);
    warn_missing_key(c, l, p, "spec.jwtKeyRef.name", "Secret", c->spec.jwt_key_ref);
    warn_missing_key(c, l, p, "spec.jwtHs256KeyRef.name", "Secret", c->spec.jwt_hs256_key_ref);
    warn_missing_key(c, l, p, "spec.jwksKeyRef.name", "ConfigMap", c->spec.jwks_key_ref);
    if (c->spec.accounting_ref)
        warn_missing(c, l, p, "spec.accountingRef.name", "Accounting",
                     c->spec.accounting_ref->name);
    check_claim(c, l, p);
    if (!c->spec.external)
        (void)partition_claims_extra(c->meta.name, c->spec.extra_conf, check_partition, &claims);
}
