/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hold live partitions against a file.
 *
 *   agent-drift SLURM_CONF RELEASE < answer-of-the-partitions-call
 *
 * Prints "partition key: declared -> live" for each difference that src/slurm sees; nothing if file
 * and slurmctld agree.
 */
#include <stdio.h>

#include "src/base/file.h"
#include "src/json/jsn.h"
#include "src/slurm/model.h"

static void live_load(const struct jsn *item, struct partition *live)
{
    struct conf_pair pairs[PARTITION_MAX_CHANGES];
    const char *nodesets = jsn_get_str(item, "nodesets");
    struct err e = {0};
    size_t n = 0;

    JSN_FOR_MEMBERS (m, jsn_key(item, "config"))
        pairs[n++] = (struct conf_pair){m->key.p, jsn_text(m->value), '='};
    if (partition_load(live, pairs, n, &e) < 0)
        (void)printf("live: %s\n", e.text);
    live->nodesets = nodesets ? str_dup(str_of(nodesets)) : NULL;
}

static void drift_print(const struct model *m, const struct jsn *item)
{
    AUTO(partition_done) struct partition declared = {0};
    AUTO(partition_done) struct partition live = {0};
    AUTO(part_changes_done) struct part_changes changes = {0};
    AUTO(hostset_free) struct host_set *nodes = model_nodes(m);
    AUTO(hostset_free) struct host_set *nodesets = model_nodesets(m);
    const char *name = jsn_get_str(item, "name");
    const struct model_object *object = model_find(m, CONF_PARTITION, name);
    struct err e = {0};

    if (!object) {
        (void)printf("%s: not in the file\n", name);
        return;
    }
    partition_init(&declared);
    partition_init(&live);
    if (model_partition(m, object, &declared, &e) < 0)
        (void)printf("%s: %s\n", name, e.text);
    live_load(item, &live);
    partition_drift(&declared, &live, nodes, nodesets, m->release, &changes);
    for (size_t i = 0; i < changes.n; i++)
        (void)printf("%s %s: %s -> %s\n", name, changes.list[i].key->name, changes.list[i].from,
                     changes.list[i].to);
}

int main(int argc, char **argv)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(free) char *conf_text = NULL;
    AUTO(free) char *answer_text = NULL;
    AUTO(faults_done) struct faults faults = {0};
    AUTO(conf_free) struct conf *conf = NULL;
    AUTO(model_free) struct model *m = NULL;
    struct conf_input in = {.kind = CONF_SLURM, .name = "slurm.conf"};
    struct jsn *answer = NULL;
    uint32_t release;
    size_t n;

    if (argc != 3 || file_read(argv[1], CONF_MAX_BYTES, &conf_text, &in.text.n, NULL) < 0 ||
        release_parse(str_of(argv[2]), &release, NULL) < 0 ||
        file_read("/dev/stdin", (size_t)64 << 20, &answer_text, &n, NULL) < 0 ||
        jsn_parse(&a, (struct str){answer_text, n}, NULL, &answer, NULL) < 0)
        return 2;
    in.text.p = conf_text;
    if (conf_parse(&in, &faults, &conf, NULL) < 0)
        return 2;
    m = model_new(conf, release);
    JSN_FOR_ITEMS (item, jsn_key(answer, "items"))
        drift_print(m, item);
    return 0;
}
