/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: from the text of a URL to a resource.
 *
 * The input is a path, and after a '?' a query.  A path that parses names a resource or a page;
 * its parts are never NULL and hold no NUL; what it names is looked up in the registry.
 */
#include "src/cluster/apiserver/route.h"
#include "src/cluster/apiserver/types/registry.h"
#include "src/http/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct registry *registry;

static void look_up(const struct route *r)
{
    const struct resource *res =
        registry_find(registry, str_of(r->group), str_of(r->version), str_of(r->resource));

    if (res)
        (void)resource_sub(res, str_of(r->sub));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(url_query_done) struct url_query query = {0};
    char *path = arena_str(&a, (struct str){(const char *)data, size});
    char *question = strchr(path, '?');
    struct route r;

    if (!registry && registry_new(&registry, NULL) < 0)
        abort();
    if (question) {
        *question = '\0';
        if (url_query_parse(question + 1, &query, NULL) == 0)
            (void)url_query_get(&query, "watch");
    }
    if (route_parse(&a, path, &r, NULL) < 0)
        return 0;
    if (!r.group || !r.version || !r.resource || !r.ns || !r.name || !r.sub || !r.rest)
        abort();
    look_up(&r);
    return 0;
}
