/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Admission of our kinds in the embedded API server. */
#pragma once

#include "src/admission/name_index.h"
#include "src/cluster/apiserver/apiserver.h"

/* Where our kinds are checked; outlives the server.  {.server = s} is enough. */
struct admission {
    struct apiserver *server;
    uint32_t release; /* of Slurm, where nothing else names one; 0: any */
    bool host_slurm;  /* as in struct admission_request */
    struct name_index names;
};

/* Have our kinds checked whenever one is created or changed; the server refuses what is wrong. */
int admission_install(struct admission *a, struct err *e) MUST_CHECK;
void admission_done(struct admission *a);
DEFINE_AUTO_DONE(struct admission, admission_done);
