/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is wrong with a declaration, and where: the same from the parser to the condition. */
#pragma once

#include "src/json/fields.h"

enum wire_severity { WIRE_ERROR, WIRE_WARNING };

struct wire_problem {
    int severity;       /* enum wire_severity; -1: not said, an error */
    const char *file;   /* "slurm.conf"; NULL: no file is to blame */
    uint32_t line;      /* from 1; 0: not known */
    const char *object; /* what the line is about, "PartitionName=gpu"; NULL: not known */
    const char *key; /* the setting that it is about, "MaxTime"; NULL: no single one, not known */
    const char *message; /* a sentence without the place */
};
extern const struct jsn_field wire_problem_fields[];

struct wire_problems {
    struct wire_problem *items;
    size_t n;
};

/* Append; texts are copied into `a`.  cap is the caller's, from 0. */
void wire_problem_add(struct arena *a, struct wire_problems *list, const struct wire_problem *p);

/* "slurm.conf:3: MaxTime: 'soon' is not a time", or the sentence alone. */
void wire_problem_print(const struct wire_problem *p, struct buf *out);

/* What a line of slurm.conf is about: its first word, if that has a value. */
const char *wire_problem_object(struct arena *a, struct str text, uint32_t line);
