/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: CustomResourceDefinitions as clients send them.
 *
 * A definition goes the way of a create: decoded, defaulted, validated.  One that is accepted must
 * be servable, its names must settle, and an object of its kind can be pruned, defaulted and
 * validated.
 */
#include <assert.h>

#include "src/cluster/apiserver/crd/custom.h"
#include "src/cluster/apiserver/crd/definition.h"
#include "src/cluster/apiserver/types/registry.h"
#include "src/cluster/apiserver/types/type.h"

#define INPUT_MAX 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct registry *registry;

static const struct resource *definitions(void)
{
    struct err e = {0};

    if (!registry && registry_new(&registry, &e) < 0)
        abort();
    return registry_find(registry, STR("apiextensions.k8s.io"), STR("v1"),
                         STR("customresourcedefinitions"));
}

/* An object that is all empty, and one that has a bit of everything. */
static void use(struct arena *a, const struct resource *res)
{
    static const char *const objects[] = {
        "{}", "{\"apiVersion\":\"a/v1\",\"kind\":\"A\",\"metadata\":{\"name\":\"x\",\"bogus\":1},"
              "\"spec\":{\"a\":[1,{\"b\":null}],\"c\":\"text\"},\"status\":{\"n\":-1}}"};

    for (size_t i = 0; i < ARRAY_LEN(objects); i++) {
        struct causes cs = {.arena = a};
        struct jsn *o;
        struct err e = {0};

        if (jsn_parse(a, str_of(objects[i]), NULL, &o, &e) < 0)
            abort();
        if (custom_on_write(a, res, o, NULL, &e) < 0)
            continue;
        custom_default(a, res, o);
        custom_validate(&cs, res, o, NULL, CUSTOM_WHOLE);
        custom_validate(&cs, res, o, o, CUSTOM_STATUS);
        custom_on_read(a, res->stored ? res->stored : res, o);
    }
}

static void serve(struct arena *a, struct jsn *crd)
{
    struct definition_taken taken = {.others = jsn_array(a)};
    struct jsn *next = definition_next(a, crd, &taken, "2026-01-09T10:00:00Z");
    const char *name = jsn_get_str(crd, "metadata.name");
    struct err e = {0};
    const struct resource *res;

    assert(next && definition_served(next));
    assert(!definition_next(a, next, &taken, "2026-01-09T11:00:00Z"));
    if (registry_put_crd(registry, next, &e) < 0)
        abort();
    res = registry_find_stored(registry, name);
    assert(res);
    use(a, res);
    if (!registry_drop_crd(registry, name))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_done) struct arena a = {0};
    const struct resource *res = definitions();
    struct causes cs = {.arena = &a};
    struct jsn *crd;
    struct err e = {0};

    if (size > INPUT_MAX ||
        jsn_parse(&a, (struct str){(const char *)data, size}, NULL, &crd, &e) < 0 ||
        !jsn_is(crd, JSN_OBJECT) || type_check(&a, res->schema, crd, NULL, &e) < 0)
        return 0;
    type_default(&a, res->schema, crd);
    definition_set_defaults(&a, crd);
    type_encode(&a, res->schema, crd);
    definition_note_stored(&a, crd);
    definition_validate(&cs, crd);
    if (cs.n == 0)
        serve(&a, crd);
    return 0;
}
