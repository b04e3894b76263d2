/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The entries of metadata.managedFields: decoding, encoding, their order and their number.
 *
 * The list on the wire is what tools read, so entries come out in Kubernetes' order: Apply before
 * Update, then by time, manager, version, subresource.  Update entries are capped: the oldest are
 * merged into one under "ancient-changes".
 */
#include "src/json/managed_entry.h"

#include "src/base/clock.h"

#define MAX_UPDATE_ENTRIES 10
#define ANCIENT "ancient-changes"

static const char *text_or(const struct jsn *v, const char *key, const char *otherwise)
{
    const char *text = jsn_get_str(v, key);

    return text ? text : otherwise;
}

static int decode_entry(struct arena *a, const struct jsn *v, size_t i, struct managed_entry *ret,
                        struct err *e)
{
    const char *operation = text_or(v, "operation", "");
    const char *type = text_or(v, "fieldsType", "");
    const struct jsn *fields = jsn_key(v, "fieldsV1");
    struct fieldset *set = arena_calloc(a, 1, sizeof(*set));
    int r = 0;

    if (!streq(operation, "Apply") && !streq(operation, "Update"))
        return err_bad(e, "operation must be `Apply` or `Update`");
    if (streq(text_or(v, "apiVersion", ""), ""))
        return err_bad(e, "apiVersion must not be empty");
    if (streq(type, ""))
        return err_bad(e, "missing fieldsType in managed fields entry %zu", i);
    if (!streq(type, "FieldsV1"))
        return err_bad(e, "invalid fieldsType \"%s\" in managed fields entry %zu", type, i);
    if (fields && fields->type != JSN_NULL)
        r = fieldset_from_jsn(a, fields, &set, e);
    if (r < 0)
        return err_wrap(e, r, "error decoding set of managed fields entry %zu", i);
    *ret = (struct managed_entry){
        .manager = text_or(v, "manager", ""),
        .applied = streq(operation, "Apply"),
        .api_version = text_or(v, "apiVersion", ""),
        .subresource = text_or(v, "subresource", ""),
        .time = jsn_get_str(v, "time"),
        .set = set,
    };
    return 0;
}

int managed_decode(struct arena *a, const struct jsn *list, struct managed_entries *ret_entries,
                   struct err *e)
{
    struct managed_entries entries = {0};
    size_t i = 0;

    JSN_FOR_ITEMS (item, list) {
        struct managed_entry entry;
        struct managed_entry *twin;
        int r = decode_entry(a, item, i++, &entry, e);

        if (r < 0)
            return r;
        twin = managed_find(&entries, &entry);
        if (twin)
            *twin = entry;
        else
            managed_add(a, &entries, entry);
    }
    *ret_entries = entries;
    return 0;
}

static bool same_identity(const struct managed_entry *x, const struct managed_entry *y)
{
    return x->applied == y->applied && streq(x->manager, y->manager) &&
           streq(x->subresource, y->subresource) &&
           (x->applied || streq(x->api_version, y->api_version));
}

struct managed_entry *managed_find(const struct managed_entries *entries,
                                   const struct managed_entry *identity)
{
    for (size_t i = 0; i < entries->n; i++)
        if (same_identity(&entries->items[i], identity))
            return &entries->items[i];
    return NULL;
}

void managed_add(struct arena *a, struct managed_entries *entries, struct managed_entry entry)
{
    arena_reserve(a, &entries->items, &entries->cap, entries->n + 1, sizeof(*entries->items));
    entries->items[entries->n++] = entry;
}

void managed_drop_empty(struct managed_entries *entries)
{
    size_t kept = 0;

    for (size_t i = 0; i < entries->n; i++)
        if (!fieldset_empty(entries->items[i].set))
            entries->items[kept++] = entries->items[i];
    entries->n = kept;
}

static int64_t seconds_of(const struct managed_entry *entry)
{
    int64_t us;

    if (!entry->time || clock_parse_rfc3339(str_of(entry->time), &us) < 0)
        return 0;
    return us / 1000000;
}

/* By age, and then by name: the order in which entries are merged. */
static int compare_age(const void *x, const void *y)
{
    const struct managed_entry *a = x;
    const struct managed_entry *b = y;
    int64_t at = seconds_of(a);
    int64_t bt = seconds_of(b);
    int c;

    if (at != bt)
        return at < bt ? -1 : 1;
    c = strcmp(a->manager, b->manager);
    if (!c)
        c = strcmp(a->api_version, b->api_version);
    return c ? c : strcmp(a->subresource, b->subresource);
}

static int compare_entries(const void *x, const void *y)
{
    const struct managed_entry *a = x;
    const struct managed_entry *b = y;

    if (a->applied != b->applied)
        return a->applied ? -1 : 1;
    return compare_age(x, y);
}

