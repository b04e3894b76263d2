/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which field of the partition message stands for which key: shared by reading and writing it. */
#pragma once

#include <slurm/slurm.h>

#include "src/slurm/partition.h"

enum part_field_kind { PART_TEXT, PART_U16, PART_U32 };

/* A key whose value is the field's value. */
struct part_field {
    const char *key;
    enum part_field_kind kind;
    size_t at;      /* in partition_info_t */
    size_t model;   /* in struct partition */
    bool read_only; /* the update RPC does not carry it */
};
extern const struct part_field part_fields[];
extern const size_t part_n_fields;

/* A key that is one bit to set and another to clear. */
struct part_flag {
    const char *key;
    uint32_t set;
    uint32_t clear;
    size_t model;
};
extern const struct part_flag part_flags[];
extern const size_t part_n_flags;

/* Slurm's numbers in the order of enum part_state. */
extern const uint16_t part_states[4];

struct part_cpu_bind {
    const char *word;
    uint32_t bits;
};
#define PART_N_CPU_BINDS 6
extern const struct part_cpu_bind part_cpu_binds[PART_N_CPU_BINDS];
