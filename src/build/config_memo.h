/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last configuration of a cluster, remembered: most plans need the one that is there. */
#pragma once

#include "src/build/config_lines.h"
#include "src/build/controller_config.h"
#include "src/slurm/model.h"

/* One to a cluster, in its struct build_cluster; build_config looks after it. */
struct config_memo;

struct config_memo *config_memo_new(void);
struct config_memo *config_memo_free(struct config_memo *m);
DEFINE_AUTO(struct config_memo, config_memo_free);

/*
 * The configuration of a cluster that has not changed, in `a`; its problems are added to `p`, and
 * *ret_result is what build_config returned.  False: it has to be built; config_memo_keep then.
 */
bool config_memo_find(struct config_memo *m, const struct build_cluster *c, struct arena *a,
                      struct build_config *ret, struct api_problems *p, int *ret_result);
/* What a configuration follows from of a Partition, as a number that is good in this process.  Who
 * keeps Partitions takes it once for each, so that a look at thousands of them is cheap. */
uint64_t config_memo_digest(const struct api_partition *part);

/*
 * The slurm.conf that was checked last and is sound (validate.h: `known`), so that the next check
 * passes over what has not changed.  config_memo_know takes both; the model is one of the conf.
 */
const struct model *config_memo_known(const struct config_memo *m);
void config_memo_know(struct config_memo *m, struct conf *conf, struct model *model);

/* The lines of its Partitions. */
struct config_lines *config_memo_lines(struct config_memo *m);

/* Keep what was built after a config_memo_find that was in vain; all of `p` belongs to it. */
void config_memo_keep(struct config_memo *m, const struct build_config *config,
                      const struct api_problems *p, int result);
