/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lines of Partitions in slurm.conf, after those of the NodeSets:
 *
 *     PartitionName=debug Nodes=compute,gpu State=UP Default=YES MaxTime=60
 *
 * They stand in the order of the objects' names.  A name that extraConf, a NodeSet or an older
 * Partition has is taken: the Partition is left out and told why.  A NodeSet that is not there is
 * passed over, and its partition lives on with the rest of its nodes, or without any: a partition
 * that vanished would take its jobs along.  Of several that want to be the default the first one
 * is: extraConf goes before NodeSets, and those before Partitions, by age.
 *
 * Whether Slurm takes a line shows when the whole file is checked.  A Partition whose line is
 * refused falls back to the last one that was good (its status has it), and is left out if that is
 * refused, too; the file is made again without it, so that nobody else is concerned.
 */
#include "src/api/partition_conf.h"
#include "src/base/map.h"
#include "src/build/config_impl.h"

static int by_name(const void *a, const void *b)
{
    const struct config_partition *x = a;
    const struct config_partition *y = b;

    return strcmp(x->part->meta.name, y->part->meta.name);
}

/* Who was there first; those that are in a file only come last. */
static int by_age(const void *a, const void *b)
{
    const struct api_meta *x = &(*(const struct config_partition *const *)a)->part->meta;
    const struct api_meta *y = &(*(const struct config_partition *const *)b)->part->meta;
    int64_t i = x->created_us ? x->created_us : INT64_MAX;
    int64_t k = y->created_us ? y->created_us : INT64_MAX;

    return i != k ? (i < k ? -1 : 1) : strcmp(x->name, y->name);
}

/* What is taken already, and by whom. */
struct taken {
    struct config_work *w;
    struct map names;    /* of partitions, to the struct partition_claim of their owner */
    struct map nodesets; /* by the object's name, those that are in the file */
    const char *dflt;    /* the partition that is the default */
};

/* The claim's texts are borrowed. */
static void take(struct taken *t, struct partition_claim claim)
{
    struct partition_claim *copy = arena_alloc(t->w->a, sizeof(*copy));

    *copy = claim;
    if (!map_get(&t->names, str_of(claim.name)))
        map_put(&t->names, str_of(claim.name), copy);
    if (claim.is_default && !t->dflt)
        t->dflt = claim.name;
}

static bool take_extra(void *arg, const struct partition_claim *claim)
{
    struct taken *t = arg;
    struct partition_claim copy = *claim;

    copy.name = arena_strdup(t->w->a, claim->name);
    copy.object = arena_strdup(t->w->a, claim->object);
    take(t, copy);
    return true;
}

static void take_nodesets(struct taken *t)
{
    for (size_t i = 0; i < t->w->c->n_nodesets; i++) {
        const struct nodeset *ns = t->w->c->nodesets[i];
        const char *name = nodeset_slurm_name(t->w->a, ns);

        if (!config_nodeset_is_used(t->w, ns))
            continue;
        map_put(&t->nodesets, str_of(ns->meta.name), (void *)(uintptr_t)name);
        if (nodeset_has_partition(ns))
            take(t, (struct partition_claim){
                        "NodeSet", ns->meta.name, name,
                        partition_config_is_default(str_of(nodeset_partition_config(ns)))});
    }
}

/* "compute,gpu,r[1-4]": the nodes of a Partition, as far as they are there. */
static const char *nodes_of(struct taken *t, const struct api_partition *part)
{
    const struct api_refs *refs = &part->spec.nodeset_refs;
    AUTO(buf_done) struct buf nodes = {0};

    if (part->spec.all)
        return "ALL";
    for (size_t i = 0; i < refs->n; i++) {
        const char *name = map_get(&t->nodesets, str_of(refs->items[i].name));

        if (name)
            buf_printf(&nodes, "%s%s", nodes.n ? "," : "", name);
        else
            api_problem_add(t->w->p, API_WARNING,
                            arena_printf(t->w->a, "spec.nodeSetRefs[%zu].name", i),
                            "there is no NodeSet %s in this cluster; the partition is without its "
                            "nodes",
                            refs->items[i].name);
    }
    if (refs->n == 0)
        return part->spec.nodes ? part->spec.nodes : "";
    if (part->spec.nodes && part->spec.nodes[0])
        buf_printf(&nodes, "%s%s", nodes.n ? "," : "", part->spec.nodes);
    return arena_strdup(t->w->a, buf_str(&nodes));
}

static void settle(struct taken *t, struct config_partition *cp)
{
    const struct api_partition *part = cp->part;
    const char *name = api_partition_slurm_name(part);
    const struct partition_claim *owner = map_get(&t->names, str_of(name));
    bool wants_default = api_partition_is_default(part);

    if (owner) {
        api_problem_add(t->w->p, API_DUPLICATE,
                        part->spec.name ? "spec.partitionName" : "metadata.name",
                        "%s %s%s of the same cluster has a partition %s already; this one is left "
                        "out until it has another name",
                        owner->kind, owner->object,
                        streq(owner->kind, "Controller") ? " (extraConf)" : "", name);
        return;
    }
    if (wants_default && t->dflt)
        api_problem_add(t->w->p, API_WARNING, "spec.default",
                        "partition %s is the default of the cluster already, and there can be only "
                        "one",
                        t->dflt);
    cp->made = (struct config_line){.name = part->meta.name,
                                    .uid = part->meta.uid,
                                    .generation = part->meta.generation,
                                    .nodes = nodes_of(t, part),
                                    .may_be_default = wants_default && !t->dflt};
    cp->made.line =
        config_line_of(cp->kept, t->w->a, part, cp->made.nodes, cp->made.may_be_default);
    cp->line = cp->made.line;
    take(t, (struct partition_claim){"Partition", part->meta.name, name, wants_default});
}

