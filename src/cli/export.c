/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmkeeper export: what is declared in a cluster, as manifests or as values for charts/slurm.
 *
 * Out go the objects of ours, and the ConfigMaps, claims and accounts that they name; Secrets only
 * where they are asked for, the keys that the operator made among them.  What the operator made
 * else is not declared and does not go out.  Standard output is what `kubectl apply -f -` (or `helm
 * install -f -`) takes; what another cluster will lack is said on standard error.
 */
#include "src/cli/export.h"

#include <stdio.h>

#include "src/api/kinds.h"
#include "src/base/map.h"
#include "src/cli/reach.h"
#include "src/cli/verbs.h"
#include "src/json/yaml.h"
#include "src/local/ask.h"
#include "src/plan/sync.h"

struct exporter {
    struct arena *a;
    struct ask *ask;
    const char *only; /* this namespace; NULL: all */
    bool secrets;
    const char *images; /* tag for containers without an image; NULL: leave them so */
    struct jsn *objects;
    struct map seen; /* "Secret/ns/name" */
    const char *ns;  /* of the object whose names are looked up */
    const char *who; /* its kind and name, for notes */
    struct err *e;
    int result; /* of a look-up that failed */
};

static void note(const char *fmt, ...) PRINTF(1, 2);
static void note(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    (void)fputs("note: ", stderr);
    (void)vfprintf(stderr, fmt, args);
    (void)fputc('\n', stderr);
    va_end(args);
}

/* Lists leave kind and apiVersion of their items out. */
static struct jsn *complete(struct arena *a, const struct jsn *item,
                            const struct kube_resource *resource, const char *kind)
{
    struct jsn *o = jsn_clone(a, item);

    jsn_set_str(a, o, "apiVersion",
                resource->group[0] ? arena_printf(a, "%s/%s", resource->group, resource->version)
                                   : resource->version);
    jsn_set_str(a, o, "kind", kind);
    return o;
}

static bool is_first(struct exporter *x, const char *kind, const char *ns, const char *name)
{
    return map_put(&x->seen, str_of(arena_printf(x->a, "%s/%s/%s", kind, ns ? ns : "", name)), x);
}

static void add(struct exporter *x, const struct jsn *object)
{
    struct jsn *o = export_declared(x->a, object);

    if (x->images)
        export_set_images(x->a, o, x->images);
    jsn_append(x->a, x->objects, o);
}

static int read_kind(struct exporter *x, const struct api_kind *k, struct err *e)
{
    struct kube_resource resource = {k->group, k->version, k->plural};
    struct jsn *items = NULL;
    int r = ask_list(x->ask, x->a, &resource, x->only, &items, e);

    if (r == -ENOENT && !k->needed)
        return 0;
    if (r < 0)
        return err_wrap(e, r, "reading %s", k->plural);
    JSN_FOR_ITEMS (item, items) {
        if (jsn_get_str(item, "metadata.deletionTimestamp"))
            note("%s %s/%s is being deleted and is left out", k->kind,
                 jsn_get_str(item, "metadata.namespace"), jsn_get_str(item, "metadata.name"));
        else if (!sync_controller_uid(item))
            add(x, complete(x->a, item, &resource, k->kind));
    }
    return 0;
}

/* Was it made for another object, which makes it again elsewhere?  Keys are not made twice. */
static bool is_remade(const struct jsn *v)
{
    JSN_FOR_ITEMS (owner, jsn_get(v, "metadata.ownerReferences"))
        if (jsn_get_bool(owner, "controller", false))
            return !streq(jsn_get_str(owner, "kind"), "Controller") &&
                   !streq(jsn_get_str(owner, "kind"), "LoginSet");
    return false;
}

