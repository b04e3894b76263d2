/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Settings of the cluster that must be there or must fit together.
 *
 * Each rule is one that slurmctld itself enforces by refusing the file or by ending; the sentences
 * say what to write instead.  Rules about files, users and plugins on the machine are not here:
 * only the machine can tell.
 */
#include <ctype.h>
#include <strings.h>

#include "src/base/alloc.h"
#include "src/slurm/validate_impl.h"

static const struct model_value *setting(const struct checker *c, const char *key)
{
    for (size_t i = c->m->n_settings; i > 0; i--)
        if (strcasecmp(c->m->settings[i - 1].name, key) == 0)
            return &c->m->settings[i - 1];
    return NULL;
}

static const struct conf_line *line_of(const struct checker *c, const char *key)
{
    const struct model_value *v = setting(c, key);

    return v ? v->line : NULL;
}

/* Value as set, or its default, or "". */
static const char *value_of(const struct checker *c, const char *key)
{
    const char *value = model_setting(c->m, key);

    return value ? value : "";
}

static bool is(const struct checker *c, const char *key, const char *value)
{
    return strcasecmp(value_of(c, key), value) == 0;
}

/* True if a comma-separated value has an item, without regard to case. */
static bool has_item(const struct checker *c, const char *key, const char *item)
{
    struct str rest = str_of(value_of(c, key));
    struct str one;

    while (str_split(&rest, ',', &one))
        if (str_eq_nocase(str_trim(one), str_of(item)))
            return true;
    return false;
}

static uint64_t number_of(const struct checker *c, const char *key)
{
    const struct conf_key *k = keys_find(CONF_SLURM, CONF_GLOBAL, str_of(key));
    uint64_t n;

    if (!k || value_number(k->type, str_of(value_of(c, key)), &n) < 0)
        return VALUE_UNSET;
    return n;
}

/* Keys that stand more than once although only the last one counts. */
static void check_repeated(const struct checker *c)
{
    AUTO(map_done) struct map seen = {0};
    size_t n;
    const struct conf_line *lines = conf_lines(c->m->conf, &n);

    for (size_t i = 0; i < n; i++) {
        const struct conf_pair *pair = &lines[i].pairs[0];
        const struct conf_key *key = keys_find(CONF_SLURM, CONF_GLOBAL, str_of(pair->key));
        const struct conf_pair *before;

        if (lines[i].section != CONF_GLOBAL || !key || (key->flags & KEY_REPEATS) ||
            ((key->flags & KEY_REPEATS_2405) &&
             profile_has(c->ctx->release, PROFILE_PROLOG_REPEATS)))
            continue;
        before = map_get(&seen, str_of(key->name));
        if (before && !value_same(key->type, str_of(before->value), str_of(pair->value)))
            validate_fault(c, FAULT_WARNING, &lines[i], key->name,
                           "%s was set before to another value; this one counts", key->name);
        map_put(&seen, str_of(key->name), (void *)(uintptr_t)pair);
    }
}

static void check_controllers(const struct checker *c)
{
    AUTO(map_done) struct map seen = {0};
    size_t hosts = 0;

    for (size_t i = 0; i < c->m->n_settings; i++) {
        const struct model_value *v = &c->m->settings[i];
        struct str name = {v->value, str_find(str_of(v->value), '(')};

        if (strcasecmp(v->name, "SlurmctldHost") != 0)
            continue;
        hosts++;
        if (!map_put(&seen, name, (void *)(uintptr_t)v))
            validate_fault(c, FAULT_FATAL, v->line, "SlurmctldHost",
                           "SlurmctldHost " STR_FMT " stands twice", STR_ARG(name));
    }
    if (hosts == 0 && !setting(c, "ControlMachine"))
        validate_fault(c, FAULT_FATAL, NULL, "SlurmctldHost",
                       "SlurmctldHost is not set: no controller is named");
    if (!setting(c, "ClusterName"))
        validate_fault(c, FAULT_FATAL, NULL, "ClusterName", "ClusterName is not set");
    else if (value_of(c, "ClusterName")[0] == '\0')
        validate_fault(c, FAULT_FATAL, line_of(c, "ClusterName"), "ClusterName",
                       "ClusterName is empty");
}

