/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files that know about values. */
#pragma once

#include "src/slurm/value.h"

/* Numbers and times: value_number.c. */
int value_parse_number(struct str text, uint64_t max, bool suffix_k, uint64_t *ret) MUST_CHECK;
int value_parse_time(struct str text, uint64_t *ret_seconds) MUST_CHECK;
int value_parse_share(struct str text, uint64_t *ret) MUST_CHECK;
int value_parse_preempt(struct str text, uint64_t *ret) MUST_CHECK;
int value_parse_loglevel(struct str text, uint64_t *ret) MUST_CHECK;
int value_parse_ports(struct str text, uint32_t *ret_first, uint32_t *ret_last) MUST_CHECK;
void value_print_time(uint64_t seconds, struct buf *out);
void value_print_share(uint64_t share, struct buf *out);
void value_print_preempt(uint64_t mode, struct buf *out);

/* One word of a choices string. */
struct choice {
    struct str word;
    struct str means; /* word itself, or what stands after its ':' */
    uint32_t since;   /* 0: always */
    uint32_t until;   /* 0: still */
    unsigned index;
};
/* Step through the choices: `struct str rest = str_of(choices); while (choice_next(&rest, &c))`. */
bool choice_next(struct str *rest, struct choice *c);
/* The choice that fits; release 0 fits all.  False if none does. */
bool choice_find(const char *choices, struct str text, uint32_t release, struct choice *ret);
/* As choice_find, for a text that goes on after the choice. */
bool choice_find_prefix(const char *choices, struct str text, struct choice *ret);
/* Append the choices of a release: "A, B or C". */
void choice_list(const char *choices, uint32_t release, struct buf *out);
