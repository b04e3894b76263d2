/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The life of namespaces.
 *
 * The namespaces that every cluster has are made, and made again when somebody has deleted one.  A
 * new namespace gets its service account "default" and the authority's certificate, which pods
 * need to talk to the API.  One that is being deleted is emptied: every
 * object in it is deleted as a client would (finalizers and grace periods count), and when nothing
 * is left the namespace's own finalizer comes off and it goes.  Until then its conditions say what
 * it waits for.
 */
#include "src/cluster/apiserver/namespaces.h"

#include "src/base/alloc.h"
#include "src/base/log.h"
#include "src/cluster/apiserver/access.h"
#include "src/cluster/apiserver/object.h"
#include "src/cluster/apiserver/status.h"
#include "src/cluster/apiserver/workset.h"
#include "src/cluster/apiserver/write.h"

#define BATCH 8
#define RETRY_MS 1000

struct namespaces {
    struct apiserver *server;
    struct workset work;
    struct map ending; /* names of namespaces that are being emptied */
};

static const char *const always[] = {"default", "kube-system", "kube-public", "kube-node-lease"};

static bool is_always(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(always); i++)
        if (streq(name, always[i]))
            return true;
    return false;
}

static const struct resource *core(struct apiserver *s, const char *plural)
{
    return registry_find(s->registry, STR(""), STR("v1"), str_of(plural));
}

/* The authority's certificate may have been renewed. */
static int refresh(struct api_call *c, struct jsn *object, const char *data_key, const char *data)
{
    struct write_update how = {.unconditional = true};
    struct jsn *changed;

    if (!data_key || object_deleting(object) ||
        streq(jsn_text(jsn_key(jsn_key(object, "data"), data_key)), data))
        return 0;
    changed = jsn_clone(&c->arena, object);
    jsn_set_str(&c->arena, jsn_ensure_object(&c->arena, changed, "data"), data_key, data);
    return write_update(c, object, changed, &how);
}

static int ensure(struct apiserver *s, const char *plural, const char *ns, const char *name,
                  const char *data_key, const char *data)
{
    AUTO(call_done_inner) struct api_call c;
    struct jsn *object = NULL;
    int r;

    call_init_inner(&c, s, core(s, plural));
    c.ns = ns;
    r = object_find(&c, ns, name, &object);
    if (r == 0)
        return refresh(&c, object, data_key, data);
    if (r != -ENOENT)
        return r;
    object = jsn_object(&c.arena);
    jsn_set_path(&c.arena, object, "metadata.name", jsn_string(&c.arena, name));
    if (data_key) {
        jsn_set(&c.arena, object, "data", jsn_object(&c.arena));
        jsn_set_str(&c.arena, jsn_key(object, "data"), data_key, data);
    }
    r = write_create(&c, object);
    if (r < 0)
        log_warn("%s '%s' could not be made: %s", plural, name, jsn_get_str(c.failure, "message"));
    return r;
}

/* What is still in a namespace, and deleting it. */
struct emptying {
    struct apiserver *server;
    const char *ns;
    struct arena arena;
    struct jsn *resources; /* names */
    struct jsn *left;      /* {"pods": 3} */
};

static bool add_resource(void *arg, const char *resource)
{
    struct emptying *x = arg;

    jsn_append(&x->arena, x->resources, jsn_string(&x->arena, resource));
    return true;
}

struct content {
    struct api_call *c;
    struct jsn *objects;
};

static bool add_object(void *arg, const struct store_row *row)
{
    struct content *t = arg;
    struct jsn *object = NULL;

    if (object_of_row(t->c, row, &object) == 0)
        jsn_append(&t->c->arena, t->objects, object);
    return true;
}

static int delete_content(struct emptying *x, const char *resource)
{
    const struct resource *res = registry_find_stored(x->server->registry, resource);
    struct delete_options o = {.grace_s = -1, .propagation = PROPAGATE_BACKGROUND};
    AUTO(call_done_inner) struct api_call c = {0};
    struct store_list q = {.resource = resource, .ns = x->ns};
    struct content t = {.c = &c};
    size_t left = 0;

    if (!res)
        return 0;
    call_init_inner(&c, x->server, res);
    t.objects = jsn_array(&c.arena);
    if (store_each(x->server->store, &q, add_object, &t, NULL) < 0)
        return -EIO;
    JSN_FOR_ITEMS (object, t.objects) {
        struct jsn *answer;

        if (!object_deleting(object) && write_delete(&c, object, &o, &answer) < 0)
            return -EIO;
        left += jsn_len(jsn_get(object, "metadata.finalizers")) > 0 ||
                jsn_get_int(object, "metadata.deletionGracePeriodSeconds", 0) > 0;
    }
    if (left)
        jsn_set_int(&x->arena, x->left, resource, (int64_t)left);
    return 0;
}

/* The content is gone: our finalizer comes off; others may still hold the namespace. */
static int finish(struct api_call *c, struct jsn *object)
{
    struct write_update how = {.unconditional = true};
    struct jsn *kept = jsn_array(&c->arena);
    struct jsn *changed = jsn_clone(&c->arena, object);

    JSN_FOR_ITEMS (item, jsn_get(object, "spec.finalizers"))
        if (!streq(jsn_text(item), "kubernetes"))
            jsn_append(&c->arena, kept, item);
    jsn_set_path(&c->arena, changed, "spec.finalizers", kept);
    if (jsn_len(kept) == 0)
        (void)jsn_del_path(changed, "spec.finalizers");
    c->finalizing = true;
    return write_update(c, object, changed, &how);
}

