/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The API server for controllers inside of its process.
 *
 * Each write is a call of the server's own making and goes the way of a client's.  Nothing can come
 * between a controller's reads and its writes as long as both happen in one turn; but one plan may
 * write an object twice, so an update starts from the state that is there now, and keeps what the
 * server itself puts into metadata.
 */
#include "src/cluster/apiserver/inside.h"

#include "src/base/alloc.h"
#include "src/cluster/apiserver/object.h"
#include "src/cluster/apiserver/server.h"
#include "src/cluster/apiserver/status.h"
#include "src/cluster/apiserver/write.h"

struct loop *inside_loop(const struct apiserver *s)
{
    return s->loop;
}

struct inside_type inside_type(const struct apiserver *s, struct arena *a, const char *resource)
{
    const struct resource *res = registry_find_stored(s->registry, resource);

    return (struct inside_type){object_api_version(a, res), res->kind};
}

int inside_get(struct apiserver *s, struct arena *a, const struct store_key *k,
               struct jsn **ret_object, struct err *e)
{
    struct store_row row;
    int r = store_get(s->store, k, a, &row, e);

    if (r < 0)
        return r;
    if (jsn_parse(a, row.data, NULL, ret_object, e) < 0)
        return err_wrap(e, -EBADMSG, "the stored %s '%s' is corrupt", k->resource, k->name);
    return 0;
}

int inside_each(struct apiserver *s, const char *resource, const char *ns, store_row_fn fn,
                void *arg, struct err *e)
{
    struct store_list list = {.resource = resource, .ns = ns};

    return store_each(s->store, &list, fn, arg, e);
}

void inside_each_pending(struct apiserver *s, const char *resource, store_row_fn fn, void *arg)
{
    store_each_pending(s->store, resource, fn, arg);
}

void inside_observe(struct apiserver *s, store_event_fn fn, void *arg)
{
    array_reserve(&s->observers, &s->cap_observers, s->n_observers + 1, sizeof(*s->observers));
    s->observers[s->n_observers++] = (struct apiserver_observer){fn, arg};
}

/* The sentence of a call that failed. */
static int failed(const struct api_call *c, struct err *e)
{
    const char *text = jsn_get_str(c->failure, "message");

    return err_set(e, -EIO, ERR_RETRY, "%s", text ? text : "the store failed");
}

static void begin(struct api_call *c, struct apiserver *s, const char *resource,
                  const struct jsn *object)
{
    call_init_inner(c, s, registry_find_stored(s->registry, resource));
    c->ns = object_namespace(object);
}

/* The object as it is now; *ret_now is NULL if it is not the one that is meant any more. */
static int find_same(struct api_call *c, const struct jsn *object, struct jsn **ret_now)
{
    int r = object_find(c, c->ns, object_name(object), ret_now);

    if (r == -ENOENT || (r == 0 && !streq(object_uid(*ret_now), object_uid(object)))) {
        *ret_now = NULL;
        return 0;
    }
    return r;
}

/* Begin a write of an object that is there; *ret_now is NULL where nothing is to be done. */
static int begin_on(struct api_call *c, struct apiserver *s, const char *resource,
                    const struct jsn *object, struct jsn **ret_now, struct err *e)
{
    begin(c, s, resource, object);
    return find_same(c, object, ret_now) < 0 ? failed(c, e) : 0;
}

/* An earlier write of this turn may have moved what the server itself keeps in metadata. */
static void keep_own(struct arena *a, struct jsn *wanted, const struct jsn *now)
{
    static const char *const own[] = {"managedFields", "resourceVersion"};
    struct jsn *meta = jsn_ensure_object(a, wanted, "metadata");

    for (size_t i = 0; i < ARRAY_LEN(own); i++) {
        struct jsn *v = jsn_key(jsn_key(now, "metadata"), own[i]);

        if (v)
            jsn_set(a, meta, own[i], jsn_clone(a, v));
    }
}

int inside_create(struct apiserver *s, const char *resource, const struct jsn *object,
                  struct err *e)
{
    AUTO(call_done_inner) struct api_call c;

    begin(&c, s, resource, object);
    return write_create(&c, jsn_clone(&c.arena, object)) < 0 ? failed(&c, e) : 0;
}

int inside_update(struct apiserver *s, const char *resource, const struct jsn *object,
                  struct err *e)
{
    static const struct write_update how = {.unconditional = true};
    AUTO(call_done_inner) struct api_call c;
    struct jsn *wanted;
    struct jsn *now;
    int r = begin_on(&c, s, resource, object, &now, e);

    if (r < 0 || !now)
        return r;
    wanted = jsn_clone(&c.arena, object);
    keep_own(&c.arena, wanted, now);
    return write_update(&c, now, wanted, &how) < 0 ? failed(&c, e) : 0;
}

int inside_update_status(struct apiserver *s, const char *resource, const struct jsn *object,
                         struct err *e)
{
    static const struct write_update how = {.unconditional = true};
    const struct jsn *annotations = jsn_get(object, "metadata.annotations");
    AUTO(call_done_inner) struct api_call c;
    struct jsn *wanted;
    struct jsn *now;
    int r = begin_on(&c, s, resource, object, &now, e);

    if (r < 0 || !now)
        return r;
    c.sub = resource_sub(c.res, STR("status"));
    wanted = jsn_clone(&c.arena, now);
    jsn_set(&c.arena, wanted, "status", jsn_clone(&c.arena, jsn_key(object, "status")));
    if (annotations)
        jsn_set_path(&c.arena, wanted, "metadata.annotations", jsn_clone(&c.arena, annotations));
    return write_update(&c, now, wanted, &how) < 0 ? failed(&c, e) : 0;
}

int inside_delete(struct apiserver *s, const char *resource, const struct jsn *object,
                  struct err *e)
{
    static const struct delete_options o = {.grace_s = -1, .propagation = PROPAGATE_BACKGROUND};
    AUTO(call_done_inner) struct api_call c;
    struct jsn *answer;
    struct jsn *now;
    int r = begin_on(&c, s, resource, object, &now, e);

    if (r < 0 || !now || object_deleting(now))
        return r;
    return write_delete(&c, now, &o, &answer) < 0 ? failed(&c, e) : 0;
}

void inside_admit(struct apiserver *s, inside_admit_fn fn, void *arg)
{
    s->admit = fn;
    s->admit_arg = arg;
}

void inside_refuse(struct inside_write *w, const char *reason, const char *field,
                   const char *sentence)
{
    cause_add(w->causes, reason, field, "%s", sentence);
}

void inside_warn(struct inside_write *w, const char *field, const char *sentence)
{
    call_warn(w->call, "%s: %s", field, sentence);
}
