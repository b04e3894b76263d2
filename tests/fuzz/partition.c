/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: keys and values of a partition into the message of the update RPC, and back.
 *
 * What the message tells as a configuration can be written again, and then tells the same.
 */
#include "src/agent/worker/partition_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* As slurmctld tells a partition that has none of the settings which an RPC cannot make. */
static void message_init(update_part_msg_t *m)
{
    slurm_init_part_desc_msg(m);
    m->resume_timeout = m->suspend_timeout = NO_VAL16;
    m->suspend_time = NO_VAL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *set = NULL;
    struct jsn *config;
    update_part_msg_t m;
    update_part_msg_t again;
    struct err e = {0};

    if (jsn_parse(&a, (struct str){(const char *)data, size}, NULL, &set, NULL) < 0)
        return 0;
    (void)partmap_needs_live(set);
    message_init(&m);
    if (partmap_write(&a, set, NULL, &m, &e) < 0)
        return e.text[0] ? 0 : -1;
    config = partmap_config(&a, &m);
    message_init(&again);
    if (partmap_write(&a, config, NULL, &again, &e) < 0 ||
        !jsn_equal(config, partmap_config(&a, &again)))
        abort();
    return 0;
}
