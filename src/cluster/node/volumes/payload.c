/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Volumes that come from the API: from a volume of the pod's spec to a list of files.
 *
 * Without items every key is a file of that name.  With items only those are there, each under its
 * path; a key that is missing is an error unless the source is optional.  Modes come from the item,
 * else from defaultMode, else 0644.
 */
#include "src/cluster/node/volumes/payload.h"

#include <stdio.h>

#define MODE_DEFAULT 0644
#define MAX_FILES 4096

static bool path_ok(const char *path)
{
    struct str rest = str_of(path), part;

    if (!path || !path[0] || path[0] == '/' || starts_with(path, ".."))
        return false;
    while (str_split(&rest, '/', &part))
        if (str_eqz(part, "..") || part.n == 0)
            return false;
    return true;
}

static int add(struct payload *p, const char *path, struct str data, int64_t mode, struct err *e)
{
    if (!path_ok(path))
        return err_bad(e, "'%s' is not a path inside a volume", path ? path : "");
    for (size_t i = 0; i < p->n; i++) {
        if (streq(p->files[i].path, path)) {
            p->files[i].data = data;
            p->files[i].mode = (uint32_t)mode & 0777;
            return 0;
        }
    }
    if (p->n == MAX_FILES)
        return err_bad(e, "more than %d files in a volume", MAX_FILES);
    arena_reserve(p->arena, &p->files, &p->cap, p->n + 1, sizeof(*p->files));
    p->files[p->n++] = (struct payload_file){path, data, (uint32_t)mode & 0777};
    return 0;
}

static int add_all(struct payload *p, const struct jsn *object, const char *plural, int64_t mode,
                   struct err *e)
{
    int r = 0;

    for (const char **key = object_keys(p->arena, object); r == 0 && *key; key++)
        r = add(p, *key, object_data(p->arena, object, plural, str_of(*key)), mode, e);
    return r;
}

static int add_items(struct payload *p, const struct jsn *object, const char *plural,
                     const struct jsn *items, int64_t mode, bool optional, struct err *e)
{
    JSN_FOR_ITEMS (item, items) {
        const char *key = jsn_get_str(item, "key");
        struct str data = object_data(p->arena, object, plural, str_of(key));
        int r = 0;

        if (!data.p && !optional)
            return err_set(e, -ENOENT, ERR_RETRY, "references non-existent %s key: %s",
                           streq(plural, "secrets") ? "secret" : "config", key ? key : "");
        if (data.p)
            r = add(p, jsn_get_str(item, "path"), data, jsn_get_int(item, "mode", mode), e);
        if (r < 0)
            return r;
    }
    return 0;
}

static int add_object(struct payload *p, const struct payload_context *x, const char *plural,
                      const char *name, const struct jsn *source, int64_t mode, struct err *e)
{
    const struct jsn *items = jsn_key(source, "items");
    bool optional = jsn_get_bool(source, "optional", false);
    const struct jsn *object =
        x->source->get(x->source->arg, p->arena, plural, x->pod->ns, name ? name : "");

    if (!object && optional)
        return 0;
    if (!object)
        return err_set(e, -ENOENT, ERR_RETRY, "%s \"%s\" not found",
                       streq(plural, "secrets") ? "secret" : "configmap", name ? name : "");
    if (jsn_len(items) > 0)
        return add_items(p, object, plural, items, mode, optional, e);
    return add_all(p, object, plural, mode, e);
}

static int add_downward(struct payload *p, const struct payload_context *x,
                        const struct jsn *source, int64_t mode, struct err *e)
{
    JSN_FOR_ITEMS (item, jsn_key(source, "items")) {
        const struct jsn *field = jsn_key(item, "fieldRef");
        const struct jsn *resource = jsn_key(item, "resourceFieldRef");
        const char *text = "";
        int r = 0;

        if (field)
            r = field_value(p->arena, x->pod, x->fields, jsn_get_str(field, "fieldPath"), &text, e);
        else if (resource)
            r = field_resource(p->arena, x->pod, x->fields, NULL, resource, &text, e);
        if (r == 0)
            r = add(p, jsn_get_str(item, "path"), str_of(text), jsn_get_int(item, "mode", mode), e);
        if (r < 0)
            return r;
    }
    return 0;
}

static int add_token(struct payload *p, const struct payload_context *x, const struct jsn *source,
                     int64_t mode, struct err *e)
{
    const char *audience = jsn_get_str(source, "audience");
    int64_t seconds = jsn_get_int(source, "expirationSeconds", 3600);
    const char *token = x->token(x->token_arg, p->arena, audience ? audience : "", seconds);

    if (!token)
        return err_set(e, -EAGAIN, ERR_RETRY, "the service account token is not there yet");
    return add(p, jsn_get_str(source, "path"), str_of(token), mode, e);
}

static int add_projected(struct payload *p, const struct payload_context *x, const struct jsn *v,
                         struct err *e)
{
    int64_t mode = jsn_get_int(v, "defaultMode", MODE_DEFAULT);
    int r = 0;

    JSN_FOR_ITEMS (s, jsn_key(v, "sources")) {
        const struct jsn *one;

        if (r == 0 && (one = jsn_key(s, "configMap")))
            r = add_object(p, x, "configmaps", jsn_get_str(one, "name"), one, mode, e);
        if (r == 0 && (one = jsn_key(s, "secret")))
            r = add_object(p, x, "secrets", jsn_get_str(one, "name"), one, mode, e);
        if (r == 0 && (one = jsn_key(s, "downwardAPI")))
            r = add_downward(p, x, one, mode, e);
        if (r == 0 && (one = jsn_key(s, "serviceAccountToken")))
            r = add_token(p, x, one, mode, e);
    }
    return r;
}

bool payload_is(const struct jsn *volume)
{
    return jsn_key(volume, "configMap") || jsn_key(volume, "secret") ||
           jsn_key(volume, "downwardAPI") || jsn_key(volume, "projected");
}

int payload_build(struct payload *p, const struct payload_context *x, const struct jsn *volume,
                  struct err *e)
{
    const struct jsn *v;

    if ((v = jsn_key(volume, "configMap")))
        return add_object(p, x, "configmaps", jsn_get_str(v, "name"), v,
                          jsn_get_int(v, "defaultMode", MODE_DEFAULT), e);
    if ((v = jsn_key(volume, "secret")))
        return add_object(p, x, "secrets", jsn_get_str(v, "secretName"), v,
                          jsn_get_int(v, "defaultMode", MODE_DEFAULT), e);
    if ((v = jsn_key(volume, "downwardAPI")))
        return add_downward(p, x, v, jsn_get_int(v, "defaultMode", MODE_DEFAULT), e);
    return add_projected(p, x, jsn_key(volume, "projected"), e);
}

bool payload_uses(const struct jsn *volume, const char *plural, const char *name)
{
    bool secret = streq(plural, "secrets");
    const char *key = secret ? "secret" : "configMap";
    const struct jsn *v = jsn_key(volume, key);

    if (streq(jsn_get_str(v, secret ? "secretName" : "name"), name))
        return name != NULL;
    JSN_FOR_ITEMS (s, jsn_get(volume, "projected.sources"))
        if (name && streq(jsn_get_str(jsn_key(s, key), "name"), name))
            return true;
    return false;
}
