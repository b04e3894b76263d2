/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes of nodes that were asked for and do not show in Slurm's state yet.
 *
 * The answer to a change and the state that shows it come over different connections.  A plan made
 * between the two sees the old state and would ask for the same change again.  So plans also see
 * this list: what is on it is not asked for a second time.
 *
 * The list holds back repetitions and nothing else.  Whether a node is free is decided by the state
 * alone: a drain that was asked for is not a drain that has happened.
 */
#include "src/operator/agent_asked.h"

#include "src/base/alloc.h"

struct ask {
    char *node;
    char *action;
    int64_t until_ms;
};

struct asked {
    struct loop *loop;
    struct loop_source *timer;
    asked_expired_fn expired;
    void *arg;
    struct ask *items;
    size_t n;
    size_t cap;
    struct slurm_asked *shown; /* what asked_list gave last */
    size_t cap_shown;
};

static void drop(struct asked *k, size_t i)
{
    free(k->items[i].node);
    free(k->items[i].action);
    k->items[i] = k->items[--k->n];
}

/* The timer fires when the first of them expires. */
static void arm(struct asked *k)
{
    int64_t first = INT64_MAX;

    for (size_t i = 0; i < k->n; i++)
        first = MIN(first, k->items[i].until_ms);
    if (k->n == 0)
        loop_timer_disarm(k->timer);
    else
        loop_timer_arm(k->timer, MAX(first - loop_now_ms(k->loop), (int64_t)0));
}

static void on_time(void *arg)
{
    struct asked *k = arg;

    for (size_t i = k->n; i-- > 0;) {
        AUTO(free) char *node = NULL;

        if (i >= k->n || k->items[i].until_ms > loop_now_ms(k->loop))
            continue;
        node = xstrdup(k->items[i].node);
        drop(k, i);
        k->expired(k->arg, node);
    }
    arm(k);
}

struct asked *asked_new(struct loop *l, asked_expired_fn expired, void *arg)
{
    struct asked *k = xcalloc(1, sizeof(*k));

    k->loop = l;
    k->expired = expired;
    k->arg = arg;
    k->timer = loop_add_timer(l, on_time, k);
    return k;
}

struct asked *asked_free(struct asked *k)
{
    if (!k)
        return NULL;
    while (k->n > 0)
        drop(k, k->n - 1);
    (void)loop_source_free(k->timer);
    free(k->items);
    free(k->shown);
    free(k);
    return NULL;
}

static size_t find(const struct asked *k, const char *node)
{
    size_t i = 0;

    while (i < k->n && !streq(k->items[i].node, node))
        i++;
    return i;
}

void asked_put(struct asked *k, const char *node, const char *action)
{
    size_t i = find(k, node);

    if (i < k->n)
        drop(k, i);
    array_reserve(&k->items, &k->cap, k->n + 1, sizeof(*k->items));
    k->items[k->n++] =
        (struct ask){xstrdup(node), xstrdup(action), loop_now_ms(k->loop) + ASKED_MAX_MS};
    arm(k);
}

void asked_answered(struct asked *k, const char *node, const char *action, bool failed)
{
    size_t i = find(k, node);

    if (i == k->n || !streq(k->items[i].action, action))
        return;
    if (failed)
        drop(k, i);
    else
        k->items[i].until_ms = loop_now_ms(k->loop) + ASKED_SEEN_MS;
    arm(k);
}

static bool shows(const struct slurm_state *s, const struct ask *ask)
{
    const struct slurm_node *n = slurm_state_node(s, ask->node);
    bool draining = n && (n->state & NODE_FLAG_DRAIN) && !(n->state & NODE_FLAG_UNDRAIN);

    if (!n || streq(ask->action, "delete"))
        return !n;
    if (ask->action[0] == '{')
        return false; /* what it shall show is not known here: it is held back for its time */
    if (streq(ask->action, "drain"))
        return draining;
    if (streq(ask->action, "undrain"))
        return !draining;
    return !draining && nodestate_base(n->state) != NODE_BASE_DOWN;
}

void asked_compare(struct asked *k, const struct slurm_state *s)
{
    for (size_t i = k->n; i-- > 0;)
        if (shows(s, &k->items[i]))
            drop(k, i);
    arm(k);
}

const struct slurm_asked *asked_list(struct asked *k, size_t *ret_n)
{
    array_reserve(&k->shown, &k->cap_shown, k->n + 1, sizeof(*k->shown));
    for (size_t i = 0; i < k->n; i++)
        k->shown[i] = (struct slurm_asked){k->items[i].node, k->items[i].action};
    *ret_n = k->n;
    return k->shown;
}
