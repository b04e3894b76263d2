/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The life of CustomResourceDefinitions inside the API server.
 *
 * The controller keeps the committed state of every definition.  A committed change is taken up at
 * once: what is accepted is served from that moment, what is gone is not.  Everything that has to
 * be written happens in a later turn, from a set of names to look at:
 *
 *     new or changed        -> names settled, conditions written; those that this may have freed
 *                              names for are looked at again
 *     marked for deletion   -> its objects are deleted as a client would, a few hundred a turn;
 *                              when none is left the finalizer comes off and the definition goes
 *
 * Requests in flight keep the resource they began with (it is counted), so that a change of the
 * registry is atomic for them.
 */
#include "src/cluster/apiserver/crd/controller.h"

#include "src/base/alloc.h"
#include "src/base/hash.h"
#include "src/base/log.h"
#include "src/cluster/apiserver/crd/definition.h"
#include "src/cluster/apiserver/object.h"
#include "src/cluster/apiserver/status.h"
#include "src/cluster/apiserver/watch.h"
#include "src/cluster/apiserver/workset.h"
#include "src/cluster/apiserver/write.h"

#define BATCH 16
#define DELETE_BATCH 256
#define RETRY_MS 1000

/* One definition as it was last committed. */
struct entry {
    struct arena arena;
    struct jsn *crd; /* with metadata.name, in stored form */
    uint64_t served; /* hash of what the registry has of it; 0: nothing */
};

struct crd_controller {
    struct apiserver *server;
    struct workset work;
    struct map entries; /* by name */
};

static void free_entry(void *p)
{
    struct entry *x = p;

    arena_done(&x->arena);
    free(x);
}

static const struct resource *definitions(struct apiserver *s)
{
    return registry_find(s->registry, STR("apiextensions.k8s.io"), STR("v1"),
                         STR("customresourcedefinitions"));
}

/* The definition with the names it was granted. */
static struct jsn *granted(struct arena *a, const struct jsn *crd)
{
    struct jsn *o = jsn_clone(a, crd);
    struct jsn *names = jsn_get(o, "status.acceptedNames");

    jsn_set_path(a, o, "spec.names", names);
    return o;
}

static uint64_t hash_of(const struct jsn *crd)
{
    AUTO(buf_done) struct buf b = {0};

    jsn_print(&b, jsn_key(crd, "spec"));
    return hash_str(buf_view(&b)) | 1;
}

/* Watches show objects by the schema they began with; their clients come back for the new one. */
static void end_watches(struct crd_controller *c, const char *name)
{
    if (c->server->watches)
        watch_hub_close_resource(c->server->watches, name);
}

/* Make the registry agree with what was committed. */
static void serve(struct crd_controller *c, struct entry *x)
{
    AUTO(arena_done) struct arena a = {0};
    const char *name = jsn_get_str(x->crd, "metadata.name");
    struct err e = {0};
    struct jsn *crd;
    uint64_t hash;

    if (!definition_served(x->crd))
        return;
    crd = granted(&a, x->crd);
    hash = hash_of(crd);
    if (hash == x->served)
        return;
    if (registry_put_crd(c->server->registry, crd, &e) < 0) {
        log_error("custom resource definition '%s' cannot be served: %s", name, e.text);
        return;
    }
    if (x->served)
        end_watches(c, name);
    x->served = hash;
}

static struct entry *parse_entry(const struct store_row *row)
{
    struct entry *x = xcalloc(1, sizeof(*x));
    struct err e = {0};

    if (jsn_parse(&x->arena, row->data, NULL, &x->crd, &e) == 0)
        return x;
    log_error("custom resource definition '%s' is unreadable and not served: %s", row->key.name,
              e.text);
    free_entry(x);
    return NULL;
}

static void take_in(struct crd_controller *c, const struct store_row *row)
{
    struct entry *old = map_get(&c->entries, str_of(row->key.name));
    struct entry *x = parse_entry(row);

    if (!x)
        return;
    x->served = old ? old->served : 0;
    (void)map_put(&c->entries, str_of(row->key.name), x);
    serve(c, x);
    workset_add(&c->work, row->key.name);
}

/* Others in the group may have waited for a name. */
static void look_at_group(struct crd_controller *c, const char *group, const char *but)
{
    struct entry *x;
    size_t at = 0;

    while (map_next(&c->entries, &at, NULL, &x)) {
        const char *name = jsn_get_str(x->crd, "metadata.name");

        if (name && !streq(name, but) && streq(jsn_get_str(x->crd, "spec.group"), group) &&
            !definition_is(x->crd, "NamesAccepted"))
            workset_add(&c->work, name);
    }
}

