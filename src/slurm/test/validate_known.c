/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unit tests of checks that pass over what is known: the faults are the same as of a check of all.
 *
 * Random files of a few lines out of a small stock, good and bad ones, are checked one after the
 * other, each with the last sound one as what is known.
 */
#include "src/slurm/test/make.h"

#include <stdlib.h>

#include "src/slurm/validate.h"

#define R2205 RELEASE(22, 5, 8)
#define R2411 RELEASE(24, 11, 7)
#define STEPS 4000

static const char *const settings[] = {
    "ClusterName=c\n",
    "SlurmctldHost=h\n",
    "MaxNodeCount=10\n",
    "DisableRootJobs=YES\n",
    "NodeName=n[1-9]\n",
    "NodeName=m1\n",
    "NodeSet=s Nodes=n1,m1\n",
    "NodeSet=e\n",
    "PartitionName=DEFAULT MaxTime=5\n",
    "MaxJobCount=1\nMaxJobCount=2\n",
};
static const char *const partitions[] = {
    "PartitionName=a Nodes=n1\n",
    "PartitionName=a Nodes=n1 MaxTime=7\n",
    "PartitionName=b Nodes=m1 Default=YES\n",
    "PartitionName=c Nodes=s\n",
    "PartitionName=c Nodes=s,s\n",
    "PartitionName=d Nodes=n2 Default=YES\n",
    "PartitionName=e Nodes=nobody\n",
    "PartitionName=f Nodes=n3 Alternate=a\n",
    "PartitionName=g Nodes=dyn\n",
    "PartitionName=h Nodes=ALL DefaultTime=9 MaxTime=8\n",
    "PartitionName=i MaxTmie=8\n",
    "PartitionName=j Nodes=n4 TRESBillingWeights=CPU=1,gres/gpu=2\n",
};

/* Each line of a stock is in or out; one of them changes at a time. */
static void print(const char *const *stock, size_t n, const bool *in, struct buf *out)
{
    for (size_t i = 0; i < n; i++)
        if (in[i])
            buf_adds(out, stock[i]);
}

static bool check(struct made *m, const struct model *known, const struct host_set *dynamic,
                  struct buf *out)
{
    AUTO(faults_done) struct faults faults = {0};
    struct validate_context ctx = {
        .release = m->model->release, .known = known, .dynamic_nodes = dynamic};
    bool sound = validate_model(m->model, &ctx, &faults);

    faults_print(&faults, out);
    return sound;
}

static void random_edits_have_the_faults_of_a_check_of_all(void **state)
{
    bool set[ARRAY_LEN(settings)] = {true, true, true, false, true, true, true};
    bool part[ARRAY_LEN(partitions)] = {true};
    AUTO(hostset_free) struct host_set *dynamic = NULL;
    struct made known = {0};
    unsigned used = 0;
    struct err e = {0};

    (void)state;
    srandom(7);
    assert_int_equal(hostset_parse(STR("dyn"), &dynamic, &e), 0);
    for (unsigned step = 0; step < STEPS; step++) {
        AUTO(buf_done) struct buf text = {0};
        AUTO(buf_done) struct buf all = {0};
        AUTO(buf_done) struct buf some = {0};
        const struct host_set *now;
        struct made m;
        bool sound;

        if (random() % 16 == 0)
            set[(size_t)random() % ARRAY_LEN(set)] ^= true;
        else
            part[(size_t)random() % ARRAY_LEN(part)] ^= true;
        print(settings, ARRAY_LEN(set), set, &text);
        print(partitions, ARRAY_LEN(part), part, &text);
        m = make(CONF_SLURM, buf_str(&text), random() % 64 ? R2205 : R2411);
        now = random() % 4 ? dynamic : NULL;
        sound = check(&m, NULL, now, &all);
        assert_int_equal(check(&m, known.model, now, &some), sound);
        assert_string_equal(buf_str(&some), buf_str(&all));
        used += known.model != NULL;
        if (sound) {
            made_done(&known);
            known = m;
        } else {
            made_done(&m);
        }
    }
    assert_true(used > STEPS / 2);
    made_done(&known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_edits_have_the_faults_of_a_check_of_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
