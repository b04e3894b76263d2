/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeping partitions for their jobs.
 *
 * Slurm kills the jobs of a partition that is missing from the file at a start or a reconfigure,
 * and refuses to delete one that has jobs.  So the lines of a partition stay in the live file until
 * slurmctld has let it go, whatever is declared; with them the NodeSets that its nodes come from.
 *
 * The lines go to the top of slurm.conf, before any PartitionName=DEFAULT, and carry what they had
 * inherited.
 */
#include "src/agent/keep.h"

#include "src/base/alloc.h"

static void nodeset_lines(const struct model *from, const char *nodes, const struct model *declared,
                          struct buf *out)
{
    AUTO(hostset_free) struct host_set *named = NULL;

    if (!nodes || hostset_parse(str_of(nodes), &named, NULL) < 0)
        return;
    for (size_t i = 0; i < from->n_objects; i++) {
        const struct model_object *o = &from->objects[i];

        if (o->section != CONF_NODESET || !hostset_has(named, str_of(o->name)) ||
            model_find(declared, CONF_NODESET, o->name))
            continue;
        conf_line_print(o->line, out);
        buf_addc(out, '\n');
    }
}

static void partition_line(struct partition *p, bool drain, struct buf *out)
{
    p->is_default = 0;
    if (drain)
        p->state = PART_DRAIN;
    partition_print(p, out);
    buf_addc(out, '\n');
}

int keep_declared(const struct model *from, const struct model_object *partition,
                  const struct model *declared, bool drain, struct buf *out, struct err *e)
{
    AUTO(partition_done) struct partition p = {0};
    int r;

    partition_init(&p);
    r = model_partition(from, partition, &p, e);
    if (r < 0)
        return err_wrap(e, r, "partition '%s'", partition->name);
    free(p.name);
    p.name = xstrdup(partition->name);
    nodeset_lines(from, p.nodes, declared, out);
    partition_line(&p, drain, out);
    return 0;
}

static bool has_default(const struct model *m, const char *but)
{
    for (size_t i = 0; i < m->n_objects; i++) {
        const struct model_object *o = &m->objects[i];
        AUTO(partition_done) struct partition p = {0};

        partition_init(&p);
        if (o->section == CONF_PARTITION && !streq(o->name, but) &&
            model_partition(m, o, &p, NULL) == 0 && p.is_default)
            return true;
    }
    return false;
}

int keep_former(const struct model *from, const struct model_object *partition,
                const struct model *declared, struct buf *out, struct err *e)
{
    AUTO(partition_done) struct partition p = {0};
    int r;

    partition_init(&p);
    r = model_partition(from, partition, &p, e);
    if (r < 0)
        return err_wrap(e, r, "partition '%s'", partition->name);
    if (has_default(declared, partition->name))
        p.is_default = 0;
    free(p.name);
    p.name = xstrdup(partition->name);
    nodeset_lines(from, p.nodes, declared, out);
    partition_print(&p, out);
    buf_addc(out, '\n');
    return 0;
}

void keep_live(const struct partition *live, bool drain, struct buf *out)
{
    AUTO(partition_done) struct partition p = {0};

    partition_copy(live, &p);
    if (p.nodesets && p.nodesets[0]) {
        free(p.nodes);
        p.nodes = xstrdup(p.nodesets);
    }
    partition_line(&p, drain, out);
}
