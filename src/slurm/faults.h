/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is wrong with a configuration: a list of sentences, each with its file and line. */
#pragma once

#include <stdbool.h>

#include "src/base/arena.h"
#include "src/base/buf.h"

enum fault_level {
    FAULT_WARNING, /* Slurm takes it, but not as its author will have meant it */
    FAULT_FATAL,   /* Slurm refuses it, slurmctld ends, or a value is read as nobody can mean it */
};

struct fault {
    enum fault_level level;
    const char *file; /* NULL where no line is to blame */
    unsigned line;
    const char *key;  /* the setting that it is about, "MaxTime"; NULL: no single one */
    const char *text; /* a sentence without place: "MaxTime: 'soon' is not a time" */
};

/* More are counted, but not kept. */
#define FAULTS_MAX 100

/* {0} is a valid empty list.  Texts live as long as the list. */
struct faults {
    struct arena arena;
    struct fault *list;
    size_t n; /* kept */
    size_t cap;
    size_t warnings; /* found, kept or not */
    size_t fatal;
};

void faults_done(struct faults *f);
DEFINE_AUTO_DONE(struct faults, faults_done);

void faults_add(struct faults *f, enum fault_level level, const char *file, unsigned line,
                const char *key, const char *fmt, ...) PRINTF(6, 7);

/* One line each: "slurm.conf:12: error: ..." */
void faults_print(const struct faults *f, struct buf *out);

/* 0 if nothing is fatal; else -EINVAL with the first fatal fault and how many more there are. */
int faults_error(const struct faults *f, struct err *e) MUST_CHECK;
