/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Garbage collection.
 *
 * An object whose owners are all gone is deleted (background).  An owner that is deleted in the
 * foreground waits, by its finalizer, until the dependents that block it are gone; one that orphans
 * has itself taken out of its dependents' owner references first.
 *
 * For each dependent an owner reference is solid (the owner is there, with that uid), dangling (it
 * is not, or has another uid) or waiting (it is being deleted in the foreground).  One solid owner
 * keeps the dependent; its other references are then removed.  An owner of a kind that nobody
 * serves cannot be judged and counts as solid: we never delete on ignorance.
 *
 * An object is looked at when it comes, when its owner references change, when it is being deleted,
 * and when one of its owners goes; other changes, such as every status of every pod, tell nothing
 * new.  References that change are looked at a moment later: the service that all NodeSets of a
 * cluster share has a thousand owners, and gets another one with each new NodeSet.
 *
 * Keys of the work set: "resource/namespace/name" of an object to look at.
 */
#include "src/cluster/apiserver/collector.h"

#include "src/base/alloc.h"
#include "src/base/log.h"
#include "src/base/map.h"
#include "src/cluster/apiserver/object.h"
#include "src/cluster/apiserver/status.h"
#include "src/cluster/apiserver/workset.h"
#include "src/cluster/apiserver/write.h"

#define BATCH 200
#define RETRY_MS 1000
#define GATHER_MS 250

struct collector {
    struct apiserver *server;
    struct workset work;
};

enum owner_state { OWNER_SOLID, OWNER_DANGLING, OWNER_WAITING };

struct owners {
    size_t solid;
    size_t dangling;
    size_t waiting;
};

static void enqueue(struct collector *g, const struct store_key *k)
{
    AUTO(free) char *key = xasprintf("%s/%s/%s", k->resource, k->ns, k->name);

    workset_add(&g->work, key);
}

static void enqueue_later(struct collector *g, const struct store_key *k)
{
    AUTO(free) char *key = xasprintf("%s/%s/%s", k->resource, k->ns, k->name);

    workset_add_later(&g->work, key, GATHER_MS);
}

static bool enqueue_row(void *arg, const struct store_row *row)
{
    enqueue(arg, &row->key);
    return true;
}

static bool has_finalizer(const struct jsn *object, const char *name)
{
    JSN_FOR_ITEMS (item, jsn_get(object, "metadata.finalizers"))
        if (streq(jsn_text(item), name))
            return true;
    return false;
}

const struct resource *collector_resource_of(struct apiserver *s, const struct jsn *ref)
{
    const char *version = jsn_get_str(ref, "apiVersion");
    const char *kind = jsn_get_str(ref, "kind");
    struct str v = str_of(version ? version : "");
    struct str group = STR("");
    size_t slash = str_find(v, '/');

    if (slash < v.n) {
        group = (struct str){v.p, slash};
        v = (struct str){v.p + slash + 1, v.n - slash - 1};
    }
    return kind ? registry_find_kind(s->registry, group, v, str_of(kind)) : NULL;
}

static int find_owner(struct apiserver *s, struct arena *a, const char *ns, const struct jsn *ref,
                      struct jsn **ret_owner, struct store_key *ret_key)
{
    const struct resource *res = collector_resource_of(s, ref);
    struct store_row row;
    struct err e = {0};
    int r;

    if (!res)
        return -ENODEV;
    res = res->stored ? res->stored : res;
    *ret_key = (struct store_key){resource_store_name(a, res), res->namespaced ? ns : "",
                                  jsn_get_str(ref, "name")};
    if (!ret_key->name)
        return -ENOENT;
    r = store_get(s->store, ret_key, a, &row, &e);
    if (r == 0)
        r = jsn_parse(a, row.data, NULL, ret_owner, &e);
    if (r == 0 && !streq(object_uid(*ret_owner), jsn_get_str(ref, "uid")))
        r = -ENOENT;
    return r;
}

static enum owner_state judge(struct apiserver *s, struct arena *a, const char *ns,
                              const struct jsn *ref)
{
    struct store_key key;
    struct jsn *owner = NULL;
    int r = find_owner(s, a, ns, ref, &owner, &key);

    if (r == -ENOENT)
        return OWNER_DANGLING;
    if (r < 0)
        return OWNER_SOLID;
    if (object_deleting(owner) && has_finalizer(owner, "foregroundDeletion"))
        return OWNER_WAITING;
    return OWNER_SOLID;
}

