/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last configuration of each Controller, the lines of the one that is written, and whether its
 * agent's certificate is good.
 *
 * Plans are pure and remember nothing; what is worth remembering between two of them is here, by
 * the Controller that it is about, and goes with it.
 */
#include "src/operator/memos.h"

#include "src/base/alloc.h"
#include "src/http/cert.h"
#include "src/plan/slurm_state.h"

/* It has days to live when it is renewed. */
#define CERT_CHECK_MS 60000

struct cert_memo {
    char *pem;
    int64_t checked_ms;
};

static void cert_memo_free(void *arg)
{
    struct cert_memo *c = arg;

    free(c->pem);
    free(c);
}

static void memo_free(void *arg)
{
    (void)config_memo_free(arg);
}

struct written_memo {
    char *version;    /* of the ConfigMap */
    struct map lines; /* by the partition's name */
};

static void written_memo_free(void *arg)
{
    struct written_memo *w = arg;

    free(w->version);
    map_done(&w->lines);
    free(w);
}

void memos_done(struct memos *m)
{
    map_done(&m->by_controller);
    map_done(&m->written);
    map_done(&m->certs);
}

static struct written_memo *written_read(const struct kube_object *map)
{
    struct written_memo *w = xcalloc(1, sizeof(*w));
    AUTO(arena_done) struct arena a = {0};
    struct jsn *v = NULL;
    struct err e = {0};

    w->version = xstrdup_null(map->version);
    map_init(&w->lines, free);
    if (kube_object_parse(map, &a, &v, &e) == 0)
        slurm_lines_read(&w->lines, jsn_text(jsn_key(jsn_key(v, "data"), "slurm.conf")));
    return w;
}

const char *memos_written(struct memos *m, const char *controller, const struct kube_object *map,
                          const char *partition)
{
    AUTO(free) char *key = map ? xasprintf("%s/%s", map->namespace, controller) : NULL;
    struct written_memo *w = key ? map_get(&m->written, str_of(key)) : NULL;

    if (!map)
        return NULL;
    if (!w || !streq(w->version, map->version)) {
        w = written_read(map);
        m->written.free_value = written_memo_free;
        (void)map_put(&m->written, str_of(key), w);
    }
    return map_get(&w->lines, str_of(partition));
}

bool memos_cert_good(struct memos *m, const char *ns, const char *controller, const char *cert_pem,
                     int64_t now_ms)
{
    AUTO(free) char *key = xasprintf("%s/%s", ns, controller);
    struct cert_memo *c = map_get(&m->certs, str_of(key));

    if (c && streq(c->pem, cert_pem) && now_ms - c->checked_ms < CERT_CHECK_MS)
        return true;
    if (!cert_still_good(cert_pem, cert_pem, NULL))
        return false;
    c = xcalloc(1, sizeof(*c));
    *c = (struct cert_memo){xstrdup(cert_pem), now_ms};
    m->certs.free_value = cert_memo_free;
    (void)map_put(&m->certs, str_of(key), c);
    return true;
}

struct config_memo *memos_get(struct memos *m, const char *ns, const char *controller)
{
    AUTO(free) char *key = xasprintf("%s/%s", ns, controller);
    struct config_memo *memo = map_get(&m->by_controller, str_of(key));

    if (!memo) {
        m->by_controller.free_value = memo_free;
        memo = config_memo_new();
        (void)map_put(&m->by_controller, str_of(key), memo);
    }
    return memo;
}

void memos_drop(struct memos *m, const char *ns, const char *controller)
{
    AUTO(free) char *key = xasprintf("%s/%s", ns, controller);

    (void)map_del(&m->by_controller, str_of(key));
    (void)map_del(&m->certs, str_of(key));
    (void)map_del(&m->written, str_of(key));
}
