/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The environment of a container, and what it runs.
 *
 * Order, the later wins: what the node gives (PATH, HOSTNAME, addresses of Services), envFrom in
 * its order, env in its order.  A value may use $(NAME) of what stands before it.  A ConfigMap or
 * Secret that is not there, or lacks the key, holds the container back unless it is optional.
 */
#include "src/cluster/node/pods/env.h"

#include "src/base/encode.h"

struct env {
    struct arena *arena;
    const char **items; /* NULL-terminated */
    size_t n;
    size_t cap;
};

static void put(struct env *env, struct str name, struct str value)
{
    char *text = arena_printf(env->arena, STR_FMT "=" STR_FMT, STR_ARG(name), STR_ARG(value));

    for (size_t i = 0; env->items && i < env->n; i++) {
        if (strncmp(env->items[i], text, name.n + 1) == 0) {
            env->items[i] = text;
            return;
        }
    }
    arena_reserve(env->arena, &env->items, &env->cap, env->n + 2, sizeof(*env->items));
    env->items[env->n++] = text;
    env->items[env->n] = NULL;
}

static const char *lookup(const char *const *env, struct str name)
{
    for (; env && *env; env++)
        if (strncmp(*env, name.p, name.n) == 0 && (*env)[name.n] == '=')
            return *env + name.n + 1;
    return NULL;
}

const char *env_expand(struct arena *a, const char *text, const char *const *env)
{
    AUTO(buf_done) struct buf b = {0};

    for (const char *p = text; *p; p++) {
        const char *end = p[0] == '$' && p[1] == '(' ? strchr(p, ')') : NULL;
        const char *value = end ? lookup(env, (struct str){p + 2, (size_t)(end - p - 2)}) : NULL;

        if (p[0] == '$' && p[1] == '$') {
            buf_addc(&b, '$');
            p++;
        } else if (value) {
            buf_adds(&b, value);
            p = end;
        } else {
            buf_addc(&b, *p);
        }
    }
    return arena_strdup(a, buf_str(&b));
}

struct str object_data(struct arena *a, const struct jsn *object, const char *plural,
                       struct str key)
{
    AUTO(buf_done) struct buf b = {0};
    bool secret = streq(plural, "secrets");
    const struct jsn *plain = jsn_member(jsn_key(object, "data"), key);
    const struct jsn *coded = secret ? plain : jsn_member(jsn_key(object, "binaryData"), key);

    if (!secret && jsn_is(plain, JSN_STRING))
        return plain->s;
    if (!jsn_is(coded, JSN_STRING) || decode_base64(&b, coded->s) < 0)
        return (struct str){NULL, 0};
    return (struct str){arena_str(a, buf_view(&b)), b.n};
}

static int by_text(const void *x, const void *y)
{
    const char *const *a = x;
    const char *const *b = y;

    return strcmp(*a, *b);
}

const char **object_keys(struct arena *a, const struct jsn *object)
{
    const struct jsn *maps[] = {jsn_key(object, "data"), jsn_key(object, "binaryData")};
    const char **keys = arena_calloc(a, jsn_len(maps[0]) + jsn_len(maps[1]) + 1, sizeof(*keys));
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(maps); i++)
        JSN_FOR_MEMBERS (m, maps[i])
            keys[n++] = arena_str(a, m->key);
    qsort(keys, n, sizeof(*keys), by_text);
    return keys;
}

static int from_key(struct env *env, const struct pod_spec *p, const struct env_context *x,
                    struct str name, const char *plural, const struct jsn *ref, struct err *e)
{
    const char *object_name = jsn_get_str(ref, "name");
    const char *key = jsn_get_str(ref, "key");
    bool optional = jsn_get_bool(ref, "optional", false);
    const struct jsn *object =
        x->source->get(x->source->arg, env->arena, plural, p->ns, object_name ? object_name : "");
    struct str value;

    if (!object && optional)
        return 0;
    if (!object)
        return err_set(e, -ENOENT, ERR_RETRY, "%s \"%s\" not found",
                       streq(plural, "secrets") ? "secret" : "configmap", object_name);
    value = object_data(env->arena, object, plural, str_of(key));
    if (!value.p && optional)
        return 0;
    if (!value.p)
        return err_set(e, -ENOENT, ERR_RETRY, "couldn't find key %s in %s %s/%s", key,
                       streq(plural, "secrets") ? "Secret" : "ConfigMap", p->ns, object_name);
    put(env, name, value);
    return 0;
}

