/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a sound declaration to its plan: what only the live cluster can tell.
 *
 * A reconfigure or a start reads the files and nothing else.  So partitions that somebody made by
 * hand go into the files if they have jobs, a node that has jobs does not leave the files, and
 * without an answer from slurmctld nothing is removed of which that cannot be known.
 */
#include "src/agent/apply/engine_impl.h"
#include "src/agent/keep.h"

/* Not knowing counts as yes: a slurmctld that has just come up has not told its nodes. */
static bool has_dynamic_nodes(const struct job *j)
{
    const struct host_set *dynamic = hub_nodes(j->engine->o.hub, true);

    return !hub_knows(j->engine->o.hub, HUB_NODES) || (dynamic && hostset_count(dynamic) > 0);
}

/*
 * A reconfigure of these releases keeps the records of dynamic nodes and counts their jobs once
 * more: when the jobs are over the node stays allocated, and a drain never ends.
 */
bool prepare_recount(const struct job *j)
{
    return j->aim.class >= CHANGE_RECONFIGURE && has_dynamic_nodes(j) &&
           profile_quirk(j->seen.release, QUIRK_RECONFIGURE_MISCOUNTS) &&
           hub_jobs(j->engine->o.hub)->running > 0;
}

/* Is slurm.conf the only file that differs from what slurmctld runs? */
static bool only_conf_differs(const struct job *j)
{
    const struct fileset *a = &j->seen.from->files;
    const struct fileset *b = &j->aim.to->files;

    for (size_t i = 0; i < a->n; i++)
        if (!streq(a->files[i].name, "slurm.conf") &&
            !fileset_file_same(&a->files[i], fileset_get(b, a->files[i].name)))
            return false;
    return a->n == b->n;
}

/*
 * A slurmctld that serves takes one more node set as it took the others: nobody needs to try that
 * out.  What the engine does by itself may have other reasons to.
 */
static bool wants_rehearsal(const struct job *j)
{
    bool plain = j->request->kind != REQUEST_OWN && j->aim.class == CHANGE_RECONFIGURE &&
                 j->aim.certain && j->seen.live_known && j->seen.from &&
                 !store_pending(j->engine->o.store) && only_conf_differs(j);

    return j->engine->o.slurmctld && !plain;
}

static int plan_make(struct job *j, struct err *e)
{
    bool dynamic = has_dynamic_nodes(j);
    const struct host_set *all = hub_nodes(j->engine->o.hub, false);
    struct apply_input in = {
        .release = j->seen.release,
        .to = candidate_model(j->aim.to),
        .diff = &j->aim.compared.slurm,
        .class = j->aim.class,
        .files_differ = !j->seen.from || !fileset_same(&j->seen.from->files, &j->aim.to->files) ||
                        store_pending(j->engine->o.store) != NULL ||
                        request_wants(j->request, WANT_KEYS),
        .rehearse = wants_rehearsal(j),
        .reassert = j->aim.all,
        .live = j->seen.live_known ? &j->seen.live : NULL,
        .leaving = j->aim.leaving,
        .n_leaving = j->aim.n_leaving,
        .delete_first = j->aim.delete_first,
        .all = all,
        .tell_nodes = dynamic,
        .recount = prepare_recount(j),
    };
    int r;

    if (in.recount)
        job_warn(j, "slurmctld is started again as well, since jobs are running: Slurm before "
                    "23.11 would count them twice");
    r = apply_plan(&in, &j->plan, e);
    if (r == 0)
        j->aim.class = MAX(j->aim.class, plan_class(&j->plan));
    return r;
}

