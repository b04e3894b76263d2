/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A partition as slurmctld tells it, in slurm.conf's words.
 *
 * The message becomes src/slurm's model, whose printing gives every value the one form that the
 * same value from a file has; so a live partition and a declared one can be compared as texts.
 * NO_VAL in any width is "not set", INFINITE is INFINITE, and a memory limit is per CPU or per node
 * by its highest bit.
 */
#include <strings.h>

#include "src/agent/worker/partition_fields.h"
#include "src/agent/worker/partition_map.h"
#include "src/agent/worker/release.h"
#include "src/base/alloc.h"

static uint64_t wide16(uint16_t v)
{
    return v == INFINITE16 ? VALUE_INFINITE : v == NO_VAL16 ? VALUE_UNSET : v;
}

static uint64_t wide32(uint32_t v)
{
    return v == INFINITE ? VALUE_INFINITE : v == NO_VAL ? VALUE_UNSET : v;
}

static void field_read(const struct part_field *f, const partition_info_t *info,
                       struct partition *p)
{
    const char *from = (const char *)info + f->at;
    char *to = (char *)p + f->model;

    if (f->kind == PART_TEXT) {
        const char *text = *(char *const *)(const void *)from;
        const struct conf_key *key = keys_find(CONF_SLURM, CONF_PARTITION, str_of(f->key));

        if (text && text[0] && !(key->dflt && strcasecmp(text, key->dflt) == 0))
            *(char **)(void *)to = xstrdup(text);
    } else if (f->kind == PART_U16) {
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

    for (unsigned i = 0; i < ARRAY_LEN(part_states); i++)
        if (info->state_up == part_states[i])
            p->state = i;
    for (size_t i = 0; i < PART_N_CPU_BINDS; i++)
        if ((info->cpu_bind & part_cpu_binds[i].bits) && part_cpu_binds[i].bits != CPU_BIND_OFF) {
            free(p->cpu_bind);
            p->cpu_bind = xstrdup(part_cpu_binds[i].word);
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
    for (size_t i = 0; i < part_n_fields; i++)
        field_read(&part_fields[i], info, ret);
    for (size_t i = 0; i < part_n_flags; i++)
        *(uint64_t *)(void *)((char *)ret + part_flags[i].model) =
            (info->flags & part_flags[i].set) != 0;
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