/* References that are no longer worth keeping go; `state` of each stands in `states`. */
static int drop_references(struct api_call *c, struct jsn *object, const enum owner_state *states)
{
    struct write_update how = {.unconditional = true};
    struct jsn *changed = jsn_clone(&c->arena, object);
    struct jsn *refs = jsn_get(changed, "metadata.ownerReferences");
    struct jsn *kept = jsn_array(&c->arena);

    for (size_t i = 0; i < jsn_len(refs); i++)
        if (states[i] == OWNER_SOLID)
            jsn_append(&c->arena, kept, jsn_item(refs, i));
    if (jsn_len(kept))
        jsn_set_path(&c->arena, changed, "metadata.ownerReferences", kept);
    else
        (void)jsn_del_path(changed, "metadata.ownerReferences");
    return write_update(c, object, changed, &how);
}

static bool stop_at_first(void *arg, const struct store_row *row)
{
    (void)row;
    *(bool *)arg = true;
    return false;
}

static bool has_dependents(struct apiserver *s, const char *uid)
{
    bool found = false;

    return store_dependents(s->store, uid, stop_at_first, &found, NULL) == 0 && found;
}

static int delete_dependent(struct api_call *c, struct jsn *object, const struct owners *o)
{
    struct delete_options options = {.grace_s = -1, .propagation = PROPAGATE_BACKGROUND};
    struct jsn *answer = NULL;
    bool waits;

    if (object_deleting(object) && !(o->waiting && !has_finalizer(object, "foregroundDeletion")))
        return 0;
    options.uid = object_uid(object);
    waits = o->waiting > 0 && has_dependents(c->server, object_uid(object));
    if (!waits && has_finalizer(object, "orphan"))
        options.propagation = PROPAGATE_ORPHAN;
    else if (waits || has_finalizer(object, "foregroundDeletion"))
        options.propagation = PROPAGATE_FOREGROUND;
    return write_delete(c, object, &options, &answer);
}

static int look_as_dependent(struct api_call *c, struct jsn *object)
{
    const struct jsn *refs = jsn_get(object, "metadata.ownerReferences");
    enum owner_state *states = arena_calloc(&c->arena, jsn_len(refs) + 1, sizeof(*states));
    struct owners o = {0};
    size_t i = 0;

    if (jsn_len(refs) == 0)
        return 0;
    JSN_FOR_ITEMS (ref, refs) {
        states[i] = judge(c->server, &c->arena, object_namespace(object), ref);
        o.solid += states[i] == OWNER_SOLID;
        o.dangling += states[i] == OWNER_DANGLING;
        o.waiting += states[i] == OWNER_WAITING;
        i++;
    }
    if (o.solid > 0)
        return o.dangling + o.waiting > 0 ? drop_references(c, object, states) : 0;
    return delete_dependent(c, object, &o);
}

static int remove_finalizer(struct api_call *c, struct jsn *object, const char *name)
{
    struct write_update how = {.unconditional = true};
    struct jsn *changed = jsn_clone(&c->arena, object);
    struct jsn *kept = jsn_array(&c->arena);

    JSN_FOR_ITEMS (item, jsn_get(object, "metadata.finalizers"))
        if (!streq(jsn_text(item), name))
            jsn_append(&c->arena, kept, item);
    if (jsn_len(kept))
        jsn_set_path(&c->arena, changed, "metadata.finalizers", kept);
    else
        (void)jsn_del_path(changed, "metadata.finalizers");
    return write_update(c, object, changed, &how);
}

/* The dependents of one owner, as objects with their resource's name. */
struct dependents {
    struct arena *arena;
    struct jsn *list; /* of {"key": .., "object": ..} */
};

static bool add_dependent(void *arg, const struct store_row *row)
{
    struct dependents *d = arg;
    struct jsn *entry = jsn_object(d->arena);
    struct jsn *object = NULL;

    if (jsn_parse(d->arena, row->data, NULL, &object, NULL) < 0)
        return true;
    jsn_set_str(d->arena, entry, "resource", row->key.resource);
    jsn_set(d->arena, entry, "object", object);
    jsn_append(d->arena, d->list, entry);
    return true;
}

static const struct jsn *reference_to(const struct jsn *object, const char *uid)
{
    JSN_FOR_ITEMS (ref, jsn_get(object, "metadata.ownerReferences"))
        if (streq(jsn_get_str(ref, "uid"), uid))
            return ref;
    return NULL;
}

