/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm's side of an observation.
 *
 * Not knowing counts as busy, and so does a node that slurmctld does not have: one that lost its
 * state knows nothing of the jobs that still run.  An idle node is not free either: a job may start
 * on it between the look and the deed, so that only a drained one is.
 */
#include "src/plan/slurm_state.h"

#include "src/plan/bug.h"

#include <string.h>
#include <strings.h>

static int by_name(const void *key, const void *item)
{
    return strcmp(key, ((const struct slurm_node *)item)->name);
}

const struct slurm_node *slurm_state_node(const struct slurm_state *s, const char *name)
{
    if (!s || s->n == 0 || !name)
        return NULL;
    return bsearch(name, s->nodes, s->n, sizeof(*s->nodes), by_name);
}

bool slurm_state_is_idle(const struct slurm_state *s, const char *name)
{
    const struct slurm_node *node = slurm_state_node(s, name);
    struct node_view view = {.state_known = true};

    if (!node)
        return false;
    view.state = node->state;
    view.jobs_known = node->jobs_known;
    view.jobs = node->jobs;
    return !nodestate_busy(&view);
}

bool slurm_state_is_free(const struct slurm_state *s, const char *name)
{
    const struct slurm_node *node = slurm_state_node(s, name);

    if (plan_bug_is(PLAN_BUG_UNKNOWN_FREE) && !node)
        return true;
    return node && slurm_state_is_idle(s, name) && nodestate_drained(node->state);
}

bool slurm_state_was_asked(const struct slurm_state *s, const char *node, const char *action)
{
    for (size_t i = 0; s && i < s->n_asked; i++)
        if (streq(s->asked[i].node, node) && streq(s->asked[i].action, action))
            return true;
    return false;
}

static int by_partition(const void *key, const void *item)
{
    return strcmp(key, ((const struct slurm_partition *)item)->name);
}

const struct slurm_partition *slurm_state_partition(const struct slurm_state *s, const char *name)
{
    if (!s || !s->partitions_known || s->n_partitions == 0 || !name)
        return NULL;
    return bsearch(name, s->partitions, s->n_partitions, sizeof(*s->partitions), by_partition);
}

const struct slurm_waiting *slurm_state_waiting(const struct slurm_state *s, const char *partition)
{
    for (size_t i = 0; s && partition && i < s->n_waiting; i++)
        if (streq(s->waiting[i].partition, partition))
            return &s->waiting[i];
    return NULL;
}

bool slurm_conf_has(const char *conf, const char *line)
{
    size_t n = strlen(line);
    const char *at = conf;

    while (at && (at = strstr(at, line))) {
        if ((at == conf || at[-1] == '\n') && (at[n] == '\n' || at[n] == '\0'))
            return true;
        at++;
    }
    return false;
}

/* The name in "PartitionName=debug Nodes=..."; empty if it is no such line. */
static struct str line_name(struct str line)
{
    static const char key[] = "PartitionName=";
    struct str word = line;

    if (!str_starts(line, key))
        return (struct str){0};
    (void)str_split(&line, ' ', &word);
    return (struct str){word.p + strlen(key), word.n - strlen(key)};
}

void slurm_lines_read(struct map *lines, const char *conf)
{
    struct str rest = str_of(conf);
    struct str line;

    while (str_split(&rest, '\n', &line)) {
        struct str name = line_name(line);

        if (name.n && !map_get(lines, name))
            (void)map_put(lines, name, str_dup(line));
    }
}

bool slurm_state_holds(const struct slurm_state *s, const char *partition, const char *line)
{
    if (!s || !s->held)
        return false;
    return s->held_lines ? streq(map_get(s->held_lines, str_of(partition)), line)
                         : slurm_conf_has(s->held, line);
}

const char *slurm_state_refusal(const struct slurm_state *s, const char *partition,
                                const char *line)
{
    for (size_t i = 0; s && i < s->applied.n_refused; i++)
        if (streq(s->applied.refused[i].partition, partition))
            return slurm_conf_has(s->held, line) || slurm_conf_has(s->tried, line)
                       ? s->applied.refused[i].error
                       : NULL;
    return NULL;
}

static bool begins_with_word(const char *line, const char *word)
{
    size_t n = strlen(word);

    while (line && (*line == ' ' || *line == '\t'))
        line++;
    return line && strncasecmp(line, word, n) == 0 && strchr(" \t\r\n", line[n]);
}

const struct slurm_fault *slurm_state_fault(const struct slurm_state *s, const char *word,
                                            const char *other_word)
{
    for (size_t i = 0; s && i < s->applied.n_faults; i++) {
        const struct slurm_fault *f = &s->applied.faults[i];

        if (begins_with_word(f->line_text, word) || begins_with_word(f->line_text, other_word))
            return f;
    }
    return NULL;
}

const char *slurm_fault_text(struct arena *a, const struct slurm_fault *f)
{
    if (!f->key || strcasestr(f->message, f->key))
        return f->message;
    return arena_printf(a, "%s: %s", f->key, f->message);
}