/* One that is named, or made for an object. */
static void fetch(struct exporter *x, const char *kind, const char *name, bool made)
{
    const struct export_kind *k = export_kind_find(kind);
    struct jsn *v = NULL;
    int r;

    if (x->result < 0 || !is_first(x, kind, x->ns, name))
        return;
    if (k->secret && !x->secrets) {
        note("Secret %s/%s, which %s names, is left out: --secrets exports it", x->ns, name,
             x->who);
        return;
    }
    r = ask_get(x->ask, x->a, &k->resource, x->ns, name, &v, x->e);
    if (r == -ENOENT && !made)
        note("there is no %s %s/%s, which %s names", kind, x->ns, name, x->who);
    else if (r < 0 && r != -ENOENT)
        x->result = err_wrap(x->e, r, "%s %s/%s", kind, x->ns, name);
    if (r < 0 || (k->secret ? is_remade(v) : sync_controller_uid(v) != NULL))
        return;
    if (streq(kind, "PersistentVolumeClaim"))
        note("claim %s/%s is exported, and what it holds is not", x->ns, name);
    add(x, complete(x->a, v, &k->resource, kind));
}

static void fetch_named(void *arg, const char *kind, const char *name)
{
    fetch(arg, kind, name, false);
}

static void fetch_made(void *arg, const char *kind, const char *name)
{
    fetch(arg, kind, name, true);
}

/* The namespace, for a cluster that does not have it; slurmd makes control groups for jobs. */
static int fetch_namespace(struct exporter *x, struct err *e)
{
    static const struct kube_resource namespaces = {"", "v1", "namespaces"};
    static const char level[] = "pod-security.kubernetes.io/enforce";
    struct jsn *v = NULL;
    struct jsn *labels;
    int r;

    if (streq(x->ns, "default") || !is_first(x, "Namespace", NULL, x->ns))
        return 0;
    r = ask_get(x->ask, x->a, &namespaces, NULL, x->ns, &v, e);
    if (r < 0)
        return err_wrap(e, r, "namespace %s", x->ns);
    v = export_declared(x->a, complete(x->a, v, &namespaces, "Namespace"));
    labels = jsn_ensure_object(x->a, jsn_ensure_object(x->a, v, "metadata"), "labels");
    if (!jsn_member(labels, str_of(level)))
        jsn_set_str(x->a, labels, level, "privileged");
    jsn_append(x->a, x->objects, v);
    return 0;
}

static void look_at(struct exporter *x, const struct jsn *o)
{
    if (!x->images && export_lacks_image(o))
        note("%s names no image: on Kubernetes the operator takes slurmkeeper's of a release that "
             "it is told; --images TAG writes them",
             x->who);
    if (export_uses_machine(o))
        note("%s mounts directories of the machine (hostPath): each machine of the other cluster "
             "needs them",
             x->who);
}

/* What the objects name; it is added behind them. */
static int read_named(struct exporter *x, struct err *e)
{
    size_t n = jsn_len(x->objects);
    int r = 0;

    for (size_t i = 0; r == 0 && i < n; i++) {
        const struct jsn *o = jsn_item(x->objects, i);

        x->ns = jsn_get_str(o, "metadata.namespace");
        x->who = arena_printf(x->a, "%s %s/%s", jsn_get_str(o, "kind"), x->ns,
                              jsn_get_str(o, "metadata.name"));
        x->e = e;
        r = fetch_namespace(x, e);
        export_named(o, fetch_named, x);
        if (x->secrets)
            export_made_secrets(x->a, o, fetch_made, x);
        if (x->result < 0)
            r = x->result;
        look_at(x, o);
    }
    return r;
}

/* In the order in which another cluster takes them: what is named before those that name it. */
static size_t rank(const struct jsn *o)
{
    static const char *const order[] = {
        "Namespace",  "ServiceAccount", "ConfigMap", "Secret", "PersistentVolumeClaim",
        "Accounting", "Controller",     "NodeSet"};
    size_t i = 0;

    while (i < ARRAY_LEN(order) && !streq(jsn_get_str(o, "kind"), order[i]))
        i++;
    return i;
}