static int from_source(struct env *env, const struct pod_spec *p, const struct ctr_spec *c,
                       const struct env_context *x, struct str name, const struct jsn *source,
                       struct err *e)
{
    const struct jsn *ref;
    const char *text = "";
    int r = 0;

    if ((ref = jsn_key(source, "configMapKeyRef")))
        return from_key(env, p, x, name, "configmaps", ref, e);
    if ((ref = jsn_key(source, "secretKeyRef")))
        return from_key(env, p, x, name, "secrets", ref, e);
    if ((ref = jsn_key(source, "fieldRef")))
        r = field_value(env->arena, p, x->fields, jsn_get_str(ref, "fieldPath"), &text, e);
    else if ((ref = jsn_key(source, "resourceFieldRef")))
        r = field_resource(env->arena, p, x->fields, c, ref, &text, e);
    if (r == 0)
        put(env, name, str_of(text));
    return r;
}

/* envFrom: every key of an object that can be a variable's name. */
static int from_object(struct env *env, const struct pod_spec *p, const struct env_context *x,
                       const struct jsn *item, struct err *e)
{
    const struct jsn *config = jsn_key(item, "configMapRef");
    const struct jsn *ref = config ? config : jsn_key(item, "secretRef");
    const char *plural = config ? "configmaps" : "secrets";
    const char *name = jsn_get_str(ref, "name");
    const char *prefix = jsn_get_str(item, "prefix");
    const struct jsn *object =
        x->source->get(x->source->arg, env->arena, plural, p->ns, name ? name : "");

    if (!object && jsn_get_bool(ref, "optional", false))
        return 0;
    if (!object)
        return err_set(e, -ENOENT, ERR_RETRY, "%s \"%s\" not found",
                       config ? "configmap" : "secret", name ? name : "");
    for (const char **key = object_keys(env->arena, object); *key; key++) {
        const char *full = arena_printf(env->arena, "%s%s", prefix ? prefix : "", *key);

        if (!strchr(full, '=') && full[0])
            put(env, str_of(full), object_data(env->arena, object, plural, str_of(*key)));
    }
    return 0;
}

int env_build(struct arena *a, const struct pod_spec *p, const struct ctr_spec *c,
              const struct env_context *x, const char ***ret_env, struct err *e)
{
    struct env env = {.arena = a};
    int r = 0;

    arena_reserve(a, &env.items, &env.cap, 1, sizeof(*env.items));
    env.items[0] = NULL;
    for (const char *const *b = x->before; b && *b; b++) {
        struct str rest = str_of(*b), name;

        (void)str_split(&rest, '=', &name);
        put(&env, name, rest);
    }
    JSN_FOR_ITEMS (item, jsn_key(c->json, "envFrom"))
        if (r == 0)
            r = from_object(&env, p, x, item, e);
    JSN_FOR_ITEMS (item, jsn_key(c->json, "env")) {
        const char *name = jsn_get_str(item, "name");
        const char *value = jsn_get_str(item, "value");
        const struct jsn *source = jsn_key(item, "valueFrom");

        if (r < 0 || !name)
            continue;
        if (source)
            r = from_source(&env, p, c, x, str_of(name), source, e);
        else
            put(&env, str_of(name), str_of(env_expand(a, value ? value : "", env.items)));
    }
    *ret_env = env.items;
    return r;
}

int env_command(struct arena *a, const struct ctr_spec *c, const char *entrypoint,
                const char *const *env, const char ***ret_argv, struct err *e)
{
    const struct jsn *command = jsn_key(c->json, "command");
    const struct jsn *args = jsn_key(c->json, "args");
    const char **argv = arena_calloc(a, jsn_len(command) + jsn_len(args) + 2, sizeof(*argv));
    size_t n = 0;

    JSN_FOR_ITEMS (item, command)
        argv[n++] = env_expand(a, jsn_text(item) ? jsn_text(item) : "", env);
    if (n == 0 && entrypoint)
        argv[n++] = entrypoint;
    if (n == 0)
        return err_bad(e,
                       "container %s has no command, and there is no start script for the image "
                       "%s here: give it a command",
                       c->name, c->image);
    JSN_FOR_ITEMS (item, args)
        argv[n++] = env_expand(a, jsn_text(item) ? jsn_text(item) : "", env);
    *ret_argv = argv;
    return 0;
}

const char *env_image_name(struct arena *a, const char *image)
{
    const char *slash = strrchr(image, '/');
    struct str name = str_of(slash ? slash + 1 : image);

    name.n = MIN(str_find(name, ':'), str_find(name, '@'));
    return arena_str(a, name);
}
