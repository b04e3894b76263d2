/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What peers do to a listener, read from a fuzzer's input. */
#pragma once

#include "src/base/buf.h"

/*
 * The input is what one peer sends, as it is, with steps between: the byte 0xff, a letter, and an
 * argument byte.  0xff twice is that byte itself.  So a recorded conversation is a good seed, and a
 * mutation of it cuts, ends, resets or delays it anywhere.
 */
struct script {
    struct str rest;
};

#define SCRIPT_MARK 0xff

enum script_kind { SCRIPT_END, SCRIPT_BYTES, SCRIPT_STEP };

/* The next piece: bytes to send (borrowed from the input), or a step. */
struct script_item {
    enum script_kind kind;
    struct str bytes;
    char step;
    unsigned char arg;
};

void script_init(struct script *s, const uint8_t *data, size_t size);
struct script_item script_next(struct script *s);

/*
 * The clocks of the whole program stand still but for these: every target that has timers is linked
 * so that clock_mono_ms and its kin end here.
 */
void script_clock_reset(void);
void script_clock_advance(int64_t ms);
