/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that users bring in ConfigMaps. */
#pragma once

#include "src/api/problems.h"
#include "src/build/cluster.h"

struct user_file {
    const char *name;   /* key of the ConfigMap: the file's name */
    const char *field;  /* "spec.configFileRefs[0].name" */
    const char *option; /* "Prolog"; NULL: a configuration file */
    struct str text;    /* decoded, if it was binary */
};

/* All of them, sorted by name; in an arena. */
struct user_files {
    struct user_file *items;
    size_t n;
    size_t cap;
};

/* Read them; ConfigMaps that are not there, and files that come twice, are added to `p`. */
void user_files_read(struct arena *a, const struct build_cluster *c, struct user_files *ret,
                     struct api_problems *p);

const struct user_file *user_files_find(const struct user_files *files, const char *name);
/* How many scripts of an option there are. */
size_t user_files_count(const struct user_files *files, const char *option);
