/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Intrusive doubly linked list. */
#pragma once

#include <stdbool.h>

#include "src/base/cleanup.h"

/* Both the head and each member's link.  A head starts with list_init; an unlinked link is {0}. */
struct list {
    struct list *prev;
    struct list *next;
};

static inline void list_init(struct list *head)
{
    head->prev = head->next = head;
}

static inline bool list_empty(const struct list *head)
{
    return head->next == head || !head->next;
}

static inline bool list_linked(const struct list *link)
{
    return link->next != NULL;
}

static inline void list_append(struct list *head, struct list *link)
{
    assert(!link->next);
    link->prev = head->prev;
    link->next = head;
    head->prev->next = link;
    head->prev = link;
}

/* Safe on an unlinked link. */
static inline void list_remove(struct list *link)
{
    if (!link->next)
        return;
    link->prev->next = link->next;
    link->next->prev = link->prev;
    link->prev = link->next = NULL;
}

#define LIST_ENTRY(link, type, member) CONTAINER_OF(link, type, member)

/* `item` may be removed inside the loop. */
#define LIST_FOR_EACH(item, head, type, member)                                                    \
    for (struct list *item##_at = (head)->next, *item##_after = item##_at->next;                   \
         item##_at != (head); item##_at = item##_after, item##_after = item##_at->next)            \
        for (type *item = LIST_ENTRY(item##_at, type, member); item; item = NULL)
