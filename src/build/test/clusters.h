/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests: clusters out of YAML, and texts held against files. */
#pragma once

#include "src/api/test/lookup_over.h"
#include "src/api/test/objects.h"
#include "src/base/file.h"
#include "src/build/cluster.h"

#define MAX_NODESETS 16

/* A cluster with the objects it points to. */
struct test_cluster {
    struct build_env env;
    struct controller controller;
    struct nodeset nodesets[MAX_NODESETS];
    const struct nodeset *list[MAX_NODESETS];
    struct api_partition partitions[MAX_NODESETS];
    const struct api_partition *parts[MAX_NODESETS];
    struct accounting accounting;
    struct api_lookup lookup;
    struct build_cluster cluster;
};

/* All documents are one cluster: a Controller, NodeSets, and whatever else they name. */
static inline UNUSED void cluster_of(struct arena *a, struct test_cluster *t, uint32_t release,
                                     const char *yaml)
{
    struct jsn *all = yamls_of(a, yaml);
    struct err e = {0};

    t->env.release = release;
    t->lookup = api_lookup_over(all);
    t->cluster = (struct build_cluster){.env = &t->env,
                                        .controller = &t->controller,
                                        .nodesets = t->list,
                                        .partitions = t->parts,
                                        .lookup = &t->lookup};
    JSN_FOR_ITEMS (v, all) {
        const char *kind = jsn_get_str(v, "kind");
        size_t n = t->cluster.n_nodesets;
        int r = 0;

        if (streq(kind, "Controller"))
            r = controller_decode(a, v, &t->controller, &e);
        if (streq(kind, "Accounting")) {
            r = accounting_decode(a, v, &t->accounting, &e);
            t->cluster.accounting = &t->accounting;
        }
        if (streq(kind, "NodeSet")) {
            assert_true(n < MAX_NODESETS);
            r = nodeset_decode(a, v, &t->nodesets[n], &e);
            t->list[n] = &t->nodesets[n];
            t->cluster.n_nodesets++;
        }
        if (streq(kind, "Partition")) {
            n = t->cluster.n_partitions++;
            assert_true(n < MAX_NODESETS);
            r = api_partition_decode(a, v, &t->partitions[n], &e);
            t->parts[n] = &t->partitions[n];
        }
        if (r < 0)
            fail_msg("%s", e.text);
    }
}

/* With UPDATE_GOLDEN in the environment the file is written instead. */
static inline UNUSED void assert_golden(const char *name, const char *text)
{
    AUTO(free) char *path = NULL;
    AUTO(free) char *kept = NULL;
    struct err e = {0};
    size_t n;

    if (asprintf(&path, "%s/src/build/test/golden/%s", SOURCE_ROOT, name) < 0)
        abort();
    if (getenv("UPDATE_GOLDEN")) {
        assert_int_equal(file_write(path, str_of(text), 0644, &e), 0);
        return;
    }
    if (file_read(path, (size_t)1 << 20, &kept, &n, &e) < 0)
        fail_msg("%s", e.text);
    assert_string_equal(text, kept);
}
