/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cached collection.
 *
 * The reflector tells what the server has; here it becomes objects in a table by "namespace/name"
 * and in the indexes, and handlers hear of it.  Each list is a round: every object that is put is
 * marked with it, and at the end of the list those of older rounds are gone.  So a list after a
 * disconnect deletes what vanished meanwhile, and an object whose version did not change is not
 * told again.
 *
 * The table and the indexes are up to date before a handler is called.
 */
#include "src/kube/cache.h"

#include "src/base/alloc.h"
#include "src/base/map.h"
#include "src/kube/index.h"

struct kube_cache {
    struct kube_client *client;
    struct kube_reflector *reflector;
    struct kube_decoder decoder;
    bool has_decoder;
    bool keep_text;
    struct map objects; /* "namespace/name" -> struct kept_object, one reference */
    struct index_set indexes;
    struct kube_handler *handlers;
    size_t n_handlers;
    size_t cap_handlers;
    unsigned int round;
    bool synced;
    size_t bytes; /* of the objects */
    void (*trouble)(void *arg, const struct kube_failure *f, int64_t retry_ms);
    void *trouble_arg;
};

static void tell_added(struct kube_cache *c, const struct kube_object *o)
{
    for (size_t i = 0; i < c->n_handlers; i++) {
        if (c->handlers[i].added)
            c->handlers[i].added(c->handlers[i].arg, o);
    }
}

static void tell_updated(struct kube_cache *c, const struct kube_object *old,
                         const struct kube_object *o)
{
    for (size_t i = 0; i < c->n_handlers; i++) {
        if (c->handlers[i].updated)
            c->handlers[i].updated(c->handlers[i].arg, old, o);
    }
}

static void tell_deleted(struct kube_cache *c, const struct kube_object *o, bool is_final)
{
    for (size_t i = 0; i < c->n_handlers; i++) {
        if (c->handlers[i].deleted)
            c->handlers[i].deleted(c->handlers[i].arg, o, is_final);
    }
}

static char *key_of(const char *namespace, const char *name)
{
    return xasprintf("%s/%s", namespace ? namespace : "", name);
}

static char *key_of_object(const struct jsn *object)
{
    return key_of(jsn_get_str(object, "metadata.namespace"), jsn_get_str(object, "metadata.name"));
}

/* Out of the table and the indexes; the table's reference goes to the caller. */
static struct kept_object *take_out(struct kube_cache *c, struct str key)
{
    struct kept_object *k = map_take(&c->objects, key);

    if (!k)
        return NULL;
    index_set_remove(k);
    c->bytes -= k->bytes;
    return k;
}

static struct kept_object *make(struct kube_cache *c, const struct jsn *object)
{
    struct kept_object *k =
        kept_object_new(object, c->has_decoder ? &c->decoder : NULL, c->keep_text);

    k->round = c->round;
    return k;
}

static void delete_known(struct kube_cache *c, struct str key)
{
    struct kept_object *k = take_out(c, key);

    tell_deleted(c, &k->o, false);
    kept_object_free(k);
}

static void put(void *arg, struct jsn *object, struct arena *arena)
{
    struct kube_cache *c = arg;
    AUTO(free) char *key = key_of_object(object);
    struct kept_object *old = map_get(&c->objects, str_of(key));
    struct kept_object *k;

    (void)arena;
    if (old && streq(old->o.version, jsn_get_str(object, "metadata.resourceVersion")) &&
        streq(old->o.uid, jsn_get_str(object, "metadata.uid"))) {
        old->round = c->round;
        return;
    }
    k = make(c, object);
    if (old && !streq(old->o.uid, k->o.uid)) {
        delete_known(c, str_of(key));
        old = NULL;
    }
    if (old)
        (void)take_out(c, str_of(key));
    (void)map_put(&c->objects, str_of(key), k);
    index_set_add(&c->indexes, k, object);
    c->bytes += k->bytes;
    if (old)
        tell_updated(c, &old->o, &k->o);
    else
        tell_added(c, &k->o);
    kept_object_free(old);
}

void kube_cache_pretend(struct kube_cache *c, struct jsn *object)
{
    put(c, object, NULL);
}

