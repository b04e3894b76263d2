/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Slurm's configuration files as lines of key=value pairs: parse any valid one, print it back. */
#pragma once

#include <stdbool.h>

#include "src/slurm/faults.h"

#define CONF_MAX_BYTES ((size_t)16 << 20) /* of all files together */
#define CONF_MAX_FILES 256
#define CONF_MAX_DEPTH 8   /* of includes */
#define CONF_MAX_PAIRS 128 /* of one line */

/* Which file; it decides which keys open a line of several pairs. */
enum conf_kind { CONF_SLURM, CONF_CGROUP, CONF_GRES, CONF_TOPOLOGY, CONF_N_KINDS };

/* What a line is about, told by its first key. */
enum conf_section {
    CONF_GLOBAL,    /* one setting of the cluster */
    CONF_NODE,      /* NodeName= */
    CONF_NODESET,   /* NodeSet= */
    CONF_PARTITION, /* PartitionName= */
    CONF_DOWN,      /* DownNodes= */
    CONF_FRONTEND,  /* FrontendName= */
    CONF_POWER,     /* PowerAction= */
    CONF_GRES_LINE, /* Name= or NodeName= of gres.conf */
    CONF_SWITCH,    /* SwitchName=, BlockName=, RingName= of topology.conf */
    CONF_N_SECTIONS,
};

struct conf_pair {
    const char *key;   /* as written; keys have no case */
    const char *value; /* without quotes and escapes */
    char op;           /* '=', or the sign before it: + - * / (Slurm reads all of them as '=') */
};

struct conf_line {
    enum conf_section section;
    const char *file; /* as the caller or an Include named it */
    unsigned line;    /* where it starts, from 1 */
    struct conf_pair *pairs;
    size_t n; /* at least 1; pairs[0] opened the line */
};

/* A parsed file with its includes in place.  Immutable; everything in it lives as long as it. */
struct conf;

/*
 * Fetch an included file.  `path` is as in the Include, put after the including file's directory
 * if relative.  *ret_text is borrowed until conf_parse returns.  On failure the Include is a fault
 * with the text of `e`.
 */
typedef int (*conf_lookup_fn)(void *ctx, const char *path, struct str *ret_text, struct err *e);

struct conf_input {
    enum conf_kind kind;
    const char *name; /* for messages and as the place that relative includes start from */
    struct str text;
    conf_lookup_fn lookup; /* NULL: every Include is a fault */
    void *ctx;
};

/*
 * Parse.  Lines that cannot be read are added to `faults`, and the rest is still parsed: whoever
 * needs all of it right asks faults_error().  Fails only for what is past a limit.  On success
 * *ret_conf is owned by the caller.
 */
int conf_parse(const struct conf_input *in, struct faults *faults, struct conf **ret_conf,
               struct err *e) MUST_CHECK;

struct conf *conf_free(struct conf *c);
DEFINE_AUTO(struct conf, conf_free);

enum conf_kind conf_kind_of(const struct conf *c);
const struct conf_line *conf_lines(const struct conf *c, size_t *ret_n);

/* The pair of a line by key, without regard to case; the last one if it repeats; or NULL. */
const struct conf_pair *conf_line_get(const struct conf_line *line, const char *key);

/* Append as text that parses to the same lines; comments and includes are not kept. */
void conf_print(const struct conf *c, struct buf *out);
void conf_line_print(const struct conf_line *line, struct buf *out);
/* One pair, quoted and escaped where that is needed. */
void conf_pair_print(const char *key, const char *value, struct buf *out);

/* The section that a key opens in this kind of file; CONF_GLOBAL for all others. */
enum conf_section conf_section_of(enum conf_kind kind, struct str key);
/* "partition", "node", ... for messages. */
const char *conf_section_name(enum conf_section section);
/* slurm.conf, cgroup.conf, gres.conf, topology.conf by base name; -ENOENT for other files. */
int conf_kind_by_name(const char *path, enum conf_kind *ret_kind) MUST_CHECK;
