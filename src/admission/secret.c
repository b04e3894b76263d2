/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Admission of Secrets that hold the keys of a cluster.
 *
 * A Secret to which no Controller refers is nobody's business here.  Of one that is a cluster's
 * key, a value that its daemons would not take is refused where it is written; what does not change
 * a key passes, also where the key was bad before.  Where it is not known by what the cluster
 * authenticates, the milder rule holds; what that lets through is told by the condition
 * KeysCurrent.
 */
#include "src/admission/admission.h"

#include "src/api/controller.h"
#include "src/api/key_material.h"
#include "src/base/encode.h"
#include "src/slurm/profile.h"

struct secret_check {
    const struct admission_request *in;
    struct api_problems *p;
    const char *name;
};

/* The bytes of a key, in `a`; -1: it is no base64. */
static int bytes_of(struct arena *a, const struct jsn *secret, const char *key, struct str *ret)
{
    const struct jsn *plain = jsn_member(jsn_key(secret, "stringData"), str_of(key));
    const struct jsn *coded = jsn_member(jsn_key(secret, "data"), str_of(key));
    AUTO(buf_done) struct buf b = {0};

    *ret = STR("");
    if (jsn_is(plain, JSN_STRING)) {
        *ret = plain->s;
        return 0;
    }
    if (jsn_is(coded, JSN_STRING) && decode_base64(&b, coded->s) < 0)
        return -1;
    if (b.n)
        *ret = (struct str){arena_str(a, buf_view(&b)), b.n};
    return 0;
}

static enum key_shape shape_of(const struct secret_check *s, const struct controller *c)
{
    uint32_t release = controller_release(c) ? controller_release(c) : s->in->release;
    enum controller_auth auth = controller_auth(c);

    if (controller_has_key_set(c))
        return KEY_SLURM_SET;
    if (auth == CONTROLLER_AUTH_MUNGE || (release && !profile_has(release, PROFILE_AUTH_SLURM)))
        return KEY_MUNGE;
    return KEY_SLURM_ONE;
}

static void check_key(struct secret_check *s, const struct controller *c,
                      const struct api_key_ref *ref, enum key_shape shape)
{
    struct arena *a = s->p->arena;
    struct str now;
    struct str old;
    struct err e = {0};

    if (!streq(ref->name, s->name))
        return;
    if (bytes_of(a, s->in->object, ref->key, &now) < 0)
        return; /* told by whoever checks Secrets */
    if (s->in->old && bytes_of(a, s->in->old, ref->key, &old) == 0 && str_eq(old, now))
        return;
    if (key_check(shape, shape == KEY_SLURM_SET, now, &e) < 0)
        api_problem_add(s->p, API_INVALID, api_problem_path(s->p, "data[%s]", ref->key),
                        "the %s of Controller %s %s; what runs goes on with the key that it has",
                        shape == KEY_JWT ? "key for tokens" : "key", c->meta.name, e.text);
}

static bool look(void *arg, const struct jsn *object)
{
    struct secret_check *s = arg;
    struct arena *a = s->p->arena;
    struct controller c;
    struct api_key_ref slurm;
    struct api_key_ref jwt;

    if (controller_decode(a, object, &c, NULL) < 0 || c.spec.external)
        return true;
    slurm = controller_slurm_key(a, &c);
    jwt = controller_jwt_key(a, &c);
    check_key(s, &c, &slurm, shape_of(s, &c));
    check_key(s, &c, &jwt, KEY_JWT);
    return true;
}

void admission_check_secret(const struct admission_request *in, struct api_problems *p)
{
    struct secret_check s = {in, p, jsn_get_str(in->object, "metadata.name")};
    const char *ns = jsn_get_str(in->object, "metadata.namespace");

    if (s.name && ns && !jsn_get_str(in->object, "metadata.deletionTimestamp"))
        (void)api_lookup_each(in->lookup, "Controller", ns, look, &s);
}
