/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Server-side apply.
 *
 * The configuration is merged into the live object.  Then what this manager applied last time but
 * not now is removed, unless another manager (or the new configuration) has it too.  The outcome is
 * compared with the live object: fields of others that would change are conflicts.
 */
#include "src/json/managed_entry.h"

/* What prune works on: the merged object and what is left of it, in one version at a time. */
struct pruner {
    struct arena *a;
    const struct managed_request *req;
    const struct managed_entries *entries;
    const struct managed_entry *last;
    struct err *e;
};

static int named_fields(const struct pruner *p, const struct schema *schema, const struct jsn *v,
                        struct fieldset **ret)
{
    int r = apply_extract(p->a, schema, v, ret, p->e);

    if (r < 0)
        return r;
    *ret = apply_name_fields(p->a, schema, *ret);
    return 0;
}

/* Put back what any manager has in this version. */
static int add_back_owned(const struct pruner *p, const char *version, const struct jsn *merged,
                          const struct jsn **pruned)
{
    const struct schema *schema;
    struct fieldset *owned = NULL;
    struct fieldset *all = NULL;
    struct fieldset *left = NULL;
    int r;

    merged = managed_in_version(p->a, p->req, merged, version, &schema);
    if (!merged)
        return 0;
    *pruned = managed_in_version(p->a, p->req, *pruned, version, &schema);
    r = named_fields(p, schema, merged, &all);
    if (r == 0)
        r = named_fields(p, schema, *pruned, &left);
    if (r < 0)
        return r;
    for (size_t i = 0; i < p->entries->n; i++)
        if (streq(p->entries->items[i].api_version, version))
            owned = fieldset_union(p->a, owned, p->entries->items[i].set);
    if (owned)
        left = fieldset_union(p->a, left, apply_name_fields(p->a, schema, owned));
    *pruned = apply_remove(p->a, schema, merged, fieldset_difference(p->a, all, left));
    return 0;
}

/* The versions of all entries, each once, the last applied one first. */
static int add_back_all(const struct pruner *p, const struct jsn *merged, const struct jsn **pruned)
{
    int r = add_back_owned(p, p->last->api_version, merged, pruned);

    for (size_t i = 0; r == 0 && i < p->entries->n; i++) {
        const char *version = p->entries->items[i].api_version;
        bool done = streq(version, p->last->api_version);

        for (size_t j = 0; j < i && !done; j++)
            done = streq(version, p->entries->items[j].api_version);
        if (!done)
            r = add_back_owned(p, version, merged, pruned);
    }
    return r;
}

/* Remove what was applied last time, is not applied now, and nobody else has. */
static int prune(const struct pruner *p, const struct jsn *object, const struct jsn **ret)
{
    const char *version = p->last->api_version;
    const struct schema *schema;
    const struct jsn *merged = managed_in_version(p->a, p->req, object, version, &schema);
    const struct jsn *pruned;
    struct fieldset *last;
    struct fieldset *all = NULL;
    struct fieldset *left = NULL;
    const struct schema *own_schema;
    int r;

    *ret = object;
    if (!merged)
        return 0;
    last = apply_name_fields(p->a, schema, p->last->set);
    pruned = apply_remove(p->a, schema, merged, last);
    r = add_back_all(p, merged, &pruned);
    if (r < 0)
        return r;
    pruned = managed_in_version(p->a, p->req, pruned, version, &schema);
    r = named_fields(p, schema, merged, &all);
    if (r == 0)
        r = named_fields(p, schema, pruned, &left);
    if (r < 0)
        return r;
    all = fieldset_intersection(p->a, fieldset_difference(p->a, all, left), last);
    pruned = apply_remove(p->a, schema, merged, all);
    *ret = managed_in_version(p->a, p->req, pruned, p->req->api_version, &own_schema);
    return 0;
}

/* "ns/name; group/version, Kind=K" */
static const char *who(struct arena *a, const struct jsn *config)
{
    const char *ns = jsn_get_str(config, "metadata.namespace");
    const char *name = jsn_get_str(config, "metadata.name");
    const char *version = jsn_get_str(config, "apiVersion");
    const char *kind = jsn_get_str(config, "kind");

    return arena_printf(a, "%s/%s; %s%s, Kind=%s", ns ? ns : "", name ? name : "",
                        version && strchr(version, '/') ? "" : "/", version ? version : "",
                        kind ? kind : "");
}

static int check_config(struct arena *a, const struct managed_request *req,
                        const struct jsn *config, struct err *e)
{
    const char *version = jsn_get_str(config, "apiVersion");
    int r;

    if (!streq(version, req->api_version))
        return err_set(e, -EBADMSG, ERR_PERMANENT,
                       "Incorrect version specified in apply patch. Specified patch version: %s, "
                       "expected: %s",
                       version ? version : "", req->api_version);
    if (jsn_get(config, "metadata.managedFields"))
        return err_set(e, -EBADMSG, ERR_PERMANENT, "metadata.managedFields must be nil");
    r = apply_check(req->schema, config, e);
    if (r < 0)
        return err_wrap(e, r, "failed to create typed patch object (%s)", who(a, config));
    return 0;
}

struct outcome {
    struct managed_entries entries;
    const struct jsn *object;
};

/* One attempt; `live` has no managedFields in it.  On success the entries are those of the outcome.
 */
