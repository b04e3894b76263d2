/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A place in an object: a value together with the path that leads to it. */
#pragma once

#include "src/cluster/apiserver/status.h"

/*
 * Validation goes down an object and must name the path of whatever is wrong.  A place is made on
 * the stack of whoever goes down and points to the one it was made from; the text of its path is
 * only built when there is something to say.  So a good object costs no allocation.
 *
 *     struct place spec = place_key(&root, "spec");
 *     struct place type = place_key(&spec, "type");
 *     check_enum(cs, &type, types);
 */
struct place {
    const struct place *in; /* NULL: the object itself */
    const char *name;       /* member; NULL for an item or an entry */
    const char *entry;      /* key of a map entry, shown as [key] */
    size_t index;
    const struct jsn *value; /* NULL: absent */
};

static inline struct place place_root(const struct jsn *object)
{
    return (struct place){.value = object};
}

static inline struct place place_key(const struct place *in, const char *name)
{
    return (struct place){.in = in, .name = name, .value = jsn_key(in->value, name)};
}

static inline struct place place_item(const struct place *in, size_t i)
{
    return (struct place){.in = in, .index = i, .value = jsn_item(in->value, i)};
}

static inline struct place place_entry(const struct place *in, const struct jsn_member *m)
{
    return (struct place){.in = in, .entry = m->key.p, .value = m->value};
}

/* for (each item of the array at `list`) with `item` as its place. */
#define PLACE_FOR_ITEMS(item, list)                                                                \
    for (struct place item = place_item((list), 0); item.index < jsn_len((list)->value);           \
         item = place_item((list), item.index + 1))

/* The path as text: "spec.ports[0].name", "data[key]"; in the arena of the causes. */
const char *place_text(struct causes *cs, const struct place *at);

/* Absent and null count as not given; place_str gives "" for what is no string. */
bool place_given(const struct place *at);
const char *place_str(const struct place *at);
int64_t place_int(const struct place *at, int64_t otherwise);
bool place_true(const struct place *at);
/* A non-empty string. */
bool place_filled(const struct place *at);

/* What is wrong at a place; see the cause_... of status.h. */
void place_required(struct causes *cs, const struct place *at, const char *why);
void place_invalid(struct causes *cs, const struct place *at, const char *fmt, ...) PRINTF(3, 4);
/* As place_invalid, with the value as text (Go's %#v of a struct or list). */
void place_invalid_text(struct causes *cs, const struct place *at, const char *value,
                        const char *fmt, ...) PRINTF(4, 5);
void place_unsupported(struct causes *cs, const struct place *at, const char *const *supported);
/* As place_unsupported, with the value as text. */
void place_unsupported_text(struct causes *cs, const struct place *at, const char *value,
                            const char *const *supported);
void place_forbidden(struct causes *cs, const struct place *at, const char *fmt, ...) PRINTF(3, 4);
void place_duplicate(struct causes *cs, const struct place *at);
