/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Partitions that slurmctld refuses, while the rest of their declaration is good.
 *
 * A refusal that concerns one partition stays with it: an unknown QOS, a value that the call cannot
 * carry, a setting that slurmctld drops.  The partition is set aside: the record says why, the
 * files have its former line again (or none, if it is new), and the job is planned again from what
 * is live now.  That brings the partition back to what it was, since slurmctld stops half-way
 * through a call that it refuses, and goes on with all others.
 *
 * The order is the one of every change: the record, the files, the calls.  Whoever is killed leaves
 * a record in which the partition is aside already, or one in which it will be refused again.
 *
 * A newer declaration leaves it aside as long as it asks for the same; the engine tries it again by
 * itself with growing pauses (own.c), for somebody may have made the QOS.
 *
 * Each partition is set aside once in a job.  If its former line is refused as well, that is told,
 * and the partition stays as it is.
 */
#include "src/agent/apply/engine_impl.h"

#include <ctype.h>

#include "src/agent/apply/bug.h"
#include "src/agent/keep.h"
#include "src/base/alloc.h"
#include "src/base/log.h"

#define READ_TIMEOUT_MS 10000

/* What a partition means, as one line: two that mean the same have the same. */
static char *asked_of(const struct model *m, const struct model_object *o)
{
    AUTO(partition_done) struct partition p = {0};
    AUTO(buf_done) struct buf line = {0};

    partition_init(&p);
    if (model_partition(m, o, &p, NULL) < 0)
        return NULL;
    partition_print(&p, &line);
    return xstrdup(buf_str(&line));
}

/* Without the name of our call in front: "partition-create: partition 'x' cannot be ..." */
static const char *words_of(const struct err *why)
{
    const char *after = starts_with(why->text, "partition-") ? strstr(why->text, ": ") : NULL;

    return after ? after + 2 : why->text;
}

/* Note it, with what stands for it: what slurmctld has run until now. */
static int aside_note(struct record *r, const struct model *from, const struct model *declared,
                      const struct model_object *o, const char *why, struct err *e)
{
    const struct model_object *was = model_find(from, CONF_PARTITION, o->name);
    AUTO(free) char *asked = asked_of(declared, o);
    AUTO(buf_done) struct buf lines = {0};
    int ret = was ? keep_former(from, was, declared, &lines, e) : 0;

    if (ret == 0)
        record_set_aside(r, o->name, buf_str(&lines), asked ? asked : "", why);
    return ret;
}

int aside_carry(struct job *j, const struct model *declared, struct err *e)
{
    AUTO(record_free) struct record *before = NULL;
    const struct record *last = engine_declared(j->engine);
    int r = 0;

    if (!last || last->n_aside == 0 || !j->seen.from)
        return 0;
    before = record_copy(last);
    record_take_back_all(j->record);
    for (size_t i = 0; r == 0 && i < before->n_aside; i++) {
        const struct record_aside *x = &before->aside[i];
        const struct model_object *o = model_find(declared, CONF_PARTITION, x->partition);
        AUTO(free) char *asked = o ? asked_of(declared, o) : NULL;

        if (asked && streq(asked, x->asked) && !request_wants(j->request, WANT_ASIDE))
            r = aside_note(j->record, candidate_model(j->seen.from), declared, o, x->why, e);
    }
    return r;
}

void aside_remove(struct job *j)
{
    for (size_t i = 0; i < j->record->n_aside; i++) {
        const struct record_aside *x = &j->record->aside[i];

        if (!x->lines[0] && live_find(&j->seen.live, x->partition))
            leaving_add(j, x->partition); /* half of it was made */
    }
}

static void on_live(struct job *j, int r, const struct err *e)
{
    struct err why = e ? *e : (struct err){0};

    if (r == 0) {
        steps_plan_again(j);
        return;
    }
    if (!why.text[0])
        (void)err_set(&why, r, ERR_RETRY, "slurmctld does not answer");
    job_suspend(j, "plan", &why);
}

/* The way from what is live now, with one partition less that changes. */
static void plan_again(struct job *j)
{
    struct err e = {0};
    int r;

    j->aim.to = candidate_free(j->aim.to);
    compare_done(&j->aim.compared);
    j->aim.compared = (struct comparison){0};
    j->aim.n_leaving = 0;
    j->aim.delete_first = false;
    j->aim.all = true;
    plan_done(&j->plan);
    r = meaning_aim(j, &e);
    if (r == 0 && !bug_is(BUG_ASIDE_UNRECORDED))
        r = step_pend_again(j, &e);
    if (r < 0)
        job_refuse(j, "plan", &e);
    else
        live_read(j, READ_TIMEOUT_MS, on_live);
}

