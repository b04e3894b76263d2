/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: configuration files.
 *
 * The first byte chooses the kind of file and the release, the rest is its text; an Include finds
 * the same text again.  Whatever it is, parsing ends (with faults or without), printing gives text
 * that parses to the same lines, and the two mean the same.  Checking and classing the differences
 * to a fixed file must end, too.  A partition printed and read back is the same partition.
 */
#include <assert.h>
#include <stdint.h>

#include "src/base/alloc.h"
#include "src/slurm/classify.h"
#include "src/slurm/validate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char base[] = "ClusterName=c\nSlurmctldHost=h\nMaxNodeCount=10\n"
                           "NodeName=DEFAULT CPUs=2\nNodeName=n[1-4] NodeAddr=10.0.0.[1-4]\n"
                           "NodeSet=gpu Feature=gpu\nPartitionName=DEFAULT MaxTime=60\n"
                           "PartitionName=p Nodes=n[1-2],gpu Default=YES\n";

static int lookup(void *ctx, const char *path, struct str *ret_text, struct err *e)
{
    if (ends_with(path, "gone"))
        return err_set(e, -ENOENT, ERR_PERMANENT, "gone");
    *ret_text = *(struct str *)ctx;
    return 0;
}

static struct conf *parse(enum conf_kind kind, struct str text, struct faults *faults)
{
    struct conf_input in = {
        .kind = kind, .name = "fuzz.conf", .text = text, .lookup = lookup, .ctx = &text};
    struct conf *c = NULL;
    struct err e = {0};

    if (conf_parse(&in, faults, &c, &e) < 0)
        assert(e.text[0]);
    return c;
}

/* What the first file means, and what it costs to come from the second. */
static size_t differences(const struct conf *a, const struct conf *b, enum conf_kind kind,
                          uint32_t release)
{
    AUTO(model_free) struct model *ma = model_new(a, release);
    AUTO(model_free) struct model *mb = model_new(b, release);
    AUTO(diff_done) struct conf_diff d = {0};
    AUTO(buf_done) struct buf text = {0};
    struct err e = {0};

    if (diff_models(ma, mb, &d, &e) < 0) {
        assert(starts_with(e.text, "partition '"));
        return 0;
    }
    for (size_t i = 0; i < d.n; i++) {
        diff_print(&d.list[i], &text);
        assert(classify_change(&d.list[i], kind, release).class <= CHANGE_RESTART);
    }
    return d.n;
}

static void check_printed(const struct conf *c, enum conf_kind kind, uint32_t release)
{
    AUTO(faults_done) struct faults faults = {0};
    AUTO(buf_done) struct buf text = {0};
    AUTO(buf_done) struct buf twice = {0};
    AUTO(conf_free) struct conf *again = NULL;

    conf_print(c, &text);
    if (text.n > CONF_MAX_BYTES)
        return;
    again = parse(kind, buf_view(&text), &faults);
    assert(again && faults.fatal == 0);
    conf_print(again, &twice);
    assert(str_eq(buf_view(&text), buf_view(&twice)));
    assert(differences(c, again, kind, release) == 0);
}

static void check_partitions(const struct conf *c, uint32_t release)
{
    AUTO(model_free) struct model *m = model_new(c, release);

    for (size_t i = 0; i < m->n_objects && i < 100; i++) {
        AUTO(partition_done) struct partition p;
        AUTO(partition_done) struct partition q;
        AUTO(part_changes_done) struct part_changes changes = {0};
        AUTO(faults_done) struct faults faults = {0};
        AUTO(buf_done) struct buf line = {0};
        AUTO(conf_free) struct conf *printed = NULL;
        const struct conf_line *lines;
        struct err e = {0};
        size_t n;

        partition_init(&p);
        partition_init(&q);
        if (m->objects[i].section != CONF_PARTITION ||
            model_partition(m, &m->objects[i], &p, &e) < 0)
            continue;
        partition_print(&p, &line);
        printed = parse(CONF_SLURM, buf_view(&line), &faults);
        assert(printed && faults.fatal == 0);
        lines = conf_lines(printed, &n);
        assert(n == 1 && partition_load(&q, lines[0].pairs, lines[0].n, &e) == 0);
        partition_diff(&p, &q, &changes);
        assert(changes.n == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t releases[] = {RELEASE(22, 5, 8), RELEASE(23, 11, 4), RELEASE(25, 11, 0),
                                        RELEASE(26, 5, 3)};
    AUTO(faults_done) struct faults faults = {0};
    AUTO(buf_done) struct buf list = {0};
    AUTO(conf_free) struct conf *c = NULL;
    AUTO(conf_free) struct conf *fixed = NULL;
    struct validate_context ctx;
    enum conf_kind kind;

    if (size == 0)
        return 0;
    kind = (enum conf_kind)(data[0] % CONF_N_KINDS);
    ctx = (struct validate_context){.release = releases[data[0] / CONF_N_KINDS % 4]};
    c = parse(kind, (struct str){(const char *)data + 1, size - 1}, &faults);
    if (!c)
        return 0;
    check_printed(c, kind, ctx.release);
    validate_conf(c, &ctx, &faults);
    faults_print(&faults, &list);
    fixed = parse(kind, str_of(base), &faults);
    (void)differences(fixed, c, kind, ctx.release);
    (void)differences(c, fixed, kind, ctx.release);
    if (kind == CONF_SLURM)
        check_partitions(c, ctx.release);
    return 0;
}
