/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keys of a cluster.
 *
 * A key is 1024 letters and digits: auth/slurm and auth/jwt take any bytes, and munge takes up to
 * 1024 of them, so that one Secret serves every Slurm release.  Randomness is an argument, since
 * nothing here may do I/O.
 */
#include "src/build/secrets.h"

#include "src/base/encode.h"
#include "src/build/labels.h"

/* 64 characters, so that each takes six bits of a byte without bias. */
static void make_key(const unsigned char *random, char ret_key[SECRET_KEY_BYTES])
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

    for (size_t i = 0; i < SECRET_KEY_BYTES; i++)
        ret_key[i] = letters[random[i] & 63];
}

static struct jsn *encoded(struct arena *a, struct str bytes)
{
    AUTO(buf_done) struct buf b = {0};

    encode_base64(&b, bytes);
    return jsn_str(a, buf_view(&b));
}

static struct jsn *make_object(struct arena *a, const struct build_cluster *c, const char *name,
                               const struct jsn *data)
{
    const struct api_meta *m = &c->controller->meta;

    return build_tree(
        a, "{'apiVersion':'v1','kind':'Secret','type':'Opaque','metadata':'$meta','data':'$data'}",
        SLOTS(
            {"meta", labels_meta(a, name, api_namespace(m), labels_all(a, APP_CONTROLLER, m->name),
                                 NULL, labels_owner(a, "Controller", m, true))},
            {"data", data}));
}

static struct jsn *make_secret(struct arena *a, const struct build_cluster *c,
                               const struct api_key_ref *ref, const unsigned char *random)
{
    char key[SECRET_KEY_BYTES];
    struct jsn *data = jsn_object(a);

    make_key(random, key);
    jsn_set(a, data, ref->key, encoded(a, (struct str){key, sizeof(key)}));
    explicit_bzero(key, sizeof(key));
    return make_object(a, c, ref->name, data);
}

struct jsn *build_slurm_secret(struct arena *a, const struct build_cluster *c,
                               const unsigned char random[SECRET_KEY_BYTES])
{
    struct api_key_ref ref = controller_slurm_key(a, c->controller);

    return controller_makes_slurm_key(c->controller) ? make_secret(a, c, &ref, random) : NULL;
}

struct jsn *build_jwt_secret(struct arena *a, const struct build_cluster *c,
                             const unsigned char random[SECRET_KEY_BYTES])
{
    struct api_key_ref ref = controller_jwt_key(a, c->controller);

    return controller_makes_jwt_key(c->controller) ? make_secret(a, c, &ref, random) : NULL;
}

struct jsn *build_agent_secret(struct arena *a, const struct build_cluster *c,
                               const struct build_agent_keys *keys)
{
    struct jsn *data = jsn_object(a);

    if (!build_has_agent(c))
        return NULL;
    jsn_set(a, data, AGENT_CERT, encoded(a, str_of(keys->cert_pem)));
    jsn_set(a, data, AGENT_KEY, encoded(a, str_of(keys->key_pem)));
    jsn_set(a, data, AGENT_TOKEN, encoded(a, str_of(keys->token)));
    if (keys->next_token)
        jsn_set(a, data, AGENT_NEXT_TOKEN, encoded(a, str_of(keys->next_token)));
    if (keys->previous_pem)
        jsn_set(a, data, AGENT_PREVIOUS, encoded(a, str_of(keys->previous_pem)));
    return make_object(a, c, labels_agent(a, c->controller->meta.name), data);
}

const char *build_secret_text(struct arena *a, const struct jsn *secret, const char *key)
{
    const struct jsn *value = jsn_member(jsn_key(secret, "data"), str_of(key));
    AUTO(buf_done) struct buf text = {0};

    if (!jsn_is(value, JSN_STRING) || decode_base64(&text, value->s) < 0)
        return NULL;
    return arena_str(a, buf_view(&text));
}
