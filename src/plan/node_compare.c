/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A declared node and its record.
 *
 * Lists are compared as sets.  Of Gres slurmctld adds where a device sits ("gpu:2(S:0)"), and a
 * plain name means one of it.  What the machine has beyond the limits of a pod is kept out of
 * Slurm's reach by CoreSpecCount and MemSpecLimit, which the start script works out from the
 * machine; here the same is worked out from the record, which has the machine's figures.
 */
#include "src/plan/node_compare.h"

#define MAX_WORDS 256

static const struct {
    const char *key;
    size_t offset;
} numbers[] = {
    {"CPUs", offsetof(struct slurm_node_params, cpus)},
    {"Boards", offsetof(struct slurm_node_params, boards)},
    {"Sockets", offsetof(struct slurm_node_params, sockets)},
    {"CoresPerSocket", offsetof(struct slurm_node_params, cores)},
    {"ThreadsPerCore", offsetof(struct slurm_node_params, threads)},
    {"RealMemory", offsetof(struct slurm_node_params, memory)},
    {"TmpDisk", offsetof(struct slurm_node_params, tmp_disk)},
    {"MemSpecLimit", offsetof(struct slurm_node_params, mem_spec)},
    {"CoreSpecCount", offsetof(struct slurm_node_params, core_spec)},
};

struct comparison {
    struct arena *a;
    const struct node_declared *d;
    const struct slurm_node_params *p;
    struct node_differences *ret;
};

void node_declare(struct arena *a, const struct nodeset *ns, bool topology,
                  struct node_declared *ret)
{
    const struct nodeset_spec *s = &ns->spec;

    *ret = (struct node_declared){.topology = topology};
    node_line_read(a, nodeset_slurm_name(a, ns), s->extra_conf, &ret->line);
    ret->cpus = node_limit(s->slurmd, s->template.spec, "cpu");
    ret->memory_mib = node_limit(s->slurmd, s->template.spec, "memory") >> 20;
}

static void add(struct comparison *c, const char *key, const char *declared, const char *live,
                bool in_place)
{
    if (c->ret->n == NODE_DIFFERENCES_MAX)
        return;
    c->ret->items[c->ret->n++] =
        (struct node_difference){key, declared, live && live[0] ? live : NULL, in_place};
    c->ret->n_lasting += !in_place;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* One word of a list, as it is compared. */
static const char *word_of(struct arena *a, struct str word, bool gres)
{
    const char *paren = memchr(word.p, '(', word.n);
    size_t n = paren && gres ? (size_t)(paren - word.p) : word.n;
    const char *text = arena_str(a, (struct str){word.p, n});
    const char *colon = strrchr(text, ':');

    if (gres && (!colon || colon[1] < '0' || colon[1] > '9'))
        return arena_printf(a, "%s:1", text);
    return text;
}

/* The words of a list in order, each once; commas inside of parentheses separate nothing. */
static const char *sorted(struct arena *a, const char *list, bool gres)
{
    const char *words[MAX_WORDS];
    AUTO(buf_done) struct buf b = {0};
    size_t n = 0;

    for (const char *at = list ? list : ""; *at && n < MAX_WORDS;) {
        size_t len = 0;
        int depth = 0;

        for (; at[len] && (depth > 0 || at[len] != ','); len++)
            depth += (at[len] == '(') - (at[len] == ')');
        if (len)
            words[n++] = word_of(a, (struct str){at, len}, gres);
        at += len + (at[len] == ',');
    }
    if (n)
        qsort(words, n, sizeof(words[0]), by_text);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || !streq(words[i], words[i - 1]))
            buf_printf(&b, "%s%s", b.n ? "," : "", words[i]);
    return arena_strdup(a, buf_str(&b));
}

static void compare_list(struct comparison *c, const char *key, const char *declared,
                         const char *live, bool in_place)
{
    bool gres = !in_place;

    if (!streq(sorted(c->a, declared, gres), sorted(c->a, live, gres)))
        add(c, key, declared, live, in_place);
}

static void compare_number(struct comparison *c, const char *key, int64_t declared, int64_t live,
                           bool in_place)
{
    if (declared != live)
        add(c, key, arena_printf(c->a, "%lld", (long long)declared),
            arena_printf(c->a, "%lld", (long long)live), in_place);
}

static void compare_numbers(struct comparison *c)
{
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        const char *declared = node_line_get(&c->d->line, numbers[i].key);
        const char *at = (const char *)c->p + numbers[i].offset;
        int64_t live;
        int64_t v;

        memcpy(&live, at, sizeof(live));
        if (declared && str_to_i64(str_of(declared), &v) == 0)
            compare_number(c, numbers[i].key, v, live, false);
    }
}

/* As the start script of slurmd has it. */
static void compare_limits(struct comparison *c)
{
    const struct node_line *l = &c->d->line;
    int64_t threads = MAX(c->p->threads, (int64_t)1);
    int64_t cores = c->p->cpus / threads;
    int64_t wanted = (c->d->cpus + threads - 1) / threads;

    if (c->d->cpus > 0 && !node_line_get(l, "CoreSpecCount") && !node_line_get(l, "CpuSpecList"))
        compare_number(c, "CoreSpecCount", wanted < cores ? cores - wanted : 0, c->p->core_spec,
                       false);
    if (c->d->memory_mib > 0 && !node_line_get(l, "MemSpecLimit"))
        compare_number(c, "MemSpecLimit",
                       c->d->memory_mib < c->p->memory ? c->p->memory - c->d->memory_mib : 0,
                       c->p->mem_spec, false);
}

static void compare_weight(struct comparison *c)
{
    const char *declared = node_line_get(&c->d->line, "Weight");
    int64_t v = 1;

    if (!declared || str_to_i64(str_of(declared), &v) == 0)
        compare_number(c, "Weight", v, c->p->weight, true);
}

void node_compare(struct arena *a, const struct node_declared *d, const struct slurm_node *n,
                  struct node_differences *ret)
{
    struct comparison c = {a, d, n ? n->params : NULL, ret};
    const char *topology = node_line_get(&d->line, "Topology");
    const char *gres = node_line_get(&d->line, "Gres");

    *ret = (struct node_differences){0};
    if (!c.p)
        return;
    compare_list(&c, "Features", d->line.features, c.p->features, true);
    compare_weight(&c);
    if (topology && d->topology)
        compare_list(&c, "Topology", topology, c.p->topology, true);
    if (gres)
        compare_list(&c, "Gres", gres, c.p->gres, false);
    compare_numbers(&c);
    compare_limits(&c);
}