static int by_rank(const void *x, const void *y)
{
    static const char *const keys[] = {"kind", "metadata.namespace", "metadata.name"};
    const struct jsn *a = *(const struct jsn *const *)x;
    const struct jsn *b = *(const struct jsn *const *)y;
    int order = (rank(a) > rank(b)) - (rank(a) < rank(b));

    for (size_t i = 0; order == 0 && i < ARRAY_LEN(keys); i++) {
        const char *p = jsn_get_str(a, keys[i]);
        const char *q = jsn_get_str(b, keys[i]);

        order = strcmp(p ? p : "", q ? q : "");
    }
    return order;
}

static void print_manifests(struct exporter *x, struct buf *out)
{
    size_t n = jsn_len(x->objects);
    const struct jsn **sorted = arena_calloc(x->a, n + 1, sizeof(*sorted));

    for (size_t i = 0; i < n; i++)
        sorted[i] = jsn_item(x->objects, i);
    qsort(sorted, n, sizeof(*sorted), by_rank);
    for (size_t i = 0; i < n; i++) {
        buf_adds(out, i ? "---\n" : "");
        yaml_print(out, sorted[i]);
    }
}

/* The Controller that is meant: the one that is named, or the only one. */
static int pick(struct exporter *x, const char *wish, const struct jsn **ret, struct err *e)
{
    *ret = NULL;
    JSN_FOR_ITEMS (o, x->objects) {
        const char *name = jsn_get_str(o, "metadata.name");
        const char *full = arena_printf(x->a, "%s/%s", jsn_get_str(o, "metadata.namespace"), name);

        if (!streq(jsn_get_str(o, "kind"), "Controller") ||
            (wish && !streq(wish, name) && !streq(wish, full)))
            continue;
        if (*ret)
            return err_bad(e, "there are several Controllers: say which by --controller "
                              "NAMESPACE/NAME");
        *ret = o;
    }
    return *ret ? 0
                : err_set(e, -ENOENT, ERR_PERMANENT, "there is no Controller%s%s", wish ? " " : "",
                          wish ? wish : "");
}

static int print_values(struct exporter *x, const char *wish, struct buf *out, struct err *e)
{
    const struct jsn *controller = NULL;
    struct jsn *values = NULL;
    int r = pick(x, wish, &controller, e);

    if (r == 0)
        r = export_values(x->a, controller, x->objects, &values, e);
    if (r == 0)
        yaml_print(out, values);
    return r;
}

static int export(struct exporter *x, const char *form, const char *controller, struct err *e)
{
    AUTO(buf_done) struct buf out = {0};
    int r = 0;

    for (size_t i = 0; r == 0 && i < API_N_KINDS; i++)
        r = read_kind(x, api_kinds[i], e);
    if (r == 0 && jsn_len(x->objects) == 0)
        r = err_set(e, -ENOENT, ERR_PERMANENT, "nothing is declared%s%s",
                    x->only ? " in namespace " : "", x->only ? x->only : "");
    if (r == 0)
        r = read_named(x, e);
    if (r == 0 && streq(form, "values"))
        r = print_values(x, controller, &out, e);
    else if (r == 0)
        print_manifests(x, &out);
    if (r == 0 && (fputs(buf_str(&out), stdout) < 0 || fflush(stdout) != 0))
        r = err_errno(e, EIO, "standard output");
    return r;
}

int verb_export_run(const struct cli_args *args)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(ask_free) struct ask *ask = NULL;
    const char *form = cli_get(args, "output");
    struct exporter x = {.a = &a,
                         .only = cli_get(args, "namespace"),
                         .secrets = cli_has(args, "secrets"),
                         .images = cli_get(args, "images"),
                         .objects = jsn_array(&a)};
    struct err e = {0};
    int r;

    if (form && !streq(form, "manifests") && !streq(form, "values"))
        return cli_usage_error("export: --output: '%s' is neither manifests nor values", form);
    r = ask_new(reach_kubeconfig(args, &a), &ask, &e);
    x.ask = ask;
    if (r == 0)
        r = export(&x, form, cli_get(args, "controller"), &e);
    map_done(&x.seen);
    return r < 0 ? cli_failure("export: %s", e.text) : 0;
}