static void check_preemption(const struct checker *c)
{
    uint64_t mode = number_of(c, "PreemptMode");
    const struct conf_line *line = line_of(c, "PreemptMode");
    uint64_t base =
        mode & ~(uint64_t)(VALUE_PREEMPT_GANG | VALUE_PREEMPT_WITHIN | VALUE_PREEMPT_PRIORITY);

    if (mode == VALUE_UNSET)
        return; /* bad, and reported as such */
    if (mode == VALUE_PREEMPT_SUSPEND)
        validate_fault(c, FAULT_FATAL, line, "PreemptMode",
                       "PreemptMode=SUSPEND needs GANG: write SUSPEND,GANG");
    if ((is(c, "PreemptType", "preempt/qos") || is(c, "PreemptType", "preempt/partition_prio")) &&
        base == 0)
        validate_fault(c, FAULT_FATAL, line_of(c, "PreemptType"), "PreemptType",
                       "PreemptType=%s needs a PreemptMode of CANCEL, REQUEUE or SUSPEND,GANG",
                       value_of(c, "PreemptType"));
    if (is(c, "PreemptType", "preempt/none") && base != 0)
        validate_fault(
            c, FAULT_FATAL, line, "PreemptMode",
            "PreemptMode=%s needs a PreemptType of preempt/qos or preempt/partition_prio",
            value_of(c, "PreemptMode"));
}

static void check_select(const struct checker *c)
{
    const char *select = setting(c, "SelectType") ? value_of(c, "SelectType")
                         : profile_has(c->ctx->release, PROFILE_RECONFIGURE_REFUSES)
                             ? "select/cons_tres"
                             : "select/linear";
    unsigned units = 0;
    struct str rest = str_of(value_of(c, "SelectTypeParameters"));
    struct str item;

    if (setting(c, "MaxNodeCount") && !strstr(select, "cons_tres"))
        validate_fault(c, FAULT_FATAL, line_of(c, "MaxNodeCount"), "MaxNodeCount",
                       "MaxNodeCount needs SelectType=select/cons_tres, and here it is %s", select);
    while (str_split(&rest, ',', &item))
        units +=
            str_eq_nocase(item, STR("CR_CPU")) || str_eq_nocase(item, STR("CR_CPU_Memory")) ||
            str_eq_nocase(item, STR("CR_Core")) || str_eq_nocase(item, STR("CR_Core_Memory")) ||
            str_eq_nocase(item, STR("CR_Socket")) || str_eq_nocase(item, STR("CR_Socket_Memory")) ||
            str_eq_nocase(item, STR("CR_Memory"));
    if (units > 1)
        validate_fault(c, FAULT_FATAL, line_of(c, "SelectTypeParameters"), "SelectTypeParameters",
                       "SelectTypeParameters=%s has more than one unit of allocation",
                       value_of(c, "SelectTypeParameters"));
    if (has_item(c, "SelectTypeParameters", "CR_ONE_TASK_PER_CORE") &&
        (has_item(c, "SelectTypeParameters", "CR_CPU") ||
         has_item(c, "SelectTypeParameters", "CR_CPU_Memory")))
        validate_fault(c, FAULT_FATAL, line_of(c, "SelectTypeParameters"), "SelectTypeParameters",
                       "CR_ONE_TASK_PER_CORE does not go with CR_CPU; use CR_Core");
    if (c->ctx->release >= SERIES(25, 5) && strcasecmp(select, "select/linear") == 0 &&
        is(c, "TopologyPlugin", "topology/tree"))
        validate_fault(c, FAULT_FATAL, line_of(c, "TopologyPlugin"), "TopologyPlugin",
                       "topology/tree does not go with select/linear; use select/cons_tres");
}

static void check_prolog_flags(const struct checker *c)
{
    bool contain = has_item(c, "PrologFlags", "Contain") || has_item(c, "PrologFlags", "X11") ||
                   (c->ctx->release >= SERIES(24, 5) && has_item(c, "PrologFlags", "RunInJob"));
    const struct conf_line *line = line_of(c, "PrologFlags");

    if (has_item(c, "PrologFlags", "NoHold") && contain)
        validate_fault(c, FAULT_FATAL, line, "PrologFlags",
                       "PrologFlags: NoHold does not go with Contain or X11");
    if (has_item(c, "PrologFlags", "X11") && is(c, "ProctrackType", "proctrack/linuxproc"))
        validate_fault(c, FAULT_FATAL, line, "PrologFlags",
                       "PrologFlags=X11 does not go with proctrack/linuxproc");
    if (!contain && is(c, "JobContainerType", "job_container/tmpfs"))
        validate_fault(c, FAULT_FATAL, line_of(c, "JobContainerType"), "JobContainerType",
                       "job_container/tmpfs needs PrologFlags=Contain");
    if (!contain &&
        (is(c, "NamespaceType", "namespace/tmpfs") || is(c, "NamespaceType", "namespace/linux")))
        validate_fault(c, FAULT_FATAL, line_of(c, "NamespaceType"), "NamespaceType",
                       "%s needs PrologFlags=Contain", value_of(c, "NamespaceType"));
    if (!contain && profile_has(c->ctx->release, PROFILE_STEPMGR) &&
        has_item(c, "SlurmctldParameters", "enable_stepmgr"))
        validate_fault(c, FAULT_FATAL, line_of(c, "SlurmctldParameters"), "SlurmctldParameters",
                       "SlurmctldParameters=enable_stepmgr needs PrologFlags=Contain");
}