static int attempt(struct arena *a, const struct managed_request *req, const struct jsn *live,
                   const struct jsn *config, bool force, struct outcome *out,
                   struct managed_conflicts *ret_conflicts, struct err *e)
{
    struct managed_entry own = {
        .manager = req->manager && req->manager[0] ? req->manager : "unknown",
        .applied = true,
        .api_version = req->api_version,
        .subresource = req->subresource ? req->subresource : "",
    };
    struct managed_entry last = {0};
    struct pruner p = {.a = a, .req = req, .entries = &out->entries, .last = &last, .e = e};
    struct apply_comparison diff;
    struct managed_entry *entry;
    struct fieldset *set;
    struct jsn *merged;
    int r = apply_merge(a, req->schema, live, config, &merged, e);

    if (r < 0)
        return err_wrap(e, r, "failed to merge config");
    r = apply_extract(a, req->schema, config, &set, e);
    if (r < 0)
        return err_wrap(e, r, "failed to get field set");
    own.set = fieldset_difference_below(a, set, req->reset);
    entry = managed_find(&out->entries, &own);
    if (entry)
        last = *entry;
    else
        managed_add(a, &out->entries, own);
    entry = managed_find(&out->entries, &own);
    *entry = own;
    out->object = merged;
    if (!fieldset_empty(last.set))
        r = prune(&p, merged, &out->object);
    if (r == 0)
        r = managed_settle(a, req, live, out->object, &out->entries, entry, force, &diff,
                           ret_conflicts, e);
    if (r < 0)
        return r;
    entry->set = fieldset_difference(a, entry->set, managed_untracked(a));
    entry->time = last.time;
    if (!jsn_equal(live, out->object) || !fieldset_equal(entry->set, last.set) ||
        !streq(entry->api_version, last.api_version))
        entry->time = managed_now(a, req);
    managed_drop_empty(&out->entries);
    return 0;
}

static struct managed_entries copy_entries(struct arena *a, const struct managed_entries *entries)
{
    struct managed_entries copy = {0};

    for (size_t i = 0; i < entries->n; i++)
        managed_add(a, &copy, entries->items[i]);
    return copy;
}

/* kubectl takes over from client-side apply: conflicts about what its annotation says are none. */
static void forgive(struct arena *a, const struct managed_request *req, const struct jsn *live,
                    struct managed_conflicts *conflicts)
{
    struct fieldset *allowed;
    size_t kept = 0;

    if (!streq(req->manager, "kubectl") || managed_last_applied(a, req, live, &allowed, NULL) < 0)
        return;
    for (size_t i = 0; i < conflicts->n; i++)
        if (!fieldset_has(allowed, conflicts->items[i].fields))
            conflicts->items[kept++] = conflicts->items[i];
    conflicts->n = kept;
}

int managed_apply(struct arena *a, const struct managed_request *req, const struct jsn *live,
                  const struct jsn *config, bool force, struct jsn **ret_object,
                  struct managed_conflicts *ret_conflicts, struct err *e)
{
    struct managed_conflicts conflicts = {0};
    const struct jsn *empty = managed_strip(a, req->empty);
    const struct jsn *before = live ? managed_strip(a, live) : empty;
    struct managed_entries entries;
    struct outcome out;
    struct jsn *object;
    int r = check_config(a, req, config, e);

    if (r < 0)
        return r;
    r = managed_decode(a, jsn_get(live, "metadata.managedFields"), &entries, e);
    if (r < 0)
        return err_wrap(e, r, "failed to decode managed fields");
    if (live && entries.n == 0)
        r = managed_note(a, req, "before-first-apply", empty, before, &entries, e);
    if (r < 0)
        return err_wrap(e, r, "failed to create manager for existing fields");
    managed_fit(a, req, before, &entries);
    out = (struct outcome){.entries = copy_entries(a, &entries)};
    r = attempt(a, req, before, config, force, &out, &conflicts, e);
    if (r == -EBUSY) {
        forgive(a, req, before, &conflicts);
        *ret_conflicts = conflicts;
        if (conflicts.n)
            return r;
        out.entries = copy_entries(a, &entries);
        r = attempt(a, req, before, config, true, &out, &conflicts, e);
    }
    if (r < 0)
        return r;
    object = jsn_clone(a, out.object);
    if (streq(req->manager, "kubectl"))
        managed_set_last_applied(a, object, config);
    managed_put(a, object, managed_encode(a, &out.entries));
    *ret_object = object;
    return 0;
}

void managed_conflict_message(struct buf *b, const struct managed_conflicts *conflicts)
{
    const char *manager = NULL;

    buf_printf(b, "Apply failed with %zu conflict%s: ", conflicts->n, conflicts->n == 1 ? "" : "s");
    if (conflicts->n == 1) {
        buf_printf(b, "conflict with %s: %s", conflicts->items[0].manager,
                   conflicts->items[0].path);
        return;
    }
    for (size_t i = 0; i < conflicts->n; i++) {
        if (!streq(manager, conflicts->items[i].manager)) {
            buf_printf(b, "%sconflicts with %s:", i ? "\n" : "", conflicts->items[i].manager);
            manager = conflicts->items[i].manager;
        }
        buf_printf(b, "\n- %s", conflicts->items[i].path);
    }
}