static void sort_entries(struct managed_entries *entries)
{
    if (entries->n > 1)
        qsort(entries->items, entries->n, sizeof(*entries->items), compare_entries);
}

static struct jsn *encode_entry(struct arena *a, const struct managed_entry *entry)
{
    struct jsn *v = jsn_object(a);

    if (entry->manager[0])
        jsn_set_str(a, v, "manager", entry->manager);
    jsn_set_str(a, v, "operation", entry->applied ? "Apply" : "Update");
    jsn_set_str(a, v, "apiVersion", entry->api_version);
    if (entry->time)
        jsn_set_str(a, v, "time", entry->time);
    jsn_set_str(a, v, "fieldsType", "FieldsV1");
    jsn_set(a, v, "fieldsV1", fieldset_to_jsn(a, entry->set));
    if (entry->subresource[0])
        jsn_set_str(a, v, "subresource", entry->subresource);
    return v;
}

struct jsn *managed_encode(struct arena *a, struct managed_entries *entries)
{
    struct jsn *list = jsn_array(a);

    if (entries->n == 0)
        return NULL;
    sort_entries(entries);
    for (size_t i = 0; i < entries->n; i++)
        jsn_append(a, list, encode_entry(a, &entries->items[i]));
    return list;
}

static void merge_into(struct arena *a, struct managed_entry *to, struct managed_entry *from)
{
    to->set = fieldset_union(a, to->set, from->set);
    from->set = NULL;
}

/* Merge an entry into the bucket of its version; without one, the first of the version becomes it.
 */
static void merge_old(struct arena *a, struct managed_entries *entries, struct managed_entry *first,
                      struct managed_entry *entry)
{
    struct managed_entry identity = {
        .manager = ANCIENT, .api_version = entry->api_version, .subresource = ""};
    struct managed_entry *bucket = managed_find(entries, &identity);

    if (bucket == entry) {
        merge_into(a, bucket, first);
        return;
    }
    if (!bucket) {
        bucket = first;
        bucket->manager = ANCIENT;
        bucket->subresource = "";
    }
    merge_into(a, bucket, entry);
    bucket->time = entry->time;
}

/* The oldest entry from `start` on that still has fields and is of the same version as `entry`. */
static struct managed_entry *first_of_version(struct managed_entry *start,
                                              struct managed_entry *entry)
{
    while (start < entry &&
           (fieldset_empty(start->set) || !streq(start->api_version, entry->api_version)))
        start++;
    return start;
}

void managed_cap(struct arena *a, struct managed_entries *entries)
{
    size_t updates = 0;
    size_t start;

    sort_entries(entries);
    for (size_t i = 0; i < entries->n; i++)
        updates += !entries->items[i].applied;
    if (updates <= MAX_UPDATE_ENTRIES)
        return;
    start = entries->n - updates;
    for (size_t i = start; i < entries->n && updates > MAX_UPDATE_ENTRIES; i++) {
        struct managed_entry *entry = &entries->items[i];
        struct managed_entry *first = first_of_version(&entries->items[start], entry);

        if (first == entry)
            continue;
        merge_old(a, entries, first, entry);
        updates--;
    }
    managed_drop_empty(entries);
}

struct jsn *managed_strip(struct arena *a, const struct jsn *object)
{
    struct jsn *out = jsn_object(a);
    struct jsn *meta = jsn_object(a);

    JSN_FOR_MEMBERS (m, object)
        jsn_set_member(a, out, m->key, m->value);
    if (!jsn_is(jsn_key(object, "metadata"), JSN_OBJECT))
        return out;
    JSN_FOR_MEMBERS (m, jsn_key(object, "metadata"))
        if (!str_eq(m->key, STR("managedFields")))
            jsn_set_member(a, meta, m->key, m->value);
    jsn_set(a, out, "metadata", meta);
    return out;
}

void managed_put(struct arena *a, struct jsn *object, struct jsn *list)
{
    if (list && !jsn_deeper_than(list, JSN_MAX_DEPTH - 2))
        jsn_set(a, jsn_ensure_object(a, object, "metadata"), "managedFields", list);
}

struct fieldset *managed_untracked(struct arena *a)
{
    return fieldset_of(a, "apiVersion", "kind", "metadata", "metadata.clusterName",
                       "metadata.creationTimestamp", "metadata.deletionTimestamp",
                       "metadata.deletionGracePeriodSeconds", "metadata.generation",
                       "metadata.managedFields", "metadata.name", "metadata.namespace",
                       "metadata.resourceVersion", "metadata.selfLink", "metadata.uid", NULL);
}
