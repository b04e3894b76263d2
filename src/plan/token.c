/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plan for a Token.
 *
 * Steps in order: Secret, Status.  The Secret is made once; with `refresh` it gets a new token when
 * a fifth of the old one's life is left, when the key is another one, and when the user or the
 * lifetime has changed.  It belongs to the Token and goes with it.  A Secret of somebody
 * else's is never written.
 */
#include "src/plan/token.h"

#include "src/api/key_material.h"
#include "src/base/encode.h"
#include "src/build/jwt.h"
#include "src/build/labels.h"
#include "src/build/live_keys.h"
#include "src/build/tree.h"
#include "src/plan/status.h"
#include "src/plan/sync.h"

#define US 1000000LL

struct draft {
    const struct plan_token *in;
    struct actions *to;
    struct api_key_ref place; /* of the token */
    struct str key;           /* that signs it; empty: there is none */
    struct jwt jwt;           /* what the Secret has, or gets; no user: nothing good */
    const char *reason;       /* why there is none; NULL: all is well */
    const char *text;
};

static void fail(struct draft *d, const char *reason, const char *text)
{
    d->reason = reason;
    d->text = text;
}

static const struct jsn *find_secret(struct draft *d, const char *name)
{
    const struct jsn *v = NULL;

    (void)api_lookup_get(d->in->lookup, "Secret", api_namespace(&d->in->t->meta), name, &v);
    return v;
}

static bool read_key(struct draft *d)
{
    const struct api_key_ref *ref = api_token_jwt_ref(d->in->t);
    const struct jsn *secret = ref ? find_secret(d, ref->name) : NULL;
    struct err e = {0};

    if (!secret) {
        fail(d, "KeyNotFound",
             arena_printf(d->to->arena, "there is no Secret %s; create it, or correct jwtKeyRef",
                          ref ? ref->name : ""));
        return false;
    }
    d->key = build_secret_bytes(d->to->arena, secret, ref->key);
    if (!d->key.n || key_check(KEY_JWT, false, d->key, &e) < 0) {
        fail(d, "KeyInvalid",
             arena_printf(d->to->arena, "key %s of Secret %s %s", ref->key, ref->name,
                          d->key.n ? e.text : "is not there"));
        return false;
    }
    return true;
}

static int64_t lifetime_s(const struct api_token *t)
{
    return t->spec.lifetime_ms / 1000;
}

/* When a new one is made; it has a fifth of its life left then. */
static int64_t due_us(const struct draft *d)
{
    return (d->jwt.expires_s - lifetime_s(d->in->t) / 5) * US;
}

/* Is what the Secret has as it should be? */
static bool is_good(struct draft *d, const struct jsn *secret, const char **ret_why)
{
    struct str text = build_secret_bytes(d->to->arena, secret, d->place.key);
    struct jwt found = {0};
    struct err e = {0};

    if (!text.n)
        *ret_why = "it has none";
    else if (jwt_read(d->to->arena, d->key, text, &found, &e) < 0)
        *ret_why = arena_strdup(d->to->arena, e.text);
    else if (!streq(found.user, d->in->t->spec.username))
        *ret_why = "it is for another user";
    else if (found.expires_s * US <= d->in->now_us)
        *ret_why = "it has expired";
    else if (found.expires_s - found.issued_s != lifetime_s(d->in->t))
        *ret_why = "it has another lifetime";
    else
        *ret_why = NULL;
    if (!*ret_why)
        d->jwt = found;
    return !*ret_why;
}

static struct jsn *make_data(struct draft *d)
{
    struct arena *a = d->to->arena;
    AUTO(buf_done) struct buf coded = {0};
    struct jsn *data = jsn_object(a);
    int64_t now_s = d->in->now_us / US;

    d->jwt = (struct jwt){.user = d->in->t->spec.username,
                          .id = d->in->id,
                          .issued_s = now_s,
                          .expires_s = now_s + lifetime_s(d->in->t)};
    encode_base64(&coded, str_of(jwt_sign(a, d->key, &d->jwt)));
    jsn_set(a, data, d->place.key, jsn_str(a, buf_view(&coded)));
    return data;
}

static struct jsn *make_secret(struct draft *d, struct jsn *data)
{
    const struct api_meta *m = &d->in->t->meta;
    struct arena *a = d->to->arena;
    struct jsn *annotations = jsn_object(a);
    bool fixed = !d->in->t->spec.refresh;

