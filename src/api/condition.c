/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Conditions of a status.
 *
 * The rule of Kubernetes holds: lastTransitionTime moves only when the status itself changes, so
 * that "Ready since" means what it says.  A condition that would come out the same is left alone,
 * and the caller learns that there is nothing to write.
 */
#include "src/api/condition.h"

const struct jsn_field api_condition_fields[] = {
    {"type", JSN_STR, offsetof(struct api_condition, type), JSN_REQ,
     .doc = "What it is about, such as Ready."},
    {"status", JSN_STR, offsetof(struct api_condition, status), JSN_REQ,
     .doc = "True, False or Unknown.", .extra = "{\"enum\":[\"True\",\"False\",\"Unknown\"]}"},
    {"observedGeneration", JSN_I64, offsetof(struct api_condition, generation), 0,
     .doc = "The metadata.generation that it speaks of."},
    {"lastTransitionTime", JSN_TIME, offsetof(struct api_condition, since_us), JSN_REQ,
     .doc = "When the status last changed."},
    {"reason", JSN_STR, offsetof(struct api_condition, reason), JSN_REQ | JSN_KEEP,
     .doc = "The cause in one word."},
    {"message", JSN_STR, offsetof(struct api_condition, message), JSN_REQ | JSN_KEEP,
     .doc = "The cause in a sentence, and what to do."},
    JSN_END,
};

static struct api_condition *find(const struct api_conditions *list, const char *type)
{
    for (size_t i = 0; i < list->n; i++)
        if (streq(list->items[i].type, type))
            return &list->items[i];
    return NULL;
}

const struct api_condition *api_condition_find(const struct api_conditions *list, const char *type)
{
    return find(list, type);
}

static struct api_condition *append(struct arena *a, struct api_conditions *list)
{
    struct api_condition *items = arena_calloc(a, list->n + 1, sizeof(*items));

    if (list->n)
        memcpy(items, list->items, list->n * sizeof(*items));
    list->items = items;
    return &items[list->n++];
}

bool api_condition_set(struct arena *a, struct api_conditions *list,
                       const struct api_condition *want)
{
    struct api_condition *c = find(list, want->type);
    bool same_status = c && streq(c->status, want->status);

    if (same_status && streq(c->reason, want->reason) && streq(c->message, want->message) &&
        c->generation == want->generation)
        return false;
    if (!c) {
        c = append(a, list);
        c->type = arena_strdup(a, want->type);
    }
    c->status = arena_strdup(a, want->status);
    c->reason = arena_strdup(a, want->reason ? want->reason : "");
    c->message = arena_strdup(a, want->message ? want->message : "");
    c->generation = want->generation;
    if (!same_status)
        c->since_us = want->since_us;
    return true;
}

bool api_condition_drop(struct api_conditions *list, const char *type)
{
    struct api_condition *c = find(list, type);
    size_t at;

    if (!c)
        return false;
    at = (size_t)(c - list->items);
    memmove(c, c + 1, (list->n - at - 1) * sizeof(*c));
    list->n--;
    return true;
}
