/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kubeconfig: the merged whole.
 *
 * Files are read in the order in which KUBECONFIG names them, and the first that says something
 * wins: for current-context, and for each cluster, user and context by its name.  Entries of one
 * name are never mixed.  Reading a file is all or nothing: it is decoded into a configuration of
 * its own (config_decode.c) and merged only when all of it is good.
 */
#include "src/kube/config.h"

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/kube/config_decode.h"

void kube_cluster_free(struct kube_cluster *c)
{
    if (!c)
        return;
    free(c->server);
    free(c->ca_file);
    free(c->ca_pem);
    free(c->tls_server_name);
    free(c->proxy_url);
    free(c->plugin_config);
    free(c);
}

static void strings_free(char **strings)
{
    for (char **s = strings; s && *s; s++)
        secret_wipe(*s); /* arguments and environments of plugins may hold keys */
    free(strings);
}

static void plugin_free(struct kube_plugin *p)
{
    if (!p)
        return;
    free(p->api_version);
    free(p->command);
    strings_free(p->args);
    strings_free(p->env);
    free(p->install_hint);
    free(p);
}

void kube_user_free(struct kube_user *u)
{
    if (!u)
        return;
    free(u->cert_file);
    free(u->cert_pem);
    free(u->key_file);
    secret_done(&u->key_pem);
    secret_done(&u->token);
    free(u->token_file);
    free(u->username);
    secret_done(&u->password);
    plugin_free(u->plugin);
    free(u->unsupported);
    free(u);
}

static void context_free(struct kube_context *c)
{
    free(c->cluster);
    free(c->user);
    free(c->namespace);
    free(c);
}

static void drop_cluster(void *p)
{
    kube_cluster_free(p);
}

static void drop_user(void *p)
{
    kube_user_free(p);
}

static void drop_context(void *p)
{
    context_free(p);
}

void kube_config_init(struct kube_config *c)
{
    *c = (struct kube_config){0};
    map_init(&c->clusters, drop_cluster);
    map_init(&c->users, drop_user);
    map_init(&c->contexts, drop_context);
}

void kube_config_done(struct kube_config *c)
{
    map_done(&c->clusters);
    map_done(&c->users);
    map_done(&c->contexts);
    free(TAKE(c->current_context));
}

/* Move what `into` lacks. */
static void merge_map(struct map *into, struct map *from)
{
    struct str key;
    size_t at = 0;

    while (map_next(from, &at, &key, NULL)) {
        AUTO(free) char *name = str_dup(key);

        if (!map_get(into, key))
            (void)map_put(into, str_of(name), map_take(from, str_of(name)));
    }
}

static void merge(struct kube_config *into, struct kube_config *from)
{
    merge_map(&into->clusters, &from->clusters);
    merge_map(&into->users, &from->users);
    merge_map(&into->contexts, &from->contexts);
    if (!into->current_context)
        into->current_context = TAKE(from->current_context);
}

int kube_config_add(struct kube_config *c, const char *file, struct str text, struct err *e)
{
    AUTO(kube_config_done) struct kube_config one;
    int r;

    kube_config_init(&one);
    r = config_decode(file, text, &one, e);
    if (r < 0)
        return err_wrap(e, r, "kubeconfig '%s'", file);
    merge(c, &one);
    return 0;
}

int kube_config_add_file(struct kube_config *c, const char *file, struct err *e)
{
    char *text = NULL;
    size_t n;
    int r;

    r = file_read(file, KUBE_CONFIG_MAX_BYTES, &text, &n, e);
    if (r < 0)
        return err_wrap(e, r, "kubeconfig");
    r = kube_config_add(c, file, (struct str){text, n}, e);
    secret_wipe(text);
    return r;
}

int kube_config_add_list(struct kube_config *c, const char *list, struct err *e)
{
    struct str rest = str_of(list);
    struct str part;

    while (str_split(&rest, ':', &part)) {
        AUTO(free) char *file = str_dup(part);
        int r;

        if (part.n == 0)
            continue;
        r = kube_config_add_file(c, file, e);
        if (r < 0 && r != -ENOENT)
            return r;
    }
    if (e)
        *e = (struct err){0};
    return 0;
}
