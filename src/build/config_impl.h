/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files that make slurm.conf. */
#pragma once

#include "src/build/conf_text.h"
#include "src/build/config_files.h"
#include "src/build/controller_config.h"
#include "src/slurm/conf.h"

/* What is at hand while slurm.conf is made. */
struct config_work {
    struct arena *a;
    const struct build_cluster *c;
    struct api_problems *p;
    struct user_files files;
    struct conf *extra;     /* extraConf, parsed; NULL: none */
    const char *controller; /* "Controller slurm/main" */
    bool unusable;          /* something was found that Slurm would refuse */
};

/* config_nodesets.c: "### COMPUTE & PARTITION ###" */
void config_add_nodesets(struct config_work *w, struct conf_text *t);

/* config_merged.c: what a key of ours has to hold, without what the user adds; "" if not needed. */
const char *config_managed_value(const struct config_work *w, const char *key);
/* "### MERGED CONFIG ###" */
void config_add_merged(struct config_work *w, struct conf_text *t);

/* config_check.c: hold slurm.conf and the user's files against what Slurm takes. */
void config_check(struct config_work *w, const struct conf_text *t);
/* Parse extraConf; what cannot be read is a problem. */
void config_parse_extra(struct config_work *w);
