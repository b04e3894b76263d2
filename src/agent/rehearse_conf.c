/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The slurm.conf of a rehearsal: the candidate's, made harmless.
 *
 * Settings that would let the scratch slurmctld meet the real world are replaced: where it listens,
 * where it keeps its state, which ports it looks for slurmd on (one where none is), whom it
 * accounts to, and every program that it would run.  With auth/slurm it makes no socket for
 * commands: that would take the place of the real slurmctld's, and nobody could sign anything any
 * more.  Everything else, all nodes and partitions, stays: that is what it is about.
 */
#include <strings.h>

#include "src/agent/rehearse.h"

/* Only where there is a database, which cannot be reached from there. */
static const char *const accounting[] = {
    "AccountingStorageBackupHost",
    "AccountingStorageEnforce",
    "AccountingStorageHost",
    "AccountingStorageType",
};

static const char *const dropped[] = {
    "AuthInfo",
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

static bool is_among(const struct conf_line *line, const char *const *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(line->pairs[0].key, keys[i]) == 0)
            return true;
    return false;
}

/* Of partitions, likewise: who knows no QOS dies of one from 23.11 on. */
static const char *const from_database[] = {"AllowQos", "DenyQos", "QOS"};

static bool is_from_database(const char *key)
{
    for (size_t i = 0; i < ARRAY_LEN(from_database); i++)
        if (strcasecmp(key, from_database[i]) == 0)
            return true;
    return false;
}

static void partition_print_without_qos(const struct conf_line *line, struct buf *out)
{
    for (size_t i = 0; i < line->n; i++) {
        if (is_from_database(line->pairs[i].key))
            continue;
        buf_adds(out, i > 0 ? " " : "");
        conf_pair_print(line->pairs[i].key, line->pairs[i].value, out);
    }
}

static bool has_database(const struct candidate *c)
{
    const char *type = model_setting(candidate_model(c), "AccountingStorageType");

    return type && strcasecmp(type, "accounting_storage/none") != 0;
}

/* Future and external nodes are what they are; all others could be looked up, and contacted. */
static bool keeps_state(const char *state)
{
    return strncasecmp(state, "FUTURE", 6) == 0 || strncasecmp(state, "EXTERNAL", 8) == 0;
}

/*
 * Nodes become cloud nodes, whose names slurmctld does not look up (it would try for many seconds
 * where there is no network) and which it leaves alone.  For the same reason DownNodes lines are
 * left out: a node that is down is no cloud node any more.
 */
static void node_print(const struct conf_line *line, struct buf *out)
{
    const struct conf_pair *state = conf_line_get(line, "State");
    bool keep = state && keeps_state(state->value);

    for (size_t i = 0; i < line->n; i++) {
        const char *key = line->pairs[i].key;

        if (strcasecmp(key, "Port") == 0 || (strcasecmp(key, "State") == 0 && !keep))
            continue;
        buf_adds(out, i > 0 ? " " : "");
        conf_pair_print(key, line->pairs[i].value, out);
    }
    if (!keep && strcasecmp(line->pairs[0].value, "DEFAULT") != 0)
        buf_adds(out, " State=CLOUD");
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

static void auth_print(const struct candidate *c, struct buf *out)
{
    const char *type = model_setting(candidate_model(c), "AuthType");
    const char *info = model_setting(candidate_model(c), "AuthInfo");
    bool sack = type && strcasecmp(type, "auth/slurm") == 0;

    if (info || sack)
        buf_printf(out, "AuthInfo=%s%s%s\n", info ? info : "", info && info[0] && sack ? "," : "",
                   sack ? "disable_sack" : "");
}

void rehearse_conf(const struct candidate *c, const char *dir, const char *host, unsigned port,
                   const struct host_set *dynamic_nodes, struct buf *out)
{
    size_t n;
    const struct conf_line *lines = conf_lines(c->conf[CONF_SLURM], &n);
    bool database = has_database(c);

    for (size_t i = 0; i < n; i++) {
        if (lines[i].section == CONF_GLOBAL &&
            (is_among(&lines[i], dropped, ARRAY_LEN(dropped)) ||
             (database && is_among(&lines[i], accounting, ARRAY_LEN(accounting)))))
            continue;
        if (lines[i].section == CONF_DOWN)
            continue;
        if (lines[i].section == CONF_NODE)
            node_print(&lines[i], out);
        else if (lines[i].section == CONF_PARTITION && database)
            partition_print_without_qos(&lines[i], out);
        else
            conf_line_print(&lines[i], out);
        buf_addc(out, '\n');
    }
    dynamic_print(c, dynamic_nodes, out);
    auth_print(c, out);
    buf_printf(out, "SlurmctldHost=%s(127.0.0.1)\nSlurmctldPort=%u\nSlurmdPort=1\n", host, port);
    buf_printf(out, "StateSaveLocation=%s/state\nSlurmctldPidFile=%s/pid\n", dir, dir);
    buf_printf(out, "SlurmUser=%u\nSlurmctldDebug=info\n", (unsigned)geteuid());
    if (database)
        buf_adds(out, "AccountingStorageType=accounting_storage/none\n");
    buf_adds(out, "ResumeProgram=/bin/true\nSuspendProgram=/bin/true\n");
}
