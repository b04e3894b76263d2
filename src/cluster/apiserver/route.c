/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Routes.
 *
 * The path is cut at '/' first and decoded segment by segment afterwards, so that an encoded slash
 * stays inside its segment.  Whether a resource exists is not asked here: the one thing that the
 * grammar needs to know is that /namespaces/NAME/{status,finalize} are subresources of a namespace,
 * while any other word there is a resource inside it.
 */
#include "src/cluster/apiserver/route.h"

#include "src/base/buf.h"
#include "src/base/encode.h"

#define MAX_SEGMENTS 32

struct segments {
    const char *at[MAX_SEGMENTS + 1]; /* "" after the last */
    size_t n;
};

static int add_segment(struct arena *a, struct str raw, struct segments *s, struct err *e)
{
    AUTO(buf_done) struct buf b = {0};

    if (s->n == MAX_SEGMENTS)
        return err_bad(e, "the path has too many segments");
    if (decode_url(&b, raw, false) < 0 || !str_utf8_ok(buf_view(&b)))
        return err_bad(e, "the path is not valid percent-encoded UTF-8");
    if (streq(buf_str(&b), ".") || streq(buf_str(&b), ".."))
        return err_bad(e, "the path has a \"%s\" segment", buf_str(&b));
    s->at[s->n++] = arena_str(a, buf_view(&b));
    return 0;
}

/* Empty segments (doubled or trailing slashes) are left out. */
static int cut(struct arena *a, const char *path, struct segments *s, struct err *e)
{
    struct str rest = str_of(path);
    struct str raw;

    while (str_split(&rest, '/', &raw)) {
        int r = raw.n ? add_segment(a, raw, s, e) : 0;

        if (r < 0)
            return r;
    }
    for (size_t i = s->n; i <= MAX_SEGMENTS; i++)
        s->at[i] = "";
    return 0;
}

static const char *join(struct arena *a, const struct segments *s, size_t from)
{
    AUTO(buf_done) struct buf b = {0};

    for (size_t i = from; i < s->n; i++)
        buf_printf(&b, "%s%s", i > from ? "/" : "", s->at[i]);
    return arena_str(a, buf_view(&b));
}

static bool is_namespace_sub(const char *word)
{
    return streq(word, "status") || streq(word, "finalize");
}

/* Segments from `i` on: [namespaces/NS/]RESOURCE[/NAME[/SUB[/rest]]]. */
static void resource_parts(struct arena *a, const struct segments *s, size_t i, struct route *r)
{
    r->kind = ROUTE_RESOURCE;
    if (streq(s->at[i], "watch") && s->n > i + 1) {
        r->legacy_watch = true;
        i++;
    }
    if (streq(s->at[i], "namespaces") && s->n > i + 2 &&
        !(s->n == i + 3 && is_namespace_sub(s->at[i + 2]))) {
        r->ns = s->at[i + 1];
        r->ns_given = true;
        i += 2;
    }
    r->resource = s->at[i];
    if (s->n > i + 1)
        r->name = s->at[i + 1];
    if (s->n > i + 2)
        r->sub = s->at[i + 2];
    if (s->n > i + 3)
        r->rest = join(a, s, i + 3);
}

static void core_route(struct arena *a, const struct segments *s, struct route *r)
{
    r->version = s->at[1];
    if (s->n == 1)
        r->kind = ROUTE_API;
    else if (s->n == 2)
        r->kind = ROUTE_GV;
    else
        resource_parts(a, s, 2, r);
}

static void group_route(struct arena *a, const struct segments *s, struct route *r)
{
    r->group = s->at[1];
    r->version = s->at[2];
    if (s->n == 1)
        r->kind = ROUTE_APIS;
    else if (s->n == 2)
        r->kind = ROUTE_GROUP;
    else if (s->n == 3)
        r->kind = ROUTE_GV;
    else
        resource_parts(a, s, 3, r);
}

static void openapi_route(const struct segments *s, struct route *r)
{
    if (s->n == 2 && streq(s->at[1], "v2"))
        r->kind = ROUTE_OPENAPI2;
    if (!streq(s->at[1], "v3"))
        return;
    if (s->n == 2)
        r->kind = ROUTE_OPENAPI3;
    if (s->n == 4 && streq(s->at[2], "api"))
        r->kind = ROUTE_OPENAPI3_GV;
    if (s->n == 5 && streq(s->at[2], "apis")) {
        r->kind = ROUTE_OPENAPI3_GV;
        r->group = s->at[3];
    }
    r->version = s->at[s->n - 1];
}

static bool is_health(const char *word)
{
    return streq(word, "livez") || streq(word, "readyz") || streq(word, "healthz");
}

static void other_route(const struct segments *s, struct route *r)
{
    if (s->n == 0)
        r->kind = ROUTE_ROOT;
    else if (s->n <= 2 && is_health(s->at[0]))
        r->kind = ROUTE_HEALTH;
    else if (streq(s->at[0], "openapi"))
        openapi_route(s, r);
    else if (s->n == 1 && streq(s->at[0], "version"))
        r->kind = ROUTE_VERSION;
    else if (s->n == 1 && streq(s->at[0], "metrics"))
        r->kind = ROUTE_METRICS;
    else if (s->n == 1 && streq(s->at[0], "swagger-2.0.0.pb-v1"))
        r->kind = ROUTE_OPENAPI2;
    if (r->kind == ROUTE_HEALTH)
        r->name = s->at[0], r->sub = s->at[1];
}

int route_parse(struct arena *a, const char *path, struct route *ret_route, struct err *e)
{
    struct route route = {
        .group = "", .version = "", .resource = "", .ns = "", .name = "", .sub = "", .rest = ""};
    struct segments s = {0};
    int r = cut(a, path, &s, e);

    if (r < 0)
        return r;
    if (s.n > 0 && streq(s.at[0], "api"))
        core_route(a, &s, &route);
    else if (s.n > 0 && streq(s.at[0], "apis"))
        group_route(a, &s, &route);
    else
        other_route(&s, &route);
    *ret_route = route;
    return 0;
}