static void add_condition(struct arena *a, struct jsn *list, const char *type, const char *reason,
                          const char *message, const char *now)
{
    struct jsn *o = jsn_object(a);

    jsn_set_str(a, o, "type", type);
    jsn_set_str(a, o, "status", "True");
    jsn_set_str(a, o, "lastTransitionTime", now);
    jsn_set_str(a, o, "reason", reason);
    jsn_set_str(a, o, "message", message);
    jsn_append(a, list, o);
}

/* Say what it waits for; nothing is written while that stays the same. */
static int explain(struct api_call *c, struct jsn *object, const struct jsn *left)
{
    AUTO(buf_done) struct buf b = {0};
    struct write_update how = {.unconditional = true};
    struct jsn *changed = jsn_clone(&c->arena, object);
    struct jsn *list = jsn_array(&c->arena);
    const struct jsn *old = jsn_item(jsn_get(object, "status.conditions"), 0);

    buf_adds(&b, "Some resources are remaining: ");
    JSN_FOR_MEMBERS (m, left)
        buf_printf(&b, "%s" STR_FMT " has %lld resource instances", m_i ? ", " : "",
                   STR_ARG(m->key), (long long)m->value->i);
    if (old && streq(jsn_get_str(old, "message"), buf_str(&b)))
        return 0;
    add_condition(&c->arena, list, "NamespaceContentRemaining", "SomeResourcesRemain", buf_str(&b),
                  call_now(c));
    jsn_set_path(&c->arena, changed, "status.conditions", list);
    c->sub = resource_sub(c->res, STR("status"));
    return write_update(c, object, changed, &how);
}

static int empty(struct namespaces *n, const char *name, struct api_call *c, struct jsn *object)
{
    struct emptying x = {.server = n->server, .ns = name};
    int r;

    x.resources = jsn_array(&x.arena);
    x.left = jsn_object(&x.arena);
    r = store_resources_in(n->server->store, name, add_resource, &x, NULL);
    JSN_FOR_ITEMS (item, x.resources)
        if (r == 0)
            r = delete_content(&x, jsn_text(item));
    if (r == 0)
        r = jsn_len(x.left) == 0 ? finish(c, object) : explain(c, object, x.left);
    arena_done(&x.arena);
    return r;
}

static void look(void *arg, const char *name)
{
    struct namespaces *n = arg;
    AUTO(call_done_inner) struct api_call c;
    struct jsn *object = NULL;
    int r;

    call_init_inner(&c, n->server, core(n->server, "namespaces"));
    r = object_find(&c, "", name, &object);
    if (r == 0 && !object_deleting(object)) {
        (void)ensure(n->server, "serviceaccounts", name, "default", NULL, NULL);
        (void)ensure(n->server, "configmaps", name, "kube-root-ca.crt", "ca.crt",
                     access_authority(n->server->access));
        return;
    }
    if (r == 0)
        r = empty(n, name, &c, object);
    if (r == -ENOENT) {
        (void)map_take(&n->ending, str_of(name));
        if (is_always(name))
            (void)ensure(n->server, "namespaces", "", name, NULL, NULL);
    } else if (r < 0) {
        log_warn("namespace '%s' could not be emptied, trying again in %d ms", name, RETRY_MS);
        workset_add_later(&n->work, name, RETRY_MS);
    }
}

void namespaces_event(struct namespaces *n, const struct store_event *ev)
{
    const struct store_key *k = &ev->row.key;

    if (streq(k->resource, "namespaces")) {
        if (ev->change == STORE_DELETED)
            (void)map_take(&n->ending, str_of(k->name));
        else if (memmem(ev->row.data.p, ev->row.data.n, "\"deletionTimestamp\"", 19))
            (void)map_put(&n->ending, str_of(k->name), n);
        if (ev->change != STORE_DELETED || is_always(k->name))
            workset_add(&n->work, k->name);
    } else if (k->ns[0] && ev->change == STORE_DELETED && map_get(&n->ending, str_of(k->ns))) {
        workset_add(&n->work, k->ns);
    }
}

static bool start_row(void *arg, const struct store_row *row)
{
    struct namespaces *n = arg;

    if (memmem(row->data.p, row->data.n, "\"deletionTimestamp\"", 19))
        (void)map_put(&n->ending, str_of(row->key.name), n);
    workset_add(&n->work, row->key.name);
    return true;
}

void namespaces_look_again(struct namespaces *n)
{
    struct store_list q = {.resource = "namespaces"};

    (void)!store_each(n->server->store, &q, start_row, n, NULL);
}

int namespaces_start(struct namespaces *n, struct err *e)
{
    struct store_list q = {.resource = "namespaces"};

    for (size_t i = 0; i < ARRAY_LEN(always); i++)
        if (ensure(n->server, "namespaces", "", always[i], NULL, NULL) < 0)
            return err_set(e, -EIO, ERR_RETRY, "namespace '%s' could not be made", always[i]);
    return store_each(n->server->store, &q, start_row, n, e);
}

struct namespaces *namespaces_new(struct apiserver *s)
{
    struct namespaces *n = xcalloc(1, sizeof(*n));

    n->server = s;
    workset_init(&n->work, s->loop, BATCH, look, n);
    return n;
}

struct namespaces *namespaces_free(struct namespaces *n)
{
    if (!n)
        return NULL;
    workset_done(&n->work);
    map_done(&n->ending);
    free(n);
    return NULL;
}
