/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables behind keys.c, and the words they are written in. */
#pragma once

#include "src/slurm/keys.h"

/* A table ends where its name is NULL; it is sorted by name without case. */
extern const struct conf_key keys_cluster[];
extern const struct conf_key keys_partition[];
extern const struct conf_key keys_node[];
extern const struct conf_key keys_nodeset[];
extern const struct conf_key keys_down[];
extern const struct conf_key keys_frontend[];
extern const struct conf_key keys_power[];
extern const struct conf_key keys_cgroup[];
extern const struct conf_key keys_gres_file[];
extern const struct conf_key keys_gres[];
extern const struct conf_key keys_topology_file[];
extern const struct conf_key keys_topology[];

#define RECONFIGURE CHANGE_RECONFIGURE, CHANGE_RECONFIGURE
#define RESTART CHANGE_RESTART, CHANGE_RESTART
#define RESTART_OLD CHANGE_RESTART, CHANGE_RECONFIGURE
#define BY_RPC CHANGE_RPC, CHANGE_RPC

#define TEXT .type = {VALUE_TEXT}
#define WORD .type = {VALUE_WORD}
#define BOOL .type = {VALUE_BOOL}
#define U16 .type = {VALUE_U16}
#define U32 .type = {VALUE_U32}
#define U64 .type = {VALUE_U64}
#define FLOAT .type = {VALUE_FLOAT}
#define MINUTES .type = {VALUE_MINUTES}
#define SECONDS .type = {VALUE_SECONDS}
#define OPTIONS .type = {VALUE_OPTIONS}
#define NAMES .type = {VALUE_NAMES}
#define WEIGHTS .type = {VALUE_WEIGHTS}
#define HOSTS .type = {VALUE_HOSTS}
#define NODES .type = {VALUE_NODES}
#define ENUM(words) .type = {VALUE_ENUM, words}
#define FLAGS(words) .type = {VALUE_FLAGS, words}
#define PLUGIN(words) .type = {VALUE_PLUGIN, words}
#define PLUGINS(words) .type = {VALUE_PLUGINS, words}
#define KEYS_END .name = NULL