static void check_jobs(const struct checker *c)
{
    uint64_t first = number_of(c, "FirstJobId");
    uint64_t last = number_of(c, "MaxJobId");

    if (first == 0)
        validate_fault(c, FAULT_FATAL, line_of(c, "FirstJobId"), "FirstJobId",
                       "FirstJobId cannot be 0");
    if (first != VALUE_UNSET && last != VALUE_UNSET && first > last)
        validate_fault(c, FAULT_FATAL, line_of(c, "FirstJobId"), "FirstJobId",
                       "FirstJobId is above MaxJobId");
    if (number_of(c, "MaxJobCount") == 0)
        validate_fault(c, FAULT_FATAL, line_of(c, "MaxJobCount"), "MaxJobCount",
                       "MaxJobCount=0 permits no job");
    if (number_of(c, "MaxStepCount") == 0)
        validate_fault(c, FAULT_FATAL, line_of(c, "MaxStepCount"), "MaxStepCount",
                       "MaxStepCount=0 permits no step");
    if (setting(c, "MaxDBDMsgs") && number_of(c, "MaxDBDMsgs") < 10000)
        validate_fault(c, FAULT_FATAL, line_of(c, "MaxDBDMsgs"), "MaxDBDMsgs",
                       "MaxDBDMsgs must be at least 10000");
    if (number_of(c, "PriorityDecayHalfLife") == 0 && !setting(c, "PriorityUsageResetPeriod"))
        validate_fault(c, FAULT_FATAL, line_of(c, "PriorityDecayHalfLife"), "PriorityDecayHalfLife",
                       "PriorityDecayHalfLife=0 needs a PriorityUsageResetPeriod");
    if (number_of(c, "PriorityCalcPeriod") == 0)
        validate_fault(c, FAULT_FATAL, line_of(c, "PriorityCalcPeriod"), "PriorityCalcPeriod",
                       "PriorityCalcPeriod must be at least one minute");
    if (setting(c, "SlurmSchedLogLevel") && number_of(c, "SlurmSchedLogLevel") > 0 &&
        !setting(c, "SlurmSchedLogFile"))
        validate_fault(c, FAULT_FATAL, line_of(c, "SlurmSchedLogLevel"), "SlurmSchedLogLevel",
                       "SlurmSchedLogLevel needs a SlurmSchedLogFile");
}

static void check_plugins(const struct checker *c)
{
    if (strstr(value_of(c, "AccountingStorageType"), "mysql"))
        validate_fault(c, FAULT_FATAL, line_of(c, "AccountingStorageType"), "AccountingStorageType",
                       "accounting_storage/mysql is for slurmdbd alone; use "
                       "accounting_storage/slurmdbd");
    if (setting(c, "MCSParameters") && !setting(c, "MCSPlugin"))
        validate_fault(c, FAULT_FATAL, line_of(c, "MCSParameters"), "MCSParameters",
                       "MCSParameters needs an MCSPlugin");
    if (is(c, "MCSPlugin", "mcs/group") && !setting(c, "MCSParameters"))
        validate_fault(c, FAULT_FATAL, line_of(c, "MCSPlugin"), "MCSPlugin",
                       "mcs/group needs MCSParameters");
    if (has_item(c, "JobAcctGatherParams", "UsePss") &&
        has_item(c, "JobAcctGatherParams", "NoShared"))
        validate_fault(c, FAULT_FATAL, line_of(c, "JobAcctGatherParams"), "JobAcctGatherParams",
                       "JobAcctGatherParams: UsePss does not go with NoShared");
    if (has_item(c, "LaunchParameters", "enable_nss_slurm") &&
        has_item(c, "LaunchParameters", "disable_send_gids"))
        validate_fault(c, FAULT_FATAL, line_of(c, "LaunchParameters"), "LaunchParameters",
                       "LaunchParameters: enable_nss_slurm does not go with disable_send_gids");
    if (has_item(c, "CommunicationParameters", "DisableIPv4") &&
        !has_item(c, "CommunicationParameters", "EnableIPv6"))
        validate_fault(c, FAULT_FATAL, line_of(c, "CommunicationParameters"),
                       "CommunicationParameters",
                       "CommunicationParameters: DisableIPv4 without EnableIPv6 leaves no network");
    if (has_item(c, "ReconfigFlags", "KeepPartInfo"))
        validate_fault(c, FAULT_WARNING, line_of(c, "ReconfigFlags"), "ReconfigFlags",
                       "with ReconfigFlags=KeepPartInfo changes of partitions in this file have no "
                       "effect");
}

