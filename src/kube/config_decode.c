/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One kubeconfig text to its entries.
 *
 * The text is YAML or JSON.  Three lists (clusters, users, contexts) hold named entries whose
 * members are read by tables: key, what the value must be, where it goes.  Unknown members are
 * passed over, as kubectl does; a known one of the wrong type is an error that names it, and so is
 * a name that stands twice.  Inline data are base64 of PEM, and are decoded here; files that the
 * text points to are not opened: only the entry that is used needs its files (target.c).
 */
#include "src/kube/config_decode.h"

#include <libgen.h>

#include "src/base/alloc.h"
#include "src/base/encode.h"
#include "src/json/yaml.h"

enum kind { TEXT, PATH, FLAG, PEM, HIDDEN, HIDDEN_PEM };

struct field {
    const char *key;
    enum kind kind;
    size_t offset;
};

static const struct field cluster_fields[] = {
    {"server", TEXT, offsetof(struct kube_cluster, server)},
    {"certificate-authority", PATH, offsetof(struct kube_cluster, ca_file)},
    {"certificate-authority-data", PEM, offsetof(struct kube_cluster, ca_pem)},
    {"insecure-skip-tls-verify", FLAG, offsetof(struct kube_cluster, insecure)},
    {"tls-server-name", TEXT, offsetof(struct kube_cluster, tls_server_name)},
    {"proxy-url", TEXT, offsetof(struct kube_cluster, proxy_url)},
    {0},
};

static const struct field user_fields[] = {
    {"client-certificate", PATH, offsetof(struct kube_user, cert_file)},
    {"client-certificate-data", PEM, offsetof(struct kube_user, cert_pem)},
    {"client-key", PATH, offsetof(struct kube_user, key_file)},
    {"client-key-data", HIDDEN_PEM, offsetof(struct kube_user, key_pem)},
    {"token", HIDDEN, offsetof(struct kube_user, token)},
    {"tokenFile", PATH, offsetof(struct kube_user, token_file)},
    {"username", TEXT, offsetof(struct kube_user, username)},
    {"password", HIDDEN, offsetof(struct kube_user, password)},
    {0},
};

static const struct field context_fields[] = {
    {"cluster", TEXT, offsetof(struct kube_context, cluster)},
    {"user", TEXT, offsetof(struct kube_context, user)},
    {"namespace", TEXT, offsetof(struct kube_context, namespace)},
    {0},
};

static const struct field plugin_fields[] = {
    {"apiVersion", TEXT, offsetof(struct kube_plugin, api_version)},
    {"command", TEXT, offsetof(struct kube_plugin, command)},
    {"installHint", TEXT, offsetof(struct kube_plugin, install_hint)},
    {"provideClusterInfo", FLAG, offsetof(struct kube_plugin, wants_cluster)},
    {0},
};

/* A path as the file at `file` means it. */
static char *resolve(const char *file, const char *path)
{
    AUTO(free) char *copy = NULL;

    if (path[0] == '/' || path[0] == '\0')
        return xstrdup(path);
    copy = xstrdup(file);
    return xasprintf("%s/%s", dirname(copy), path);
}

static int decode_pem(struct str base64, struct buf *ret_pem, struct err *e)
{
    int r = decode_base64(ret_pem, str_trim(base64));

    if (r < 0)
        return err_bad(e, "is not base64");
    if (strlen(buf_str(ret_pem)) != ret_pem->n || !strstr(buf_str(ret_pem), "-----BEGIN "))
        return err_bad(e, "is base64, but not of PEM text");
    return 0;
}

static int decode_pem_field(const struct field *f, struct str text, void *slot, struct err *e)
{
    AUTO(buf_done) struct buf pem = {0};
    int r = decode_pem(text, &pem, e);

    if (r < 0)
        return r;
    if (f->kind == PEM) {
        *(char **)slot = buf_take(&pem);
        return 0;
    }
    secret_set(slot, buf_view(&pem));
    secret_wipe(buf_take(&pem));
    return 0;
}

static int decode_text(const struct field *f, const char *file, struct str text, void *slot,
                       struct err *e)
{
    if (strlen(text.p) != text.n)
        return err_bad(e, "holds a NUL character");
    if (text.n == 0)
        return 0;
    if (f->kind == PEM || f->kind == HIDDEN_PEM)
        return decode_pem_field(f, text, slot, e);
    if (f->kind == HIDDEN)
        secret_set(slot, text);
    else
        *(char **)slot = f->kind == PATH ? resolve(file, text.p) : xstrdup(text.p);
    return 0;
}

