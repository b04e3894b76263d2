/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fair shares.
 *
 * Picking looks at every account once.  There are never more accounts than members, and members are
 * capped by whoever owns them, so this is short; it happens only when something has run out.
 *
 * Of two accounts that are equally greedy, the one whose idle member has waited longer gives way:
 * a flood from many addresses, one connection each, loses its own oldest connections first.
 */
#include "src/base/crowd.h"

#include "src/base/alloc.h"

static void account_free(void *value)
{
    struct crowd_account *a = value;

    free(a->name);
    free(a);
}

void crowd_init(struct crowd *c)
{
    *c = (struct crowd){0};
    map_init(&c->accounts, account_free);
}

void crowd_done(struct crowd *c)
{
    assert(c->n == 0);
    map_done(&c->accounts);
}

static struct crowd_account *account_of(struct crowd *c, const char *name)
{
    struct crowd_account *a = map_get(&c->accounts, str_of(name));

    if (a)
        return a;
    a = xcalloc(1, sizeof(*a));
    a->crowd = c;
    a->name = xstrdup(name);
    list_init(&a->idle);
    (void)map_put(&c->accounts, str_of(name), a);
    return a;
}

void crowd_leave(struct crowd_member *m)
{
    struct crowd_account *a = m->account;

    if (!a)
        return;
    crowd_set_bytes(m, 0);
    list_remove(&m->idle);
    a->n--;
    a->crowd->n--;
    m->account = NULL;
    if (a->n == 0)
        (void)map_del(&a->crowd->accounts, str_of(a->name));
}

void crowd_join(struct crowd *c, struct crowd_member *m, const char *name)
{
    struct crowd_account *a = account_of(c, name);

    if (m->account == a)
        return;
    a->n++; /* before leaving, which may end an account */
    c->n++;
    crowd_leave(m);
    m->account = a;
}

void crowd_set_idle(struct crowd_member *m, bool idle)
{
    if (!m->account || idle == list_linked(&m->idle))
        return;
    if (!idle) {
        list_remove(&m->idle);
        return;
    }
    m->idle_since = ++m->account->crowd->clock;
    list_append(&m->account->idle, &m->idle);
}

void crowd_set_bytes(struct crowd_member *m, size_t bytes)
{
    if (!m->account)
        return;
    m->account->bytes += bytes - m->bytes;
    m->account->crowd->bytes += bytes - m->bytes;
    m->bytes = bytes;
}

size_t crowd_count(const struct crowd *c, const char *name)
{
    const struct crowd_account *a = map_get(&c->accounts, str_of(name));

    return a ? a->n : 0;
}

static struct crowd_member *oldest(const struct crowd_account *a)
{
    return a && !list_empty(&a->idle) ? LIST_ENTRY(a->idle.next, struct crowd_member, idle) : NULL;
}

struct crowd_member *crowd_pick_of(const struct crowd *c, const char *name)
{
    return oldest(map_get(&c->accounts, str_of(name)));
}

struct crowd_member *crowd_pick(const struct crowd *c, enum crowd_by by)
{
    struct crowd_member *found = NULL;
    struct crowd_account *a;
    size_t most = 0;
    size_t at = 0;

    while (map_next(&c->accounts, &at, NULL, &a)) {
        struct crowd_member *m = oldest(a);
        size_t has = by == CROWD_BY_BYTES ? a->bytes : a->n;

        if (!m || (found && has < most) ||
            (found && has == most && m->idle_since > found->idle_since))
            continue;
        found = m;
        most = has;
    }
    return found;
}
