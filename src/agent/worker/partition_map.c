/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Partition keys and the RPC's fields.
 *
 * Words, units and defaults are src/slurm's: a value becomes a number or text there, and a number
 * becomes a word again.  Here stands only where that goes: one row for each key whose field holds
 * the number or text as it is, and functions for those that share a field (memory, GPU defaults),
 * have two (Priority) or are bits.
 *
 * The RPC takes NO_VAL for "leave it as it is" in each width, which is what
 * slurm_init_part_desc_msg puts everywhere; in flags every key has one bit to set and one to clear.
 */
#include "src/agent/worker/partition_map.h"

#include <ctype.h>
#include <strings.h>

#include "src/agent/worker/release.h"
#include "src/base/alloc.h"

enum field_kind { FIELD_TEXT, FIELD_U16, FIELD_U32 };

struct field {
    const char *key;
    enum field_kind kind;
    size_t at;    /* in partition_info_t */
    size_t model; /* in struct partition */
};

#define ROW(key, kind, member, model)                                                              \
    {key, kind, offsetof(partition_info_t, member), offsetof(struct partition, model)}

static const struct field fields[] = {
    ROW("AllocNodes", FIELD_TEXT, allow_alloc_nodes, alloc_nodes),
    ROW("AllowAccounts", FIELD_TEXT, allow_accounts, allow_accounts),
    ROW("AllowGroups", FIELD_TEXT, allow_groups, allow_groups),
    ROW("AllowQos", FIELD_TEXT, allow_qos, allow_qos),
    ROW("Alternate", FIELD_TEXT, alternate, alternate),
    ROW("DefaultTime", FIELD_U32, default_time, default_time),
    ROW("DenyAccounts", FIELD_TEXT, deny_accounts, deny_accounts),
    ROW("DenyQos", FIELD_TEXT, deny_qos, deny_qos),
    ROW("GraceTime", FIELD_U32, grace_time, grace_time),
    ROW("MaxCPUsPerNode", FIELD_U32, max_cpus_per_node, max_cpus_per_node),
    ROW("MaxNodes", FIELD_U32, max_nodes, max_nodes),
    ROW("MaxTime", FIELD_U32, max_time, max_time),
    ROW("MinNodes", FIELD_U32, min_nodes, min_nodes),
    ROW("Nodes", FIELD_TEXT, nodes, nodes),
    ROW("OverSubscribe", FIELD_U16, max_share, oversubscribe),
    ROW("OverTimeLimit", FIELD_U16, over_time_limit, over_time_limit),
    ROW("PreemptMode", FIELD_U16, preempt_mode, preempt_mode),
    ROW("PriorityJobFactor", FIELD_U16, priority_job_factor, priority_job_factor),
    ROW("PriorityTier", FIELD_U16, priority_tier, priority_tier),
    ROW("QOS", FIELD_TEXT, qos_char, qos),
    ROW("TRESBillingWeights", FIELD_TEXT, billing_weights_str, billing_weights),
};

/* Fields that can be read and not be set by RPC. */
static const struct field read_only[] = {
    ROW("ResumeTimeout", FIELD_U16, resume_timeout, resume_timeout),
    ROW("SuspendTime", FIELD_U32, suspend_time, suspend_time),
    ROW("SuspendTimeout", FIELD_U16, suspend_timeout, suspend_timeout),
};

static const struct flag {
    const char *key;
    uint32_t set;
    uint32_t clear;
    size_t model;
} flags[] = {
#define FLAG(key, set, clear, model) {key, set, clear, offsetof(struct partition, model)}
    FLAG("Default", PART_FLAG_DEFAULT, PART_FLAG_DEFAULT_CLR, is_default),
    FLAG("DisableRootJobs", PART_FLAG_NO_ROOT, PART_FLAG_NO_ROOT_CLR, disable_root_jobs),
    FLAG("ExclusiveTopo", RELEASE_PART_EXC_TOPO, RELEASE_PART_EXC_TOPO_CLR, exclusive_topo),
    FLAG("ExclusiveUser", PART_FLAG_EXCLUSIVE_USER, PART_FLAG_EXC_USER_CLR, exclusive_user),
    FLAG("Hidden", PART_FLAG_HIDDEN, PART_FLAG_HIDDEN_CLR, hidden),
    FLAG("LLN", PART_FLAG_LLN, PART_FLAG_LLN_CLR, lln),
    FLAG("PowerDownOnIdle", RELEASE_PART_PDOI, RELEASE_PART_PDOI_CLR, power_down_on_idle),
    FLAG("ReqResv", PART_FLAG_REQ_RESV, PART_FLAG_REQ_RESV_CLR, req_resv),
    FLAG("RootOnly", PART_FLAG_ROOT_ONLY, PART_FLAG_ROOT_ONLY_CLR, root_only),
};