static int decode_value(const struct field *f, const char *file, const struct jsn *v, void *slot,
                        struct err *e)
{
    if (f->kind == FLAG) {
        if (!jsn_is(v, JSN_BOOL))
            return err_bad(e, "must be true or false, not %s", jsn_type_name(v->type));
        *(bool *)slot = v->b;
        return 0;
    }
    if (!jsn_is(v, JSN_STRING))
        return err_bad(e, "must be a string, not %s", jsn_type_name(v->type));
    return decode_text(f, file, v->s, slot, e);
}

static int decode_fields(const struct field *fields, const char *file, const struct jsn *object,
                         void *out, struct err *e)
{
    for (const struct field *f = fields; f->key; f++) {
        const struct jsn *v = jsn_key(object, f->key);
        int r = 0;

        if (v && v->type != JSN_NULL)
            r = decode_value(f, file, v, (char *)out + f->offset, e);
        if (r < 0)
            return err_wrap(e, r, "%s", f->key);
    }
    return 0;
}

/* The extension of the reserved name is what a plugin gets to see of the cluster's own. */
static void decode_extensions(const struct jsn *object, struct kube_cluster *c)
{
    JSN_FOR_ITEMS (x, jsn_key(object, "extensions")) {
        AUTO(buf_done) struct buf b = {0};

        if (c->plugin_config || !streq(jsn_get_str(x, "name"), "client.authentication.k8s.io/exec"))
            continue;
        jsn_print(&b, jsn_key(x, "extension"));
        c->plugin_config = buf_take(&b);
    }
}

static int decode_cluster(const char *file, const struct jsn *object, void **ret, struct err *e)
{
    AUTO(kube_cluster_free) struct kube_cluster *c = xcalloc(1, sizeof(*c));
    int r = decode_fields(cluster_fields, file, object, c, e);

    if (r < 0)
        return r;
    decode_extensions(object, c);
    *ret = TAKE(c);
    return 0;
}

static int decode_args(const struct jsn *list, struct kube_plugin *p, struct err *e)
{
    size_t n = 0;

    if (!list || list->type == JSN_NULL)
        return 0;
    if (list->type != JSN_ARRAY)
        return err_bad(e, "args must be a list of strings");
    p->args = xcalloc(jsn_len(list) + 1, sizeof(*p->args));
    JSN_FOR_ITEMS (arg, list) {
        if (!jsn_text(arg) || strlen(jsn_text(arg)) != arg->s.n)
            return err_bad(e, "args[%zu] must be a string", n);
        p->args[n++] = xstrdup(jsn_text(arg));
    }
    return 0;
}

static int decode_env(const struct jsn *list, struct kube_plugin *p, struct err *e)
{
    size_t n = 0;

    if (!list || list->type == JSN_NULL)
        return 0;
    if (list->type != JSN_ARRAY)
        return err_bad(e, "env must be a list of names with values");
    p->env = xcalloc(jsn_len(list) + 1, sizeof(*p->env));
    JSN_FOR_ITEMS (item, list) {
        const char *name = jsn_get_str(item, "name");
        const char *value = jsn_get_str(item, "value");

        if (!name || !*name || strchr(name, '='))
            return err_bad(e, "env[%zu].name must be the name of a variable", n);
        p->env[n++] = xasprintf("%s=%s", name, value ? value : "");
    }
    return 0;
}

static int decode_interactive(const struct jsn *v, struct kube_plugin *p, struct err *e)
{
    static const char *const modes[] = {
        [KUBE_INTERACTIVE_IF_AVAILABLE] = "IfAvailable",
        [KUBE_INTERACTIVE_NEVER] = "Never",
        [KUBE_INTERACTIVE_ALWAYS] = "Always",
    };

    if (!v || v->type == JSN_NULL)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        if (streq(jsn_text(v), modes[i])) {
            p->interactive = (enum kube_interactive)i;
            return 0;
        }
    }
    return err_bad(e, "interactiveMode must be Never, IfAvailable or Always");
}

static int check_plugin(const struct kube_plugin *p, struct err *e)
{
    if (!p->command)
        return err_bad(e, "command is missing");
    if (!p->api_version)
        return err_bad(e, "apiVersion is missing");
    if (!streq(p->api_version, "client.authentication.k8s.io/v1") &&
        !streq(p->api_version, "client.authentication.k8s.io/v1beta1"))
        return err_bad(e, "apiVersion: '%s' is not client.authentication.k8s.io/v1 or v1beta1",
                       p->api_version);
    return 0;
}

static int decode_plugin(const char *file, const struct jsn *object, struct kube_user *u,
                         struct err *e)
{
    struct kube_plugin *p;
    int r;