/* Foreground: wake the dependents; done when none that blocks is left. */
static int end_foreground(struct collector *g, struct api_call *c, struct jsn *owner,
                          const struct dependents *d)
{
    bool blocked = false;

    JSN_FOR_ITEMS (entry, d->list) {
        const struct jsn *object = jsn_key(entry, "object");
        const struct jsn *ref = reference_to(object, object_uid(owner));
        struct store_key k = {jsn_get_str(entry, "resource"), object_namespace(object),
                              object_name(object)};

        if (!object_deleting(object))
            enqueue(g, &k);
        blocked = blocked || jsn_get_bool(ref, "blockOwnerDeletion", false);
    }
    return blocked ? 0 : remove_finalizer(c, owner, "foregroundDeletion");
}

static int orphan_one(struct apiserver *s, const struct jsn *entry, const char *uid)
{
    const struct resource *res = registry_find_stored(s->registry, jsn_get_str(entry, "resource"));
    struct write_update how = {.unconditional = true};
    AUTO(call_done_inner) struct api_call c;
    struct jsn *object = jsn_key(entry, "object");
    struct jsn *changed = NULL;
    struct jsn *refs;

    if (!res)
        return 0;
    call_init_inner(&c, s, res);
    changed = jsn_clone(&c.arena, object);
    refs = jsn_get(changed, "metadata.ownerReferences");
    for (size_t i = jsn_len(refs); i-- > 0;)
        if (streq(jsn_get_str(jsn_item(refs, i), "uid"), uid))
            jsn_remove_at(refs, i);
    if (jsn_len(refs) == 0)
        (void)jsn_del_path(changed, "metadata.ownerReferences");
    return write_update(&c, object, changed, &how);
}

static int look_as_owner(struct collector *g, struct api_call *c, struct jsn *owner)
{
    struct dependents d = {&c->arena, jsn_array(&c->arena)};
    bool orphan = has_finalizer(owner, "orphan");

    if (!object_deleting(owner) || (!orphan && !has_finalizer(owner, "foregroundDeletion")))
        return 0;
    if (store_dependents(c->server->store, object_uid(owner), add_dependent, &d, NULL) < 0)
        return -EIO;
    if (!orphan)
        return end_foreground(g, c, owner, &d);
    JSN_FOR_ITEMS (entry, d.list)
        if (orphan_one(c->server, entry, object_uid(owner)) < 0)
            return -EIO;
    return remove_finalizer(c, owner, "orphan");
}

/* "resource/namespace/name" taken apart, in the arena. */
static void split_key(struct arena *a, const char *key, struct store_key *ret)
{
    struct str rest = str_of(key);
    struct str part;

    (void)str_split(&rest, '/', &part);
    ret->resource = arena_str(a, part);
    (void)str_split(&rest, '/', &part);
    ret->ns = arena_str(a, part);
    ret->name = arena_str(a, rest);
}

static void look(void *arg, const char *key)
{
    struct collector *g = arg;
    AUTO(arena_done) struct arena a = {0};
    AUTO(call_done_inner) struct api_call c = {0};
    const struct resource *res;
    struct store_key k;
    struct jsn *object = NULL;
    int r;

    split_key(&a, key, &k);
    res = registry_find_stored(g->server->registry, k.resource);
    if (!res)
        return;
    call_init_inner(&c, g->server, res);
    r = object_find(&c, k.ns, k.name, &object);
    if (r == 0)
        r = look_as_owner(g, &c, object);
    if (r == 0)
        r = object_find(&c, k.ns, k.name, &object);
    if (r == 0)
        r = look_as_dependent(&c, object);
    if (r < 0 && r != -ENOENT) {
        log_warn("garbage collection of %s failed, trying again in %d ms: %s", key, RETRY_MS,
                 c.failure ? jsn_get_str(c.failure, "message") : "store error");
        workset_add_later(&g->work, key, RETRY_MS);
    }
}

/* An object is gone: its dependents are to be judged, and owners that waited for it. */
static void on_deleted(struct collector *g, const struct store_event *ev)
{
    AUTO(arena_done) struct arena a = {0};
    struct store_key key;
    struct jsn *owner = NULL;
    struct jsn *object = NULL;

    if (jsn_parse(&a, ev->row.data, NULL, &object, NULL) < 0)
        return;
    (void)!store_dependents(g->server->store, object_uid(object), enqueue_row, g, NULL);
    JSN_FOR_ITEMS (ref, jsn_get(object, "metadata.ownerReferences"))
        if (find_owner(g->server, &a, ev->row.key.ns, ref, &owner, &key) == 0 &&
            object_deleting(owner))
            enqueue(g, &key);
}

