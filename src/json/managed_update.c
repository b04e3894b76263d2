/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Field management of creates, updates and patches.
 *
 * The old and the new object are compared; what was added or modified becomes the writer's and is
 * taken from everybody else, what was removed leaves all sets.  Each entry is held against the
 * comparison in the version that it was recorded in.
 */
#include "src/base/clock.h"
#include "src/json/managed_entry.h"

const struct jsn *managed_in_version(struct arena *a, const struct managed_request *req,
                                     const struct jsn *object, const char *api_version,
                                     const struct schema **ret_schema)
{
    const char *own = jsn_get_str(object, "apiVersion");

    *ret_schema = req->schema;
    if (!req->convert ||
        (streq(api_version, req->api_version) && (!own || streq(own, api_version))))
        return object;
    return req->convert(req->context, a, object, api_version, ret_schema);
}

const char *managed_now(struct arena *a, const struct managed_request *req)
{
    char text[CLOCK_RFC3339_LEN];

    clock_rfc3339(req->now_us, text);
    return arena_strdup(a, text);
}

/* What changed, in one version. */
struct change {
    struct change *next;
    const char *api_version;
    bool missing; /* the version is not served */
    struct apply_comparison diff;
    struct fieldset *touched; /* added and modified */
};

static int compare_in_version(struct arena *a, const struct managed_request *req,
                              const struct jsn *live, const struct jsn *object, struct change *c,
                              struct err *e)
{
    const struct schema *schema;
    int r;

    live = managed_in_version(a, req, live, c->api_version, &schema);
    object = live ? managed_in_version(a, req, object, c->api_version, &schema) : NULL;
    c->missing = !object;
    if (c->missing)
        return 0;
    r = apply_compare(a, schema, live, object, &c->diff, e);
    if (r < 0)
        return err_wrap(e, r, "failed to compare objects");
    if (streq(c->api_version, req->api_version) && !fieldset_empty(req->reset)) {
        c->diff.added = fieldset_difference_below(a, c->diff.added, req->reset);
        c->diff.modified = fieldset_difference_below(a, c->diff.modified, req->reset);
        c->diff.removed = fieldset_difference_below(a, c->diff.removed, req->reset);
    }
    c->touched = fieldset_union(a, c->diff.added, c->diff.modified);
    return 0;
}

static struct change *find_change(struct change *list, const char *api_version)
{
    while (list && !streq(list->api_version, api_version))
        list = list->next;
    return list;
}

/* The changes in the request's version and in those of all entries. */
static int list_changes(struct arena *a, const struct managed_request *req, const struct jsn *live,
                        const struct jsn *object, const struct managed_entries *entries,
                        struct change **ret, struct err *e)
{
    struct change *list = arena_calloc(a, 1, sizeof(*list));
    int r;

    list->api_version = req->api_version;
    r = compare_in_version(a, req, live, object, list, e);
    for (size_t i = 0; r == 0 && i < entries->n; i++) {
        struct change *c;

        if (find_change(list, entries->items[i].api_version))
            continue;
        c = arena_calloc(a, 1, sizeof(*c));
        c->api_version = entries->items[i].api_version;
        c->next = list->next;
        list->next = c;
        r = compare_in_version(a, req, live, object, c, e);
    }
    *ret = list;
    return r;
}

struct collector {
    struct arena *a;
    struct managed_conflicts *out;
    const char *manager;
};

static const struct fieldset_path *copy_path(struct arena *a, const struct fieldset_path *path)
{
    struct fieldset_path *copy = arena_calloc(a, 1, sizeof(*copy));

    *copy = *path;
    copy->up = path->up ? copy_path(a, path->up) : NULL;
    return copy;
}

static void collect(void *context, const struct fieldset_path *path)
{
    struct collector *c = context;
    struct managed_conflicts *out = c->out;
    AUTO(buf_done) struct buf b = {0};

    fieldset_path_print(&b, path);
    arena_reserve(c->a, &out->items, &out->cap, out->n + 1, sizeof(*out->items));
    out->items[out->n++] = (struct managed_conflict){
        .manager = c->manager,
        .path = arena_str(c->a, buf_view(&b)),
        .fields = copy_path(c->a, path),
    };
}

/* "B" with subresource "status" using v1 */
static const char *manager_text(struct arena *a, const struct managed_entry *entry)
{
    AUTO(buf_done) struct buf b = {0};

    jsn_print_string(&b, str_of(entry->manager));
    if (entry->subresource[0]) {
        buf_adds(&b, " with subresource ");
        jsn_print_string(&b, str_of(entry->subresource));
    }
    if (!entry->applied)
        buf_printf(&b, " using %s", entry->api_version);
    return arena_str(a, buf_view(&b));
}

static int compare_entries(const void *x, const void *y)
{
    const struct managed_entry *a = *(const struct managed_entry *const *)x;
    const struct managed_entry *b = *(const struct managed_entry *const *)y;
    int c = strcmp(a->manager, b->manager);

    if (!c)
        c = (int)b->applied - (int)a->applied;
    if (!c)
        c = strcmp(a->api_version, b->api_version);
    return c ? c : strcmp(a->subresource, b->subresource);
}

