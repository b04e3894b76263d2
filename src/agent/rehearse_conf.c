/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The slurm.conf of a rehearsal: the candidate's, made harmless.
 *
 * Settings that would let the scratch slurmctld meet the real world are replaced: where it listens,
 * where it keeps its state, which ports it looks for slurmd on (one where none is), whom it accounts
 * to, and every program that it would run.  Everything else, all nodes and partitions, stays: that is
 * what it is about.
 */
#include <strings.h>

#include "src/agent/rehearse.h"

static const char *const dropped[] = {
    "AccountingStorageBackupHost",
    "AccountingStorageEnforce",
    "AccountingStorageHost",
    "AccountingStorageType",
    "BackupAddr",
    "BackupController",
    "ControlAddr",
    "ControlMachine",
    "EpilogSlurmctld",
    "JobCompType",
    "PrologSlurmctld",
    "ResumeFailProgram",
    "ResumeProgram",
    "SlurmSchedLogFile",
    "SlurmUser",
    "SlurmctldDebug",
    "SlurmctldHost",
    "SlurmctldLogFile",
    "SlurmctldPidFile",
    "SlurmctldPort",
    "SlurmctldPrimaryOffProg",
    "SlurmctldPrimaryOnProg",
    "SlurmctldSyslogDebug",
    "SlurmdPort",
    "StateSaveLocation",
    "SuspendProgram",
};

static bool is_dropped(const struct conf_line *line)
{
    for (size_t i = 0; i < ARRAY_LEN(dropped); i++)
        if (strcasecmp(line->pairs[0].key, dropped[i]) == 0)
            return true;
    return false;
}

/* Without the port of a node's slurmd: SlurmdPort holds for all of them then. */
static void node_print(const struct conf_line *line, struct buf *out)
{
    for (size_t i = 0; i < line->n; i++) {
        if (strcasecmp(line->pairs[i].key, "Port") == 0)
            continue;
        buf_adds(out, i > 0 ? " " : "");
        conf_pair_print(line->pairs[i].key, line->pairs[i].value, out);
    }
}

static void dynamic_print(const struct candidate *c, const struct host_set *dynamic,
                          struct buf *out)
{
    AUTO(hostset_free) struct host_set *known = model_nodes(candidate_model(c));
    AUTO(hostset_free) struct host_set *rest = NULL;

    if (!dynamic)
        return;
    rest = hostset_minus(dynamic, known);
    if (hostset_count(rest) == 0)
        return;
    buf_adds(out, "NodeName=");
    hostset_print(rest, out);
    buf_adds(out, " State=CLOUD\n");
}

void rehearse_conf(const struct candidate *c, const char *dir, const char *host, unsigned port,
                   const struct host_set *dynamic_nodes, struct buf *out)
{
    size_t n;
    const struct conf_line *lines = conf_lines(c->conf[CONF_SLURM], &n);

    for (size_t i = 0; i < n; i++) {
        if (lines[i].section == CONF_GLOBAL && is_dropped(&lines[i]))
            continue;
        if (lines[i].section == CONF_NODE)
            node_print(&lines[i], out);
        else
            conf_line_print(&lines[i], out);
        buf_addc(out, '\n');
    }
    dynamic_print(c, dynamic_nodes, out);
    buf_printf(out, "SlurmctldHost=%s(127.0.0.1)\nSlurmctldPort=%u\nSlurmdPort=1\n", host, port);
    buf_printf(out, "StateSaveLocation=%s/state\nSlurmctldPidFile=%s/pid\n", dir, dir);
    buf_printf(out, "SlurmUser=%u\nSlurmctldDebug=info\n", (unsigned)geteuid());
    buf_adds(out, "AccountingStorageType=accounting_storage/none\n");
    if (model_setting(candidate_model(c), "ResumeProgram"))
        buf_adds(out, "ResumeProgram=/bin/true\n");
    if (model_setting(candidate_model(c), "SuspendProgram"))
        buf_adds(out, "SuspendProgram=/bin/true\n");
}
