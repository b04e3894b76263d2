/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the agent of a Controller is, and what it is known by.
 *
 * It listens in slurmctld's pod; of several pods the one counts that the Service leads to, or else
 * the first.  The Secret <controller>-agent has its certificate, which is the only one that is
 * trusted, and the token that it asks for.  Both are made here, since making them needs randomness
 * and OpenSSL, which plans do without; the certificate again before it expires.  Until the agent
 * has seen the new one, the one before it is trusted, too.  With it comes another token: the one
 * that the Secret has announced since the last time, so that the agent knows it already.
 */
#include "src/operator/agent_target.h"

#include "src/base/clock.h"
#include "src/base/encode.h"
#include "src/base/hash.h"
#include "src/base/log.h"
#include "src/build/labels.h"
#include "src/build/secrets.h"
#include "src/http/cert.h"

#define TOKEN_BYTES 32

/* One key of a Secret, decoded; NULL: it is not there. */
static const char *secret_text(struct arena *a, const struct jsn *secret, const char *key)
{
    const struct jsn *value = jsn_member(jsn_key(secret, "data"), str_of(key));
    AUTO(buf_done) struct buf text = {0};

    if (!jsn_is(value, JSN_STRING) || decode_base64(&text, value->s) < 0)
        return NULL;
    return arena_str(a, buf_view(&text));
}

static const struct plan_pod *agent_pod(const struct plan_controller *in)
{
    const struct plan_pod *found = NULL;

    for (size_t i = in->n_pods; i-- > 0;) {
        const struct plan_pod *p = in->pods[i];

        if (p->ip && !p->deleting && !plan_pod_is_empty(p) &&
            (!found || p->active || !found->active))
            found = p;
    }
    return found;
}

static const struct kube_object *find_secret(struct arena *a, const struct world *w,
                                             const struct build_cluster *c)
{
    const struct api_meta *m = &c->controller->meta;

    return world_get(w, "Secret", api_namespace(m), labels_agent(a, m->name));
}

/* The certificate of the agent; and the one before it, which it shows until its files are new. */
static const char *trusted(struct arena *a, const struct jsn *secret)
{
    const char *cert = secret_text(a, secret, AGENT_CERT);
    const char *previous = secret_text(a, secret, AGENT_PREVIOUS);

    return cert && previous ? arena_printf(a, "%s\n%s", cert, previous) : cert;
}

bool agent_target_find(struct arena *a, const struct world *w, const struct plan_controller *in,
                       struct agent_target *ret)
{
    const struct controller *c = in->cluster->controller;
    const struct plan_pod *pod = agent_pod(in);
    const struct kube_object *o;
    struct jsn *secret = NULL;
    struct err e = {0};

    if (!c || !pod || !build_has_agent(in->cluster))
        return false;
    o = find_secret(a, w, in->cluster);
    if (!o || kube_object_parse(o, a, &secret, &e) < 0)
        return false;
    *ret = (struct agent_target){
        .address = pod->ip,
        .port = AGENT_PORT,
        .cert_pem = trusted(a, secret),
        .host = labels_agent_host(a, c->meta.name, api_namespace(&c->meta)),
        .token = secret_text(a, secret, AGENT_TOKEN),
    };
    return ret->cert_pem && ret->token;
}

/* What the Secret holds, where there is one. */
struct kept {
    const char *cert;
    const char *token;
    const char *next_token;
};

static struct kept read_kept(struct arena *a, const struct world *w, const struct build_cluster *c)
{
    const struct kube_object *o = find_secret(a, w, c);
    struct jsn *secret = NULL;
    struct err e = {0};

    if (!o || kube_object_parse(o, a, &secret, &e) < 0)
        return (struct kept){0};
    return (struct kept){secret_text(a, secret, AGENT_CERT), secret_text(a, secret, AGENT_TOKEN),
                         secret_text(a, secret, AGENT_NEXT_TOKEN)};
}

static const char *new_token(struct arena *a)
{
    char token[SHA256_HEX_LEN + 1];
    char random[TOKEN_BYTES];

    encode_random(random, sizeof(random));
    hash_sha256_hex((struct str){random, sizeof(random)}, token);
    return arena_strdup(a, token);
}

static bool is_good(const struct build_cluster *c, const char *cert_pem, struct memos *memos)
{
    const struct api_meta *m = &c->controller->meta;

    if (!memos)
        return cert_still_good(cert_pem, cert_pem, NULL);
    return memos_cert_good(memos, api_namespace(m), m->name, cert_pem, clock_mono_ms());
}

const struct build_agent_keys *agent_target_fresh_keys(struct arena *a, const struct world *w,
                                                       const struct build_cluster *c,
                                                       struct memos *memos)
{
    AUTO(cert_pair_done) struct cert_pair pair = {0};
    struct build_agent_keys *keys;
    const char *host;
    struct kept kept;
    struct err e = {0};

    if (!c->controller || !build_has_agent(c))
        return NULL;
    kept = read_kept(a, w, c);
    if (kept.cert && kept.token && is_good(c, kept.cert, memos))
        return NULL;
    host = labels_agent_host(a, c->controller->meta.name, api_namespace(&c->controller->meta));
    if (cert_make_own(host, &pair, &e) < 0) {
        log_error("Controller %s: its agent stays without a new certificate: %s",
                  api_full_name(a, &c->controller->meta), e.text);
        return NULL;
    }
    keys = arena_calloc(a, 1, sizeof(*keys));
    *keys = (struct build_agent_keys){.cert_pem = arena_strdup(a, pair.cert_pem),
                                      .key_pem = arena_strdup(a, pair.key_pem),
                                      .token = kept.next_token ? kept.next_token
                                               : kept.token    ? kept.token
                                                               : new_token(a),
                                      .next_token = new_token(a),
                                      .previous_pem = kept.cert};
    return keys;
}
