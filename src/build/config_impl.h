/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files that make slurm.conf. */
#pragma once

#include "src/base/map.h"
#include "src/build/conf_text.h"
#include "src/build/config_files.h"
#include "src/build/config_memo.h"
#include "src/build/controller_config.h"
#include "src/slurm/conf.h"

/* What becomes of a Partition. */
struct config_partition {
    const struct api_partition *part;
    const char *object;             /* "Partition slurm/debug" */
    const struct config_line *kept; /* how it was last; NULL: not known */
    struct config_line made;        /* how it is now, as declared */
    const char *line;               /* NULL: it is left out */
    bool fell_back;                 /* `line` is the last good one, or none */
    unsigned round;                 /* in which it was last refused */
};

/* What is at hand while slurm.conf is made. */
struct config_work {
    struct arena *a;
    const struct build_cluster *c;
    struct api_problems *p;
    struct user_files files;
    struct conf *extra;                  /* extraConf, parsed; NULL: none */
    const char *controller;              /* "Controller slurm/main" */
    struct map nodesets;                 /* by their name in Slurm, those that are in the file */
    struct config_partition *partitions; /* by name of the object */
    unsigned round;                      /* how often the file was made */
    bool unusable;                       /* something was found that Slurm would refuse */
};

/* config_nodesets.c: tell which NodeSet has which name in Slurm */
void config_settle_nodesets(struct config_work *w);
bool config_nodeset_is_used(const struct config_work *w, const struct nodeset *ns);
/* "### COMPUTE & PARTITION ###" */
void config_add_nodesets(struct config_work *w, struct conf_text *t);

/* config_partitions.c: tell which line each Partition gets; after config_settle_nodesets */
void config_settle_partitions(struct config_work *w);
/* Keep their lines for the next time, where there is a memo; the last thing to do with them. */
void config_remember_partitions(struct config_work *w);
bool config_has_partitions(const struct config_work *w);
void config_add_partitions(struct config_work *w, struct conf_text *t);
/* Take out those whose lines are refused; true: the file has to be made again. */
bool config_refuse_partitions(struct config_work *w, const struct conf_text *t,
                              const struct faults *faults);

/* config_accounting.c: where slurmdbd is; false: none is configured */
struct config_accounting {
    const char *host;
    int32_t port;
};
bool config_accounting_find(struct arena *a, const struct build_cluster *c,
                            struct config_accounting *ret);
/* "### ACCOUNTING ###" */
void config_add_accounting(struct config_work *w, struct conf_text *t);

/* config_merged.c: what a key of ours has to hold, without what the user adds; "" if not needed. */
const char *config_managed_value(const struct config_work *w, const char *key);
/* "### MERGED CONFIG ###" */
void config_add_merged(struct config_work *w, struct conf_text *t);

/* config_user.c: is it of extraConf, or of a file that is included? */
bool config_is_users_line(const struct conf_text *t, const struct conf_line *line);
/* Add to the faults what users say that is not theirs to say */
void config_check_user_lines(struct config_work *w, const struct conf_text *t,
                             const struct conf *conf, struct faults *faults);

/* controller_config.c: the text, as it stands with what is settled */
void config_make_slurm_conf(struct config_work *w, struct conf_text *t);

/* config_check.c: read the text, with the files that it includes */
int config_parse(struct config_work *w, const struct conf_text *t, struct faults *faults,
                 struct conf **ret, struct err *e) MUST_CHECK;
/* Tell a fault of slurm.conf, or of an included file, as a problem of the field it comes from. */
void config_blame(struct config_work *w, const struct conf_text *t, const struct fault *f);
/* Hold slurm.conf against what Slurm takes; false: it has to be made again. */
bool config_check_slurm_conf(struct config_work *w, const struct conf_text *t);
/* The same for the user's files. */
void config_check_files(struct config_work *w);
/* Parse extraConf; what cannot be read is a problem. */
void config_parse_extra(struct config_work *w);
