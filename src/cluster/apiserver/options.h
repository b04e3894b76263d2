/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options in a request's query, checked. */
#pragma once

#include "src/cluster/apiserver/status.h"

/* dryRun, fieldManager, fieldValidation, force of a write (`kind` is "CreateOptions", ...). */
int options_read_write(struct api_call *c, const char *kind, bool is_apply);

/* A resourceVersion parameter as a number; absent and "0" are 0. */
int options_version(struct api_call *c, const char *key, int64_t *ret_version);

/* resourceVersionMatch, sendInitialEvents and their like fit together? */
int options_check_list(struct api_call *c, bool watch);

/* 422 for options: `DeleteOptions.meta.k8s.io "" is invalid: ...`. */
int options_invalid(struct api_call *c, const char *kind, const struct causes *cs);
int options_bad_dry_run(struct api_call *c, const char *kind, const char *value);
