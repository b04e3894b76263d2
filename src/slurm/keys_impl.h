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

#define TEXT                                                                                       \
    {                                                                                              \
        VALUE_TEXT                                                                                 \
    }
#define WORD                                                                                       \
    {                                                                                              \
        VALUE_WORD                                                                                 \
    }
#define BOOL                                                                                       \
    {                                                                                              \
        VALUE_BOOL                                                                                 \
    }
#define U16                                                                                        \
    {                                                                                              \
        VALUE_U16                                                                                  \
    }
#define U32                                                                                        \
    {                                                                                              \
        VALUE_U32                                                                                  \
    }
#define U64                                                                                        \
    {                                                                                              \
        VALUE_U64                                                                                  \
    }
#define FLOAT                                                                                      \
    {                                                                                              \
        VALUE_FLOAT                                                                                \
    }
#define MINUTES                                                                                    \
    {                                                                                              \
        VALUE_MINUTES                                                                              \
    }
#define SECONDS                                                                                    \
    {                                                                                              \
        VALUE_SECONDS                                                                              \
    }
#define OPTIONS                                                                                    \
    {                                                                                              \
        VALUE_OPTIONS                                                                              \
    }
#define NAMES                                                                                      \
    {                                                                                              \
        VALUE_NAMES                                                                                \
    }
#define HOSTS                                                                                      \
    {                                                                                              \
        VALUE_HOSTS                                                                                \
    }
#define NODES                                                                                      \
    {                                                                                              \
        VALUE_NODES                                                                                \
    }
#define ENUM(words)                                                                                \
    {                                                                                              \
        VALUE_ENUM, words                                                                          \
    }
#define FLAGS(words)                                                                               \
    {                                                                                              \
        VALUE_FLAGS, words                                                                         \
    }
#define PLUGIN(words)                                                                              \
    {                                                                                              \
        VALUE_PLUGIN, words                                                                        \
    }
#define PLUGINS(words)                                                                             \
    {                                                                                              \
        VALUE_PLUGINS, words                                                                       \
    }
#define KEYS_END                                                                                   \
    {                                                                                              \
        NULL, TEXT, CHANGE_NONE, CHANGE_NONE                                                       \
    }
