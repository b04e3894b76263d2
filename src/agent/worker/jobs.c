/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The jobs that are not over: pending, running, suspended, completing.
 *
 * slurmctld keeps finished jobs for a while (MinJobAge) and sends them along; they are left out. Of
 * each job there is what is needed to know which nodes are busy and until when, which partitions
 * are in use, and whom to name in a message.  While a job completes, `nodes` are those that are not
 * done yet.
 */
#include "src/agent/worker/call.h"
#include "src/agent/worker/release.h"
#include "src/agent/worker/users.h"

static bool job_over(const slurm_job_info_t *j)
{
    return (j->job_state & JOB_STATE_BASE) > JOB_SUSPENDED && !(j->job_state & JOB_COMPLETING);
}

static const char *job_state(const slurm_job_info_t *j)
{
    if (j->job_state & JOB_COMPLETING)
        return "COMPLETING";
    switch (j->job_state & JOB_STATE_BASE) {
    case JOB_PENDING:
        return "PENDING";
    case JOB_RUNNING:
        return "RUNNING";
    default:
        return "SUSPENDED";
    }
}

static void job_item(struct worker_call *c, const slurm_job_info_t *j, struct jsn *items)
{
    struct jsn *item = jsn_object(c->arena);

    jsn_set_int(c->arena, item, "id", release_job_id(j));
    jsn_set_str(c->arena, item, "state", job_state(j));
    call_put_text(c, item, "name", j->name);
    jsn_set_str(c->arena, item, "user",
                j->user_name && j->user_name[0] ? j->user_name : users_name(j->user_id));
    call_put_text(c, item, "account", j->account);
    call_put_text(c, item, "partition", j->partition);
    call_put_text(c, item, "nodes", j->nodes);
    call_put_text(c, item, "reservation", j->resv_name);
    jsn_set_int(c->arena, item, "uid", j->user_id);
    if (j->array_job_id)
        jsn_set_int(c->arena, item, "arrayJobId", j->array_job_id);
    call_put_text(c, item, "arrayTasks", j->array_task_str);
    call_put_time(c, item, "startTime", j->start_time);
    call_put_time(c, item, "endTime", j->end_time);
    if (j->time_limit == INFINITE)
        jsn_set_bool(c->arena, item, "unlimited", true);
    if (j->batch_flag && j->requeue)
        jsn_set_bool(c->arena, item, "requeue", true);
    jsn_append(c->arena, items, item);
}

int call_jobs(struct worker_call *c)
{
    job_info_msg_t *msg = NULL;
    struct jsn *items;
    int r;

    errno = 0;
    r = slurm_load_jobs(call_since(c), &msg, SHOW_ALL);
    if (r != SLURM_SUCCESS) {
        int code = r > 0 ? r : errno;

        if (code == SLURM_NO_CHANGE_IN_DATA)
            return call_unchanged(c);
        return call_refused(c, code, "the jobs cannot be listed");
    }
    items = call_items(c, msg->last_update);
    for (uint32_t i = 0; i < msg->record_count; i++)
        if (!job_over(&msg->job_array[i]))
            job_item(c, &msg->job_array[i], items);
    slurm_free_job_info_msg(msg);
    return 0;
}
