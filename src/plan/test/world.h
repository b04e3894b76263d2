/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A small world for tests of plans: objects in a list, actions carried out on them. */
#pragma once

#include "src/api/test/lookup_over.h"
#include "src/json/patch_merge.h"
#include "src/json/test/json_text.h"
#include "src/plan/action.h"

/* All of it lives in the arena.  {.arena = a} with objects = jsn_array(a) is an empty one. */
struct test_world {
    struct arena *arena;
    struct jsn *objects;
    unsigned versions;
};

static inline UNUSED struct jsn *test_find(const struct test_world *w, const char *kind,
                                           const char *name)
{
    JSN_FOR_ITEMS (o, w->objects)
        if (streq(jsn_get_str(o, "kind"), kind) && streq(jsn_get_str(o, "metadata.name"), name))
            return o;
    return NULL;
}

static inline UNUSED void test_put(struct test_world *w, const struct jsn *object)
{
    struct jsn *copy = jsn_clone(w->arena, object);
    struct jsn *meta = jsn_ensure_object(w->arena, copy, "metadata");

    if (!jsn_get_str(copy, "metadata.uid"))
        jsn_set(w->arena, meta, "uid", jsn_stringf(w->arena, "uid-%u", w->versions));
    jsn_set(w->arena, meta, "resourceVersion", jsn_stringf(w->arena, "%u", ++w->versions));
    jsn_append(w->arena, w->objects, copy);
}

static inline UNUSED void test_drop(struct test_world *w, const char *kind, const char *name)
{
    for (size_t i = 0; i < jsn_len(w->objects); i++)
        if (jsn_item(w->objects, i) == test_find(w, kind, name)) {
            jsn_remove_at(w->objects, i);
            return;
        }
}

/* A strategic patch of status.conditions: by type, some of them to be deleted. */
static inline UNUSED void test_patch_conditions(struct arena *a, struct jsn *object,
                                                const struct jsn *patch)
{
    struct jsn *status = jsn_ensure_object(a, object, "status");

    if (!jsn_is(jsn_key(status, "conditions"), JSN_ARRAY))
        jsn_set(a, status, "conditions", jsn_array(a));
    JSN_FOR_ITEMS (c, jsn_get(patch, "status.conditions")) {
        struct jsn *list = jsn_key(status, "conditions");

        for (size_t i = jsn_len(list); i-- > 0;)
            if (streq(jsn_get_str(jsn_item(list, i), "type"), jsn_get_str(c, "type")))
                jsn_remove_at(list, i);
        if (!jsn_get_str(c, "$patch"))
            jsn_append(a, list, jsn_clone(a, c));
    }
}

/* Do what a list says, as an API server would. */
static inline UNUSED void test_carry_out(struct test_world *w, const struct actions *list)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct action *a = &list->items[i];
        struct jsn *old = a->kind ? test_find(w, a->kind->kind, a->name) : NULL;

        assert_true(action_is_allowed(a));
        if (a->verb == ACTION_CREATE) {
            assert_null(old);
            test_put(w, a->body);
        } else if (a->strategic) {
            assert_non_null(old);
            test_patch_conditions(w->arena, old, a->body);
        } else if (a->verb == ACTION_PATCH || a->verb == ACTION_STATUS) {
            assert_non_null(old);
            *old = *patch_merge(w->arena, old, a->body);
        } else if (a->verb == ACTION_DELETE) {
            assert_non_null(old);
            test_drop(w, a->kind->kind, a->name);
        }
    }
}

/* "create Service lab-controller;push lab;drain gpu-0;..." without bodies and events. */
static inline UNUSED void test_summary(const struct actions *list, struct buf *out)
{
    static const char *const verbs[] = {"create", "patch", "delete", "status"};

    for (size_t i = 0; i < list->n; i++) {
        assert_true(action_is_allowed(&list->items[i]));
        if (list->items[i].verb == ACTION_PUSH)
            buf_printf(out, "push %s;", list->items[i].name);
        else if (list->items[i].verb == ACTION_NODE)
            buf_printf(out, "%s %s;", jsn_get_str(list->items[i].body, "action"),
                       list->items[i].node);
        else if (list->items[i].verb == ACTION_TRY)
            buf_printf(out, "try %s;", list->items[i].name);
        else if (list->items[i].verb <= ACTION_STATUS)
            buf_printf(out, "%s %s %s;", verbs[list->items[i].verb], list->items[i].kind->kind,
                       list->items[i].name);
    }
}

static inline UNUSED const struct action *test_event(const struct actions *list, const char *reason)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->items[i].verb == ACTION_EVENT && streq(list->items[i].reason, reason))
            return &list->items[i];
    return NULL;
}

static inline UNUSED const struct jsn *test_condition(const struct jsn *object, const char *type)
{
    JSN_FOR_ITEMS (c, jsn_get(object, "status.conditions"))
        if (streq(jsn_get_str(c, "type"), type))
            return c;
    return NULL;
}
