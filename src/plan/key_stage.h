/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stages of a change of a cluster's key. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/base/arena.h"

enum key_stage {
    KEY_REST,   /* one key */
    KEY_ACCEPT, /* all sign with the old key and learn to accept the new one */
    KEY_SIGN,   /* all accept both and begin to sign with the new one */
    KEY_SETTLE, /* all sign with the new one; what was signed before may still be on its way */
};

struct key_state {
    unsigned round; /* how many changes there were */
    enum key_stage stage;
    struct str current; /* what is signed with */
    struct str other;   /* what is accepted as well; empty: nothing */
    int64_t since_us;
};

/* What the next state follows from. */
struct key_facts {
    struct str wanted; /* the key that is declared; empty: there is none, or no good one */
    bool overlaps;     /* a daemon can accept two keys */
    bool all_have;     /* all holders have what this stage gave them */
    int64_t overlap_us;
    int64_t now_us;
};

/* The state that follows; `now` itself, if nothing does. */
struct key_state key_stage_next(const struct key_state *now, const struct key_facts *f);

/* "3-accept": what those who have the keys tell of them; in `a`.  To them the two last stages are
 * one. */
const char *key_stage_told(struct arena *a, const struct key_state *s);
/* "3-settle": as it is kept; and back, with false for what is no stage. */
const char *key_stage_text(struct arena *a, const struct key_state *s);
bool key_stage_parse(const char *text, struct key_state *ret);
