/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keys as bytes.
 *
 * A key that a daemon would not take must never reach one: it would end, or stand alone.  So what a
 * Secret holds is held against the same rules as munged and Slurm have: sizes, and for slurm.jwks
 * the fields of each key.
 *
 * A slurm.jwks is a list of keys, each with an id (kid).  What is signed names the id of its key;
 * what names none is taken for signed with the default key, which is so while slurm.key is still in
 * use somewhere.  One key is written as a set of one.
 */
#include "src/api/key_material.h"

#include <strings.h>

#include "src/base/encode.h"
#include "src/slurm/keyring.h"

#define SLURM_KEY_MIN_BYTES 16

static int one_check(enum key_shape shape, size_t n, struct err *e)
{
    bool munge = shape == KEY_MUNGE;
    size_t least = munge ? MUNGE_KEY_MIN_BYTES : SLURM_KEY_MIN_BYTES;
    size_t most = munge ? MUNGE_KEY_MAX_BYTES : KEY_MAX_BYTES;

    if (n == 0)
        return err_bad(e, "is empty");
    if (n < least)
        return err_bad(e, "has %zu %s, and %s needs %zu", n, word_for(n, "byte", "bytes"),
                       munge ? "munge" : "Slurm", least);
    if (n > most)
        return err_bad(e, "has %zu bytes, and %s takes at most %zu", n, munge ? "munge" : "Slurm",
                       most);
    return 0;
}

static const char *text_of(const struct jsn *key, const char *field)
{
    return jsn_text(jsn_key(key, field));
}

static bool is_default(const struct jsn *key)
{
    const char *use = text_of(key, "use");

    return use && strcasecmp(use, "default") == 0;
}

static int member_check(const struct jsn *key, struct err *e)
{
    static const struct {
        const char *field;
        const char *value;
    } fixed[] = {{"kty", "oct"}, {"alg", "HS256"}};
    AUTO(buf_done) struct buf bytes = {0};
    const char *kid = text_of(key, "kid");
    const char *k = text_of(key, "k");

    if (!kid || !kid[0])
        return err_bad(e, "has a key without a kid");
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++) {
        const char *value = text_of(key, fixed[i].field);

        if (!value || strcasecmp(value, fixed[i].value) != 0)
            return err_bad(e, "key '%.40s': %s must be %s", kid, fixed[i].field, fixed[i].value);
    }
    if (!k || decode_base64(&bytes, str_of(k)) < 0)
        return err_bad(e, "key '%.40s': k is not base64", kid);
    if (bytes.n < SLURM_KEY_MIN_BYTES)
        return err_bad(e, "key '%.40s': k has %zu %s, and Slurm needs %d", kid, bytes.n,
                       word_for(bytes.n, "byte", "bytes"), SLURM_KEY_MIN_BYTES);
    return 0;
}

static const struct jsn *find_kid(const struct jsn *keys, const char *kid)
{
    JSN_FOR_ITEMS (key, keys)
        if (streq(text_of(key, "kid"), kid))
            return key;
    return NULL;
}

static int set_check(struct str value, struct err *e)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *set = NULL;
    struct err why = {0};
    const struct jsn *keys;
    unsigned defaults = 0;

    if (jsn_parse(&a, value, NULL, &set, &why) < 0)
        return err_bad(e, "is not JSON");
    keys = jsn_key(set, "keys");
    if (!jsn_is(keys, JSN_ARRAY) || jsn_len(keys) == 0)
        return err_bad(e, "has no list of keys");
    JSN_FOR_ITEMS (key, keys) {
        int r = member_check(key, e);

        if (r < 0)
            return r;
        if (find_kid(keys, text_of(key, "kid")) != key)
            return err_bad(e, "has the kid '%.40s' twice", text_of(key, "kid"));
        defaults += is_default(key);
    }
    return defaults > 1 ? err_bad(e, "has more than one default key") : 0;
}

int key_check(enum key_shape shape, bool is_set, struct str value, struct err *e)
{
    if (is_set && value.n > 0 && value.n <= KEY_MAX_BYTES)
        return set_check(value, e);
    return one_check(shape, value.n, e);
}

static struct jsn *one_as_set(struct arena *a, const struct key_source *from)
{
    AUTO(buf_done) struct buf k = {0};
    struct jsn *keys = jsn_array(a);
    struct jsn *key = jsn_object(a);

    encode_base64url(&k, from->value);
    jsn_set_str(a, key, "alg", "HS256");
    jsn_set_str(a, key, "kty", "oct");
    jsn_set_str(a, key, "kid", from->id);
    jsn_set(a, key, "k", jsn_str(a, buf_view(&k)));
    jsn_append(a, keys, key);
    return keys;
}

static struct jsn *keys_of(struct arena *a, const struct key_source *from)
{
    struct jsn *set = NULL;

    if (from->value.n == 0)
        return jsn_array(a);
    if (!from->is_set)
        return one_as_set(a, from);
    if (jsn_parse(a, from->value, NULL, &set, NULL) < 0 || !jsn_is(jsn_key(set, "keys"), JSN_ARRAY))
        return jsn_array(a);
    return jsn_key(set, "keys");
}

/* Without one that says so, the first is the default. */
static const struct jsn *default_of(const struct jsn *keys)
{
    JSN_FOR_ITEMS (key, keys)
        if (is_default(key))
            return key;
    return jsn_item(keys, 0);
}

static void add_key(struct arena *a, struct jsn *to, const struct jsn *key, bool signs)
{
    struct jsn *copy = jsn_clone(a, key);

    (void)jsn_del(copy, "use");
    if (signs)
        jsn_set_str(a, copy, "use", "default");
    jsn_append(a, to, copy);
}

int key_set_join(struct arena *a, const char *stage, const struct key_source *sign,
                 const struct key_source *also, const struct jsn **ret, struct err *e)
{
    struct jsn *set = jsn_object(a);
    struct jsn *all = jsn_array(a);
    const struct jsn *first = keys_of(a, sign);
    const struct jsn *other = keys_of(a, also);

    JSN_FOR_ITEMS (key, first)
        add_key(a, all, key, key == default_of(first));
    JSN_FOR_ITEMS (key, other) {
        const struct jsn *same = find_kid(first, text_of(key, "kid"));

        if (same && !streq(text_of(same, "k"), text_of(key, "k")))
            return err_set(e, -EEXIST, ERR_PERMANENT,
                           "has another key of the kid '%.40s' than before: a new key needs a kid "
                           "of its own",
                           text_of(key, "kid"));
        if (!same)
            add_key(a, all, key, false);
    }
    jsn_set_str(a, set, "stage", stage);
    jsn_set(a, set, "keys", all);
    *ret = set;
    return 0;
}
