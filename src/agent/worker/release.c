/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libslurm from release to release.
 *
 * A program is built against one libslurm and speaks with controllers of that release and, for
 * some, a little later ones.  The structs grow and lose members between releases; all #if on
 * SLURM_VERSION_NUMBER stand here, behind functions that every release has.  Built and checked
 * against the headers of 22.05 to 26.05.
 *
 * Setters answer false where the release has no such member: the caller says so to whoever asked.
 */
#include "src/agent/worker/release.h"

#include <errno.h>
#include <stdlib.h>

#define SINCE(year, month) (SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(year, month, 0))

/* The first argument from that release on, or else the second one. */
#if SINCE(23, 2)
#define SINCE_23_02(have, lack) have
#else
#define SINCE_23_02(have, lack) lack
#endif
#if SINCE(23, 11)
#define SINCE_23_11(have, lack) have
#else
#define SINCE_23_11(have, lack) lack
#endif
#if SINCE(25, 5)
#define SINCE_25_05(have, lack) have
#else
#define SINCE_25_05(have, lack) lack
#endif
#if SINCE(25, 11)
#define SINCE_25_11(have, lack) have
#else
#define SINCE_25_11(have, lack) lack
#endif
/* A member that came with a release: read it, or `otherwise`; set it, or answer false. */
#define GET(since, s, member, otherwise) since((s)->member, ((void)(s), (otherwise)))
#define SET(since, s, member, value)                                                               \
    since(((s)->member = (value), true), ((void)(s), (void)(value), false))

/* Exported by every libslurm, declared by none: frees what xmalloc gave. */
extern void slurm_xfree(void **item);

uint32_t release_built_for(void)
{
    return SLURM_VERSION_NUMBER;
}

uint32_t release_part_max_cpus_per_socket(const partition_info_t *p)
{
    return GET(SINCE_23_02, p, max_cpus_per_socket, INFINITE);
}

bool release_part_set_max_cpus_per_socket(partition_info_t *p, uint32_t n)
{
    return SET(SINCE_23_02, p, max_cpus_per_socket, n);
}

const char *release_part_topology(const partition_info_t *p)
{
    return GET(SINCE_25_05, p, topology_name, NULL);
}

bool release_part_set_topology(partition_info_t *p, char *name)
{
    return SET(SINCE_25_05, p, topology_name, name);
}

bool release_part_add_flags(partition_info_t *p, uint32_t bits)
{
    uint32_t known = 0x7f7f;

#if SINCE(23, 2)
    known |= RELEASE_PART_PDOI | RELEASE_PART_PDOI_CLR;
#endif
#if SINCE(24, 5)
    known |= RELEASE_PART_EXC_TOPO | RELEASE_PART_EXC_TOPO_CLR;
#endif
    if (bits & ~known)
        return false;
#if SINCE(26, 5)
    /* 26.05.0 to .3 set every flag there is when one of these two is set while the other one is */
    if (bits & PART_FLAG_EXCLUSIVE_USER)
        bits |= RELEASE_PART_EXC_TOPO_CLR;
    if (bits & RELEASE_PART_EXC_TOPO)
        bits |= PART_FLAG_EXC_USER_CLR;
#endif
    p->flags |= (__typeof__(p->flags))bits;
    return true;
}

bool release_part_qos_kills(void)
{
#if SINCE(23, 11) && (SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(24, 11, 6) ||                       \
                      SLURM_VERSION_NUMBER == SLURM_VERSION_NUM(25, 5, 0))
    return true;
#else
    return false;
#endif
}

void release_part_job_defaults(const partition_info_t *p, uint64_t *ret_cpu_per_gpu,
                               uint64_t *ret_mem_per_gpu)
{
#if SINCE(23, 2)
    list_itr_t *i;
#else
    ListIterator i;
#endif
    const job_defaults_t *item;

    *ret_cpu_per_gpu = *ret_mem_per_gpu = NO_VAL64;
    if (!p->job_defaults_list)
        return;
    i = slurm_list_iterator_create(p->job_defaults_list);
    while ((item = slurm_list_next(i))) {
        if (item->type == JOB_DEF_CPU_PER_GPU)
            *ret_cpu_per_gpu = item->value;
        else if (item->type == JOB_DEF_MEM_PER_GPU)
            *ret_mem_per_gpu = item->value;
    }
    slurm_list_iterator_destroy(i);
}