/* True if a comma-separated list has the item, without regard to case. */
static bool in_list(const char *list, struct str item)
{
    struct str rest = str_of(list);
    struct str one;

    while (str_split(&rest, ',', &one))
        if (str_eq_nocase(one, item))
            return true;
    return false;
}

/* Resources to account for; without slurmdbd only those that every Slurm has a number for. */
static void check_resources(const struct checker *c)
{
    static const char fixed[] = "cpu,mem,energy,node,billing,fs/disk,vmem,pages";
    static const char named[] = "bb,fs,gres,ic,license";
    const struct conf_line *line = line_of(c, "AccountingStorageTRES");
    bool database = strstr(value_of(c, "AccountingStorageType"), "slurmdbd");
    struct str rest = str_of(value_of(c, "AccountingStorageTRES"));
    struct str item;

    while (str_split(&rest, ',', &item)) {
        struct str type;

        item = str_trim(item);
        type = (struct str){item.p, str_find(item, '/')};
        if (item.n == 0 || in_list(fixed, item))
            continue;
        if (!in_list(named, type))
            validate_fault(c, FAULT_FATAL, line, "AccountingStorageTRES",
                           "AccountingStorageTRES: " STR_FMT " is no resource that Slurm knows",
                           STR_ARG(item));
        else if (type.n + 1 >= item.n)
            validate_fault(c, FAULT_FATAL, line, "AccountingStorageTRES",
                           "AccountingStorageTRES: " STR_FMT " needs a name, as in gres/gpu",
                           STR_ARG(item));
        else if (!database)
            validate_fault(c, FAULT_FATAL, line, "AccountingStorageTRES",
                           "AccountingStorageTRES: " STR_FMT
                           " needs AccountingStorageType=accounting_storage/slurmdbd",
                           STR_ARG(item));
    }
}

/* "matlab:10,ansys": a name, and a number after ':' ('*' in older files). */
static void check_licenses(const struct checker *c)
{
    const struct model_value *v = setting(c, "Licenses");
    struct str rest = str_of(v ? v->value : NULL);
    struct str item;

    while (v && str_split(&rest, ',', &item)) {
        size_t colon = str_find(item, ':');
        uint64_t n;

        if (colon < item.n &&
            str_to_u64((struct str){item.p + colon + 1, item.n - colon - 1}, &n) < 0)
            validate_fault(c, FAULT_FATAL, v->line, "Licenses",
                           "Licenses: '" STR_FMT "' is not a name, or a name, ':' and a number",
                           STR_ARG(item));
    }
}

static void check_network(const struct checker *c)
{
    if (number_of(c, "KeepAliveTime") == 0)
        validate_fault(c, FAULT_FATAL, line_of(c, "KeepAliveTime"), "KeepAliveTime",
                       "KeepAliveTime=0 has slurmctld reset connections before its answer was "
                       "read; remove the line for the system's own time");
}

/* Files of slurmctld's own: without a '/' in front they lie where it happens to be started. */
static void check_own_files(const struct checker *c)
{
    static const char *const keys[] = {"SlurmSchedLogFile", "SlurmctldLogFile", "SlurmctldPidFile",
                                       "StateSaveLocation"};

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        const struct model_value *v = setting(c, keys[i]);

        if (v && v->value[0] != '/')
            validate_fault(c, FAULT_FATAL, v->line, keys[i], "%s: '%.200s' is not a full path",
                           keys[i], v->value);
    }
}

static void check_paths(const struct checker *c)
{
    const struct model_value *v = setting(c, "BcastExclude");
    struct str rest;
    struct str item;

    if (!v || strcasecmp(v->value, "none") == 0)
        return;
    rest = str_of(v->value);
    while (str_split(&rest, ',', &item))
        if (item.n > 0 && item.p[0] != '/')
            validate_fault(c, FAULT_FATAL, v->line, "BcastExclude",
                           "BcastExclude: '" STR_FMT "' is not a full path", STR_ARG(item));
}

void check_cluster(const struct checker *c)
{
    check_repeated(c);
    check_controllers(c);
    check_preemption(c);
    check_select(c);
    check_prolog_flags(c);
    check_jobs(c);
    check_plugins(c);
    check_resources(c);
    check_licenses(c);
    check_own_files(c);
    check_paths(c);
    check_network(c);
}
