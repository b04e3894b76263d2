/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages of lists.
 *
 * With `limit` a list comes in pages, and every page shows the same version: the continue token
 * holds that version and the last key, and the store still knows the past for a few minutes.  A
 * token whose version is compacted gets 410 and a token to go on with at the present state.
 */
#include "src/cluster/apiserver/list_page.h"

#include "src/base/encode.h"
#include "src/cluster/apiserver/options.h"
#include "src/cluster/apiserver/server.h"
#include "src/cluster/apiserver/status.h"

const char *page_token(struct arena *a, int64_t version, const char *ns, const char *name)
{
    AUTO(buf_done) struct buf json = {0};
    AUTO(buf_done) struct buf b = {0};
    struct jsn *v = jsn_object(a);

    jsn_set_str(a, v, "v", "meta.k8s.io/v1");
    jsn_set_int(a, v, "rv", version);
    jsn_set(a, v, "start", jsn_stringf(a, "%s/%s", ns, name));
    jsn_print(&json, v);
    encode_base64url(&b, buf_view(&json));
    return arena_str(a, buf_view(&b));
}

static int read_token(struct api_call *c, const char *token, struct page *p)
{
    AUTO(buf_done) struct buf b = {0};
    const char *start;
    const char *slash;
    struct jsn *v;

    if (decode_base64(&b, str_of(token)) < 0 ||
        jsn_parse(&c->arena, buf_view(&b), NULL, &v, NULL) < 0)
        return status_bad_request(c, "invalid continue token: not one of this server's");
    start = jsn_get_str(v, "start");
    slash = start ? strchr(start, '/') : NULL;
    p->at = jsn_get_int(v, "rv", 0);
    if (!streq(jsn_get_str(v, "v"), "meta.k8s.io/v1") || !slash || p->at == 0)
        return status_bad_request(c, "invalid continue token: not one of this server's");
    p->after_ns = arena_str(&c->arena, (struct str){start, (size_t)(slash - start)});
    p->after_name = slash + 1;
    if (p->at < 0)
        p->at = 0;
    p->version = p->at ? p->at : store_version(c->server->store);
    return 0;
}

static int too_large_version(struct api_call *c, int64_t asked)
{
    int r = status_fail(c, 504, "Timeout", "Too large resource version: %lld, current: %lld",
                        (long long)asked, (long long)store_version(c->server->store));

    status_add_cause(c, "ResourceVersionTooLarge", "", "Too large resource version");
    jsn_set_int(&c->arena, status_details(c), "retryAfterSeconds", 1);
    c->retry_after_s = 1;
    return r;
}

static int expired(struct api_call *c, const char *message)
{
    return status_fail(c, 410, "Expired", "%s", message);
}

static int read_version(struct api_call *c, struct page *p)
{
    const char *match = call_param(c, "resourceVersionMatch");
    int64_t asked = 0;
    int r = options_version(c, "resourceVersion", &asked);

    if (r < 0)
        return r;
    if (asked > store_version(c->server->store))
        return too_large_version(c, asked);
    if (streq(match, "Exact")) {
        if (asked < store_compacted(c->server->store))
            return expired(c, "The resourceVersion for the provided list is too old.");
        p->at = asked;
    }
    p->version = p->at ? p->at : store_version(c->server->store);
    return 0;
}

int page_read(struct api_call *c, struct page *p)
{
    const char *token = call_param(c, "continue");
    const char *limit = call_param(c, "limit");
    int r = options_check_list(c, false);

    if (r < 0)
        return r;
    if (limit && limit[0] && str_to_i64(str_of(limit), &p->limit) < 0)
        return status_bad_request(c, "limit: '%s' is not a number", limit);
    if (!token || !token[0])
        return read_version(c, p);
    if (call_param(c, "resourceVersion") && call_param(c, "resourceVersion")[0] &&
        !streq(call_param(c, "resourceVersion"), "0"))
        return status_bad_request(c,
                                  "specifying resource version is not allowed when using continue");
    return read_token(c, token, p);
}

int page_fail(struct api_call *c, const struct page *p, int r, const struct err *e)
{
    if (r != -ESTALE)
        return status_internal(c, e);
    if (!p->after_name)
        return expired(c, "The resourceVersion for the provided list is too old.");
    r = expired(c, "The provided continue parameter is too old to display a consistent list "
                   "result. You can start a new list without the continue parameter, or use the "
                   "continue token in this response to retrieve the remainder of the results. "
                   "Continuing with the provided token results in an inconsistent list - objects "
                   "that were created, modified, or deleted between the time the first chunk was "
                   "returned and now may show up in the list.");
    jsn_set_path(&c->arena, c->failure, "metadata.continue",
                 jsn_string(&c->arena, page_token(&c->arena, -1, p->after_ns, p->after_name)));
    return r;
}
