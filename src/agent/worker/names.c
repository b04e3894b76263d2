/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A memory for names of hosts.
 *
 * libslurm looks up every name of slurm.conf's controllers for each call, and some of them by
 * several questions to a DNS server (one for each search domain).  That takes longer than the call
 * itself.  So main.c has libslurm's getaddrinfo come here.
 *
 * An answer is used for VALID_MS and not longer.  While the process has nothing to do it asks again
 * in time (names_idle_ms, names_refresh), so that a call rarely has to wait.  A call that does not
 * get through forgets everything.  Failures are not remembered.
 */
#include "src/agent/worker/names.h"

#include <dlfcn.h>
#include <pthread.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"

#define NAMES_MAX 32
#define VALID_MS 10000
#define REFRESH_MS 5000

struct name {
    char *node;
    char *service;
    struct addrinfo hints;
    struct addrinfo *found;
    int64_t asked_ms;
};

/* An answer of ours: the address stands beside it. */
struct answer {
    struct addrinfo info;
    struct sockaddr_storage address;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct name list[NAMES_MAX];
static size_t count;
static struct names_source source;

void names_use(const struct names_source *s)
{
    source = *s;
}

/* The functions of libc: in this program the names lead here. */
static void source_find(void)
{
    if (source.resolve)
        return;
    source.resolve = (names_resolve_fn)dlsym(RTLD_NEXT, "getaddrinfo");
    source.free = (names_free_fn)dlsym(RTLD_NEXT, "freeaddrinfo");
    source.now_ms = clock_mono_ms;
    assert(source.resolve && source.free);
}

void names_free(struct addrinfo *at)
{
    while (at) {
        struct addrinfo *next = at->ai_next;

        free(at->ai_canonname);
        free(at);
        at = next;
    }
}

static struct addrinfo *copy_one(const struct addrinfo *from)
{
    struct answer *a = xcalloc(1, sizeof(*a));

    a->info = *from;
    a->info.ai_next = NULL;
    a->info.ai_canonname = xstrdup_null(from->ai_canonname);
    a->info.ai_addrlen = (socklen_t)MIN((size_t)from->ai_addrlen, sizeof(a->address));
    memcpy(&a->address, from->ai_addr, a->info.ai_addrlen);
    a->info.ai_addr = (struct sockaddr *)&a->address;
    return &a->info;
}

static struct addrinfo *copy(const struct addrinfo *from)
{
    struct addrinfo *first = NULL;

    for (struct addrinfo **to = &first; from; from = from->ai_next, to = &(*to)->ai_next)
        *to = copy_one(from);
    return first;
}

static bool same_text(const char *a, const char *b)
{
    return streq(a, b) || (!a && !b);
}

static bool same_hints(const struct addrinfo *a, const struct addrinfo *b)
{
    return a->ai_flags == b->ai_flags && a->ai_family == b->ai_family &&
           a->ai_socktype == b->ai_socktype && a->ai_protocol == b->ai_protocol;
}

static void name_done(struct name *n)
{
    free(n->node);
    free(n->service);
    names_free(n->found);
    *n = (struct name){0};
}

static void drop(size_t i)
{
    name_done(&list[i]);
    list[i] = list[--count];
    list[count] = (struct name){0};
}

/* Ask the source; what it says is copied, so that everything here is freed alike. */
static int resolve(const char *node, const char *service, const struct addrinfo *hints,
                   struct addrinfo **ret)
{
    struct addrinfo *found = NULL;
    int r = source.resolve(node, service, hints, &found);

    if (r != 0)
        return r;
    *ret = copy(found);
    source.free(found);
    return 0;
}

static struct addrinfo *recall(const char *node, const char *service, const struct addrinfo *hints)
{
    for (size_t i = 0; i < count; i++) {
        const struct name *n = &list[i];

        if (streq(n->node, node) && same_text(n->service, service) &&
            same_hints(&n->hints, hints) && source.now_ms() - n->asked_ms < VALID_MS)
            return copy(n->found);
    }
    return NULL;
}

static void keep(const char *node, const char *service, const struct addrinfo *hints,
                 const struct addrinfo *found, int64_t asked_ms)
{
    size_t oldest = 0;

    for (size_t i = 0; i < count; i++) {
        if (streq(list[i].node, node) && same_text(list[i].service, service) &&
            same_hints(&list[i].hints, hints)) {
            drop(i);
            break;
        }
        if (list[i].asked_ms < list[oldest].asked_ms)
            oldest = i;
    }
    if (count == NAMES_MAX)
        drop(oldest);
    list[count++] = (struct name){.node = xstrdup(node),
                                  .service = xstrdup_null(service),
                                  .hints = *hints,
                                  .found = copy(found),
                                  .asked_ms = asked_ms};
}

int names_find(const char *node, const char *service, const struct addrinfo *hints,
               struct addrinfo **ret)
{
    struct addrinfo plain = {.ai_family = AF_UNSPEC};
    struct addrinfo *found = NULL;
    int64_t asked_ms;
    int r;

    source_find();
    if (!node)
        return resolve(node, service, hints, ret);
    if (!hints)
        hints = &plain;
    (void)pthread_mutex_lock(&lock);
    found = recall(node, service, hints);
    (void)pthread_mutex_unlock(&lock);
    if (!found) {
        /* without the lock: the watchdog may have to look, too */
        asked_ms = source.now_ms();
        r = resolve(node, service, hints, &found);
        if (r != 0)
            return r;
        (void)pthread_mutex_lock(&lock);
        keep(node, service, hints, found, asked_ms);
        (void)pthread_mutex_unlock(&lock);
    }
    *ret = found;
    return 0;
}

int names_idle_ms(void)
{
    int64_t wait = -1;

    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count; i++) {
        int64_t left = MAX(list[i].asked_ms + REFRESH_MS - source.now_ms(), 0);

        wait = wait < 0 ? left : MIN(wait, left);
    }
    (void)pthread_mutex_unlock(&lock);
    return (int)wait;
}

void names_refresh(void)
{
    (void)pthread_mutex_lock(&lock);
    for (size_t i = count; i-- > 0;) {
        struct name *n = &list[i];
        struct addrinfo *found = NULL;
        int64_t now = source.now_ms();

        if (now - n->asked_ms < REFRESH_MS)
            continue;
        if (resolve(n->node, n->service, &n->hints, &found) != 0) {
            drop(i);
            continue;
        }
        names_free(n->found);
        n->found = found;
        n->asked_ms = now;
    }
    (void)pthread_mutex_unlock(&lock);
}

void names_forget(void)
{
    (void)pthread_mutex_lock(&lock);
    while (count > 0)
        drop(count - 1);
    (void)pthread_mutex_unlock(&lock);
}