static void forget(struct crd_controller *c, const char *name)
{
    struct entry *x = map_take(&c->entries, str_of(name));

    (void)registry_drop_crd(c->server->registry, name);
    end_watches(c, name);
    if (!x)
        return;
    look_at_group(c, jsn_get_str(x->crd, "spec.group"), name);
    free_entry(x);
}

void crd_controller_event(struct crd_controller *c, const struct store_event *ev)
{
    const struct store_key *k = &ev->row.key;
    const struct entry *x;

    if (streq(k->resource, DEFINITION_RESOURCE)) {
        if (ev->change == STORE_DELETED)
            forget(c, k->name);
        else
            take_in(c, &ev->row);
        return;
    }
    if (ev->change != STORE_DELETED)
        return;
    x = map_get(&c->entries, str_of(k->resource));
    if (x && object_deleting(x->crd))
        workset_add(&c->work, k->resource);
}

bool crd_controller_ending(const struct crd_controller *c, const struct resource *res)
{
    AUTO(free) char *name = xasprintf("%s.%s", res->plural, res->group);
    const struct entry *x = map_get(&c->entries, str_of(name));

    return x && (object_deleting(x->crd) || definition_is(x->crd, "Terminating"));
}

/* What is built into this group, which no definition may take. */
static void built_in_names(struct apiserver *s, struct arena *a, const char *group,
                           struct definition_taken *taken)
{
    const char **resources = NULL, **kinds = NULL;
    size_t n = 0, n_resources = 0, cap_resources = 0, n_kinds = 0, cap_kinds = 0;
    const struct registry_gv *gvs = registry_gvs(s->registry, &n);

    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; streq(gvs[i].group, group) && j < gvs[i].n_resources; j++) {
            const struct resource *r = gvs[i].resources[j];

            if (r->custom)
                continue;
            arena_reserve(a, &resources, &cap_resources, n_resources + 1, sizeof(*resources));
            arena_reserve(a, &kinds, &cap_kinds, n_kinds + 1, sizeof(*kinds));
            resources[n_resources++] = r->plural;
            kinds[n_kinds++] = r->kind;
        }
    }
    arena_reserve(a, &resources, &cap_resources, n_resources + 1, sizeof(*resources));
    arena_reserve(a, &kinds, &cap_kinds, n_kinds + 1, sizeof(*kinds));
    resources[n_resources] = kinds[n_kinds] = NULL;
    taken->resources = resources;
    taken->kinds = kinds;
}

static struct jsn *all_definitions(struct crd_controller *c, struct arena *a)
{
    struct jsn *list = jsn_array(a);
    struct entry *x;
    size_t at = 0;

    while (map_next(&c->entries, &at, NULL, &x))
        jsn_append(a, list, x->crd);
    return list;
}

static int write_status(struct api_call *call, const struct jsn *old, struct jsn *crd)
{
    struct write_update how = {.unconditional = true};

    call->sub = resource_sub(call->res, STR("status"));
    return write_update(call, old, crd, &how);
}

static int settle_names(struct crd_controller *c, struct api_call *call, const struct jsn *crd)
{
    const char *group = jsn_get_str(crd, "spec.group");
    struct definition_taken taken = {.others = all_definitions(c, &call->arena)};
    struct jsn *next;

    built_in_names(c->server, &call->arena, group ? group : "", &taken);
    next = definition_next(&call->arena, crd, &taken, call_now(call));
    return next ? write_status(call, crd, next) : 0;
}

/* The objects of a definition that are still there. */
struct instances {
    struct api_call *call;
    struct jsn *objects;
    bool more;
};

static bool add_instance(void *arg, const struct store_row *row)
{
    struct instances *x = arg;
    struct jsn *object;

    if (jsn_len(x->objects) >= DELETE_BATCH) {
        x->more = true;
        return false;
    }
    if (object_of_row(x->call, row, &object) == 0)
        jsn_append(&x->call->arena, x->objects, object);
    return true;
}