static int keep_foreign(struct job *j, struct err *e)
{
    const struct live *live = &j->seen.live;
    size_t before = j->record->n_kept;
    struct candidate *with = NULL;
    int r;

    for (size_t i = 0; i < live->n; i++) {
        const struct partition *p = &live->list[i].p;
        const struct jobs_group *jobs = jobs_of_partition(hub_jobs(j->engine->o.hub), p->name);
        AUTO(buf_done) struct buf lines = {0};

        if (model_find(candidate_model(j->aim.to), CONF_PARTITION, p->name) ||
            record_kept_find(j->record, p->name))
            continue;
        if (!jobs || jobs->n == 0) {
            job_warn(j, "partition '%s' is not declared and goes with the %s", p->name,
                     change_class_name(j->aim.class));
            continue;
        }
        keep_live(p, true, &lines);
        record_keep(j->record, p->name, buf_str(&lines));
    }
    if (j->record->n_kept == before)
        return 0;
    r = candidate_of(j->engine, j->record, j->seen.release, &with, e);
    if (r < 0)
        return r;
    (void)candidate_free(j->aim.to);
    j->aim.to = with;
    j->aim.certain = false;
    return 0;
}

/* A node that the files lose must not take jobs with it. */
static int check_nodes(const struct job *j, struct err *e)
{
    const struct conf_diff *diff = &j->aim.compared.slurm;

    for (size_t i = 0; i < diff->n; i++) {
        AUTO(hostlist_free) struct host_list *hosts = NULL;
        AUTO(buf_done) struct buf name = {0};
        struct host_iter it = {0};

        if (diff->list[i].section != CONF_NODE || diff->list[i].what != DIFF_REMOVED ||
            diff->list[i].key_name || !diff->list[i].object ||
            hostlist_parse(str_of(diff->list[i].object), &hosts, NULL) < 0)
            continue;
        while (hostlist_next(hosts, &it, &name)) {
            const struct jobs_group *g = jobs_of_node(hub_jobs(j->engine->o.hub), buf_str(&name));

            if (g && g->n > 0)
                return err_set(e, -EBUSY, ERR_RETRY,
                               "node '%s' cannot go: job %lld runs on it; drain it first",
                               buf_str(&name), (long long)g->ids[0]);
        }
    }
    return 0;
}

/* Drift is put back: what somebody made by hand goes, unless it has jobs. */
static void remove_foreign(struct job *j)
{
    const struct live *live = &j->seen.live;

    for (size_t i = 0; i < live->n; i++) {
        const char *name = live->list[i].p.name;
        const struct jobs_group *jobs = jobs_of_partition(hub_jobs(j->engine->o.hub), name);

        if (!model_find(candidate_model(j->aim.to), CONF_PARTITION, name) && !(jobs && jobs->n > 0))
            leaving_add(j, name);
    }
}

int prepare_plan(struct job *j, struct err *e)
{
    int r = 0;

    if (!j->seen.live_known && j->aim.delete_first)
        return err_set(e, -EHOSTDOWN, ERR_RETRY,
                       "slurmctld does not answer, and whether partition '%s', which goes with its "
                       "nodes, has jobs is not known",
                       j->aim.leaving[0]);
    if (j->seen.live_known && request_wants(j->request, WANT_TRY_OUT))
        j->aim.class = j->aim.compared.class; /* it has started meanwhile */
    if (j->seen.live_known && j->aim.class >= CHANGE_RECONFIGURE) {
        r = check_nodes(j, e);
        if (r == 0)
            r = keep_foreign(j, e);
    }
    if (r == 0 && j->seen.live_known && j->aim.class < CHANGE_RECONFIGURE)
        aside_remove(j);
    if (r == 0 && j->seen.live_known && request_wants(j->request, WANT_NO_OTHERS))
        remove_foreign(j);
    return r < 0 ? r : plan_make(j, e);
}

static bool has_step(const struct apply_plan *p, const char *partition)
{
    for (size_t i = 0; i < p->n; i++)
        if (streq(p->steps[i].partition, partition))
            return true;
    return false;
}

bool prepare_covers(const struct job *j)
{
    const struct conf_diff *diff = &j->aim.compared.slurm;

    for (size_t i = 0; i < diff->n; i++)
        if (diff->list[i].section == CONF_PARTITION && !has_step(&j->plan, diff->list[i].object))
            return false;
    return true;
}
