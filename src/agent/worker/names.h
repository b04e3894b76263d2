/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses of hosts, remembered for a few seconds. */
#pragma once

#include <netdb.h>
#include <stdint.h>

/* As getaddrinfo and freeaddrinfo. */
typedef int (*names_resolve_fn)(const char *node, const char *service, const struct addrinfo *hints,
                                struct addrinfo **ret);
typedef void (*names_free_fn)(struct addrinfo *list);

/* Who is asked, and the monotonic clock; the system's own unless a test says otherwise. */
struct names_source {
    names_resolve_fn resolve;
    names_free_fn free;
    int64_t (*now_ms)(void);
};
void names_use(const struct names_source *source);

/* Find a name; the answer is the caller's, for names_free.  May be called from any thread. */
int names_find(const char *node, const char *service, const struct addrinfo *hints,
               struct addrinfo **ret);
void names_free(struct addrinfo *list);

/* How long an idle process may sleep before it should refresh; -1: for ever. */
int names_idle_ms(void);
/* Ask again for what is not new any more; what is not found is forgotten. */
void names_refresh(void);
/* Somebody could not be reached: ask again at the next use. */
void names_forget(void);