/* Delete what can be deleted now; *ret_left says whether anything remains. */
static int delete_instances(struct crd_controller *c, const char *name, bool *ret_left)
{
    const struct resource *res = registry_find_stored(c->server->registry, name);
    struct delete_options o = {.grace_s = -1, .propagation = PROPAGATE_BACKGROUND};
    AUTO(call_done_inner) struct api_call call = {0};
    struct store_list q = {.resource = name};
    struct instances x = {.call = &call};
    struct jsn *answer;

    *ret_left = false;
    if (!res)
        return 0;
    call_init_inner(&call, c->server, res);
    x.objects = jsn_array(&call.arena);
    if (store_each(c->server->store, &q, add_instance, &x, NULL) < 0)
        return -EIO;
    JSN_FOR_ITEMS (object, x.objects) {
        if (!object_deleting(object) && write_delete(&call, object, &o, &answer) < 0)
            return -EIO;
        *ret_left |= jsn_len(jsn_get(object, "metadata.finalizers")) > 0;
    }
    if (x.more)
        workset_add(&c->work, name);
    *ret_left |= x.more;
    return 0;
}

static int let_go(struct api_call *call, const struct jsn *crd)
{
    struct write_update how = {.unconditional = true};
    struct jsn *changed = jsn_clone(&call->arena, crd);
    struct jsn *list = jsn_get(changed, "metadata.finalizers");

    for (size_t i = jsn_len(list); i > 0; i--)
        if (streq(jsn_text(jsn_item(list, i - 1)), DEFINITION_FINALIZER))
            jsn_remove_at(list, i - 1);
    if (jsn_len(list) == 0)
        (void)jsn_del_path(changed, "metadata.finalizers");
    call->sub = NULL;
    return write_update(call, crd, changed, &how);
}

static bool is_held(const struct jsn *crd)
{
    JSN_FOR_ITEMS (item, jsn_get(crd, "metadata.finalizers"))
        if (streq(jsn_text(item), DEFINITION_FINALIZER))
            return true;
    return false;
}

static int say_ending(struct api_call *call, const struct jsn *crd)
{
    struct jsn *changed = jsn_clone(&call->arena, crd);

    definition_set_condition(&call->arena, changed, "Terminating", "True",
                             "InstanceDeletionInProgress", "CustomResource deletion is in progress",
                             call_now(call));
    return jsn_equal(crd, changed) ? 0 : write_status(call, crd, changed);
}

static int end(struct crd_controller *c, struct api_call *call, const struct jsn *crd,
               const char *name)
{
    bool left = false;
    int r = 0;

    if (!is_held(crd))
        return 0;
    if (definition_is(crd, "Established"))
        r = delete_instances(c, name, &left);
    if (r < 0)
        return r;
    return left ? say_ending(call, crd) : let_go(call, crd);
}

static void look(void *arg, const char *name)
{
    struct crd_controller *c = arg;
    AUTO(call_done_inner) struct api_call call;
    struct jsn *crd;
    int r;

    call_init_inner(&call, c->server, definitions(c->server));
    call.manager = "kube-apiserver";
    call.name = name;
    r = object_find(&call, "", name, &crd);
    if (r == -ENOENT)
        return;
    if (r == 0)
        r = object_deleting(crd) ? end(c, &call, crd, name) : settle_names(c, &call, crd);
    if (r == 0) {
        /* A commit that fails undoes the write without a word: look whether it is there. */
        if (store_dirty(c->server->store))
            workset_add_later(&c->work, name, RETRY_MS);
        return;
    }
    log_warn("custom resource definition '%s' could not be looked after, trying again in %d ms: %s",
             name, RETRY_MS,
             call.failure ? jsn_get_str(call.failure, "message") : "the store does not answer");
    workset_add_later(&c->work, name, RETRY_MS);
}

static bool start_row(void *arg, const struct store_row *row)
{
    take_in(arg, row);
    return true;
}

int crd_controller_start(struct crd_controller *c, struct err *e)
{
    struct store_list q = {.resource = DEFINITION_RESOURCE};

    return store_each(c->server->store, &q, start_row, c, e);
}

struct crd_controller *crd_controller_new(struct apiserver *s)
{
    struct crd_controller *c = xcalloc(1, sizeof(*c));

    c->server = s;
    workset_init(&c->work, s->loop, BATCH, look, c);
    map_init(&c->entries, free_entry);
    return c;
}

struct crd_controller *crd_controller_free(struct crd_controller *c)
{
    if (!c)
        return NULL;
    workset_done(&c->work);
    map_done(&c->entries);
    free(c);
    return NULL;
}
