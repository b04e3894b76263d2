/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arguments of slurmd: -Z --conf-server HOST:PORT --conf 'Features=compute Gres=gpu:4'
 *
 * The node is dynamic (-Z) and describes itself; its feature is what makes it one of the NodeSet.
 * The entry point of an image hands the arguments to a shell, hence the quotes.  In images of
 * Slinky's the line passes through supervisord before, which splits it in its own way and has it in
 * double quotes: single quotes survive that, a double quote in the line would end it.  So the
 * topology, which is known only when the pod has its place, is no part of it: entry points take it
 * out of the environment (POD_TOPOLOGY).
 */
#include "src/build/node_line.h"
#include "src/build/nodeset_pod.h"
#include "src/build/tree.h"

static int by_item(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool worker_takes_topology(struct arena *a, const struct build_cluster *c, const struct nodeset *ns)
{
    struct node_line line;

    node_line_read(a, nodeset_slurm_name(a, ns), ns->spec.extra_conf, &line);
    return build_has(c, PROFILE_TOPOLOGY_YAML) && !node_line_get(&line, "Topology");
}

/* For a shell: a single quote inside of single quotes. */
static void add_quoted(struct buf *b, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            buf_adds(b, "'\\''");
        else
            buf_addc(b, *text);
    }
}

static struct jsn *conf_arg(struct arena *a, const struct node_line *l)
{
    const char **items = arena_calloc(a, l->n + 1, sizeof(const char *));
    AUTO(buf_done) struct buf b = {0};

    for (size_t i = 0; i < l->n; i++)
        items[i] = strpbrk(l->items[i].value, " \t")
                       ? arena_printf(a, "%s=\"%s\"", l->items[i].key, l->items[i].value)
                       : arena_printf(a, "%s=%s", l->items[i].key, l->items[i].value);
    items[l->n] = arena_printf(a, "Features=%s", l->features);
    qsort(items, l->n + 1, sizeof(items[0]), by_item);
    buf_addc(&b, '\'');
    for (size_t i = 0; i <= l->n; i++) {
        if (i)
            buf_addc(&b, ' ');
        add_quoted(&b, items[i]);
    }
    buf_addc(&b, '\'');
    return jsn_str(a, buf_view(&b));
}

struct jsn *worker_slurmd_args(struct arena *a, const struct build_cluster *c,
                               const struct nodeset *ns)
{
    struct node_line line;

    node_line_read(a, nodeset_slurm_name(a, ns), ns->spec.extra_conf, &line);
    return build_tree(a, "['-Z','--conf-server','$server','--conf','$conf']",
                      SLOTS({"server", jsn_stringf(a, "%s:%d", build_slurmctld_host(a, c),
                                                   build_slurmctld_port(c))},
                            {"conf", conf_arg(a, &line)}));
}
