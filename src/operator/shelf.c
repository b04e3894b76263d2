/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records by name.
 *
 * One array, sorted, as readers want it who search by halves; a second one beside it holds the
 * arenas.  Changing a record costs that record; adding one moves what stands after it, so that a
 * whole list is best put in order.
 */
#include "src/operator/shelf.h"

#include <string.h>

#include "src/base/alloc.h"

static const char *name_at(const struct shelf *s, size_t i)
{
    return *(const char *const *)(const void *)(s->items + i * s->size);
}

/* The place of a name, or the one where it belongs. */
static bool find(const struct shelf *s, const char *name, size_t *ret_at)
{
    size_t low = 0;
    size_t high = s->n;

    while (low < high) {
        size_t mid = (low + high) / 2;
        int r = strcmp(name_at(s, mid), name);

        if (r == 0) {
            *ret_at = mid;
            return true;
        }
        if (r < 0)
            low = mid + 1;
        else
            high = mid;
    }
    *ret_at = low;
    return false;
}

void *shelf_put(struct shelf *s, const char *name, struct arena **ret_arena)
{
    size_t at;

    if (find(s, name, &at)) {
        arena_done(&s->arenas[at]);
    } else {
        array_reserve(&s->items, &s->cap_items, (s->n + 1) * s->size, 1);
        array_reserve(&s->arenas, &s->cap_arenas, s->n + 1, sizeof(*s->arenas));
        memmove(s->items + (at + 1) * s->size, s->items + at * s->size, (s->n - at) * s->size);
        memmove(s->arenas + at + 1, s->arenas + at, (s->n - at) * sizeof(*s->arenas));
        s->n++;
    }
    s->arenas[at] = (struct arena){0};
    memset(s->items + at * s->size, 0, s->size);
    *ret_arena = &s->arenas[at];
    return s->items + at * s->size;
}

bool shelf_del(struct shelf *s, const char *name)
{
    size_t at;

    if (!find(s, name, &at))
        return false;
    arena_done(&s->arenas[at]);
    s->n--;
    memmove(s->items + at * s->size, s->items + (at + 1) * s->size, (s->n - at) * s->size);
    memmove(s->arenas + at, s->arenas + at + 1, (s->n - at) * sizeof(*s->arenas));
    return true;
}

void shelf_clear(struct shelf *s)
{
    for (size_t i = 0; i < s->n; i++)
        arena_done(&s->arenas[i]);
    s->n = 0;
}

void shelf_done(struct shelf *s)
{
    shelf_clear(s);
    free(s->items);
    free(s->arenas);
}
