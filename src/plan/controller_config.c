/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a Controller's status says about its configuration.
 *
 *   ConfigApplied     True when slurmctld has it (without an agent: when it is written).  Else it
 *                     says what is wrong, and whose line it is
 *
 *   NodeSetsAccepted  False while a NodeSet is left out, or slurmctld refuses its partition;
 *                     PartitionsAccepted likewise.  ConfigApplied is True beside them: what is
 *                     wrong with one object is told there, and the rest is applied
 *
 *   AccountingFound   False while accountingRef names no Accounting that is there, or one that has
 *                     never answered: it is not configured, or the one that was there goes on being
 *
 *   Drifted           True while a partition is not as declared: somebody used scontrol
 */
#include "src/build/labels.h"
#include "src/plan/controller_private.h"

#define MAX_DRIFT_SHOWN 32

/* The first error of an object whose description begins with these words; NULL: of any. */
static const struct api_problem *first_problem(const struct config_verdict *v, const char *of)
{
    for (size_t i = 0; i < v->problems->n; i++) {
        const struct api_problem *p = &v->problems->items[i];

        if (p->reason != API_WARNING && (!of || starts_with(p->object, of)))
            return p;
    }
    return NULL;
}

/* What Slurm takes, but not as it was meant; "" if there is nothing of the kind. */
static const char *warning_text(struct arena *a, const struct config_verdict *v)
{
    AUTO(buf_done) struct buf b = {0};
    size_t n = 0;

    for (size_t i = 0; i < v->problems->n; i++) {
        const struct api_problem *p = &v->problems->items[i];

        if (p->reason == API_WARNING && starts_with(p->object, "Controller ") && n++ == 0)
            api_problem_print(p, &b);
    }
    if (n > 1)
        buf_printf(&b, " (and %zu more)", n - 1);
    return n ? arena_printf(a, "; but %s", buf_str(&b)) : "";
}

static const char *problem_text(struct arena *a, const struct api_problem *p)
{
    AUTO(buf_done) struct buf b = {0};

    if (!p)
        return "Slurm would refuse it";
    api_problem_print(p, &b);
    return arena_strdup(a, buf_str(&b));
}

/* Whose line it is, and what is wrong with it. */
static const char *fault_text(struct arena *a, const struct config_verdict *v,
                              const struct slurm_fault *f)
{
    const struct conf_origin *o =
        streq(f->file, "slurm.conf") ? build_config_origin(v->config, f->line) : NULL;
    const char *text = slurm_fault_text(a, f);

    if (o && o->object)
        return arena_printf(a, "%s: %s: %s", o->object, o->field, text);
    if (f->file)
        return arena_printf(a, "%s line %u: %s", f->file, f->line, text);
    return text;
}

static void tell_refusal(const struct config_verdict *v, struct status_scribe *s)
{
    const struct slurm_applied *last = &v->in->slurm->applied;
    const char *why = last->n_faults ? fault_text(s->to->arena, v, &last->faults[0])
                      : last->reason ? last->reason
                                     : "the configuration was refused";

    status_set(s, "ConfigApplied", STATUS_FALSE, true, "Refused", "%s: %s",
               v->in->slurm->down ? "slurmctld does not run" : "slurmctld goes on with what it has",
               why);
}

/* The line of slurm.conf that declares the partition, and whose it is; NULL: it has none. */
static const struct conf_origin *refusal_origin(const struct config_verdict *v,
                                                const struct slurm_refusal *r)
{
    struct str rest = str_of(build_config_file(v->config, "slurm.conf"));
    unsigned number = 0;
    struct str line;

    while (str_split(&rest, '\n', &line)) {
        struct str word = {line.p, strcspn(line.p, " \t\r\n")};
        size_t n = strlen("PartitionName=");

        number++;
        if (word.n > n && str_eq_nocase((struct str){word.p, n}, STR("PartitionName=")) &&
            str_eqz((struct str){word.p + n, word.n - n}, r->partition))
            return build_config_origin(v->config, number);
    }
    return NULL;
}

/* The first partition of such an object ("NodeSet ...") that slurmctld refuses; NULL: none. */
static const struct slurm_refusal *refusal_of(const struct config_verdict *v, const char *kind)
{
    const struct slurm_applied *last = &v->in->slurm->applied;

    for (size_t i = 0; i < last->n_refused; i++) {
        const struct conf_origin *o = refusal_origin(v, &last->refused[i]);

        if (o && o->object && starts_with(o->object, kind))
            return &last->refused[i];
    }
    return NULL;
}

/* slurmctld has all but what is told at the objects that it refuses. */
static bool is_only_refusals(const struct slurm_state *slurm)
{
    return slurm->applied.n_refused > 0 && slurm->n_waiting == 0 && slurm->applied.taken;
}