/* In the order of enum part_state. */
static const uint16_t states[] = {PARTITION_UP, PARTITION_DOWN, PARTITION_DRAIN,
                                  PARTITION_INACTIVE};

static const struct {
    const char *word;
    uint32_t bits;
} cpu_binds[] = {
    {"none", CPU_BIND_NONE},     {"socket", CPU_BIND_TO_SOCKETS}, {"ldom", CPU_BIND_TO_LDOMS},
    {"core", CPU_BIND_TO_CORES}, {"thread", CPU_BIND_TO_THREADS}, {"off", CPU_BIND_OFF},
};

/* Reading. */

static uint64_t wide16(uint16_t v)
{
    return v == INFINITE16 ? VALUE_INFINITE : v == NO_VAL16 ? VALUE_UNSET : v;
}

static uint64_t wide32(uint32_t v)
{
    return v == INFINITE ? VALUE_INFINITE : v == NO_VAL ? VALUE_UNSET : v;
}

static void field_read(const struct field *f, const partition_info_t *info, struct partition *p)
{
    const char *from = (const char *)info + f->at;
    char *to = (char *)p + f->model;

    if (f->kind == FIELD_TEXT) {
        const char *text = *(char *const *)(const void *)from;
        const struct conf_key *key = keys_find(CONF_SLURM, CONF_PARTITION, str_of(f->key));

        if (text && text[0] && !(key->dflt && strcasecmp(text, key->dflt) == 0))
            *(char **)(void *)to = xstrdup(text);
    } else if (f->kind == FIELD_U16) {
        *(uint64_t *)(void *)to = wide16(*(const uint16_t *)(const void *)from);
    } else {
        *(uint64_t *)(void *)to = wide32(*(const uint32_t *)(const void *)from);
    }
}

static void memory_read(uint64_t value, uint64_t *ret_per_cpu, uint64_t *ret_per_node)
{
    *ret_per_cpu = *ret_per_node = VALUE_UNSET;
    if (value == 0 || value == NO_VAL64 || value == INFINITE64)
        return;
    *(value & MEM_PER_CPU ? ret_per_cpu : ret_per_node) = value & ~MEM_PER_CPU;
}

static void select_read(uint16_t cr_type, struct partition *p)
{
    const char *memory = cr_type & RELEASE_CR_MEMORY ? "_Memory" : "";

    if (cr_type & RELEASE_CR_SOCKET)
        p->select_parameters = xasprintf("CR_Socket%s", memory);
    else if (cr_type & RELEASE_CR_CORE)
        p->select_parameters = xasprintf("CR_Core%s", memory);
}

static void special_read(const partition_info_t *info, struct partition *p)
{
    const char *topology = release_part_topology(info);
    uint64_t cpu;
    uint64_t mem;

    for (unsigned i = 0; i < ARRAY_LEN(states); i++)
        if (info->state_up == states[i])
            p->state = i;
    for (size_t i = 0; i < ARRAY_LEN(cpu_binds); i++)
        if ((info->cpu_bind & cpu_binds[i].bits) && cpu_binds[i].bits != CPU_BIND_OFF) {
            free(p->cpu_bind);
            p->cpu_bind = xstrdup(cpu_binds[i].word);
        }
    memory_read(info->def_mem_per_cpu, &p->def_mem_per_cpu, &p->def_mem_per_node);
    memory_read(info->max_mem_per_cpu, &p->max_mem_per_cpu, &p->max_mem_per_node);
    release_part_job_defaults(info, &cpu, &mem);
    p->def_cpu_per_gpu = cpu == NO_VAL64 ? VALUE_UNSET : cpu;
    p->def_mem_per_gpu = mem == NO_VAL64 ? VALUE_UNSET : mem;
    p->max_cpus_per_socket = wide32(release_part_max_cpus_per_socket(info));
    if (topology && topology[0])
        p->topology = xstrdup(topology);
    if (info->nodesets && info->nodesets[0])
        p->nodesets = xstrdup(info->nodesets);
    select_read(info->cr_type, p);
}

