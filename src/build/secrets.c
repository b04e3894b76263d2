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

static struct jsn *make_secret(struct arena *a, const struct build_cluster *c,
                               const struct api_key_ref *ref, const unsigned char *random)
{
    const struct api_meta *m = &c->controller->meta;
    AUTO(buf_done) struct buf encoded = {0};
    char key[SECRET_KEY_BYTES];
    struct jsn *data = jsn_object(a);

    make_key(random, key);
    encode_base64(&encoded, (struct str){key, sizeof(key)});
    jsn_set(a, data, ref->key, jsn_str(a, buf_view(&encoded)));
    explicit_bzero(key, sizeof(key));
    return build_tree(
        a, "{'apiVersion':'v1','kind':'Secret','type':'Opaque','metadata':'$meta','data':'$data'}",
        SLOTS({"meta",
               labels_meta(a, ref->name, api_namespace(m), labels_all(a, APP_CONTROLLER, m->name),
                           NULL, labels_owner(a, "Controller", m, true))},
              {"data", data}));
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
