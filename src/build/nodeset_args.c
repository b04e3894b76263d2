/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arguments of slurmd: -Z --conf-server HOST:PORT --conf 'Features=compute Gres=gpu:4'
 *
 * The node is dynamic (-Z) and describes itself; its feature is what makes it one of the NodeSet.
 * The entry point of an image hands the arguments to a shell, hence the quotes, and so the topology
 * can come from the environment: it is known only when the pod has its place.  Where there is none,
 * no Topology= is said at all.
 */
#include <strings.h>

#include "src/api/node_features.h"
#include "src/build/nodeset_pod.h"
#include "src/build/tree.h"
#include "src/slurm/keys.h"

struct node_conf {
    struct arena *a;
    const struct conf_line *line; /* of extraConf; NULL: none */
    struct str features[NODE_FEATURES_MAX];
    size_t n_features;
    const char *items[CONF_MAX_PAIRS + 2];
    size_t n;
    bool topology; /* extraConf says where the node is */
};

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static int by_item(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_features(struct node_conf *w, const char *list)
{
    struct str rest = str_of(list);
    struct str item;

    while (str_split(&rest, ',', &item)) {
        bool known = false;

        item = str_trim(item);
        for (size_t i = 0; i < w->n_features; i++)
            known = known || str_eq(w->features[i], item);
        if (item.n && !known && w->n_features < NODE_FEATURES_MAX)
            w->features[w->n_features++] = item;
    }
}

static void add_pairs(struct node_conf *w)
{
    for (size_t i = 1; w->line && i < w->line->n; i++) {
        const struct conf_pair *pair = &w->line->pairs[i];
        const struct conf_key *key = keys_find(CONF_SLURM, CONF_NODE, str_of(pair->key));
        const char *name = key ? key->name : pair->key;

        if (strncasecmp(name, "Feature", 7) == 0) {
            add_features(w, pair->value);
            continue;
        }
        w->topology = w->topology || strcasecmp(name, "Topology") == 0;
        w->items[w->n++] = arena_printf(w->a, "%s=%s", name, pair->value);
    }
}

static const char *join_features(struct node_conf *w)
{
    AUTO(buf_done) struct buf b = {0};

    qsort(w->features, w->n_features, sizeof(w->features[0]), by_text);
    buf_adds(&b, "Features=");
    for (size_t i = 0; i < w->n_features; i++) {
        if (i)
            buf_addc(&b, ',');
        buf_addstr(&b, w->features[i]);
    }
    return arena_strdup(w->a, buf_str(&b));
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

static struct jsn *conf_arg(struct node_conf *w, bool topology)
{
    AUTO(buf_done) struct buf b = {0};

    buf_addc(&b, '\'');
    for (size_t i = 0; i < w->n; i++) {
        if (i)
            buf_addc(&b, ' ');
        add_quoted(&b, w->items[i]);
    }
    buf_addc(&b, '\'');
    if (topology && !w->topology)
        buf_adds(&b, "\"${SLINKY_TOPOLOGY:+ Topology=$SLINKY_TOPOLOGY}\"");
    return jsn_str(w->a, buf_view(&b));
}

/* extraConf as the pairs of one line; what cannot be read was refused before. */
static struct conf *parse_extra(const struct nodeset *ns)
{
    AUTO(faults_done) struct faults faults = {0};
    AUTO(buf_done) struct buf line = {0};
    struct conf_input in = {.kind = CONF_SLURM, .name = "extraConf"};
    struct conf *conf = NULL;

    buf_adds(&line, "NodeName=x ");
    for (const char *p = ns->spec.extra_conf ? ns->spec.extra_conf : ""; *p; p++)
        buf_addc(&line, strchr("\n\r\t", *p) ? ' ' : *p);
    in.text = buf_view(&line);
    return conf_parse(&in, &faults, &conf, NULL) == 0 && faults.fatal == 0 ? conf : conf_free(conf);
}

struct jsn *worker_slurmd_args(struct arena *a, const struct build_cluster *c,
                               const struct nodeset *ns)
{
    AUTO(conf_free) struct conf *conf = parse_extra(ns);
    struct node_conf w = {.a = a};
    size_t n = 0;
    const struct conf_line *lines = conf ? conf_lines(conf, &n) : NULL;

    w.line = n ? &lines[0] : NULL;
    add_features(&w, nodeset_slurm_name(a, ns));
    add_pairs(&w);
    w.items[w.n++] = join_features(&w);
    qsort(w.items, w.n, sizeof(w.items[0]), by_item);
    return build_tree(a, "['-Z','--conf-server','$server','--conf','$conf']",
                      SLOTS({"server", jsn_stringf(a, "%s:%d", build_slurmctld_host(a, c),
                                                   build_slurmctld_port(c))},
                            {"conf", conf_arg(&w, build_has(c, PROFILE_TOPOLOGY_YAML))}));
}