void partmap_read(const partition_info_t *info, struct partition *ret)
{
    partition_init(ret);
    ret->name = xstrdup_null(info->name);
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        field_read(&fields[i], info, ret);
    for (size_t i = 0; i < ARRAY_LEN(read_only); i++)
        field_read(&read_only[i], info, ret);
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        *(uint64_t *)(void *)((char *)ret + flags[i].model) = (info->flags & flags[i].set) != 0;
    special_read(info, ret);
}

struct jsn *partmap_config(struct arena *a, const partition_info_t *info)
{
    AUTO(partition_done) struct partition p = {0};
    AUTO(buf_done) struct buf value = {0};
    struct jsn *config = jsn_object(a);
    const struct conf_key *keys;
    size_t n;

    partmap_read(info, &p);
    keys = keys_of(CONF_SLURM, CONF_PARTITION, &n);
    for (size_t i = 0; i < n; i++) {
        if (!keys_in_release(&keys[i], release_built_for()))
            continue;
        buf_clear(&value);
        partition_value(&p, &keys[i], &value);
        if (value.n > 0)
            jsn_set_str(a, config, keys[i].name, buf_str(&value));
    }
    return config;
}

/* Writing. */

/* A value of a key: its number, or VALUE_UNSET where "" means that nothing is set. */
static int value_read(const struct conf_key *key, const char *text, uint64_t *ret, struct err *e)
{
    struct err why = {0};

    if (!text[0])
        text = key->dflt ? key->dflt : "";
    if (!text[0]) {
        *ret = VALUE_UNSET;
        return 0;
    }
    if (value_check(key->type, release_built_for(), str_of(text), &why) == -EINVAL)
        return err_bad(e, "%s: '%s' %s", key->name, text, why.text);
    if (value_number(key->type, str_of(text), ret) < 0)
        return err_bad(e, "%s: '%s' cannot be read", key->name, text);
    return 0;
}

static int narrow(const struct conf_key *key, uint64_t v, uint64_t max, uint64_t *ret,
                  struct err *e)
{
    if (v == VALUE_UNSET)
        return err_bad(e, "%s: slurmctld cannot take it back while it runs: it needs a reconfigure",
                       key->name);
    if (v != VALUE_INFINITE && v > max - 2)
        return err_bad(e, "%s: %llu is too large, at most %llu", key->name, (unsigned long long)v,
                       (unsigned long long)(max - 2));
    *ret = v == VALUE_INFINITE ? max : v;
    return 0;
}

/* slurmctld's file parser takes accounts and QOS in lower case, its RPC takes them as they are. */
static char *text_normal(struct arena *a, const struct conf_key *key, const char *text)
{
    char *copy = arena_strdup(a, text);

    if (key->type.kind == VALUE_NAMES && strcasecmp(text, "ALL") != 0)
        for (char *p = copy; *p; p++)
            *p = (char)tolower((unsigned char)*p);
    return copy;
}

static int field_write(struct arena *a, const struct field *f, const struct conf_key *key,
                       const char *text, update_part_msg_t *m, struct err *e)
{
    char *to = (char *)m + f->at;
    uint64_t v;
    int r;

    if (f->kind == FIELD_TEXT) {
        struct err why = {0};

        if (text[0] && value_check(key->type, release_built_for(), str_of(text), &why) == -EINVAL)
            return err_bad(e, "%s: '%s' %s", key->name, text, why.text);
        *(char **)(void *)to = text_normal(a, key, text);
        return 0;
    }
    r = value_read(key, text, &v, e);
    if (r == 0)
        r = narrow(key, v, f->kind == FIELD_U16 ? INFINITE16 : INFINITE, &v, e);
    if (r < 0)
        return r;
    if (f->kind == FIELD_U16)
        *(uint16_t *)(void *)to = (uint16_t)v;
    else
        *(uint32_t *)(void *)to = (uint32_t)v;
    return 0;
}

static int not_in_release(const struct conf_key *key, struct err *e)
{
    char release[RELEASE_TEXT_LEN];

    release_text(release_built_for(), release);
    return err_bad(e, "%s: Slurm %s does not have it", key->name, release);
}

static int flag_write(const struct flag *f, const struct conf_key *key, const char *text,
                      update_part_msg_t *m, struct err *e)
{
    uint64_t v;
    int r = value_read(key, text, &v, e);

    if (r < 0)
        return r;
    if (v == VALUE_UNSET)
        v = 0;
    return release_part_add_flags(m, v ? f->set : f->clear) ? 0 : not_in_release(key, e);
}