/* It is written, and there is an agent to make slurmctld take it. */
static void judge_agent(const struct config_verdict *v, struct status_scribe *s)
{
    const struct slurm_state *slurm = v->in->slurm;
    const struct slurm_refusal *own = slurm ? refusal_of(v, "Controller ") : NULL;

    if (!slurm)
        status_set(
            s, "ConfigApplied", STATUS_UNKNOWN, false, "AgentUnreachable",
            "the configuration is in ConfigMap %s, but slurmkeeper-agent cannot tell whether "
            "slurmctld has it: %s",
            labels_config(s->to->arena, v->in->cluster->controller->meta.name),
            v->in->agent_trouble ? v->in->agent_trouble : "slurmctld's pod does not run yet");
    else if (!streq(slurm->applied.hash, v->config->hash))
        status_set(s, "ConfigApplied", STATUS_UNKNOWN, false, "Applying", "%s",
                   v->in->agent_trouble ? v->in->agent_trouble
                                        : "the configuration is on its way to slurmctld");
    else if (streq(slurm->applied.result, "refused"))
        tell_refusal(v, s);
    else if (own)
        status_set(s, "ConfigApplied", STATUS_FALSE, true, "Refused",
                   "%s: slurmctld refuses partition '%s' and took the rest: %s",
                   refusal_origin(v, own)->field, own->partition, own->error);
    else if (streq(slurm->applied.result, "pending") && !is_only_refusals(slurm))
        status_set(s, "ConfigApplied", STATUS_FALSE, false, "Pending", "%s",
                   slurm->applied.reason ? slurm->applied.reason
                                         : "slurmctld does not have it all yet");
    else if (slurm->down)
        status_set(s, "ConfigApplied", STATUS_UNKNOWN, false, "SlurmctldDown",
                   "the configuration is in place, but slurmctld does not answer");
    else
        status_set(s, "ConfigApplied", STATUS_TRUE, false, "Applied",
                   "slurmctld has the configuration%s", warning_text(s->to->arena, v));
}

static void judge_applied(const struct config_verdict *v, struct status_scribe *s)
{
    const struct api_problem *own = first_problem(v, "Controller ");

    if (!v->good)
        status_set(s, "ConfigApplied", STATUS_FALSE, true, "ConfigInvalid",
                   "the configuration was not changed: %s",
                   problem_text(s->to->arena, own ? own : first_problem(v, NULL)));
    else if (build_has_agent(v->in->cluster))
        judge_agent(v, s);
    else
        status_set(s, "ConfigApplied", STATUS_TRUE, false, "Written",
                   "the configuration is in ConfigMap %s",
                   labels_config(s->to->arena, v->in->cluster->controller->meta.name));
}

/* Say of a kind what was left out of a configuration that is good without it. */
static void judge_left_out(const struct config_verdict *v, struct status_scribe *s,
                           const char *kind, const char *condition, const char *reason)
{
    const struct api_problem *p = first_problem(v, kind);
    const struct slurm_refusal *refusal = v->in->slurm ? refusal_of(v, kind) : NULL;

    if (p)
        status_set(s, condition, STATUS_FALSE, true, reason, "left out of the configuration: %s",
                   problem_text(s->to->arena, p));
    else if (refusal)
        status_set(s, condition, STATUS_FALSE, true, "RefusedBySlurm",
                   "%s: slurmctld refuses partition '%s' and took the rest: %s",
                   refusal_origin(v, refusal)->object, refusal->partition, refusal->error);
    else
        (void)api_condition_drop(s->conditions, condition);
}

static void judge_drift(const struct config_verdict *v, struct status_scribe *s)
{
    const struct slurm_state *slurm = v->in->slurm;
    AUTO(buf_done) struct buf b = {0};

    if (!slurm || slurm->down) {
        status_unknown(s, "Drifted", "nothing is known of slurmctld");
        return;
    }
    if (slurm->n_drift == 0) {
        (void)api_condition_drop(s->conditions, "Drifted");
        return;
    }
    for (size_t i = 0; i < MIN(slurm->n_drift, (size_t)MAX_DRIFT_SHOWN); i++) {
        const struct slurm_drift *d = &slurm->drift[i];

        buf_printf(&b, "%spartition %s: %s is %s, declared %s", i ? "; " : "", d->partition,
                   d->field, d->live ? d->live : "not set", d->declared ? d->declared : "not set");
    }
    if (slurm->n_drift > MAX_DRIFT_SHOWN)
        buf_printf(&b, "; and %zu more", slurm->n_drift - MAX_DRIFT_SHOWN);
    status_set(s, "Drifted", STATUS_TRUE, true, "ChangedInSlurm", "%s", buf_str(&b));
}

static bool lacks_accounting(const struct config_verdict *v)
{
    const char *conf = build_config_file(v->config, "slurm.conf");

    return conf && strstr(conf, "\nAccountingStorageType=accounting_storage/none\n");
}

static void judge_accounting(const struct config_verdict *v, struct status_scribe *s)
{
    const struct controller *c = v->in->cluster->controller;

    if (c->spec.accounting_ref && !v->in->cluster->accounting)
        status_set(s, "AccountingFound", STATUS_FALSE, true, "AccountingNotFound",
                   "there is no Accounting %s in namespace %s; nothing of accounting is changed in "
                   "slurmctld before it is there",
                   c->spec.accounting_ref->name, api_namespace(&c->meta));
    else if (c->spec.accounting_ref && lacks_accounting(v))
        status_set(
            s, "AccountingFound", STATUS_FALSE, false, "AccountingAwaited",
            "slurmctld runs without accounting until Accounting %s has answered for the first "
            "time; its condition Ready says what it waits for",
            c->spec.accounting_ref->name);
    else
        (void)api_condition_drop(s->conditions, "AccountingFound");
}

void controller_judge_config(const struct config_verdict *v, struct status_scribe *s)
{
    judge_applied(v, s);
    judge_left_out(v, s, "NodeSet ", "NodeSetsAccepted", "NodeSetLeftOut");
    judge_left_out(v, s, "Partition ", "PartitionsAccepted", "PartitionLeftOut");
    judge_accounting(v, s);
    judge_drift(v, s);
}
