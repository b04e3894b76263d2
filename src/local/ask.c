/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ask an API server and wait for the answer, on a loop that turns for that alone.
 *
 * For verbs of the command line, which have nothing else to do meanwhile.  An object is applied by
 * its kind: which resource that is, the server's discovery tells, and it is asked once a group.
 */
#include "src/local/ask.h"

#include "src/base/alloc.h"

struct ask {
    struct kube_target *target;
    struct loop *loop;
    struct kube_client *client;
    struct map discovered; /* "apps/v1" -> struct group */
};

struct group {
    struct arena arena;
    struct jsn *resources;
};

/* A call under way. */
struct waiting {
    struct arena *arena;
    struct jsn *value;
    struct err *e;
    int result;
    bool done;
};

static void group_free(void *p)
{
    struct group *g = p;

    arena_done(&g->arena);
    free(g);
}

int ask_new(const char *kubeconfig, struct ask **ret_ask, struct err *e)
{
    AUTO(ask_free) struct ask *k = xcalloc(1, sizeof(*k));
    struct kube_wish wish = {.kubeconfig = kubeconfig};
    struct kube_client_options o = {.per_second = -1};
    int r;

    map_init(&k->discovered, group_free);
    r = kube_target_find(&wish, &k->target, e);
    if (r == 0)
        r = loop_new(&k->loop, e);
    if (r == 0)
        r = kube_client_new(k->loop, k->target, &o, &k->client, e);
    if (r == 0)
        *ret_ask = TAKE(k);
    return r;
}

struct ask *ask_free(struct ask *k)
{
    if (!k)
        return NULL;
    kube_client_free(k->client);
    loop_free(k->loop);
    kube_target_free(k->target);
    map_done(&k->discovered);
    free(k);
    return NULL;
}

const char *ask_namespace(const struct ask *k)
{
    return kube_client_namespace(k->client);
}

static void on_done(void *arg, const struct kube_answer *answer, const struct kube_failure *f)
{
    struct waiting *w = arg;

    w->done = true;
    if (f) {
        w->result = f->err.num;
        if (w->e)
            *w->e = f->err;
    } else if (answer->value) {
        w->value = jsn_clone(w->arena, answer->value);
    } else {
        w->value = jsn_str(w->arena, answer->text);
    }
}

int ask_call(struct ask *k, const struct kube_request *r, struct arena *a, struct jsn **ret_value,
             struct err *e)
{
    struct waiting w = {.arena = a, .e = e};
    struct kube_request request = *r;

    request.fn = on_done;
    request.arg = &w;
    (void)kube_call_start(k->client, &request);
    while (!w.done)
        (void)loop_turn(k->loop, -1);
    if (ret_value)
        *ret_value = w.value;
    return w.result;
}

int ask_get(struct ask *k, struct arena *a, const struct kube_resource *what, const char *ns,
            const char *name, struct jsn **ret_value, struct err *e)
{
    struct kube_request r = {.verb = KUBE_GET, .resource = *what, .namespace = ns, .name = name};

    return ask_call(k, &r, a, ret_value, e);
}

int ask_list(struct ask *k, struct arena *a, const struct kube_resource *what, const char *ns,
             struct jsn **ret_items, struct err *e)
{
    struct kube_request r = {.verb = KUBE_LIST, .resource = *what, .namespace = ns};
    struct jsn *list = NULL;
    int n = ask_call(k, &r, a, &list, e);

    *ret_items = jsn_key(list, "items");
    return n;
}

/* The resources of "v1" or "apps/v1", asked for once. */
static int discover(struct ask *k, struct str group, struct str version, struct jsn **ret,
                    struct err *e)
{
    AUTO(free) char *key = xasprintf(STR_FMT "/" STR_FMT, STR_ARG(group), STR_ARG(version));
    struct group *g = map_get(&k->discovered, str_of(key));
    int r = 0;

    if (!g) {
        AUTO(free) char *group_name = str_dup(group);
        AUTO(free) char *version_name = str_dup(version);
        struct kube_request request = {.verb = KUBE_LIST,
                                       .resource = {group_name, version_name, NULL}};
        struct jsn *v = NULL;

        g = xcalloc(1, sizeof(*g));
        r = ask_call(k, &request, &g->arena, &v, e);
        g->resources = jsn_key(v, "resources");
        if (r < 0)
            group_free(g);
        else
            map_put(&k->discovered, str_of(key), g);
    }
    *ret = r < 0 ? NULL : g->resources;
    return r;
}

static const struct jsn *resource_of(const struct jsn *list, const char *kind)
{
    JSN_FOR_ITEMS (item, list)
        if (streq(jsn_get_str(item, "kind"), kind) && !strchr(jsn_get_str(item, "name"), '/'))
            return item;
    return NULL;
}

int ask_apply(struct ask *k, struct arena *a, const struct jsn *object, struct jsn **ret_object,
              struct err *e)
{
    const char *api = jsn_get_str(object, "apiVersion");
    const char *kind = jsn_get_str(object, "kind");
    const char *name = jsn_get_str(object, "metadata.name");
    const char *ns = jsn_get_str(object, "metadata.namespace");
    struct str version = str_of(api);
    struct str group = {"", 0};
    const struct jsn *found;
    struct kube_request request = {.verb = KUBE_APPLY_FORCE, .name = name, .body = object};
    struct jsn *list;
    int r;

    if (!api || !kind || !name)
        return err_bad(e, "it has no apiVersion, kind or metadata.name");
    if (strchr(api, '/'))
        (void)str_split(&version, '/', &group);
    r = discover(k, group, version, &list, e);
    if (r < 0 && r != -ENOENT)
        return r;
    found = r < 0 ? NULL : resource_of(list, kind);
    if (!found)
        return err_set(e, -ENOENT, ERR_PERMANENT, "the API server has no kind %s in %s", kind, api);
    request.resource = (struct kube_resource){arena_str(a, group), arena_str(a, version),
                                              jsn_get_str(found, "name")};
    if (jsn_get_bool(found, "namespaced", true))
        request.namespace = ns ? ns : "default";
    return ask_call(k, &request, a, ret_object, e);
}
