/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of jobs and cron jobs.
 *
 * STATUS of a job is its first condition that holds, in the order of Kubernetes; a job without one
 * is Running.  COMPLETIONS of a work queue (no number of completions) is "n/1", with the
 * parallelism if it has one.  DURATION ends when the job has completed, and goes on counting
 * otherwise.
 */
#include "src/base/clock.h"
#include "src/cluster/apiserver/printers/cells.h"

static bool has_condition(const struct jsn *job, const char *type)
{
    JSN_FOR_ITEMS (c, jsn_get(job, "status.conditions"))
        if (streq(jsn_get_str(c, "type"), type) && streq(jsn_get_str(c, "status"), "True"))
            return true;
    return false;
}

static const char *status_of(const struct jsn *job)
{
    if (has_condition(job, "Complete"))
        return "Complete";
    if (has_condition(job, "Failed"))
        return "Failed";
    if (jsn_get_str(job, "metadata.deletionTimestamp"))
        return "Terminating";
    if (has_condition(job, "Suspended"))
        return "Suspended";
    if (has_condition(job, "FailureTarget"))
        return "FailureTarget";
    if (has_condition(job, "SuccessCriteriaMet"))
        return "SuccessCriteriaMet";
    return "Running";
}

static void cell_completions(struct cells *c)
{
    const struct jsn *completions = jsn_get(c->object, "spec.completions");
    long long done = (long long)jsn_get_int(c->object, "status.succeeded", 0);
    long long parallel = (long long)jsn_get_int(c->object, "spec.parallelism", 0);

    if (jsn_is(completions, JSN_INT))
        cell_textf(c, "%lld/%lld", done, (long long)completions->i);
    else if (parallel > 1)
        cell_textf(c, "%lld/1 of %lld", done, parallel);
    else
        cell_textf(c, "%lld/1", done);
}

/* From start to end; to now while it runs; nothing before it has begun. */
static void cell_duration(struct cells *c)
{
    const char *start = cells_text(c->object, "status.startTime");
    const char *end = cells_text(c->object, "status.completionTime");
    int64_t from;
    int64_t to = c->now_us;
    char text[CLOCK_AGE_LEN];

    if (start[0] == '\0' || clock_parse_rfc3339(str_of(start), &from) < 0 ||
        (end[0] != '\0' && clock_parse_rfc3339(str_of(end), &to) < 0)) {
        cell_text(c, "");
        return;
    }
    clock_age((to - from) / 1000000, text);
    cell_text(c, text);
}

static void print_job(struct cells *c)
{
    cell_name(c);
    cell_text(c, status_of(c->object));
    cell_completions(c);
    cell_duration(c);
    cell_age(c);
    cell_containers(c, jsn_get(c->object, "spec.template.spec.containers"));
    cell_selector(c, jsn_get(c->object, "spec.selector"));
}

static const struct printer_column job_columns[] = {
    COLUMN_NAME,
    {"Status", "string", "", "Where the job is in its life.", 0},
    {"Completions", "string", "", "How many pods have succeeded, of how many.", 0},
    {"Duration", "string", "", "Time that the job has taken.", 0},
    COLUMN_AGE,
    COLUMN_CONTAINERS,
    COLUMN_SELECTOR,
};

const struct printer printer_jobs = {
    .resource = "jobs.batch",
    .columns = job_columns,
    .n_columns = ARRAY_LEN(job_columns),
    .print = print_job,
};

static void print_cronjob(struct cells *c)
{
    const struct jsn *suspend = jsn_get(c->object, "spec.suspend");
    const char *last = cells_text(c->object, "status.lastScheduleTime");

    cell_name(c);
    cell_at(c, "spec.schedule", "");
    cell_at(c, "spec.timeZone", "<none>");
    cell_text(c, !jsn_is(suspend, JSN_BOOL) ? "<unset>" : suspend->b ? "True" : "False");
    cell_int(c, (int64_t)jsn_len(jsn_get(c->object, "status.active")));
    cell_text(c, last[0] != '\0' ? cells_age_of(c, last) : "<none>");
    cell_age(c);
    cell_containers(c, jsn_get(c->object, "spec.jobTemplate.spec.template.spec.containers"));
    cell_selector(c, jsn_get(c->object, "spec.jobTemplate.spec.selector"));
}

static const struct printer_column cronjob_columns[] = {
    COLUMN_NAME,
    {"Schedule", "string", "", "When jobs are made, in cron's notation.", 0},
    {"Timezone", "string", "", "Time zone of the schedule.", 0},
    {"Suspend", "boolean", "", "Whether no new jobs are made.", 0},
    {"Active", "integer", "", "How many of its jobs are running.", 0},
    {"Last Schedule", "string", "", "Time since the last job was made.", 0},
    COLUMN_AGE,
    COLUMN_CONTAINERS,
    COLUMN_SELECTOR,
};

const struct printer printer_cronjobs = {
    .resource = "cronjobs.batch",
    .columns = cronjob_columns,
    .n_columns = ARRAY_LEN(cronjob_columns),
    .print = print_cronjob,
};
