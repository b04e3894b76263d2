/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Forms of names in Kubernetes and Slurm, each with the sentence that says what is wrong. */
#pragma once

#include "src/api/problems.h"
#include "src/api/refs.h"
#include "src/base/str.h"

/* NULL if the name has the form, or else what is wrong with it, to stand after the name. */
const char *name_label_fault(struct str name);     /* RFC 1123 label: a-z, 0-9, '-'; 63 at most */
const char *name_subdomain_fault(struct str name); /* labels with dots between; 253 at most */
/* What a host name may begin with: a label, or one with '-' at its end. */
const char *name_prefix_fault(struct str name);
/* A key of a ConfigMap or Secret: letters, digits, '-', '_', '.'; not "." or "..". */
const char *name_key_fault(struct str name);
/* What Slurm takes for a word: letters, digits, '-', '_', '.'. */
const char *name_word_fault(struct str name);
/* Slurm's ClusterName, which also names a directory. */
const char *name_cluster_fault(struct str name);

/* Add a problem about a name that is needed and must be a subdomain. */
void name_check_ref(struct api_problems *p, const char *field, const char *name);
/* The same of a reference to one key, and of that key; NULL is none. */
void name_check_key_ref(struct api_problems *p, const char *field, const struct api_key_ref *ref);

/* Warn of `optional` where nothing can go on without what is referred to; ref may be NULL. */
void name_check_needed(struct api_problems *p, const char *field, const struct api_key_ref *ref);
/* The name as JSON shows it; in the list's arena. */
const char *name_shown(struct api_problems *p, const char *name);