static bool mentions(struct str text, const char *word)
{
    return memmem(text.p, text.n, word, strlen(word)) != NULL;
}

/* The next list of owner references in a text, as it stands there; empty: no more. */
static struct str next_references(struct str *text)
{
    static const char head[] = "\"ownerReferences\":[";
    const char *start = text->n ? memmem(text->p, text->n, head, strlen(head)) : NULL;
    const char *end;
    struct str found;

    if (!start)
        return (struct str){0};
    end = memchr(start, ']', text->n - (size_t)(start - text->p));
    if (!end)
        end = text->p + text->n;
    found = (struct str){start, (size_t)(end - start)};
    *text = (struct str){end, text->n - (size_t)(end - text->p)};
    return found;
}

/* Stored texts are written one way, so the same references are the same text. */
static bool same_references(struct str before, struct str now)
{
    struct str a;
    struct str b;

    do {
        a = next_references(&before);
        b = next_references(&now);
        if (!str_eq(a, b))
            return false;
    } while (a.n);
    return true;
}

static bool blocks(const struct jsn *ref)
{
    return jsn_get_bool(ref, "blockOwnerDeletion", false) && jsn_get_str(ref, "uid");
}

/* An object has let go of owners: those that wait for it in the foreground may be done. */
static void enqueue_unblocked(struct collector *g, const struct store_event *ev)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(map_done) struct map still = {0};
    struct jsn *before = NULL;
    struct jsn *now = NULL;
    struct jsn *owner = NULL;
    struct store_key key;

    if (jsn_parse(&a, ev->prev, NULL, &before, NULL) < 0 ||
        jsn_parse(&a, ev->row.data, NULL, &now, NULL) < 0)
        return;
    JSN_FOR_ITEMS (ref, jsn_get(now, "metadata.ownerReferences"))
        if (blocks(ref))
            (void)map_put(&still, str_of(jsn_get_str(ref, "uid")), g);
    JSN_FOR_ITEMS (ref, jsn_get(before, "metadata.ownerReferences"))
        if (blocks(ref) && !map_get(&still, str_of(jsn_get_str(ref, "uid"))) &&
            find_owner(g->server, &a, ev->row.key.ns, ref, &owner, &key) == 0 &&
            object_deleting(owner))
            enqueue(g, &key);
}

void collector_event(struct collector *g, const struct store_event *ev)
{
    bool moved = ev->change == STORE_MODIFIED && !same_references(ev->prev, ev->row.data);

    if (moved)
        enqueue_unblocked(g, ev);
    if (ev->change == STORE_DELETED)
        on_deleted(g, ev);
    else if (mentions(ev->row.data, "\"deletionTimestamp\"") ||
             (ev->change == STORE_ADDED && mentions(ev->row.data, "\"ownerReferences\"")))
        enqueue(g, &ev->row.key);
    else if (moved)
        enqueue_later(g, &ev->row.key);
}

static bool start_owner(void *arg, const char *uid)
{
    struct collector *g = arg;

    return store_dependents(g->server->store, uid, enqueue_row, g, NULL) == 0;
}

static bool start_row(void *arg, const struct store_row *row)
{
    if (mentions(row->data, "\"deletionTimestamp\""))
        enqueue(arg, &row->key);
    return true;
}

int collector_start(struct collector *g, struct err *e)
{
    AUTO(arena_done) struct arena a = {0};
    size_t n;
    const struct registry_gv *gvs = registry_gvs(g->server->registry, &n);
    int r = store_owner_uids(g->server->store, start_owner, g, e);

    for (size_t i = 0; i < n && r == 0; i++) {
        for (size_t k = 0; k < gvs[i].n_resources && r == 0; k++) {
            struct store_list q = {.resource = resource_store_name(&a, gvs[i].resources[k])};

            if (!gvs[i].resources[k]->stored)
                r = store_each(g->server->store, &q, start_row, g, e);
        }
    }
    return r;
}

struct collector *collector_new(struct apiserver *s)
{
    struct collector *g = xcalloc(1, sizeof(*g));

    g->server = s;
    workset_init(&g->work, s->loop, BATCH, look, g);
    return g;
}

struct collector *collector_free(struct collector *g)
{
    if (!g)
        return NULL;
    workset_done(&g->work);
    free(g);
    return NULL;
}
