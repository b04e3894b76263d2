/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keys that pods have.
 *
 * Pods do not mount the Secret that a Controller names, but a copy of it that is the operator's:
 * <name>-keys.  So a key that is no good never reaches a daemon, and one that has changed reaches
 * all of them in an order (src/plan/controller_keys.c).  The copy holds what its authors wrote, the
 * one that is signed with and the one that is accepted as well, and the files made of them:
 *
 *   munge                     munge.key (signs), munge.ring (both)
 *   auth/slurm, from 24.05    slurm.jwks (both)
 *   auth/slurm, 23.11         slurm.key, key.stage
 *
 * and jwt.key, for slurmctld alone.
 */
#include "src/build/live_keys.h"

#include "src/base/encode.h"
#include "src/base/hash.h"
#include "src/build/labels.h"
#include "src/slurm/keyfiles.h"
#include "src/slurm/keyring.h"

#define KID_LEN 12

enum key_shape build_key_shape(const struct build_cluster *c)
{
    if (build_uses_munge(c))
        return KEY_MUNGE;
    return build_has(c, PROFILE_AUTH_KEY_SET) ? KEY_SLURM_SET : KEY_SLURM_ONE;
}

const char *const *build_key_files(const struct build_cluster *c)
{
    static const char *const files[][3] = {
        [KEY_MUNGE] = {KEYFILE_MUNGE, KEYFILE_MUNGE_RING, NULL},
        [KEY_SLURM_ONE] = {KEYFILE_SLURM, KEYFILE_STAGE, NULL},
        [KEY_SLURM_SET] = {KEYFILE_SLURM_SET, NULL},
    };

    return files[build_key_shape(c)];
}

struct str build_secret_bytes(struct arena *a, const struct jsn *secret, const char *key)
{
    const struct jsn *value = jsn_member(jsn_key(secret, "data"), str_of(key));
    AUTO(buf_done) struct buf bytes = {0};

    if (!jsn_is(value, JSN_STRING) || decode_base64(&bytes, value->s) < 0)
        return (struct str){0};
    return (struct str){arena_str(a, buf_view(&bytes)), bytes.n};
}

static void put(struct arena *a, struct jsn *data, const char *name, struct str bytes)
{
    AUTO(buf_done) struct buf text = {0};

    encode_base64(&text, bytes);
    if (bytes.n)
        jsn_set(a, data, name, jsn_str(a, buf_view(&text)));
}

static void put_ring(struct arena *a, struct jsn *data, const struct build_live_keys *keys)
{
    AUTO(keyring_done) struct keyring ring = {0};
    AUTO(buf_done) struct buf text = {0};

    (void)snprintf(ring.stage, sizeof(ring.stage), "%s", keys->stage);
    buf_addstr(&ring.sign, keys->current);
    buf_addstr(&ring.also, keys->other);
    keyring_print(&ring, &text);
    put(a, data, KEYFILE_MUNGE, keys->current);
    put(a, data, KEYFILE_MUNGE_RING, buf_view(&text));
}

static void put_one(struct arena *a, struct jsn *data, const struct build_live_keys *keys)
{
    put(a, data, KEYFILE_SLURM, keys->current);
    put(a, data, KEYFILE_STAGE, str_of(keys->stage));
}

/* A key is known by its hash: the same for as long as it is in use. */
static struct key_source source_of(struct arena *a, const struct build_cluster *c, struct str value)
{
    char hex[SHA256_HEX_LEN + 1];

    hash_sha256_hex(value, hex);
    hex[KID_LEN] = '\0';
    return (struct key_source){value, controller_has_key_set(c->controller), arena_strdup(a, hex)};
}

static int put_set(struct arena *a, const struct build_cluster *c, struct jsn *data,
                   const struct build_live_keys *keys, struct err *e)
{
    struct key_source sign = source_of(a, c, keys->current);
    struct key_source also = source_of(a, c, keys->other);
    AUTO(buf_done) struct buf text = {0};
    const struct jsn *set = NULL;
    int r = key_set_join(a, keys->stage, &sign, &also, &set, e);

    if (r < 0)
        return r;
    jsn_print(&text, set);
    buf_addc(&text, '\n');
    put(a, data, KEYFILE_SLURM_SET, buf_view(&text));
    return 0;
}

int build_live_data(struct arena *a, const struct build_cluster *c,
                    const struct build_live_keys *keys, struct jsn **ret, struct err *e)
{
    enum key_shape shape = build_key_shape(c);
    struct jsn *data = jsn_object(a);
    int r = 0;

    put(a, data, LIVE_KEYS_CURRENT, keys->current);
    put(a, data, LIVE_KEYS_OTHER, keys->other);
    put(a, data, KEYFILE_JWT, keys->jwt);
    if (shape == KEY_MUNGE)
        put_ring(a, data, keys);
    else if (shape == KEY_SLURM_ONE)
        put_one(a, data, keys);
    else
        r = put_set(a, c, data, keys, e);
    if (r == 0)
        *ret = data;
    return r;
}

struct jsn *build_live_secret(struct arena *a, const struct build_cluster *c, struct jsn *data,
                              struct jsn *annotations)
{
    const struct api_meta *m = &c->controller->meta;

    return build_tree(
        a, "{'apiVersion':'v1','kind':'Secret','type':'Opaque','metadata':'$meta','data':'$data'}",
        SLOTS({"meta", labels_meta(a, labels_keys(a, m->name), api_namespace(m),
                                   labels_all(a, APP_CONTROLLER, m->name), annotations,
                                   labels_owner(a, "Controller", m, true))},
              {"data", data}));
}

const char *build_live_hash(struct arena *a, const struct build_cluster *c, bool jwt)
{
    struct api_key_ref ref = {.name = labels_keys(a, c->controller->meta.name),
                              .key = jwt ? KEYFILE_JWT : build_key_files(c)[0]};

    if (build_has_agent(c) || (!jwt && build_uses_munge(c)))
        return "";
    return build_key_hash(a, c, &ref);
}
