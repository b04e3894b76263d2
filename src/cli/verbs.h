/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The entry points of the verbs; one file each. */
#pragma once

#include "src/cli/cli.h"

int verb_adopt_run(const struct cli_args *args);
int verb_apiserver_run(const struct cli_args *args);
int verb_backup_run(const struct cli_args *args);
int verb_completion_run(const struct cli_args *args);
int verb_crds_run(const struct cli_args *args);
int verb_down_run(const struct cli_args *args);
int verb_env_run(const struct cli_args *args);
int verb_export_run(const struct cli_args *args);
int verb_manual_run(const struct cli_args *args);
int verb_node_run(const struct cli_args *args);
int verb_operator_run(const struct cli_args *args);
int verb_partition_run(const struct cli_args *args);
int verb_plan_run(const struct cli_args *args);
int verb_rbac_run(const struct cli_args *args);
int verb_recover_run(const struct cli_args *args);
int verb_render_run(const struct cli_args *args);
int verb_restore_run(const struct cli_args *args);
int verb_rotate_keys_run(const struct cli_args *args);
int verb_serve_run(const struct cli_args *args);
int verb_status_run(const struct cli_args *args);
int verb_up_run(const struct cli_args *args);
int verb_user_run(const struct cli_args *args);
int verb_version_run(const struct cli_args *args);