    labels_add_annotations(a, annotations, &m->annotations);
    return build_tree(
        a,
        "{'apiVersion':'v1','kind':'Secret','type':'Opaque','metadata':'$meta','data':'$data',"
        "'immutable':'$fixed'}",
        SLOTS({"meta", labels_meta(a, d->place.name, api_namespace(m), build_map(a, &m->labels),
                                   annotations, labels_owner(a, "Token", m, true))},
              {"data", data}, {"fixed", fixed ? jsn_bool(a, true) : NULL}));
}

/* The Secret is ours, and what it has is not good. */
static void renew(struct draft *d, const struct jsn *secret, const char *why)
{
    struct arena *a = d->to->arena;
    struct jsn *patch = jsn_object(a);

    if (!d->in->t->spec.refresh || jsn_get_bool(secret, "immutable", false)) {
        fail(d, "NotRenewed",
             arena_printf(a,
                          "the token in Secret %s is of no use (%s) and is not renewed, since %s; "
                          "delete the Secret to have it made again",
                          d->place.name, why,
                          d->in->t->spec.refresh ? "the Secret is immutable" : "refresh is false"));
        return;
    }
    jsn_set(a, patch, "data", make_data(d));
    sync_patch(d->to, plan_kind_find("Secret"), secret, patch);
    actions_event(d->to, false, "TokenRenewed", "Made a new token for %s: %s",
                  d->in->t->spec.username, why);
}

static void plan_secret(struct draft *d)
{
    const struct jsn *secret = find_secret(d, d->place.name);
    const char *why = NULL;

    if (!secret) {
        actions_create(d->to, make_secret(d, make_data(d)), "CreateSucceeded", "Created Secret %s",
                       d->place.name);
    } else if (!streq(sync_controller_uid(secret), d->in->t->meta.uid)) {
        fail(d, "SecretTaken",
             arena_printf(d->to->arena,
                          "Secret %s is somebody else's and is left alone; name another one in "
                          "secretRef, or delete it",
                          d->place.name));
    } else if (!is_good(d, secret, &why)) {
        renew(d, secret, why);
    } else if (d->in->t->spec.refresh && due_us(d) <= d->in->now_us) {
        renew(d, secret, "the old one expires soon");
    }
}

static void plan_status(struct draft *d)
{
    const struct api_token *t = d->in->t;
    struct api_token_status st = t->status;
    struct api_conditions list = {
        arena_calloc(d->to->arena, st.conditions.n + 1, sizeof(struct api_condition)),
        st.conditions.n};
    struct status_scribe scribe = {d->to, &list, t->meta.generation, d->in->now_us};

    actions_step(d->to, "Status");
    if (list.n)
        memcpy(list.items, st.conditions.items, list.n * sizeof(*list.items));
    if (d->reason)
        status_set(&scribe, "Ready", STATUS_FALSE, true, d->reason, "%s", d->text);
    else
        status_set(&scribe, "Ready", STATUS_TRUE, false, "TokenReady",
                   "Secret %s has a token for %s", d->place.name, t->spec.username);
    st.conditions = list;
    st.issued_us = d->jwt.user ? d->jwt.issued_s * US : 0;
    st.expires_us = d->jwt.user ? d->jwt.expires_s * US : 0;
    st.observed_generation = t->meta.generation;
    status_write(d->to, "Token", &t->meta, jsn_get(d->in->object, "status"),
                 fields_encode(d->to->arena, api_token_status_fields, &st));
}

void plan_token(const struct plan_token *in, struct actions *to)
{
    struct draft d = {.in = in, .to = to};
    struct api_problems p = {.arena = to->arena};
    struct err e = {0};

    if (in->t->meta.deleted_us)
        return;
    d.place = api_token_secret(to->arena, in->t);
    actions_step(to, "Secret");
    api_token_check(in->t, &p);
    if (api_problems_error(&p, &e) < 0)
        fail(&d, "Invalid", arena_strdup(to->arena, e.text));
    else if (read_key(&d))
        plan_secret(&d);
    if (d.jwt.user)
        actions_requeue(to, in->t->spec.refresh ? due_us(&d) : d.jwt.expires_s * US);
    plan_status(&d);
}