unsigned release_node_cpus_allocated(const node_info_t *n)
{
    uint16_t cpus = 0;

#if SINCE(25, 5)
    cpus = n->alloc_cpus;
#else
    if (n->select_nodeinfo)
        (void)slurm_get_select_nodeinfo(n->select_nodeinfo, SELECT_NODEDATA_SUBCNT,
                                        NODE_STATE_ALLOCATED, &cpus);
#endif
    return cpus;
}

const char *release_node_instance_id(const node_info_t *n)
{
    return GET(SINCE_23_11, n, instance_id, NULL);
}

const char *release_node_instance_type(const node_info_t *n)
{
    return GET(SINCE_23_11, n, instance_type, NULL);
}

const char *release_node_topology(const node_info_t *n)
{
    return GET(SINCE_25_05, n, topology_str, NULL);
}

time_t release_node_resume_after(const node_info_t *n)
{
    return GET(SINCE_23_02, n, resume_after, 0);
}

bool release_node_set_resume_after(update_node_msg_t *m, uint32_t seconds)
{
    return SET(SINCE_23_02, m, resume_after, seconds);
}

bool release_node_set_instance_id(update_node_msg_t *m, char *text)
{
    return SET(SINCE_23_11, m, instance_id, text);
}

bool release_node_set_instance_type(update_node_msg_t *m, char *text)
{
    return SET(SINCE_23_11, m, instance_type, text);
}

bool release_node_set_topology(update_node_msg_t *m, char *text)
{
    return SET(SINCE_25_05, m, topology_str, text);
}

void release_resv_set_nodes(resv_desc_msg_t *m, struct release_counts *counts, uint32_t n)
{
#if SINCE(23, 11)
    (void)counts;
    m->node_cnt = n;
#else
    counts->nodes[0] = n;
    counts->nodes[1] = 0;
    m->node_cnt = counts->nodes;
#endif
}

void release_resv_set_cores(resv_desc_msg_t *m, struct release_counts *counts, uint32_t n)
{
#if SINCE(23, 11)
    (void)counts;
    m->core_cnt = n;
#else
    counts->cores[0] = n;
    counts->cores[1] = 0;
    m->core_cnt = counts->cores;
#endif
}

bool release_resv_set_comment(resv_desc_msg_t *m, char *text)
{
    return SET(SINCE_23_02, m, comment, text);
}

bool release_resv_set_qos(resv_desc_msg_t *m, char *text)
{
    return SET(SINCE_25_11, m, qos, text);
}

bool release_resv_set_partitions(resv_desc_msg_t *m, char *text)
{
    return SET(SINCE_25_11, m, allowed_parts, text);
}

const char *release_resv_comment(const reserve_info_t *r)
{
    return GET(SINCE_23_02, r, comment, NULL);
}

const char *release_resv_qos(const reserve_info_t *r)
{
    return GET(SINCE_25_11, r, qos, NULL);
}

const char *release_resv_partitions(const reserve_info_t *r)
{
    return GET(SINCE_25_11, r, allowed_parts, NULL);
}

int release_resv_create(resv_desc_msg_t *m)
{
    char *name;

    errno = 0;
    name = slurm_create_reservation(m);
    if (!name)
        return errno ? errno : ESLURM_RESERVATION_INVALID;
#if SINCE(26, 5)
    slurm_xfree((void **)&name);
#else
    free(name);
#endif
    return 0;
}

uint32_t release_job_id(const slurm_job_info_t *j)
{
#if SINCE(26, 5)
    return j->step_id.job_id;
#else
    return j->job_id;
#endif
}

void release_conf_free(slurm_conf_t *conf)
{
#if SINCE(26, 5)
    slurm_free_conf(conf);
#else
    slurm_free_ctl_conf(conf);
#endif
}

/* libslurm exports it, its headers forget to say so. */
extern void slurm_free_stats_response_msg(stats_info_response_msg_t *msg);

void release_stats_free(stats_info_response_msg_t *stats)
{
    slurm_free_stats_response_msg(stats);
}
