/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agents of all Controllers.
 *
 * Each plan of a Controller says where its agent is; from that links are made, kept and cut.  One
 * client serves all of them.
 */
#include "src/operator/agents.h"

#include "src/base/alloc.h"
#include "src/base/map.h"

struct entry {
    struct agents *owner;
    char *namespace;
    char *controller;
    struct agent_link *link;
    bool refused;
};

struct agents {
    struct loop *loop;
    struct http_client *client;
    struct agents_events events;
    struct map entries; /* "namespace/controller" */
};

static void entry_free(void *value)
{
    struct entry *en = value;

    (void)agent_link_free(en->link);
    free(en->namespace);
    free(en->controller);
    free(en);
}

static void on_changed(void *arg, const struct agent_change *c)
{
    struct entry *en = arg;

    en->owner->events.changed(en->owner->events.arg, en->namespace, en->controller, c);
}

static void on_lost(void *arg)
{
    struct entry *en = arg;

    en->owner->events.lost(en->owner->events.arg, en->namespace, en->controller);
}

static void on_pushed(void *arg)
{
    struct entry *en = arg;
    const struct slurm_state *s = agent_link_view(en->link);
    bool refused = s && streq(s->applied.result, "refused");
    bool refusal = refused || en->refused;

    en->refused = refused;
    en->owner->events.pushed(en->owner->events.arg, en->namespace, en->controller, refusal);
}

int agents_new(struct loop *l, const struct agents_events *events, struct agents **ret_agents,
               struct err *e)
{
    struct http_client *client = NULL;
    struct agents *g;
    int r = http_client_new(l, &client, e);

    if (r < 0)
        return r;
    g = xcalloc(1, sizeof(*g));
    g->loop = l;
    g->client = client;
    g->events = *events;
    map_init(&g->entries, entry_free);
    *ret_agents = g;
    return 0;
}

struct agents *agents_free(struct agents *g)
{
    if (!g)
        return NULL;
    map_done(&g->entries);
    (void)http_client_free(g->client);
    free(g);
    return NULL;
}

void agents_clear(struct agents *g)
{
    map_done(&g->entries);
    map_init(&g->entries, entry_free);
}

void agents_set(struct agents *g, const char *ns, const char *controller,
                const struct agent_target *t)
{
    AUTO(free) char *key = xasprintf("%s/%s", ns, controller);
    struct entry *en = map_get(&g->entries, str_of(key));
    struct agent_events events = {on_changed, on_lost, on_pushed, NULL};

    if (en && t && agent_link_is_to(en->link, t))
        return;
    if (en)
        (void)map_del(&g->entries, str_of(key));
    if (!t)
        return;
    en = xcalloc(1, sizeof(*en));
    en->owner = g;
    en->namespace = xstrdup(ns);
    en->controller = xstrdup(controller);
    events.arg = en;
    en->link = agent_link_new(g->loop, g->client, t, &events);
    (void)map_put(&g->entries, str_of(key), en);
}

struct agent_link *agents_find(const struct agents *g, const char *ns, const char *controller)
{
    AUTO(free) char *key = xasprintf("%s/%s", ns, controller ? controller : "");
    const struct entry *en = map_get(&g->entries, str_of(key));

    return en ? en->link : NULL;
}

size_t agents_count(const struct agents *g, size_t *ret_known)
{
    struct entry *en;
    size_t at = 0;
    size_t known = 0;

    while (map_next(&g->entries, &at, NULL, &en))
        known += agent_link_view(en->link) != NULL;
    if (ret_known)
        *ret_known = known;
    return g->entries.n;
}
