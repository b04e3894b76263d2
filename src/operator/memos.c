/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last configuration of each Controller.
 *
 * Plans are pure and remember nothing; what is worth remembering between two of them is here, by
 * the Controller that it is about, and goes with it.
 */
#include "src/operator/memos.h"

#include "src/base/alloc.h"

static void memo_free(void *arg)
{
    (void)config_memo_free(arg);
}

void memos_done(struct memos *m)
{
    map_done(&m->by_controller);
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
}
