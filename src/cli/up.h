/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The waits of `slurmkeeper up`, each for something that another process brings about. */
#pragma once

#include "src/cli/reach.h"
#include "src/cli/steps.h"
#include "src/local/ask.h"

struct up {
    struct layout layout;
    struct steps steps;
    struct ask *ask;
    struct arena arena;
    int64_t deadline_ms;
    bool started; /* nobody served the cluster before */
};

/* Until the server answers and has the definitions of our kinds. */
int up_wait_api(struct up *u, struct err *e) MUST_CHECK;
/* Until slurmctld of every Controller answers to commands on this machine. */
int up_wait_controllers(struct up *u, struct err *e) MUST_CHECK;
/* Until every node that NodeSets ask for is there and takes jobs; a note says what came of it. */
int up_wait_nodes(struct up *u, char *ret_note, size_t n, struct err *e) MUST_CHECK;
