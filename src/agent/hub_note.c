/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What others have read of single partitions, laid over the hub's own picture.
 *
 * A declaration that was applied has read its partitions back; the hub's next round comes later.
 * Until then the next declaration must not take the older picture for true.  So what was read is
 * noted here, with the moment of the question.  An answer to a question of the hub that was asked
 * before that moment does not take the note's place; one that was asked later does.
 */
#include "src/agent/hub_impl.h"
#include "src/base/alloc.h"

struct hub_note {
    struct live_partition live;
    bool there; /* false: slurmctld does not have it */
    int64_t asked_ns;
};

void hub_note_free(void *value)
{
    struct hub_note *n = value;

    partition_done(&n->live.p);
    free(n);
}

void hub_note(struct hub *h, const char *const *names, size_t n, const struct live *live,
              int64_t asked_ns)
{
    for (size_t i = 0; i < n; i++) {
        const struct live_partition *p = live_find(live, names[i]);
        struct hub_note *note = xcalloc(1, sizeof(*note));

        note->there = p != NULL;
        note->asked_ns = asked_ns;
        if (p)
            partition_copy(&p->p, &note->live.p);
        (void)map_put(&h->notes, str_of(names[i]), note);
    }
}

void hub_notes_drop(struct hub *h, int64_t asked_ns)
{
    size_t at = 0;
    struct str name;
    struct hub_note *note;

    while (map_next(&h->notes, &at, &name, &note))
        if (note->asked_ns < asked_ns)
            (void)map_del(&h->notes, name);
}

const struct live_partition *hub_partition(const struct hub *h, const char *name)
{
    const struct hub_note *note = map_get(&h->notes, str_of(name));

    if (note)
        return note->there ? &note->live : NULL;
    return live_find(&h->live, name);
}
