/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs and cron jobs.
 *
 * A job's selector is made by the server from the job's uid, so that no two jobs ever share a pod;
 * only manualSelector leaves it to the writer.  Template and selector are fixed for life.
 *
 * The defaults of a job's spec are for jobs alone: the template in a cron job stays as it was
 * written, so they are not in the tables.
 */
#include "src/cluster/apiserver/gotext.h"
#include "src/cluster/apiserver/kinds/cron.h"
#include "src/cluster/apiserver/kinds/labelselector.h"
#include "src/cluster/apiserver/kinds/podspec.h"
#include "src/cluster/apiserver/kinds/workload.h"

static void default_spec(struct arena *a, struct jsn *spec)
{
    bool indexed = streq(jsn_get_str(spec, "completionMode"), "Indexed");

    if (!jsn_key(spec, "completions") && !jsn_key(spec, "parallelism") && !indexed)
        jsn_set_int(a, spec, "completions", 1);
    workload_default(a, spec, "parallelism", jsn_int(a, 1));
    workload_default(a, spec, "backoffLimit", jsn_int(a, 6));
    workload_default(a, spec, "completionMode", jsn_string(a, "NonIndexed"));
    workload_default(a, spec, "suspend", jsn_bool(a, false));
    workload_default(a, spec, "manualSelector", jsn_bool(a, false));
    podtemplate_default(a, spec, "template");
}

/* A job without labels has those of its pods. */
static void default_labels(struct arena *a, struct jsn *job)
{
    struct jsn *meta = jsn_ensure_object(a, job, "metadata");
    const struct jsn *labels = jsn_get(job, "spec.template.metadata.labels");

    if (jsn_len(labels) > 0 && jsn_len(jsn_key(meta, "labels")) == 0)
        jsn_set(a, meta, "labels", jsn_clone(a, labels));
}

static void job_defaults(struct arena *a, struct jsn *job)
{
    default_spec(a, jsn_ensure_object(a, job, "spec"));
    default_labels(a, job);
}

static void label_template(struct arena *a, struct jsn *spec, const char *key, const char *value)
{
    struct jsn *template = jsn_ensure_object(a, spec, "template");
    struct jsn *meta = jsn_ensure_object(a, template, "metadata");

    jsn_set_str(a, jsn_ensure_object(a, meta, "labels"), key, value);
}

/* Both the old and the new names of the labels, as current Kubernetes sets them. */
static int job_prepare_create(struct api_call *c, struct jsn *job)
{
    struct jsn *spec = jsn_ensure_object(&c->arena, job, "spec");
    const char *name = kind_text(job, "metadata.name");
    const char *uid = kind_text(job, "metadata.uid");
    struct jsn *selector;

    if (jsn_get_bool(spec, "manualSelector", false))
        return 0;
    label_template(&c->arena, spec, "controller-uid", uid);
    label_template(&c->arena, spec, "job-name", name);
    label_template(&c->arena, spec, "batch.kubernetes.io/controller-uid", uid);
    label_template(&c->arena, spec, "batch.kubernetes.io/job-name", name);
    selector = jsn_ensure_object(&c->arena, spec, "selector");
    jsn_set_str(&c->arena, jsn_ensure_object(&c->arena, selector, "matchLabels"),
                "batch.kubernetes.io/controller-uid", uid);
    default_labels(&c->arena, job);
    return 0;
}

static void check_restart(struct causes *cs, const struct place *template)
{
    static const char *const known[] = {"OnFailure", "Never", NULL};
    struct place pod = place_key(template, "spec");
    struct place policy = place_key(&pod, "restartPolicy");

    if (!place_filled(&policy) || streq(place_str(&policy), "Always"))
        place_required(cs, &policy, "valid values: \"OnFailure\", \"Never\"");
    else
        check_enum(cs, &policy, known);
}

static void check_spec(struct causes *cs, const struct place *spec)
{
    static const char *const counts[] = {"parallelism", "completions", "activeDeadlineSeconds",
                                         "backoffLimit", "ttlSecondsAfterFinished"};
    static const char *const modes[] = {"Indexed", "NonIndexed", NULL};
    struct place template = place_key(spec, "template");
    struct place mode = place_key(spec, "completionMode");
    struct place completions = place_key(spec, "completions");

    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        struct place at = place_key(spec, counts[i]);

        check_nonnegative(cs, &at);
    }
    check_enum(cs, &mode, modes);
    if (streq(place_str(&mode), "Indexed") && !place_given(&completions))
        place_required(cs, &completions, "when completion mode is Indexed");
    podtemplate_check(cs, &template);
    check_restart(cs, &template);
}

