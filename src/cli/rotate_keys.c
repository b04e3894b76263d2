/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmkeeper rotate-keys: Secrets get a new key, and the old one goes.
 *
 * The new key is put first into the key file; then every Secret is sealed with it, by the API
 * server if it runs, and here if not; then the file has the new key alone.  What is interrupted is
 * finished by the next start of the API server: until then the file has both.
 */
#include <stdio.h>

#include "src/cli/reach.h"
#include "src/cli/verbs.h"
#include "src/cluster/apiserver/seal.h"
#include "src/cluster/apiserver/store_place.h"
#include "src/local/ask.h"

#define SEAL_MS 600000

static int seal_served(const struct layout *l, struct err *e)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(ask_free) struct ask *k = NULL;
    struct kube_request r = {.verb = KUBE_CREATE,
                             .resource = {"admin.slurmkeeper.dev", "v1", "keyrotations"},
                             .body = jsn_object(&a),
                             .deadline_ms = SEAL_MS};
    int n = ask_new(l->kubeconfig, &k, e);

    return n < 0 ? n : ask_call(k, &r, &a, NULL, e);
}

static int rotate(const struct layout *l, struct err *e)
{
    AUTO(store_place_done) struct store_place place = {0};
    AUTO(keyring_free) struct keyring *old = NULL;
    AUTO(keyring_free) struct keyring *both = NULL;
    AUTO(store_free) struct store *s = NULL;
    AUTO(close) int lock = -1;
    bool served;
    int r;

    store_place_init(&place, l->state);
    r = keyring_read(place.options.keys, &old, e);
    if (r < 0)
        return r;
    r = store_place_lock(&place, &lock, e);
    served = r == -EBUSY;
    if (r < 0 && !served)
        return r;
    r = keyring_add(place.options.keys, old, &both, e);
    if (r < 0)
        return r;
    return served ? seal_served(l, e) : store_open(&place.options, &s, e);
}

int verb_rotate_keys_run(const struct cli_args *args)
{
    AUTO(layout_done) struct layout l = {0};
    struct err e = {0};

    if (layout_init(&l, reach_state(args), &e) < 0 || rotate(&l, &e) < 0)
        return reach_failure("rotate-keys", &l, &e);
    (void)printf("Secrets are sealed with a new key; the old one is gone. Backups from before have "
                 "the old one inside.\n");
    return 0;
}
