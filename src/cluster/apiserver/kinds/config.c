/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ConfigMaps, Secrets and ServiceAccounts: keys, sizes, types, and `immutable`.
 *
 * stringData of a Secret is a way to write only: it becomes base64 in `data` at once and is never
 * shown.  Known types of Secrets must have the keys that their readers expect.
 */
#include "src/base/encode.h"
#include "src/cluster/apiserver/kinds/kinds.h"

#define DATA_MAX_BYTES (1 << 20)
#define FROZEN "field is immutable when `immutable` is set"

static void check_keys(struct causes *cs, const struct place *data)
{
    JSN_FOR_MEMBERS (m, data->value) {
        struct name_faults f = names_check(FORM_CONFIG_KEY, m->key);
        struct place at = place_entry(data, m);

        for (size_t i = 0; i < f.n; i++)
            cause_invalid(cs, place_text(cs, &at), jsn_str(cs->arena, m->key), "%s", f.text[i]);
    }
}

/* Bytes after a base64 text, without decoding it. */
static size_t base64_bytes(struct str s)
{
    size_t n = s.n / 4 * 3;

    if (s.n > 0 && s.p[s.n - 1] == '=')
        n -= s.n > 1 && s.p[s.n - 2] == '=' ? 2 : 1;
    return n;
}

static size_t bytes_of(const struct jsn *data, bool base64)
{
    size_t n = 0;

    JSN_FOR_MEMBERS (m, data) {
        if (jsn_is(m->value, JSN_STRING))
            n += base64 ? base64_bytes(m->value->s) : m->value->s.n;
    }
    return n;
}

static void check_frozen(struct causes *cs, const struct jsn *object, const struct jsn *old,
                         const char *const *fields)
{
    if (!jsn_get_bool(old, "immutable", false))
        return;
    if (!jsn_get_bool(object, "immutable", false))
        cause_forbidden(cs, "immutable", FROZEN);
    for (size_t i = 0; fields[i]; i++)
        if (!check_same(jsn_key(object, fields[i]), jsn_key(old, fields[i])))
            cause_forbidden(cs, fields[i], FROZEN);
}

static void configmap_validate(struct causes *cs, const struct jsn *map)
{
    struct place root = place_root(map);
    struct place data = place_key(&root, "data");
    struct place binary = place_key(&root, "binaryData");

    check_keys(cs, &data);
    JSN_FOR_MEMBERS (m, data.value) {
        struct place at = place_entry(&data, m);

        if (jsn_member(binary.value, m->key))
            cause_invalid(cs, place_text(cs, &at), jsn_str(cs->arena, m->key),
                          "duplicate of key present in binaryData");
    }
    check_keys(cs, &binary);
    if (bytes_of(data.value, false) + bytes_of(binary.value, true) > DATA_MAX_BYTES)
        cause_too_long(cs, "[]", DATA_MAX_BYTES);
}

static void configmap_validate_update(struct causes *cs, const struct jsn *map,
                                      const struct jsn *old)
{
    static const char *const fields[] = {"data", "binaryData", NULL};

    check_frozen(cs, map, old, fields);
}

static void secret_defaults(struct arena *a, struct jsn *secret)
{
    const struct jsn *texts = jsn_key(secret, "stringData");

    JSN_FOR_MEMBERS (m, texts) {
        AUTO(buf_done) struct buf b = {0};

        if (!jsn_is(m->value, JSN_STRING))
            continue;
        encode_base64(&b, m->value->s);
        jsn_set_member(a, jsn_ensure_object(a, secret, "data"), m->key, jsn_str(a, buf_view(&b)));
    }
    (void)jsn_del(secret, "stringData");
}

static void require_key(struct causes *cs, const struct jsn *data, const char *path,
                        const char *key)
{
    if (!jsn_is(jsn_key(data, key), JSN_STRING))
        cause_required(cs, cause_path(cs, "%s[%s]", path, key), NULL);
}

/* A docker configuration must be JSON; its text is not shown. */
static void check_docker_config(struct causes *cs, const struct jsn *data, const char *key)
{
    AUTO(buf_done) struct buf b = {0};
    AUTO(arena_done) struct arena scratch = {0};
    const char *text = jsn_text(jsn_key(data, key));
    struct err e = {0};
    struct jsn *v;

    if (!text) {
        require_key(cs, data, "data", key);
        return;
    }
    if (decode_base64(&b, str_of(text)) < 0 || jsn_parse(&scratch, buf_view(&b), NULL, &v, &e) < 0)
        cause_invalid_text(cs, cause_path(cs, "data[%s]", key), "\"<secret contents redacted>\"",
                           "%s", e.num ? e.text : "not base64");
}

static void check_secret_type(struct causes *cs, const struct jsn *secret)
{
    const char *type = kind_text(secret, "type");
    const struct jsn *data = jsn_key(secret, "data");
    const struct jsn *annotations = jsn_get(secret, "metadata.annotations");

    if (streq(type, "kubernetes.io/service-account-token")) {
        if (!jsn_text(jsn_key(annotations, "kubernetes.io/service-account.name")))
            cause_required(cs, "metadata.annotations[kubernetes.io/service-account.name]", NULL);
    } else if (streq(type, "kubernetes.io/dockercfg")) {
        check_docker_config(cs, data, ".dockercfg");
    } else if (streq(type, "kubernetes.io/dockerconfigjson")) {
        check_docker_config(cs, data, ".dockerconfigjson");
    } else if (streq(type, "kubernetes.io/basic-auth")) {
        if (!jsn_key(data, "username") && !jsn_key(data, "password")) {
            require_key(cs, data, "data[%s]", "username");
            require_key(cs, data, "data[%s]", "password");
        }
    } else if (streq(type, "kubernetes.io/ssh-auth")) {
        require_key(cs, data, "data[%s]", "ssh-privatekey");
    } else if (streq(type, "kubernetes.io/tls")) {
        require_key(cs, data, "data", "tls.crt");
        require_key(cs, data, "data", "tls.key");
    }
}

static void secret_validate(struct causes *cs, const struct jsn *secret)
{
    struct place root = place_root(secret);
    struct place data = place_key(&root, "data");

    check_keys(cs, &data);
    if (bytes_of(data.value, true) > DATA_MAX_BYTES)
        cause_too_long(cs, "data", DATA_MAX_BYTES);
    check_secret_type(cs, secret);
}

static void secret_validate_update(struct causes *cs, const struct jsn *secret,
                                   const struct jsn *old)
{
    static const char *const fields[] = {"data", NULL};
    struct place root = place_root(secret);
    struct place type = place_key(&root, "type");

    check_immutable(cs, &type, jsn_key(old, "type"));
    check_frozen(cs, secret, old, fields);
}

const struct strategy strategy_configmaps = {
    .resource = "configmaps",
    .no_generation = true,
    .validate = configmap_validate,
    .validate_update = configmap_validate_update,
};

const struct strategy strategy_secrets = {
    .resource = "secrets",
    .no_generation = true,
    .set_defaults = secret_defaults,
    .validate = secret_validate,
    .validate_update = secret_validate_update,
};

const struct strategy strategy_serviceaccounts = {
    .resource = "serviceaccounts",
    .no_generation = true,
    .deletes_to_object = true,
};
