/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tokens in Secrets.
 *
 * Somebody who makes a Secret of type kubernetes.io/service-account-token with the annotation
 * kubernetes.io/service-account.name gets a token of that account in it, which is good as long as
 * this Secret and the account are there: what the token controller of Kubernetes does.  A Secret
 * whose account is not there, or is another one of the same name, is removed.
 */
#include "src/cluster/apiserver/account_secrets.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/encode.h"
#include "src/base/log.h"
#include "src/cluster/apiserver/access.h"
#include "src/cluster/apiserver/kinds/lookup.h"
#include "src/cluster/apiserver/object.h"
#include "src/cluster/apiserver/server.h"
#include "src/cluster/apiserver/workset.h"
#include "src/cluster/apiserver/write.h"

#define BATCH 8
#define RETRY_MS 1000
#define TYPE "kubernetes.io/service-account-token"
#define NAME_KEY "kubernetes.io/service-account.name"
#define UID_KEY "kubernetes.io/service-account.uid"

struct account_secrets {
    struct apiserver *server;
    struct workset work; /* "NAMESPACE/NAME"; "NAMESPACE/" for all of a namespace */
};

static const char *annotation(const struct jsn *secret, const char *key)
{
    return jsn_text(jsn_key(jsn_get(secret, "metadata.annotations"), key));
}

static void set_data(struct arena *a, struct jsn *secret, const char *key, const char *text)
{
    AUTO(buf_done) struct buf b = {0};
    struct jsn *data = jsn_ensure_object(a, secret, "data");

    if (jsn_key(data, key))
        return;
    encode_base64(&b, str_of(text));
    jsn_set_str(a, data, key, buf_str(&b));
}

static int fill(struct api_call *c, const struct jsn *old, const char *account, const char *uid)
{
    struct write_update how = {.unconditional = true};
    const struct access *access = c->server->access;
    struct jsn *secret = jsn_clone(&c->arena, old);
    struct jsn *meta = jsn_ensure_object(&c->arena, secret, "metadata");
    struct jsn *audiences = jsn_array(&c->arena);
    struct account_token t = {.ns = c->ns,
                              .account = account,
                              .uid = uid,
                              .audiences = audiences,
                              .issued_s = clock_wall_us() / 1000000,
                              .bound_kind = "secret",
                              .bound_name = object_name(old),
                              .bound_uid = object_uid(old)};

    jsn_append(&c->arena, audiences, jsn_string(&c->arena, ACCESS_AUDIENCE));
    jsn_set_str(&c->arena, jsn_ensure_object(&c->arena, meta, "annotations"), UID_KEY, uid);
    set_data(&c->arena, secret, "ca.crt", access_authority(access));
    set_data(&c->arena, secret, "namespace", c->ns);
    set_data(&c->arena, secret, "token", access_make_token(access, &c->arena, &t));
    return write_update(c, old, secret, &how);
}

static int remove_secret(struct api_call *c, struct jsn *secret)
{
    struct delete_options o = {.grace_s = -1, .propagation = PROPAGATE_BACKGROUND};
    struct jsn *answer;

    return write_delete(c, secret, &o, &answer);
}

static int settle(struct api_call *c, struct jsn *secret)
{
    const char *name = annotation(secret, NAME_KEY);
    const char *uid = annotation(secret, UID_KEY);
    struct jsn *account = NULL;
    int r;

    if (!streq(jsn_get_str(secret, "type"), TYPE) || object_deleting(secret) || !name)
        return 0;
    r = lookup_get(c, "serviceaccounts", c->ns, name, &account);
    if (r == -ENOENT || (r == 0 && uid && uid[0] && !streq(uid, object_uid(account))))
        return remove_secret(c, secret);
    return r < 0 ? r : fill(c, secret, name, object_uid(account));
}

struct collecting {
    struct arena *arena;
    struct jsn *secrets;
};

static bool collect(void *arg, struct jsn *secret)
{
    struct collecting *t = arg;

    if (streq(jsn_get_str(secret, "type"), TYPE))
        jsn_append(t->arena, t->secrets, secret);
    return true;
}

static int settle_all(struct api_call *c)
{
    struct collecting t = {&c->arena, jsn_array(&c->arena)};
    int r = lookup_each_object(c, "secrets", c->ns, collect, &t);

    JSN_FOR_ITEMS (secret, t.secrets)
        if (r == 0)
            r = settle(c, secret);
    return r;
}

static void look(void *arg, const char *key)
{
    struct account_secrets *a = arg;
    AUTO(call_done_inner) struct api_call c;
    struct str name = str_of(key);
    struct str ns;
    struct jsn *secret = NULL;
    int r;

    (void)str_split(&name, '/', &ns);
    call_init_inner(&c, a->server,
                    registry_find(a->server->registry, STR(""), STR("v1"), STR("secrets")));
    c.ns = arena_str(&c.arena, ns);
    if (name.n == 0) {
        r = settle_all(&c);
    } else {
        r = object_find(&c, c.ns, arena_str(&c.arena, name), &secret);
        r = r == 0 ? settle(&c, secret) : r == -ENOENT ? 0 : r;
    }
    if (r < 0) {
        log_debug("the token secrets '%s' could not be settled, trying again in %d ms: %s", key,
                  RETRY_MS, jsn_get_str(c.failure, "message"));
        workset_add_later(&a->work, key, RETRY_MS);
    }
}

static void note(struct account_secrets *a, const char *ns, const char *name)
{
    AUTO(buf_done) struct buf key = {0};

    buf_printf(&key, "%s/%s", ns, name);
    workset_add(&a->work, buf_str(&key));
}

static void note_secret(struct account_secrets *a, const struct store_row *row)
{
    if (memmem(row->data.p, row->data.n, TYPE, strlen(TYPE)))
        note(a, row->key.ns, row->key.name);
}

void account_secrets_event(struct account_secrets *a, const struct store_event *ev)
{
    const struct store_key *k = &ev->row.key;

    if (streq(k->resource, "secrets") && ev->change != STORE_DELETED)
        note_secret(a, &ev->row);
    else if (streq(k->resource, "serviceaccounts") && ev->change == STORE_DELETED)
        note(a, k->ns, "");
}

static bool start_row(void *arg, const struct store_row *row)
{
    note_secret(arg, row);
    return true;
}

int account_secrets_start(struct account_secrets *a, struct err *e)
{
    struct store_list q = {.resource = "secrets"};

    return store_each(a->server->store, &q, start_row, a, e);
}

struct account_secrets *account_secrets_new(struct apiserver *s)
{
    struct account_secrets *a = xcalloc(1, sizeof(*a));

    a->server = s;
    workset_init(&a->work, s->loop, BATCH, look, a);
    return a;
}

struct account_secrets *account_secrets_free(struct account_secrets *a)
{
    if (!a)
        return NULL;
    workset_done(&a->work);
    free(a);
    return NULL;
}