static int state_write(struct arena *a, const struct conf_key *key, const char *text,
                       update_part_msg_t *m, struct err *e)
{
    uint64_t v;
    int r = value_read(key, text, &v, e);

    (void)a;
    if (r == 0)
        m->state_up = states[v];
    return r;
}

static int cpu_bind_write(struct arena *a, const struct conf_key *key, const char *text,
                          update_part_msg_t *m, struct err *e)
{
    AUTO(buf_done) struct buf word = {0};

    (void)a;
    value_normal(key->type, str_of(text[0] ? text : "off"), &word);
    for (size_t i = 0; i < ARRAY_LEN(cpu_binds); i++)
        if (strcasecmp(buf_str(&word), cpu_binds[i].word) == 0) {
            m->cpu_bind = cpu_binds[i].bits;
            return 0;
        }
    return err_bad(e, "%s: '%s' is not none, socket, ldom, core, thread or off", key->name, text);
}

static int priority_write(struct arena *a, const struct conf_key *key, const char *text,
                          update_part_msg_t *m, struct err *e)
{
    uint64_t v;
    int r = value_read(key, text[0] ? text : "1", &v, e);

    (void)a;
    if (r == 0)
        r = narrow(key, v, INFINITE16, &v, e);
    if (r == 0)
        m->priority_tier = m->priority_job_factor = (uint16_t)v;
    return r;
}

static int shared_write(struct arena *a, const struct conf_key *key, const char *text,
                        update_part_msg_t *m, struct err *e)
{
    uint64_t v;
    int r = value_read(key, text[0] ? text : "NO", &v, e);

    (void)a;
    if (r == 0)
        m->max_share = (uint16_t)v;
    return r;
}

/* Exclusive of 26.05: what scontrol makes of it. */
static int exclusive_write(struct arena *a, const struct conf_key *key, const char *text,
                           update_part_msg_t *m, struct err *e)
{
    enum { NO, NODE, USER, TOPO };
    uint64_t v;
    int r = value_read(key, text[0] ? text : "NO", &v, e);
    uint32_t bits;

    (void)a;
    if (r < 0)
        return r;
    bits = v == USER ? PART_FLAG_EXCLUSIVE_USER : PART_FLAG_EXC_USER_CLR;
    bits |= v == TOPO ? RELEASE_PART_EXC_TOPO : RELEASE_PART_EXC_TOPO_CLR;
    if (!release_part_add_flags(m, bits))
        return not_in_release(key, e);
    if (v == NODE || v == TOPO)
        m->max_share = 0;
    return 0;
}

static int sockets_write(struct arena *a, const struct conf_key *key, const char *text,
                         update_part_msg_t *m, struct err *e)
{
    uint64_t v;
    int r = value_read(key, text, &v, e);

    (void)a;
    if (r == 0)
        r = narrow(key, v, INFINITE, &v, e);
    if (r < 0)
        return r;
    return release_part_set_max_cpus_per_socket(m, (uint32_t)v) ? 0 : not_in_release(key, e);
}

static int topology_write(struct arena *a, const struct conf_key *key, const char *text,
                          update_part_msg_t *m, struct err *e)
{
    return release_part_set_topology(m, arena_strdup(a, text)) ? 0 : not_in_release(key, e);
}

/* Of a pair the one per node counts, as in the file; both empty take the limit away. */
static int memory_write(const struct jsn *set, const char *per_cpu, const char *per_node,
                        uint64_t *ret, struct err *e)
{
    const char *names[2] = {per_cpu, per_node};
    bool given = false;
    uint64_t result = 0;

    for (int i = 0; i < 2; i++) {
        const struct conf_key *key = keys_find(CONF_SLURM, CONF_PARTITION, str_of(names[i]));
        const char *text = NULL;
        uint64_t v;
        int r;

        JSN_FOR_MEMBERS (m, set)
            if (strcasecmp(m->key.p, names[i]) == 0)
                text = jsn_text(m->value);
        if (!text)
            continue;
        given = true;
        r = value_read(key, text, &v, e);
        if (r < 0)
            return r;
        if (v == VALUE_UNSET || v == VALUE_INFINITE || v == 0)
            continue;
        if (v & MEM_PER_CPU)
            return err_bad(e, "%s: '%s' is too large", key->name, text);
        result = i == 0 ? v | MEM_PER_CPU : v;
    }
    if (given)
        *ret = result;
    return 0;
}

