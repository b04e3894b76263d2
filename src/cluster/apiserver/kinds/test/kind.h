/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the unit tests of kinds share: objects from short texts, causes as text, a world to look at.
 */
#pragma once

#include "src/json/test/json_text.h"

#include "src/cluster/apiserver/kinds/kinds.h"
#include "src/cluster/apiserver/kinds/lookup.h"
#include "src/cluster/apiserver/shape.h"
#include "src/cluster/apiserver/types/registry.h"

/* All causes, one to a line. */
static inline UNUSED const char *causes_text(const struct causes *cs)
{
    AUTO(buf_done) struct buf b = {0};

    for (size_t i = 0; i < cs->n; i++)
        buf_printf(&b, "%s%s: %s", i > 0 ? "\n" : "", cs->items[i].field, cs->items[i].text);
    return arena_str(cs->arena, buf_view(&b));
}

/* Objects that lookups find: "resource namespace/name" with their texts. */
struct world_object {
    const char *resource, *ns, *name, *text;
};
extern const struct world_object *world;
extern size_t world_n;

/* Defines the lookups over the world; once in each test program. */
#define DEFINE_WORLD                                                                               \
    const struct world_object *world;                                                              \
    size_t world_n;                                                                                \
    int lookup_get(struct api_call *c, const char *resource, const char *ns, const char *name,     \
                   struct jsn **ret_object)                                                        \
    {                                                                                              \
        for (size_t i = 0; i < world_n; i++)                                                       \
            if (streq(world[i].resource, resource) && streq(world[i].ns, ns) &&                    \
                streq(world[i].name, name)) {                                                      \
                *ret_object = json_of(&c->arena, world[i].text);                                   \
                return 0;                                                                          \
            }                                                                                      \
        return -ENOENT;                                                                            \
    }                                                                                              \
    int lookup_each_object(struct api_call *c, const char *resource, const char *ns,               \
                           lookup_object_fn fn, void *arg)                                         \
    {                                                                                              \
        for (size_t i = 0; i < world_n; i++)                                                       \
            if (streq(world[i].resource, resource) && (!ns || streq(world[i].ns, ns)) &&           \
                !fn(arg, json_of(&c->arena, world[i].text)))                                       \
                break;                                                                             \
        return 0;                                                                                  \
    }                                                                                              \
    int lookup_each(struct api_call *c, const char *resource, const char *ns, lookup_fn fn,        \
                    void *arg)                                                                     \
    {                                                                                              \
        for (size_t i = 0; i < world_n; i++) {                                                     \
            AUTO(buf_done) struct buf b = {0};                                                     \
                                                                                                   \
            if (!streq(world[i].resource, resource) || (ns && !streq(world[i].ns, ns)))            \
                continue;                                                                          \
            jsn_print(&b, json_of(&c->arena, world[i].text));                                      \
            if (!fn(arg, buf_view(&b)))                                                            \
                break;                                                                             \
        }                                                                                          \
        return 0;                                                                                  \
    }

/* A call about one resource, by its store name. */
struct kind_test {
    struct registry *registry;
    struct api_call c;
    const struct strategy *strategy;
};

static inline UNUSED void kind_init(struct kind_test *t, const char *store_name)
{
    struct err e = {0};

    *t = (struct kind_test){.c = {.ns = "ns", .manager = "test"}};
    if (registry_new(&t->registry, &e) < 0)
        fail_msg("%s", e.text);
    t->c.res = t->c.stored = registry_find_stored(t->registry, store_name);
    assert_non_null(t->c.stored);
    t->strategy = strategy_of(t->c.stored);
    assert_string_equal(t->strategy->resource, store_name);
}

static inline UNUSED void kind_done(struct kind_test *t)
{
    arena_done(&t->c.arena);
    (void)registry_free(t->registry);
}
DEFINE_AUTO_DONE(struct kind_test, kind_done);

/* Defaults and validation of an object; what is wrong with it, as text. */
static inline UNUSED const char *faults_of(struct kind_test *t, const char *text)
{
    struct jsn *o = json_of(&t->c.arena, text);
    struct causes cs = {.arena = &t->c.arena};

    shape_default(&t->c, o);
    if (t->strategy->validate)
        t->strategy->validate(&cs, o);
    return causes_text(&cs);
}

/* The same for an update. */
static inline UNUSED const char *update_faults(struct kind_test *t, const char *old_text,
                                               const char *new_text)
{
    struct jsn *old = json_of(&t->c.arena, old_text);
    struct jsn *o = json_of(&t->c.arena, new_text);
    struct causes cs = {.arena = &t->c.arena};

    shape_default(&t->c, old);
    shape_default(&t->c, o);
    if (t->strategy->validate_update)
        t->strategy->validate_update(&cs, o, old);
    return causes_text(&cs);
}

/* A line of a table: a bad piece, and what is said about it. */
struct fault_case {
    const char *piece, *want;
};

/* Put each piece into the text at "%s", and compare. */
static inline UNUSED void check_faults(const char *store_name, const char *around,
                                       const struct fault_case *cases, size_t n)
{
    AUTO(kind_done) struct kind_test t;
    const char *hole = strstr(around, "%s");

    kind_init(&t, store_name);
    assert_non_null(hole);
    for (size_t i = 0; i < n; i++) {
        const char *text = arena_printf(&t.c.arena, "%.*s%s%s", (int)(hole - around), around,
                                        cases[i].piece, hole + 2);
        const char *got = faults_of(&t, text);

        if (!streq(got, cases[i].want))
            fail_msg("%s\n  got  %s\n  want %s", text, got, cases[i].want);
    }
}
