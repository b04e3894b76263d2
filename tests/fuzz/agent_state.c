/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: an agent's answers, as the operator takes them in.
 *
 * The input is a list of answers, one after the other.  Whatever they say, nodes and partitions
 * stay sorted and each is there once, so that searches find them.
 */
#include "src/operator/agent_state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct slurm_state *s)
{
    for (size_t i = 0; i < s->n; i++)
        if ((i > 0 && strcmp(s->nodes[i - 1].name, s->nodes[i].name) >= 0) ||
            slurm_state_node(s, s->nodes[i].name) != &s->nodes[i])
            abort();
    for (size_t i = 0; i < s->n_partitions; i++)
        if (slurm_state_partition(s, s->partitions[i].name) != &s->partitions[i])
            abort();
    for (size_t i = 0; i < s->n_drift; i++)
        if (!s->drift[i].partition || !s->drift[i].field)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(agent_state_free) struct agent_state *s = agent_state_new();
    AUTO(arena_done) struct arena a = {0};
    struct jsn *list = NULL;

    if (jsn_parse(&a, (struct str){(const char *)data, size}, NULL, &list, NULL) < 0)
        return 0;
    JSN_FOR_ITEMS (answer, list) {
        struct agent_change c;
        struct err e = {0};

        if (agent_state_update(s, answer, &a, &c, &e) < 0 && !e.text[0])
            abort();
        check(agent_state_view(s));
    }
    return 0;
}
