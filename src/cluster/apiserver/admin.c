/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Acts on the server itself, for its command line; they are no kind of object, and discovery does
 * not show them.
 *
 *   POST /apis/admin.slurmkeeper.dev/v1/backups       {"path", "version", "store"}
 *   POST /apis/admin.slurmkeeper.dev/v1/keyrotations  {"version"}
 *
 * A backup is a copy of the database, of one moment and checked by SQLite, in the state directory
 * (0600); who asked takes it from there and removes it.  A rotation seals every Secret with the key
 * that stands first in the key file.  Both end the turn's transaction first, and hold the server up
 * while they work: a few milliseconds for each megabyte.
 */
#include "src/cluster/apiserver/admin.h"

#include "src/base/alloc.h"
#include "src/base/encode.h"
#include "src/base/log.h"
#include "src/cluster/apiserver/access.h"
#include "src/cluster/apiserver/answer.h"
#include "src/cluster/apiserver/server.h"
#include "src/cluster/apiserver/status.h"

bool admin_is(const struct route *r)
{
    return r->kind == ROUTE_RESOURCE && streq(r->group, ADMIN_GROUP) && streq(r->version, "v1") &&
           !r->ns_given && !r->name[0];
}

static int make_backup(struct api_call *c, struct jsn *answer, struct err *e)
{
    struct apiserver *s = c->server;
    char id[ENCODE_UUID_LEN + 1];
    const char *path;
    int r;

    encode_uuid(id);
    path = arena_printf(&c->arena, "%s/backup-%s.db", s->state_dir, id);
    r = store_copy(s->store, path, e);
    if (r < 0)
        return r;
    jsn_set_str(&c->arena, answer, "path", path);
    jsn_set(
        &c->arena, answer, "store",
        jsn_stringf(&c->arena, "%s/%lld", store_id(s->store), (long long)store_epoch(s->store)));
    return 0;
}

static int act(struct api_call *c, const struct route *r, struct jsn *answer, struct err *e)
{
    if (streq(r->resource, "backups"))
        return make_backup(c, answer, e);
    return store_rotate(c->server->store, e);
}

void admin_serve(struct api_call *c, const struct route *r)
{
    struct jsn *answer = jsn_object(&c->arena);
    struct err e = {0};
    int result = 0;

    if (!access_is_administrator(&c->user))
        result = status_fail(c, 403, "Forbidden", "only administrators may do this");
    else if (!streq(r->resource, "backups") && !streq(r->resource, "keyrotations"))
        result = status_no_resource(c);
    else if (!streq(http_exchange_request(c->exchange)->method, "POST"))
        result = status_method_not_allowed(c);
    if (result == 0) {
        answer_commit(c->server);
        result = act(c, r, answer, &e);
        if (result < 0)
            result = status_internal(c, &e);
    }
    if (result < 0) {
        answer_failure(c);
        return;
    }
    log_info("%s: done for %s", r->resource, c->user.name);
    jsn_set_int(&c->arena, answer, "version", store_version(c->server->store));
    answer_json(c, 201, answer);
}
