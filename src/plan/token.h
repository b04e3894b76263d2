/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plan for a Token: its Secret, and when that is due again. */
#pragma once

#include "src/api/lookup.h"
#include "src/api/token.h"
#include "src/plan/action.h"

/* A snapshot; everything is borrowed and stays as it is. */
struct plan_token {
    const struct jsn *object; /* as the API has it */
    const struct api_token *t;
    const struct api_lookup *lookup; /* Secrets */
    const char *id;                  /* random, for a new token */
    int64_t now_us;
};

void plan_token(const struct plan_token *in, struct actions *to);
