/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A set of files as Slurm would understand it: parsed, checked, compared with another one. */
#pragma once

#include "src/agent/fileset.h"
#include "src/slurm/classify.h"
#include "src/slurm/validate.h"

struct candidate {
    struct fileset files;
    uint32_t release;
    struct conf *conf[CONF_N_KINDS]; /* NULL for a file that is not there */
    struct model *model[CONF_N_KINDS];
    bool sound; /* was checked, and no partition has a fault */
};

/*
 * Parse the files (copied) as Slurm of that release does.  What cannot be read is added to
 * `faults`; fails only past a limit, or where there is no slurm.conf.  Includes are looked up among
 * the files: by a relative name, or by `live`/name; others are read from disk.
 */
int candidate_new(const struct fileset *files, const char *live, uint32_t release,
                  struct faults *faults, struct candidate **ret, struct err *e) MUST_CHECK;
struct candidate *candidate_free(struct candidate *c);
DEFINE_AUTO(struct candidate, candidate_free);

/*
 * Check by meaning; see validate_conf.  `known`: one that was checked before, or NULL; what stands
 * in both is not checked twice.
 */
void candidate_check(struct candidate *c, const struct validate_context *ctx,
                     const struct candidate *known, struct faults *faults);

/* The model of slurm.conf. */
static inline const struct model *candidate_model(const struct candidate *c)
{
    return c->model[CONF_SLURM];
}

/* One difference between two candidates, for people. */
struct compare_change {
    const char *name; /* what has changed: a key, an object or a file */
    const char *text; /* "partition debug: State: UP -> DRAIN", "prolog.sh: changed" */
    enum change_class class;
    const char *why; /* or NULL */
};

/* {0} before; compare_done after.  `slurm` holds the differences in slurm.conf alone. */
struct comparison {
    struct arena arena;
    struct compare_change *list;
    size_t n;
    size_t cap;
    enum change_class class;
    struct conf_diff slurm;
};
void compare_done(struct comparison *c);
DEFINE_AUTO_DONE(struct comparison, compare_done);

/* Both candidates must outlive *ret.  Fails if a partition has a value that cannot be read. */
int compare_candidates(const struct candidate *from, const struct candidate *to,
                       struct comparison *ret, struct err *e) MUST_CHECK;
