/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last configuration of each Controller, and whether its agent's certificate is good.
 *
 * Plans are pure and remember nothing; what is worth remembering between two of them is here, by
 * the Controller that it is about, and goes with it.
 */
#include "src/operator/memos.h"

#include "src/base/alloc.h"
#include "src/http/cert.h"

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

void memos_done(struct memos *m)
{
    map_done(&m->by_controller);
    map_done(&m->certs);
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
}