static void drop(void *arg, struct jsn *object, struct arena *arena)
{
    struct kube_cache *c = arg;
    AUTO(free) char *key = key_of_object(object);
    struct kept_object *old = take_out(c, str_of(key));
    struct kept_object *final;

    (void)arena;
    if (!old)
        return;
    final = make(c, object);
    tell_deleted(c, &final->o, true);
    kept_object_free(final);
    kept_object_free(old);
}

static void begin(void *arg)
{
    struct kube_cache *c = arg;

    c->round++;
}

static void end(void *arg)
{
    struct kube_cache *c = arg;
    struct kept_object *k;
    struct str key;
    size_t at = 0;

    while (map_next(&c->objects, &at, &key, &k)) {
        AUTO(free) char *copy = NULL;

        if (k->round == c->round)
            continue;
        copy = str_dup(key);
        delete_known(c, str_of(copy));
    }
    if (c->synced)
        return;
    c->synced = true;
    for (size_t i = 0; i < c->n_handlers; i++) {
        if (c->handlers[i].synced)
            c->handlers[i].synced(c->handlers[i].arg);
    }
}

static void trouble(void *arg, const struct kube_failure *f, int64_t retry_ms)
{
    struct kube_cache *c = arg;

    if (c->trouble)
        c->trouble(c->trouble_arg, f, retry_ms);
}

struct kube_cache *kube_cache_new(struct kube_client *client, const struct kube_cache_options *o)
{
    struct kube_cache *c = xcalloc(1, sizeof(*c));
    struct kube_reflector_options ro = o->reflector;

    c->client = client;
    c->has_decoder = o->decoder != NULL;
    if (o->decoder)
        c->decoder = *o->decoder;
    c->keep_text = o->keep_text || !o->decoder;
    c->trouble = o->trouble;
    c->trouble_arg = o->trouble_arg;
    index_set_init(&c->indexes, o);
    ro.sink = (struct kube_sink){begin, put, drop, end, trouble, c};
    c->reflector = kube_reflector_new(client, &ro);
    return c;
}

struct kube_cache *kube_cache_free(struct kube_cache *c)
{
    struct kept_object *k;
    size_t at = 0;

    if (!c)
        return NULL;
    c->reflector = kube_reflector_free(c->reflector);
    while (map_next(&c->objects, &at, NULL, &k)) {
        index_set_remove(k);
        kept_object_free(k);
    }
    map_done(&c->objects);
    index_set_done(&c->indexes);
    free(c->handlers);
    free(c);
    return NULL;
}

bool kube_cache_synced(const struct kube_cache *c)
{
    return c->synced;
}

size_t kube_cache_count(const struct kube_cache *c)
{
    return c->objects.n;
}

size_t kube_cache_bytes(const struct kube_cache *c)
{
    size_t keys = c->objects.n * 64 + c->objects.cap * 32; /* copies of keys, slots */

    return c->bytes + keys + index_set_bytes(&c->indexes);
}

const struct kube_object *kube_cache_get(const struct kube_cache *c, const char *namespace,
                                         const char *name)
{
    AUTO(free) char *key = key_of(namespace, name);
    const struct kept_object *k = map_get(&c->objects, str_of(key));

    return k ? &k->o : NULL;
}

struct kube_slice kube_cache_by_owner(const struct kube_cache *c, const char *uid)
{
    return index_set_find(&c->indexes, "owner", str_of(uid));
}

struct kube_slice kube_cache_by_index(const struct kube_cache *c, const char *name,
                                      const char *value)
{
    return index_set_find(&c->indexes, name, str_of(value));
}

const struct kube_object *kube_cache_next(const struct kube_cache *c, size_t *at)
{
    struct kept_object *k;

    return map_next(&c->objects, at, NULL, &k) ? &k->o : NULL;
}

void kube_cache_add_handler(struct kube_cache *c, const struct kube_handler *h)
{
    const struct kube_object *o;
    size_t at = 0;

    array_reserve(&c->handlers, &c->cap_handlers, c->n_handlers + 1, sizeof(*c->handlers));
    c->handlers[c->n_handlers++] = *h;
    while (h->added && (o = kube_cache_next(c, &at)))
        h->added(h->arg, o);
    if (c->synced && h->synced)
        h->synced(h->arg);
}
