/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The protection of claims and volumes in use.
 *
 * Every claim has the finalizer kubernetes.io/pvc-protection, every volume pv-protection (see
 * kinds/claims.c).  A deletion takes it off at once when nothing uses the object; otherwise the
 * object waits here: a claim until the last pod with a node is gone, a volume until it is bound no
 * more.  This is what the protection controllers of Kubernetes do.
 *
 * Only objects that are being deleted are remembered, so a cluster in which none is costs nothing.
 */
#include "src/cluster/apiserver/protection.h"

#include "src/base/alloc.h"
#include "src/base/log.h"
#include "src/cluster/apiserver/kinds/claims.h"
#include "src/cluster/apiserver/object.h"
#include "src/cluster/apiserver/workset.h"
#include "src/cluster/apiserver/write.h"

#define BATCH 8
#define RETRY_MS 1000
#define CLAIMS "persistentvolumeclaims"
#define VOLUMES "persistentvolumes"

struct protection {
    struct apiserver *server;
    struct workset work;
    struct map leaving; /* "namespace/name"; the namespace of a volume is empty */
};

static int is_used(struct api_call *c, const struct jsn *object, bool claim, bool *ret_used)
{
    if (claim)
        return claims_find_user(c, object, ret_used);
    *ret_used = streq(jsn_get_str(object, "status.phase"), "Bound");
    return 0;
}

static int release(struct api_call *c, const struct jsn *object, bool claim)
{
    struct write_update how = {.unconditional = true};
    struct jsn *changed = jsn_clone(&c->arena, object);

    claims_drop_finalizer(changed, claim ? CLAIM_FINALIZER : VOLUME_FINALIZER);
    return write_update(c, object, changed, &how);
}

static void look(void *arg, const char *key)
{
    struct protection *p = arg;
    AUTO(call_done_inner) struct api_call c;
    struct str name = str_of(key);
    struct str ns;
    struct jsn *object = NULL;
    bool claim, used = false;
    int r;

    (void)str_split(&name, '/', &ns);
    claim = ns.n > 0;
    call_init_inner(
        &c, p->server,
        registry_find(p->server->registry, STR(""), STR("v1"), claim ? STR(CLAIMS) : STR(VOLUMES)));
    c.ns = arena_str(&c.arena, ns);
    r = object_find(&c, c.ns, arena_str(&c.arena, name), &object);
    if (r == -ENOENT || (r == 0 && !object_deleting(object))) {
        (void)map_take(&p->leaving, str_of(key));
        return;
    }
    if (r == 0)
        r = is_used(&c, object, claim, &used);
    if (r == 0 && !used)
        r = release(&c, object, claim);
    if (r < 0) {
        log_warn("%s '%s' could not be released, trying again in %d ms", claim ? "claim" : "volume",
                 key, RETRY_MS);
        workset_add_later(&p->work, key, RETRY_MS);
    }
}

static bool holds(struct str data, const char *text)
{
    return memmem(data.p, data.n, text, strlen(text));
}

static void note(struct protection *p, const struct store_row *row, bool gone)
{
    AUTO(buf_done) struct buf key = {0};

    buf_printf(&key, "%s/%s", row->key.ns, row->key.name);
    if (gone) {
        (void)map_take(&p->leaving, buf_view(&key));
    } else if (holds(row->data, "\"deletionTimestamp\"")) {
        (void)map_put(&p->leaving, buf_view(&key), p);
        workset_add(&p->work, buf_str(&key));
    }
}

/* A pod has changed or gone: the claims in its namespace that wait. */
static void recheck(struct protection *p, const char *ns)
{
    size_t at = 0;
    struct str key, head, rest;

    while (map_next(&p->leaving, &at, &key, NULL)) {
        AUTO(free) char *copy = str_dup(key);

        rest = key;
        if (str_split(&rest, '/', &head) && str_eqz(head, ns))
            workset_add(&p->work, copy);
    }
}

void protection_event(struct protection *p, const struct store_event *ev)
{
    const char *resource = ev->row.key.resource;

    if (streq(resource, "pods")) {
        if (p->leaving.n > 0 && ev->change != STORE_ADDED)
            recheck(p, ev->row.key.ns);
    } else if (streq(resource, CLAIMS) || streq(resource, VOLUMES)) {
        note(p, &ev->row, ev->change == STORE_DELETED);
    }
}

static bool start_row(void *arg, const struct store_row *row)
{
    note(arg, row, false);
    return true;
}

int protection_start(struct protection *p, struct err *e)
{
    struct store_list claims = {.resource = CLAIMS};
    struct store_list volumes = {.resource = VOLUMES};
    int r = store_each(p->server->store, &claims, start_row, p, e);

    return r < 0 ? r : store_each(p->server->store, &volumes, start_row, p, e);
}

struct protection *protection_new(struct apiserver *s)
{
    struct protection *p = xcalloc(1, sizeof(*p));

    p->server = s;
    workset_init(&p->work, s->loop, BATCH, look, p);
    return p;
}

struct protection *protection_free(struct protection *p)
{
    if (!p)
        return NULL;
    workset_done(&p->work);
    map_done(&p->leaving);
    free(p);
    return NULL;
}