/* All of them, by name, with what is remembered. */
static void gather(struct config_work *w)
{
    size_t n = w->c->n_partitions;
    size_t at = 0;

    w->partitions = arena_calloc(w->a, n + 1, sizeof(*w->partitions));
    for (size_t i = 0; i < n; i++)
        w->partitions[i].part = w->c->partitions[i];
    if (n > 0)
        qsort(w->partitions, n, sizeof(*w->partitions), by_name);
    for (size_t i = 0; i < n; i++) {
        struct config_partition *cp = &w->partitions[i];
        const struct api_meta *m = &cp->part->meta;

        cp->object = arena_printf(w->a, "Partition %s/%s", api_namespace(m), m->name);
        if (w->c->memo)
            cp->kept = config_lines_next(config_memo_lines(w->c->memo), &at, m);
    }
}

void config_remember_partitions(struct config_work *w)
{
    size_t n = w->c->n_partitions;
    struct config_line *lines = arena_calloc(w->a, n + 1, sizeof(*lines));

    if (!w->c->memo)
        return;
    for (size_t i = 0; i < n; i++)
        lines[i] = w->partitions[i].made;
    config_lines_keep(config_memo_lines(w->c->memo), lines, n);
}

void config_settle_partitions(struct config_work *w)
{
    size_t n = w->c->n_partitions;
    struct config_partition **aged = arena_calloc(w->a, n + 1, sizeof(*aged));
    struct taken t = {.w = w};

    gather(w);
    if (n == 0)
        return;
    for (size_t i = 0; i < n; i++)
        aged[i] = &w->partitions[i];
    qsort(aged, n, sizeof(struct config_partition *), by_age);
    (void)partition_claims_extra(w->c->controller->meta.name, w->c->controller->spec.extra_conf,
                                 take_extra, &t);
    take_nodesets(&t);
    for (size_t i = 0; i < n; i++) {
        w->p->object = aged[i]->object;
        settle(&t, aged[i]);
    }
    w->p->object = w->controller;
    map_done(&t.names);
    map_done(&t.nodesets);
}

/* A line that ran into the next one would speak for others. */
static bool stands_alone(const char *line)
{
    size_t n = strlen(line);

    return !strchr(line, '\n') && !strchr(line, '\r') && line[n - 1] != '\\';
}

void config_add_partitions(struct config_work *w, struct conf_text *t)
{
    for (size_t i = 0; i < w->c->n_partitions; i++) {
        struct config_partition *cp = &w->partitions[i];

        if (!cp->line)
            continue;
        conf_text_origin(t, cp->object, "spec", false);
        conf_text_line(t, "%s", stands_alone(cp->line) ? cp->line : "PartitionName=");
    }
    conf_text_origin(t, NULL, NULL, false);
}

bool config_has_partitions(const struct config_work *w)
{
    for (size_t i = 0; i < w->c->n_partitions; i++)
        if (w->partitions[i].line)
            return true;
    return false;
}

static struct config_partition *find(struct config_work *w, const char *object)
{
    for (size_t i = 0; object && i < w->c->n_partitions; i++)
        if (w->partitions[i].object == object)
            return &w->partitions[i];
    return NULL;
}

/* The words of the object's own check name the field; the fault's are the last resort. */
static void tell(struct config_work *w, const struct config_partition *cp, const struct fault *f)
{
    size_t errors = w->p->errors;

    w->p->object = cp->object;
    api_partition_check(cp->part, build_release(w->c), w->p);
    if (w->p->errors == errors)
        api_problem_add(w->p, API_INVALID,
                        strstr(f->text, "there is no node") ? "spec.nodes" : "spec", "%s%s",
                        f->text,
                        strstr(f->text, "there is no node") && cp->part->spec.nodes
                            ? " (nodes of NodeSets are named by nodeSetRefs)"
                            : "");
    w->p->object = w->controller;
}

/* The line that was good before, if it is about this partition. */
static const char *last_good(const struct config_work *w, const struct config_partition *cp)
{
    const char *line = cp->part->status.line;
    const char *head = arena_printf(w->a, "PartitionName=%s ", api_partition_slurm_name(cp->part));

    return line && starts_with(line, head) && stands_alone(line) && !streq(line, cp->line) ? line
                                                                                           : NULL;
}

bool config_refuse_partitions(struct config_work *w, const struct conf_text *t,
                              const struct faults *faults)
{
    bool refused = false;

    for (size_t i = 0; i < faults->n; i++) {
        const struct fault *f = &faults->list[i];
        struct config_partition *cp =
            f->level == FAULT_FATAL && f->line && streq(f->file, "slurm.conf")
                ? find(w, conf_text_find(t, f->line)->object)
                : NULL;

        if (!cp || !cp->line || cp->round == w->round)
            continue;
        cp->round = w->round;
        if (cp->fell_back) {
            cp->line = NULL;
        } else {
            tell(w, cp, f);
            cp->line = last_good(w, cp);
            cp->fell_back = true;
        }
        refused = true;
    }
    return refused;
}
