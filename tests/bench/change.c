/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one edited Partition among many costs in the operator and in the agent, in processor time,
 * so that it can be told on a machine that is busy with other things.
 *
 *   bench-change [PARTITIONS]     500 if none are given, each of two of so many nodes
 *
 * Prints microseconds, medians of ROUNDS edits: build (slurm.conf made and checked), push (the body
 * made and printed), read (the body parsed and hashed), check (parsed, modelled, validated),
 * compare (held against what runs).  No slurmctld and no network take part.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "src/agent/candidate.h"
#include "src/base/alloc.h"
#include "src/build/config_memo.h"
#include "src/wire/declaration.h"

#define ROUNDS 21
#define PARTITIONS_MOST 20000
#define RELEASE_USED RELEASE(22, 5, 8)

enum part { BUILD, PUSH, READ, CHECK, COMPARE, PARTS };

struct bench {
    struct arena arena;
    struct build_env env;
    struct controller controller;
    struct api_partition *items;
    const struct api_partition **list;
    struct build_cluster cluster;
    struct candidate *running;
    double took[PARTS][ROUNDS];
};

static double now_us(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void must(int r, const struct err *e)
{
    if (r == 0)
        return;
    (void)fprintf(stderr, "bench-change: %s\n", e->text);
    exit(1);
}

static int nothing(void *arg, const char *kind, const char *ns, const char *name,
                   const struct jsn **ret)
{
    (void)arg;
    (void)kind;
    (void)ns;
    (void)name;
    (void)ret;
    return -ENOENT;
}

static struct api_meta meta(struct arena *a, const char *name)
{
    return (struct api_meta){.name = arena_strdup(a, name),
                             .namespace = "default",
                             .uid = arena_printf(a, "uid-%s", name),
                             .generation = 1,
                             .created_us = 1};
}

static void set_up(struct bench *b, size_t n)
{
    static struct api_lookup lookup = {.get = nothing};
    struct arena *a = &b->arena;

    b->env.release = RELEASE_USED;
    b->controller.meta = meta(a, "slurm");
    b->controller.spec.extra_conf = arena_printf(
        a, "MaxNodeCount=%zu\nNodeName=c[00001-%05zu] CPUs=4 State=CLOUD\n", 4 * n, 2 * n);
    b->items = arena_calloc(a, n, sizeof(*b->items));
    b->list = arena_calloc(a, n, sizeof(*b->list));
    for (size_t i = 0; i < n; i++) {
        struct api_partition *p = &b->items[i];

        p->meta = meta(a, arena_printf(a, "p%04zu", i));
        p->spec.controller_ref.name = "slurm";
        p->spec.nodes = arena_printf(a, "c[%05zu-%05zu]", 2 * i + 1, 2 * i + 2);
        p->digest = config_memo_digest(p);
        b->list[i] = p;
    }
    b->cluster = (struct build_cluster){.env = &b->env,
                                        .controller = &b->controller,
                                        .partitions = b->list,
                                        .n_partitions = n,
                                        .lookup = &lookup,
                                        .memo = config_memo_new()};
}

static void operator_part(struct bench *b, struct arena *a, size_t round, struct buf *ret)
{
    struct api_problems problems = {.arena = a};
    struct build_config config;
    struct err e = {.text = "the configuration is refused"};
    double start = now_us();

    must(build_config(a, &b->cluster, &config, &problems), &e);
    b->took[BUILD][round] = now_us() - start;
    start = now_us();
    jsn_print(ret,
              wire_declaration_seal(a, build_config_push(a, &b->cluster, &config), (int64_t)round));
    b->took[PUSH][round] = now_us() - start;
}

static void agent_part(struct bench *b, struct arena *a, size_t round, struct str body)
{
    AUTO(fileset_done) struct fileset files = {0};
    AUTO(faults_done) struct faults faults = {0};
    AUTO(compare_done) struct comparison compared = {0};
    struct validate_context ctx = {.release = RELEASE_USED};
    struct candidate *c = NULL;
    char hash[SHA256_HEX_LEN + 1];
    struct jsn *v = NULL;
    struct err e = {0};
    double start = now_us();

    must(jsn_parse(a, body, NULL, &v, &e), &e);
    must(fileset_decode(v, &files, &e), &e);
    fileset_hash(&files, hash);
    b->took[READ][round] = now_us() - start;
    start = now_us();
    must(candidate_new(&files, "/etc/slurm", RELEASE_USED, &faults, &c, &e), &e);
    candidate_check(c, &ctx, b->running, &faults);
    must(faults_error(&faults, &e), &e);
    b->took[CHECK][round] = now_us() - start;
    start = now_us();
    if (b->running)
        must(compare_candidates(b->running, c, &compared, &e), &e);
    b->took[COMPARE][round] = now_us() - start;
    (void)candidate_free(b->running);
    b->running = c;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static const char *const names[PARTS] = {"build", "push", "read", "check", "compare"};
    struct bench b = {0};
    uint32_t n = 500;

    if (argc > 1 && (str_to_u32(str_of(argv[1]), &n) < 0 || n == 0 || n > PARTITIONS_MOST))
        return 2;
    set_up(&b, n);
    for (size_t round = 0; round < ROUNDS; round++) {
        AUTO(arena_done) struct arena a = {0};
        AUTO(buf_done) struct buf body = {0};

        b.items[0].meta.generation++;
        b.items[0].digest = config_memo_digest(&b.items[0]);
        b.items[0].spec.max_time =
            (struct jsn_int_or_str){.i = (int32_t)(100 + round), .set = true};
        operator_part(&b, &a, round, &body);
        agent_part(&b, &a, round, buf_view(&body));
    }
    for (unsigned p = 0; p < PARTS; p++) {
        qsort(b.took[p], ROUNDS, sizeof(double), by_size);
        printf("%-8s %8.0f us\n", names[p], b.took[p][ROUNDS / 2]);
    }
    (void)candidate_free(b.running);
    (void)config_memo_free(b.cluster.memo);
    arena_done(&b.arena);
    return 0;
}
