/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What users may not say in slurm.conf, though Slurm would take it: in extraConf, or in a file that
 * it includes.
 *
 *   Settings that are the operator's (src/api/controller_owned.c): the cluster would fall apart.
 *
 *   Node sets of a NodeSet's name: Slurm heeds one of the two.
 *
 *   Programs below /etc/slurm that no ConfigMap brings.  A prolog that is not there fails every
 *   job, and Slurm drains the nodes for it; in the pods nobody else puts files there.
 */
#include <strings.h>

#include "src/build/config_impl.h"

/* What runs a program: slurmctld, in whose pod are the ConfigMaps, or slurmd. */
static const struct {
    const char *key;
    bool on_nodes;
} programs[] = {
    {"Epilog", true},         {"EpilogSlurmctld", false}, {"HealthCheckProgram", true},
    {"Prolog", true},         {"PrologSlurmctld", false}, {"ResumeFailProgram", false},
    {"ResumeProgram", false}, {"SuspendProgram", false},  {"TaskEpilog", true},
    {"TaskProlog", true},
};

static void check_program(struct config_work *w, const struct conf_line *line, bool on_nodes,
                          struct faults *faults)
{
    const struct conf_pair *pair = &line->pairs[0];
    const char *name = pair->value + strlen(SLURM_ETC "/");

    if (!starts_with(pair->value, SLURM_ETC "/") || strpbrk(pair->value, "*?["))
        return;
    if (on_nodes)
        faults_add(faults, FAULT_FATAL, line->file, line->line, pair->key,
                   "%s=%s: nodes have no files there; name its ConfigMap in prologScriptRefs or "
                   "epilogScriptRefs, or mount it elsewhere by the NodeSet",
                   pair->key, pair->value);
    else if (!user_files_find(&w->files, name))
        faults_add(faults, FAULT_FATAL, line->file, line->line, pair->key,
                   "%s=%s: no ConfigMap of configFileRefs or script refs has a key '%s'", pair->key,
                   pair->value, name);
}

static void check_node_set(struct config_work *w, const struct conf_line *line,
                           struct faults *faults)
{
    const char *name = line->pairs[0].value;
    const struct nodeset *ns = map_get(&w->nodesets, str_of(name));

    if (ns)
        faults_add(faults, FAULT_FATAL, line->file, line->line, "NodeSet",
                   "node set %s is that of NodeSet %s; remove the line or choose another name",
                   name, ns->meta.name);
}

static void check_setting(struct config_work *w, const struct conf_line *line,
                          struct faults *faults)
{
    const struct conf_pair *pair = &line->pairs[0];
    const char *why = controller_owned(w->a, pair->key, pair->value);

    /* where a release has munge alone, the check of values says so */
    if (!why && strcasecmp(pair->key, "AuthType") == 0 && build_has(w->c, PROFILE_AUTH_SLURM) &&
        (strcasecmp(pair->value, "auth/munge") == 0) != build_uses_munge(w->c))
        why = "AuthType decides which keys pods have: say it in spec.extraConf itself";
    if (why)
        faults_add(faults, FAULT_FATAL, line->file, line->line, pair->key, "%s", why);
    for (size_t i = 0; i < ARRAY_LEN(programs); i++)
        if (strcasecmp(pair->key, programs[i].key) == 0)
            check_program(w, line, programs[i].on_nodes, faults);
}

bool config_is_users_line(const struct conf_text *t, const struct conf_line *line)
{
    const struct conf_origin *o;

    if (!streq(line->file, "slurm.conf"))
        return true; /* included */
    o = conf_text_find(t, line->line);
    return o && o->counted;
}

void config_check_user_lines(struct config_work *w, const struct conf_text *t,
                             const struct conf *conf, struct faults *faults)
{
    size_t n;
    const struct conf_line *lines = conf_lines(conf, &n);

    for (size_t i = 0; i < n; i++) {
        if (!config_is_users_line(t, &lines[i]))
            continue;
        if (lines[i].section == CONF_GLOBAL)
            check_setting(w, &lines[i], faults);
        else if (lines[i].section == CONF_NODESET)
            check_node_set(w, &lines[i], faults);
    }
}
