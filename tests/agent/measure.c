/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A partition update through the link against a bare one.
 *
 *   agent-measure WORKER SLURM_CONF PARTITION COUNT
 *
 * By turns: one slurm_update_partition in this very process, one partition-update call through the
 * link and its child.  Prints the medians and 95th percentiles in microseconds, and the ratio of
 * the medians, as one line of JSON.
 */
#include <slurm/slurm.h>
#include <stdio.h>

#include "src/agent/link.h"
#include "src/base/alloc.h"
#include "src/base/clock.h"

static bool answered;

static void on_answer(void *arg, int r, const struct jsn *answer, const struct err *e)
{
    (void)arg;
    (void)answer;
    if (r < 0) {
        (void)fprintf(stderr, "%s\n", e->text);
        exit(1);
    }
    answered = true;
}

static int64_t bare_update(char *name, uint32_t minutes)
{
    int64_t start = clock_mono_ns();
    update_part_msg_t m;

    slurm_init_part_desc_msg(&m);
    m.name = name;
    m.max_time = minutes;
    if (slurm_update_partition(&m) != 0) {
        slurm_perror("slurm_update_partition");
        exit(1);
    }
    return clock_mono_ns() - start;
}

static int64_t link_update(struct loop *loop, struct link *link, const char *name, uint32_t minutes)
{
    AUTO(arena_done) struct arena a = {0};
    int64_t start = clock_mono_ns();
    struct jsn *request = jsn_object(&a);
    struct jsn *set = jsn_object(&a);

    jsn_set_str(&a, request, "call", "partition-update");
    jsn_set_str(&a, request, "name", name);
    jsn_set(&a, set, "MaxTime", jsn_stringf(&a, "%u", minutes));
    jsn_set(&a, request, "set", set);
    answered = false;
    if (link_call(link, LANE_WRITE, request, 10000, on_answer, NULL) < 0)
        exit(1);
    while (!answered)
        (void)loop_turn(loop, 1000);
    return clock_mono_ns() - start;
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    AUTO(loop_free) struct loop *loop = NULL;
    AUTO(free) int64_t *bare = NULL;
    AUTO(free) int64_t *linked = NULL;
    struct link *link;
    uint32_t count;

    if (argc != 5 || str_to_u32(str_of(argv[4]), &count) < 0 || count < 20 || count > 100000 ||
        loop_new(&loop, NULL) < 0)
        return 2;
    bare = xcalloc(count, sizeof(*bare));
    linked = xcalloc(count, sizeof(*linked));
    link = link_new(loop, &(struct link_options){.program = argv[1], .slurm_conf = argv[2]});
    slurm_init(argv[2]);
    (void)link_update(loop, link, argv[3], 1);
    for (uint32_t i = 0; i < count; i++) {
        bare[i] = bare_update(argv[3], 10 + i);
        linked[i] = link_update(loop, link, argv[3], 11 + i);
    }
    qsort(bare, count, sizeof(*bare), compare);
    qsort(linked, count, sizeof(*linked), compare);
    (void)printf("{\"bare_us\":%.1f,\"bare_p95_us\":%.1f,\"link_us\":%.1f,\"link_p95_us\":%.1f,"
                 "\"ratio\":%.3f}\n",
                 (double)bare[count / 2] / 1e3, (double)bare[count * 95 / 100] / 1e3,
                 (double)linked[count / 2] / 1e3, (double)linked[count * 95 / 100] / 1e3,
                 (double)linked[count / 2] / (double)bare[count / 2]);
    link_free(link);
    return 0;
}
