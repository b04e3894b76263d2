/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keys and values of a partition line into the message of the create and update RPCs.
 *
 * Words, units and defaults are src/slurm's: a value is checked and becomes a number or text there.
 * The RPC takes NO_VAL for "leave it as it is" in each width, which slurm_init_part_desc_msg has
 * put everywhere; in flags every key has one bit to set and one to clear.
 *
 * Some settings cannot be taken back by RPC (DefaultTime, PreemptMode, OverTimeLimit), and some are
 * not in the RPC at all (SuspendTime): the sentence then says that it takes a reconfigure.
 */
#include <ctype.h>
#include <strings.h>

#include "src/agent/worker/partition_fields.h"
#include "src/agent/worker/partition_map.h"
#include "src/agent/worker/release.h"
#include "src/base/alloc.h"

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

static int field_write(struct arena *a, const struct part_field *f, const struct conf_key *key,
                       const char *text, update_part_msg_t *m, struct err *e)
{
    char *to = (char *)m + f->at;
    uint64_t v;
    int r;

    if (f->kind == PART_TEXT) {
        struct err why = {0};

        if (text[0] && value_check(key->type, release_built_for(), str_of(text), &why) == -EINVAL)
            return err_bad(e, "%s: '%s' %s", key->name, text, why.text);
        if (text[0] && streq(key->name, "QOS") && release_part_qos_kills())
            return err_bad(e, "QOS: an unknown one ends a slurmctld of this release: it needs a "
                              "reconfigure");
        *(char **)(void *)to = text_normal(a, key, text);
        return 0;
    }
    r = value_read(key, text, &v, e);
    if (r == 0)
        r = narrow(key, v, f->kind == PART_U16 ? INFINITE16 : INFINITE, &v, e);
    if (r < 0)
        return r;
    if (f->kind == PART_U16)
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

static int flag_write(const struct part_flag *f, const struct conf_key *key, const char *text,
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
        m->state_up = part_states[v];
    return r;
}

static int cpu_bind_write(struct arena *a, const struct conf_key *key, const char *text,
                          update_part_msg_t *m, struct err *e)
{
    AUTO(buf_done) struct buf word = {0};

    (void)a;
    value_normal(key->type, str_of(text[0] ? text : "off"), &word);
    for (size_t i = 0; i < PART_N_CPU_BINDS; i++)
        if (strcasecmp(buf_str(&word), part_cpu_binds[i].word) == 0) {
            m->cpu_bind = part_cpu_binds[i].bits;
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

static const struct jsn *set_get(const struct jsn *set, const char *name)
{
    JSN_FOR_MEMBERS (m, set)
        if (strcasecmp(m->key.p, name) == 0)
            return m->value;
    return NULL;
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
        const char *text = jsn_text(set_get(set, names[i]));
        uint64_t v = 0;
        int r;

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
    for (size_t i = 0; i < part_n_fields; i++)
        if (streq(key->name, part_fields[i].key) && !part_fields[i].read_only)
            return field_write(a, &part_fields[i], key, text, m, e);
    for (size_t i = 0; i < part_n_flags; i++)
        if (streq(key->name, part_flags[i].key))
            return flag_write(&part_flags[i], key, text, m, e);
    for (size_t i = 0; i < ARRAY_LEN(specials); i++)
        if (streq(key->name, specials[i].key))
            return specials[i].write(a, key, text, m, e);
    return err_bad(e, "%s: slurmctld does not take it while it runs: it needs a reconfigure",
                   key->name);
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