static const struct {
    const char *key;
    int (*write)(struct arena *a, const struct conf_key *key, const char *text,
                 update_part_msg_t *m, struct err *e);
} specials[] = {
    {"CpuBind", cpu_bind_write},
    {"Exclusive", exclusive_write},
    {"MaxCPUsPerSocket", sockets_write},
    {"Priority", priority_write},
    {"Shared", shared_write},
    {"State", state_write},
    {"Topology", topology_write},
};

/* Keys that are worked out together, after the others. */
static const char *const joint[] = {"DefCPUPerGPU",  "DefMemPerGPU", "DefMemPerCPU",
                                    "DefMemPerNode", "MaxMemPerCPU", "MaxMemPerNode"};

static int key_write(struct arena *a, const struct conf_key *key, const char *text,
                     update_part_msg_t *m, struct err *e)
{
    for (size_t i = 0; i < ARRAY_LEN(joint); i++)
        if (streq(key->name, joint[i]))
            return 0;
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        if (streq(key->name, fields[i].key))
            return field_write(a, &fields[i], key, text, m, e);
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (streq(key->name, flags[i].key))
            return flag_write(&flags[i], key, text, m, e);
    for (size_t i = 0; i < ARRAY_LEN(specials); i++)
        if (streq(key->name, specials[i].key))
            return specials[i].write(a, key, text, m, e);
    return err_bad(e, "%s: slurmctld does not take it while it runs: it needs a reconfigure",
                   key->name);
}

static const struct jsn *set_get(const struct jsn *set, const char *name)
{
    JSN_FOR_MEMBERS (m, set)
        if (strcasecmp(m->key.p, name) == 0)
            return m->value;
    return NULL;
}

bool partmap_needs_live(const struct jsn *set)
{
    return !set_get(set, "DefCPUPerGPU") != !set_get(set, "DefMemPerGPU");
}

static int gpu_value(const struct jsn *set, const char *name, uint64_t live, uint64_t *ret,
                     struct err *e)
{
    const struct conf_key *key = keys_find(CONF_SLURM, CONF_PARTITION, str_of(name));
    const char *text = jsn_text(set_get(set, name));

    if (text)
        return value_read(key, text, ret, e);
    *ret = live == NO_VAL64 ? VALUE_UNSET : live;
    return 0;
}

static int gpu_write(struct arena *a, const struct jsn *set, const partition_info_t *live,
                     update_part_msg_t *m, struct err *e)
{
    AUTO(buf_done) struct buf text = {0};
    uint64_t cpu = NO_VAL64;
    uint64_t mem = NO_VAL64;
    int r;

    if (!set_get(set, "DefCPUPerGPU") && !set_get(set, "DefMemPerGPU"))
        return 0;
    if (live)
        release_part_job_defaults(live, &cpu, &mem);
    r = gpu_value(set, "DefCPUPerGPU", cpu, &cpu, e);
    if (r == 0)
        r = gpu_value(set, "DefMemPerGPU", mem, &mem, e);
    if (r < 0)
        return r;
    if (cpu != VALUE_UNSET)
        buf_printf(&text, "DefCpuPerGPU=%llu", (unsigned long long)cpu);
    if (mem != VALUE_UNSET)
        buf_printf(&text, "%sDefMemPerGPU=%llu", text.n > 0 ? "," : "", (unsigned long long)mem);
    m->job_defaults_str = arena_strdup(a, buf_str(&text));
    return 0;
}

int partmap_write(struct arena *a, const struct jsn *set, const partition_info_t *live,
                  update_part_msg_t *message, struct err *e)
{
    int r;

    JSN_FOR_MEMBERS (m, set) {
        const struct conf_key *key = keys_find(CONF_SLURM, CONF_PARTITION, m->key);
        const char *text = jsn_text(m->value);

        if (!key || streq(key->name, "PartitionName"))
            return err_bad(e, "%s: no partition has such a key", m->key.p);
        if (!text)
            return err_bad(e, "%s: the value is no text", key->name);
        if (!keys_in_release(key, release_built_for()))
            return not_in_release(key, e);
        r = key_write(a, key, text, message, e);
        if (r < 0)
            return r;
    }
    r = memory_write(set, "DefMemPerCPU", "DefMemPerNode", &message->def_mem_per_cpu, e);
    if (r == 0)
        r = memory_write(set, "MaxMemPerCPU", "MaxMemPerNode", &message->max_mem_per_cpu, e);
    return r < 0 ? r : gpu_write(a, set, live, message, e);
}
