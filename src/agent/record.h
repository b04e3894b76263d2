/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A declaration as the agent keeps it on disk: its files, and partitions kept for their jobs. */
#pragma once

#include "src/agent/fileset.h"

/* A partition that is no longer declared, but has jobs: its lines stay until they have ended. */
struct record_kept {
    char *partition;
    char *lines; /* whole lines of slurm.conf, each with its line break */
};

/* A partition that slurmctld refuses as declared: what it had before stays in its place. */
struct record_aside {
    char *partition;
    char *lines; /* whole lines of slurm.conf; "": it was not there before */
    char *asked; /* what was refused, as one line: another one is tried at once */
    char *why;   /* in slurmctld's words */
};

struct record {
    struct fileset files; /* as declared, without keys */
    char hash[SHA256_HEX_LEN + 1];
    int64_t generation;
    char *declared;     /* the pusher's own name for the set, or NULL */
    bool revert;        /* drift is put back and not only told */
    bool restarts;      /* what takes a reconfigure is done by a start */
    unsigned attempts;  /* starts of the agent that found it unfinished */
    int64_t written_us; /* wall clock */
    struct record_kept *kept;
    size_t n_kept;
    size_t cap_kept;
    struct record_aside *aside;
    size_t n_aside;
    size_t cap_aside;
};

struct record *record_new(void);
struct record *record_free(struct record *r);
DEFINE_AUTO(struct record, record_free);
struct record *record_copy(const struct record *r);

/* Keep a partition; lines of an earlier one of that name are replaced. */
void record_keep(struct record *r, const char *partition, const char *lines);
void record_unkeep(struct record *r, const char *partition);
const struct record_kept *record_kept_find(const struct record *r, const char *partition);

/* Set a partition aside; everything is copied, and an earlier entry of that name is replaced. */
void record_set_aside(struct record *r, const char *partition, const char *lines, const char *asked,
                      const char *why);
/* Its declared line counts again. */
void record_take_back(struct record *r, const char *partition);
void record_take_back_all(struct record *r);
const struct record_aside *record_aside_find(const struct record *r, const char *partition);

/*
 * The files as slurmctld shall see them (effective.c): as declared, but for partitions that are set
 * aside; what is kept, and what stands for those, comes before the first line of slurm.conf, where
 * no DEFAULT line reaches it.
 */
int record_effective(const struct record *r, struct fileset *ret, struct err *e) MUST_CHECK;

/* As one text that tells its own length and hash; a damaged one is refused with -EBADMSG. */
void record_print(const struct record *r, struct buf *out);
int record_parse(struct str text, struct record **ret, struct err *e) MUST_CHECK;
