/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is being done, shown as it happens: a live list on a terminal, plain lines elsewhere. */
#pragma once

#include "src/base/buf.h"

#define STEPS_MAX 16

enum step_state { STEP_WAITING, STEP_RUNNING, STEP_DONE, STEP_FAILED };

struct step {
    const char *title;
    enum step_state state;
    char note[160];
    int64_t started_ms;
    int64_t took_ms;
};

struct steps {
    struct step items[STEPS_MAX];
    size_t n;
    size_t at; /* the running one */
    bool live;
    bool drawn;
};

/* Titles are borrowed, NULL-terminated; at most STEPS_MAX. */
void steps_init(struct steps *s, const char *const *titles);
/* One more, after the last. */
void steps_append(struct steps *s, const char *title);
/* The next one begins. */
void steps_begin(struct steps *s);
/* What is known of the running one by now. */
void steps_note(struct steps *s, const char *fmt, ...) PRINTF(2, 3);
/* It is over; `fmt` (not NULL) says what came of it. */
void steps_done(struct steps *s, const char *fmt, ...) PRINTF(2, 3);
void steps_fail(struct steps *s);