static void find_conflicts(struct arena *a, const struct managed_entries *entries,
                           const struct managed_entry *self, struct change *changes,
                           struct managed_conflicts *out)
{
    const struct managed_entry **sorted = arena_calloc(a, entries->n + 1, sizeof(void *));

    for (size_t i = 0; i < entries->n; i++)
        sorted[i] = &entries->items[i];
    qsort(sorted, entries->n, sizeof(void *), compare_entries);
    for (size_t i = 0; i < entries->n; i++) {
        const struct change *c = find_change(changes, sorted[i]->api_version);
        struct collector collector = {a, out, manager_text(a, sorted[i])};

        if (sorted[i] != self && !c->missing)
            fieldset_each(fieldset_intersection(a, sorted[i]->set, c->touched), collect,
                          &collector);
    }
}

int managed_settle(struct arena *a, const struct managed_request *req, const struct jsn *live,
                   const struct jsn *object, struct managed_entries *entries,
                   const struct managed_entry *self, bool force,
                   struct apply_comparison *ret_comparison, struct managed_conflicts *ret_conflicts,
                   struct err *e)
{
    struct managed_conflicts conflicts = {0};
    struct change *changes;
    int r = list_changes(a, req, live, object, entries, &changes, e);

    if (r < 0)
        return r;
    if (!force)
        find_conflicts(a, entries, self, changes, &conflicts);
    if (conflicts.n) {
        *ret_conflicts = conflicts;
        return err_set(e, -EBUSY, ERR_PERMANENT, "the configuration changes fields of others");
    }
    for (size_t i = 0; i < entries->n; i++) {
        struct managed_entry *entry = &entries->items[i];
        const struct change *c = find_change(changes, entry->api_version);

        if (entry == self)
            continue;
        entry->set = c->missing ? NULL : fieldset_difference(a, entry->set, c->touched);
        entry->set = c->missing ? NULL : fieldset_difference(a, entry->set, c->diff.removed);
    }
    *ret_comparison = changes->diff;
    return 0;
}

int managed_note(struct arena *a, const struct managed_request *req, const char *manager,
                 const struct jsn *live, const struct jsn *object, struct managed_entries *entries,
                 struct err *e)
{
    struct managed_entry own = {
        .manager = manager && manager[0] ? manager : "unknown",
        .api_version = req->api_version,
        .subresource = req->subresource ? req->subresource : "",
        .time = managed_now(a, req),
    };
    struct apply_comparison diff;
    struct managed_entry *before;
    struct fieldset *set;
    int r;

    managed_fit(a, req, live, entries);
    r = managed_settle(a, req, live, object, entries, NULL, true, &diff, NULL, e);
    if (r < 0)
        return r;
    set = fieldset_union(a, diff.added, diff.modified);
    set = fieldset_difference(a, set, managed_untracked(a));
    if (!fieldset_empty(set)) {
        before = managed_find(entries, &own);
        own.set = before ? fieldset_union(a, set, before->set) : set;
        if (before)
            *before = own;
        else
            managed_add(a, entries, own);
    }
    managed_drop_empty(entries);
    managed_cap(a, entries);
    return 0;
}

void managed_fit(struct arena *a, const struct managed_request *req, const struct jsn *live,
                 struct managed_entries *entries)
{
    for (size_t i = 0; i < entries->n; i++) {
        struct managed_entry *entry = &entries->items[i];
        const struct schema *schema;

        if (managed_in_version(a, req, live, entry->api_version, &schema))
            entry->set = apply_fit(a, schema, entry->set);
    }
}

/* [] and [{}] ask for a clean sheet. */
static bool is_reset(const struct jsn *list)
{
    return jsn_is(list, JSN_ARRAY) &&
           (list->a.n == 0 ||
            (list->a.n == 1 && jsn_is(list->a.items[0], JSN_OBJECT) && list->a.items[0]->o.n == 0));
}

static void choose_entries(struct arena *a, const struct managed_request *req,
                           const struct jsn *live, const struct jsn *object,
                           struct managed_entries *ret)
{
    const struct jsn *given = jsn_get(object, "metadata.managedFields");
    bool main = !req->subresource || !req->subresource[0];

    *ret = (struct managed_entries){0};
    if (main && is_reset(given))
        return;
    if (main && managed_decode(a, given, ret, NULL) == 0 && ret->n > 0)
        return;
    if (managed_decode(a, jsn_get(live, "metadata.managedFields"), ret, NULL) < 0)
        *ret = (struct managed_entries){0};
}

struct jsn *managed_update(struct arena *a, const struct managed_request *req,
                           const struct jsn *live, const struct jsn *object)
{
    struct jsn *out = managed_strip(a, object);
    const struct jsn *before = live ? live : req->empty;
    struct managed_entries entries;

    choose_entries(a, req, live, object, &entries);
    if (live && entries.n == 0)
        return out;
    before = managed_strip(a, before);
    if (managed_note(a, req, req->manager, before, out, &entries, NULL) == 0)
        managed_put(a, out, managed_encode(a, &entries));
    return out;
}
