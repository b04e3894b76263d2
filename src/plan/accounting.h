/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plan for an Accounting: slurmdbd, its configuration, and a database where none is named. */
#pragma once

#include "src/build/accounting.h"
#include "src/plan/action.h"
#include "src/plan/pods.h"

/* A snapshot; everything is borrowed and stays as it is. */
struct plan_accounting {
    const struct jsn *object;      /* as the API has it */
    const struct accounting *acct; /* NULL: it does not decode */
    /* The cluster of the first Controller, by name, that refers to it; without a Controller, none
     * does. */
    const struct build_cluster *cluster;
    const char *slurmctld_release;   /* by its own word; NULL: not known */
    const struct plan_pod *slurmdbd; /* its pod; NULL: none */
    const struct plan_pod *database; /* that of our own database; NULL: none */
    /* The ends of their logs; NULL: not read. */
    const char *slurmdbd_log;
    const char *database_log;
    const unsigned char *random; /* ACCOUNTING_PASSWORD_RANDOM bytes */
    int64_t now_us;
};

/*
 * Plan.  Steps, in order: Service, Database, Config, StatefulSet, Status.  Where slurmdbd cannot be
 * configured, what runs goes on as it is, and the condition Ready says what is missing.
 */
void plan_accounting(const struct plan_accounting *in, struct actions *to);

/* Is it worth reading the log of this pod?  It is there and not ready. */
bool plan_accounting_reads_log(const struct plan_pod *pod);

/* The Slurm release that a StatefulSet of slurmdbd serves as: that of its template, or `before`
 * where its pod is not of that template yet, or not ready; 0: it is not said. */
uint32_t plan_accounting_runs(const struct jsn *set, uint32_t wants, uint32_t before);

/* How far slurmdbd went along with a change of the cluster's key: does none run that lacks what
 * this stage ("3-accept") gave?  `set` is its StatefulSet; NULL: there is none. */
bool plan_accounting_has_stage(const struct jsn *set, const char *stage);
