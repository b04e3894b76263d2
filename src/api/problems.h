/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is wrong with an object: sentences about its fields. */
#pragma once

#include <stdbool.h>

#include "src/base/arena.h"
#include "src/base/buf.h"

enum api_reason {
    API_WARNING, /* accepted, but worth a word; everything below refuses the object */
    API_REQUIRED,
    API_INVALID,
    API_FORBIDDEN,
    API_DUPLICATE,
    API_NOT_FOUND,
};

struct api_problem {
    enum api_reason reason;
    const char *object; /* "NodeSet slurm/gpu"; NULL: the object in hand */
    const char *field;  /* "spec.partition.config" */
    const char *value;  /* as JSON, for API_INVALID and API_DUPLICATE; may be NULL */
    const char *text;   /* a sentence that can stand alone after the field */
};

/* More are counted, but not kept. */
#define API_PROBLEMS_MAX 100

/* {.arena = a} is a valid empty list.  Everything lives in the arena. */
struct api_problems {
    struct arena *arena;
    struct api_problem *items;
    size_t n;
    size_t cap;
    size_t errors; /* found, kept or not */
    /* Put into `object` and before `field` of what is added; NULL: nothing. */
    const char *object;
    const char *prefix;
};

void api_problem_add(struct api_problems *p, enum api_reason reason, const char *field,
                     const char *fmt, ...) PRINTF(4, 5);
/* The same with a value to show; NULL shows none. */
void api_problem_value(struct api_problems *p, enum api_reason reason, const char *field,
                       const char *value, const char *fmt, ...) PRINTF(5, 6);
/* A field's path in the arena: "spec.configFileRefs[2].name". */
const char *api_problem_path(struct api_problems *p, const char *fmt, ...) PRINTF(2, 3);

/* "NodeSet slurm/gpu: spec.partition.config: ..." */
void api_problem_print(const struct api_problem *p, struct buf *out);

/* 0 if there is no error; else -EINVAL with the first and how many more there are. */
int api_problems_error(const struct api_problems *p, struct err *e) MUST_CHECK;