/* May the rest go on without it?  Not without knowing what was there before. */
static bool can_stay_behind(const struct job *j, const char *partition)
{
    return !job_undoes(j) && j->seen.from && j->request->kind != REQUEST_PLAN &&
           model_find(candidate_model(j->aim.to), CONF_PARTITION, partition);
}

enum aside_verdict aside_take(struct job *j, const char *partition, const struct err *why)
{
    AUTO(candidate_free) struct candidate *declared = NULL;
    const struct model_object *o;
    struct err e = {0};

    if (!can_stay_behind(j, partition))
        return ASIDE_NOT;
    partition = arena_strdup(&j->report.arena, partition); /* the plan that has it goes */
    if (record_aside_find(j->record, partition)) {
        job_warn(j, "partition '%s' is not as it was before either: %s", partition, words_of(why));
        return ASIDE_BEFORE;
    }
    if (declared_of(j, &declared, &e) < 0)
        return ASIDE_NOT;
    o = model_find(candidate_model(declared), CONF_PARTITION, partition);
    if (!o || aside_note(j->record, candidate_model(j->seen.from), candidate_model(declared), o,
                         words_of(why), &e) < 0)
        return ASIDE_NOT;
    log_warn("partition '%s' is refused and stays as it was; the rest goes on: %s", partition,
             words_of(why));
    job_step_note(
        j, "set aside",
        arena_printf(&j->report.arena, "partition %s: refused: %s", partition, words_of(why)));
    j->report.set_aside = true;
    plan_again(j);
    return ASIDE_TAKEN;
}

static bool is_part_of_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

/* "Partition debug has an invalid qos", "partition 'debug': ..." */
static bool words_name(const char *words, const char *partition)
{
    size_t n = strlen(partition);

    for (const char *at = words; (at = strstr(at, "artition ")); at++) {
        const char *name = at + strlen("artition ");

        if (*name == '\'' || *name == '"')
            name++;
        if (strncmp(name, partition, n) == 0 && !is_part_of_name(name[n]))
            return true;
    }
    return false;
}

/* The partition that changes and that these words are about; NULL: none. */
static const char *to_blame(const struct conf_diff *diff, const struct err *why)
{
    for (size_t i = 0; i < diff->n; i++)
        if (diff->list[i].section == CONF_PARTITION && diff->list[i].object &&
            words_name(why->text, diff->list[i].object))
            return diff->list[i].object;
    return NULL;
}

bool aside_blame(struct job *j, const struct err *why)
{
    const char *partition = to_blame(&j->aim.compared.slurm, why);

    return partition && aside_take(j, partition, why) == ASIDE_TAKEN;
}

/* The pending record with one partition aside; NULL: nobody is to blame, or it was aside. */
static struct record *without_blamed(struct engine *g, const struct err *why)
{
    const struct record *pending = store_pending(g->o.store);
    AUTO(record_free) struct record *r = record_copy(pending);
    AUTO(candidate_free) struct candidate *from = NULL;
    AUTO(candidate_free) struct candidate *to = NULL;
    AUTO(compare_done) struct comparison compared = {0};
    uint32_t release = hub_release(g->o.hub) ? hub_release(g->o.hub) : RELEASE_NEWEST;
    const struct model_object *o;
    const char *name;

    if (candidate_of(g, store_good(g->o.store), release, &from, NULL) < 0 ||
        candidate_of(g, pending, release, &to, NULL) < 0 ||
        compare_candidates(from, to, &compared, NULL) < 0)
        return NULL;
    name = to_blame(&compared.slurm, why);
    o = name ? model_find(candidate_model(to), CONF_PARTITION, name) : NULL;
    if (!o || record_aside_find(r, name) ||
        aside_note(r, candidate_model(from), candidate_model(to), o, why->text, NULL) < 0)
        return NULL;
    log_error("partition '%s' is refused and stays as it was; the rest goes on: %s", name,
              why->text);
    return TAKE(r);
}

bool aside_pending(struct engine *g, const struct err *why)
{
    struct record *r = without_blamed(g, why);
    struct err e = {0};

    if (!r)
        return false;
    if (store_pend(g->o.store, r, &e) < 0) {
        log_error("%s", e.text);
        (void)record_free(r);
        return false;
    }
    return true;
}
