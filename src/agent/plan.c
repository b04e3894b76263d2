/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The planner: what to do, in which order, for one declaration.
 *
 *   [rehearse]  write  create* update* | reconfigure | restart   delete* [settle]  read back
 *
 * Files come before calls, so that no partition ever lives in slurmctld's memory alone: it would be
 * gone, with its jobs, at the next start.  A partition that leaves is the one exception: it stays
 * in the files until slurmctld has deleted it, because slurmctld refuses that while it has jobs,
 * and a start without it would kill them.  Where the new files cannot hold it (its nodes go, too),
 * it is deleted before anything else, or nothing happens.
 *
 * Calls are worked out against what is live and not against the previous files: a partition that
 * somebody changed by hand is put right as a whole when its declaration changes, and a plan that
 * was interrupted half-way is continued and not repeated.
 */
#include "src/agent/plan.h"

#include <strings.h>

#include "src/base/alloc.h"

const char *step_name(enum step_kind kind)
{
    static const char *const names[STEP_N] = {
        [STEP_REHEARSE] = "rehearse", [STEP_WRITE] = "write",   [STEP_CREATE] = "rpc",
        [STEP_UPDATE] = "rpc",        [STEP_DELETE] = "rpc",    [STEP_RECONFIGURE] = "reconfigure",
        [STEP_RESTART] = "restart",   [STEP_SETTLE] = "settle", [STEP_READ_BACK] = "read back",
    };

    return names[kind];
}

void plan_done(struct apply_plan *p)
{
    arena_done(&p->arena);
    *p = (struct apply_plan){0};
}

static struct apply_step *step_add(struct apply_plan *p, enum step_kind kind)
{
    arena_reserve(&p->arena, &p->steps, &p->cap, p->n + 1, sizeof(*p->steps));
    p->steps[p->n] = (struct apply_step){.kind = kind};
    return &p->steps[p->n++];
}

static void pair_add(struct apply_plan *p, struct apply_step *s, const char *key, const char *value)
{
    size_t cap = s->n;

    arena_reserve(&p->arena, &s->pairs, &cap, s->n + 1, sizeof(*s->pairs));
    s->pairs[s->n++] = (struct conf_pair){
        .key = arena_strdup(&p->arena, key), .value = arena_strdup(&p->arena, value), .op = '='};
}

/* Can the partition calls of this release carry this change? */
static bool by_rpc(const struct part_change *c, uint32_t release)
{
    if (keys_class(c->key, release) > CHANGE_RPC)
        return false;
    return c->from[0] || !(c->key->flags & KEY_NO_UNSET);
}

/* from = declared, to = live, as drift has it. */
static void step_fill(struct apply_plan *p, struct apply_step *s, const char *name,
                      const struct part_changes *changes, uint32_t release)
{
    AUTO(buf_done) struct buf what = {0};

    buf_printf(&what, "partition %s: %s", name, s->kind == STEP_CREATE ? "created with " : "");
    for (size_t i = 0; i < changes->n; i++) {
        const struct part_change *c = &changes->list[i];

        if (!by_rpc(c, release))
            continue;
        buf_adds(&what, s->n > 0 ? ", " : "");
        if (s->kind == STEP_CREATE)
            buf_printf(&what, "%s=%s", c->key->name, c->from);
        else
            buf_printf(&what, "%s=%s -> %s", c->key->name, c->to, c->from);
        pair_add(p, s, c->key->name, c->from);
    }
    s->partition = arena_strdup(&p->arena, name);
    s->what = arena_str(&p->arena, buf_view(&what));
}

/* What a partition is that was made by a call with a name alone: not what an empty line means. */
static void created_init(struct partition *p)
{
    partition_init(p);
    p->min_nodes = 1;
}

/*
 * A list of nodes with a function in it cannot be held against live nodes.  All that is known is
 * whether its text is another one than slurmctld was given.
 */
static void add_function(const struct apply_input *in, const struct partition *declared,
                         struct part_changes *ret)
{
    if (!partition_has_function(declared))
        return;
    for (size_t i = 0; in->diff && i < in->diff->n; i++) {
        const struct conf_change *c = &in->diff->list[i];

        if (c->section == CONF_PARTITION && c->key_name && streq(c->key_name, "Nodes") &&
            streq(c->object, declared->name))
            part_changes_add(ret, c->key, xstrdup(declared->nodes),
                             xstrdup(c->from ? c->from : ""));
    }
}

int plan_partition(const struct apply_input *in, const struct model_object *object,
                   struct apply_plan *ret, struct err *e)
{
    const struct live_partition *live = live_find(in->live, object->name);
    AUTO(hostset_free) struct host_set *nodesets = model_nodesets(in->to);
    AUTO(part_changes_done) struct part_changes changes = {0};
    AUTO(partition_done) struct partition declared = {0};
    AUTO(partition_done) struct partition empty = {0};
    struct apply_step s = {.kind = live ? STEP_UPDATE : STEP_CREATE};
    int r;

    partition_init(&declared);
    created_init(&empty);
    r = model_partition(in->to, object, &declared, e);
    if (r < 0)
        return err_wrap(e, r, "partition '%s'", object->name);
    if (live)
        live_drift(live, &declared, in->all, nodesets, in->release, &changes);
    else
        partition_diff(&declared, &empty, &changes);
    if (live)
        add_function(in, &declared, &changes);
    step_fill(ret, &s, object->name, &changes, in->release);
    if (s.n > 0 || !live)
        *step_add(ret, s.kind) = s;
    return 0;
}

