/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files that find differences. */
#pragma once

#include "src/slurm/diff.h"

/* Texts of the change are copied; section, object and line are taken as they are. */
void diff_add(struct conf_diff *d, struct conf_change change);
/* A whole object that came or went; its line is printed into from or to. */
void diff_add_object(struct conf_diff *d, enum diff_what what, const struct model_object *object,
                     const char *name);
/* Compare the values of two objects, without the keys for which `skip` is true. */
void diff_values(struct conf_diff *d, const struct model_object *from,
                 const struct model_object *to, const char *name,
                 bool (*skip)(const struct conf_key *key));
/* True if two objects have the same texts in the same order: nothing to compare by meaning. */
bool diff_same_text(const struct model_object *a, const struct model_object *b);
/* Node by node: diff_nodes.c. */
void diff_nodes(struct conf_diff *d, const struct model *from, const struct model *to);