static void check_selector(struct causes *cs, const struct place *spec)
{
    struct place selector = place_key(spec, "selector");
    struct place template = place_key(spec, "template");
    struct place meta = place_key(&template, "metadata");
    struct place labels = place_key(&meta, "labels");

    if (!place_given(&selector))
        place_required(cs, &selector, NULL);
    labelselector_check(cs, &selector);
    if (!labelselector_match(cs->arena, selector.value, labels.value))
        place_invalid_text(cs, &labels, gotext_map(cs->arena, labels.value),
                           "`selector` does not match template `labels`");
}

static void job_validate(struct causes *cs, const struct jsn *job)
{
    struct place root = place_root(job);
    struct place spec = place_key(&root, "spec");

    check_spec(cs, &spec);
    check_selector(cs, &spec);
}

static void job_validate_update(struct causes *cs, const struct jsn *job, const struct jsn *old)
{
    const struct jsn *old_spec = jsn_key(old, "spec");
    struct place root = place_root(job);
    struct place spec = place_key(&root, "spec");
    struct place completions = place_key(&spec, "completions");
    struct place selector = place_key(&spec, "selector");
    struct place template = place_key(&spec, "template");
    struct place mode = place_key(&spec, "completionMode");

    check_immutable(cs, &completions, jsn_key(old_spec, "completions"));
    if (!check_same(selector.value, jsn_key(old_spec, "selector")))
        place_invalid_text(cs, &selector, gotext_selector(cs->arena, selector.value),
                           "field is immutable");
    check_immutable(cs, &template, jsn_key(old_spec, "template"));
    check_immutable(cs, &mode, jsn_key(old_spec, "completionMode"));
}

static void cronjob_defaults(struct arena *a, struct jsn *object)
{
    struct jsn *template = jsn_get(object, "spec.jobTemplate.spec");

    if (jsn_is(template, JSN_OBJECT))
        podtemplate_default(a, template, "template");
}

static void check_schedule(struct causes *cs, const struct place *schedule)
{
    const char *why;

    if (!check_filled(cs, schedule, NULL))
        return;
    why = cron_check(cs->arena, place_str(schedule));
    if (why)
        place_invalid(cs, schedule, "%s", why);
}

static void check_job_template(struct causes *cs, const struct place *template)
{
    static const char *const no[] = {"nil", "false", NULL};
    struct place spec = place_key(template, "spec");
    struct place selector = place_key(&spec, "selector");
    struct place manual = place_key(&spec, "manualSelector");

    check_spec(cs, &spec);
    if (place_given(&selector))
        place_invalid_text(cs, &selector, gotext_selector(cs->arena, selector.value),
                           "`selector` will be auto-generated");
    if (place_true(&manual))
        place_unsupported(cs, &manual, no);
}

static void cronjob_validate(struct causes *cs, const struct jsn *object)
{
    static const char *const policies[] = {"Allow", "Forbid", "Replace", NULL};
    static const char *const counts[] = {"startingDeadlineSeconds", "successfulJobsHistoryLimit",
                                         "failedJobsHistoryLimit"};
    struct place root = place_root(object);
    struct place spec = place_key(&root, "spec");
    struct place schedule = place_key(&spec, "schedule");
    struct place policy = place_key(&spec, "concurrencyPolicy");
    struct place template = place_key(&spec, "jobTemplate");
    const char *name = kind_text(object, "metadata.name");

    check_schedule(cs, &schedule);
    check_enum_required(cs, &policy, policies);
    check_job_template(cs, &template);
    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        struct place at = place_key(&spec, counts[i]);

        check_nonnegative(cs, &at);
    }
    if (strlen(name) > 52)
        cause_invalid(cs, "metadata.name", jsn_get(object, "metadata.name"),
                      "must be no more than 52 characters");
}

const struct strategy strategy_jobs = {
    .resource = "jobs.batch",
    .status_reset = true,
    .set_defaults = job_defaults,
    .prepare_create = job_prepare_create,
    .validate = job_validate,
    .validate_update = job_validate_update,
};

const struct strategy strategy_cronjobs = {
    .resource = "cronjobs.batch",
    .status_reset = true,
    .set_defaults = cronjob_defaults,
    .validate = cronjob_validate,
};