static bool pair_is(const struct apply_step *s, const char *key, const char *value)
{
    for (size_t i = 0; i < s->n; i++)
        if (streq(s->pairs[i].key, key) && strcasecmp(s->pairs[i].value, value) == 0)
            return true;
    return false;
}

/*
 * The step that makes a new default comes first, and slurmctld then takes the flag from the old one
 * by itself: there is no moment without a default, and no call for the old one's sake.
 */
static void default_first(struct apply_plan *p, size_t start)
{
    size_t kept = start;
    size_t at;

    for (at = start; at < p->n && !pair_is(&p->steps[at], "Default", "YES"); at++)
        ;
    if (at == p->n)
        return;
    for (; at > start; at--) {
        struct apply_step s = p->steps[at];

        p->steps[at] = p->steps[at - 1];
        p->steps[at - 1] = s;
    }
    for (size_t i = start; i < p->n; i++) {
        const struct apply_step *s = &p->steps[i];

        if (s->kind != STEP_UPDATE || s->n != 1 || !pair_is(s, "Default", "NO"))
            p->steps[kept++] = *s;
    }
    p->n = kept;
}

static bool is_changed(const struct conf_diff *diff, const char *partition)
{
    for (size_t i = 0; diff && i < diff->n; i++)
        if (diff->list[i].section == CONF_PARTITION && streq(diff->list[i].object, partition))
            return true;
    return false;
}

static bool is_leaving(const struct apply_input *in, const char *partition)
{
    for (size_t i = 0; i < in->n_leaving; i++)
        if (streq(in->leaving[i], partition))
            return true;
    return false;
}

static int plan_calls(const struct apply_input *in, struct apply_plan *ret, struct err *e)
{
    size_t start = ret->n;

    if (!in->reassert && (!in->diff || in->diff->n == 0))
        return 0;
    for (size_t i = 0; i < in->to->n_objects; i++) {
        const struct model_object *o = &in->to->objects[i];
        int r;

        if (o->section != CONF_PARTITION || is_leaving(in, o->name) ||
            (!in->reassert && !is_changed(in->diff, o->name)))
            continue;
        r = plan_partition(in, o, ret, e);
        if (r < 0)
            return r;
    }
    default_first(ret, start);
    return 0;
}

static void plan_deletes(const struct apply_input *in, struct apply_plan *ret)
{
    for (size_t i = 0; i < in->n_leaving; i++) {
        struct apply_step *s;

        /* one that is gone already comes back when the files are read that still hold it */
        if (!live_find(in->live, in->leaving[i]) &&
            (in->class < CHANGE_RECONFIGURE || in->delete_first))
            continue;
        s = step_add(ret, STEP_DELETE);
        s->partition = arena_strdup(&ret->arena, in->leaving[i]);
        s->what = arena_printf(&ret->arena, "partition %s: deleted", in->leaving[i]);
    }
    if (in->n_leaving > 0 && !in->delete_first)
        (void)step_add(ret, STEP_SETTLE);
}

/*
 * A start on bad files fails in every release.  So does a reconfigure: older releases die of it,
 * newer ones refuse it without a reason, and in the foreground they die, too.
 */
static bool wants_rehearsal(const struct apply_input *in)
{
    return in->rehearse && in->class >= CHANGE_RECONFIGURE;
}

/* Nothing but partitions that leave: the old files mean the same until they have. */
static bool settle_suffices(const struct apply_input *in)
{
    return in->class == CHANGE_NONE && in->live && in->n_leaving > 0 && !in->delete_first &&
           !in->reassert;
}

enum change_class plan_class(const struct apply_plan *p)
{
    enum change_class most = CHANGE_NONE;

    for (size_t i = 0; i < p->n; i++) {
        enum step_kind kind = p->steps[i].kind;

        if (kind == STEP_CREATE || kind == STEP_UPDATE || kind == STEP_DELETE)
            most = MAX(most, CHANGE_RPC);
    }
    return most;
}

/*
 * slurmctld reads its files.  A start does not hand them on to nodes that have theirs from it, a
 * reconfigure does; and where that counts running jobs twice, the start that comes after it counts
 * right.
 */
static void plan_reload(const struct apply_input *in, struct apply_plan *ret)
{
    if (in->class == CHANGE_RESTART)
        (void)step_add(ret, STEP_RESTART);
    if (in->class == CHANGE_RECONFIGURE || in->tell_nodes)
        (void)step_add(ret, STEP_RECONFIGURE);
    if (in->recount)
        (void)step_add(ret, STEP_RESTART);
}

int apply_plan(const struct apply_input *in, struct apply_plan *ret, struct err *e)
{
    size_t before;
    int r = 0;

    if (wants_rehearsal(in))
        (void)step_add(ret, STEP_REHEARSE);
    if (in->delete_first)
        plan_deletes(in, ret);
    if (in->files_differ && !settle_suffices(in))
        (void)step_add(ret, STEP_WRITE);
    if (!in->live)
        return 0;
    before = ret->n;
    if (in->class >= CHANGE_RECONFIGURE)
        plan_reload(in, ret);
    else
        r = plan_calls(in, ret, e);
    if (r < 0)
        return r;
    if (!in->delete_first)
        plan_deletes(in, ret);
    if (ret->n > before)
        (void)step_add(ret, STEP_READ_BACK);
    return 0;
}