    if (!object || object->type == JSN_NULL)
        return 0;
    if (object->type != JSN_OBJECT)
        return err_bad(e, "must be an object");
    p = u->plugin = xcalloc(1, sizeof(*p));
    r = decode_fields(plugin_fields, file, object, p, e);
    if (r == 0)
        r = decode_args(jsn_key(object, "args"), p, e);
    if (r == 0)
        r = decode_env(jsn_key(object, "env"), p, e);
    if (r == 0)
        r = decode_interactive(jsn_key(object, "interactiveMode"), p, e);
    if (r == 0)
        r = check_plugin(p, e);
    if (r == 0 && strchr(p->command, '/')) {
        AUTO(free) char *as_written = TAKE(p->command);

        p->command = resolve(file, as_written);
    }
    return r;
}

static int decode_user(const char *file, const struct jsn *object, void **ret, struct err *e)
{
    static const char *const lacking[] = {"auth-provider", "as", "as-uid", "as-groups",
                                          "as-user-extra"};
    AUTO(kube_user_free) struct kube_user *u = xcalloc(1, sizeof(*u));
    int r = decode_fields(user_fields, file, object, u, e);

    if (r < 0)
        return r;
    r = decode_plugin(file, jsn_key(object, "exec"), u, e);
    if (r < 0)
        return err_wrap(e, r, "exec");
    for (size_t i = 0; i < ARRAY_LEN(lacking); i++) {
        const struct jsn *v = jsn_key(object, lacking[i]);

        if (v && v->type != JSN_NULL && !u->unsupported)
            u->unsupported = xstrdup(lacking[i]);
    }
    *ret = TAKE(u);
    return 0;
}

static int decode_context(const char *file, const struct jsn *object, void **ret, struct err *e)
{
    struct kube_context *c = xcalloc(1, sizeof(*c));

    *ret = c;
    return decode_fields(context_fields, file, object, c, e);
}

typedef int (*decode_fn)(const char *file, const struct jsn *object, void **ret, struct err *e);

static int decode_entry(const char *file, const char *inner, const struct jsn *entry,
                        decode_fn decode, struct map *into, struct err *e)
{
    const struct jsn *object = jsn_key(entry, inner);
    const char *name = jsn_get_str(entry, "name");
    void *value = NULL;
    int r;

    if (!name)
        return err_bad(e, "name is missing");
    if (map_get(into, str_of(name)))
        return err_bad(e, "the name '%s' stands twice in this list", name);
    if (object && object->type != JSN_OBJECT && object->type != JSN_NULL)
        return err_bad(e, "%s must be an object", inner);
    r = decode(file, object, &value, e);
    if (value)
        (void)map_put(into, str_of(name), value);
    return r < 0 ? err_wrap(e, r, "'%s': %s", name, inner) : 0;
}

static int decode_list(const char *file, const struct jsn *top, const char *list, const char *inner,
                       decode_fn decode, struct map *into, struct err *e)
{
    const struct jsn *entries = jsn_key(top, list);

    if (!entries || entries->type == JSN_NULL)
        return 0;
    if (entries->type != JSN_ARRAY)
        return err_bad(e, "%s must be a list", list);
    JSN_FOR_ITEMS (entry, entries) {
        int r = decode_entry(file, inner, entry, decode, into, e);

        if (r < 0)
            return err_wrap(e, r, "%s[%zu]", list, entry_i);
    }
    return 0;
}

static int check_kind(const struct jsn *top, struct err *e)
{
    const char *version = jsn_get_str(top, "apiVersion");
    const char *kind = jsn_get_str(top, "kind");

    if (!jsn_is(top, JSN_OBJECT))
        return err_bad(e, "is not a kubeconfig: it must be an object, not %s",
                       jsn_type_name(top->type));
    if ((version && *version && !streq(version, "v1")) || (kind && *kind && !streq(kind, "Config")))
        return err_bad(e, "is not a kubeconfig: it says apiVersion '%s', kind '%s'",
                       version ? version : "", kind ? kind : "");
    return 0;
}

int config_decode(const char *file, struct str text, struct kube_config *c, struct err *e)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn_notes notes = {.arena = &a};
    struct jsn *top;
    const char *current;
    int r;

    r = yaml_parse(&a, text, &notes, &top, e);
    if (r < 0)
        return r;
    if (top->type == JSN_NULL)
        return 0;
    r = check_kind(top, e);
    if (r == 0)
        r = decode_list(file, top, "clusters", "cluster", decode_cluster, &c->clusters, e);
    if (r == 0)
        r = decode_list(file, top, "users", "user", decode_user, &c->users, e);
    if (r == 0)
        r = decode_list(file, top, "contexts", "context", decode_context, &c->contexts, e);
    current = jsn_get_str(top, "current-context");
    if (r == 0 && current && *current)
        c->current_context = xstrdup(current);
    return r;
}
