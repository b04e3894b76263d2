/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of built-in types: text, embedded in the program, read into schemas and resources. */
#pragma once

#include "src/base/map.h"
#include "src/cluster/apiserver/types/resource.h"
#include "src/json/schema.h"

/* One embedded file; the list ends with a NULL name.  Made by the build from *.types. */
struct table_text {
    const char *name;
    const char *text;
};
extern const struct table_text table_texts[];

/* A group and version of which a table holds types. */
struct table_group {
    const char *group;
    const char *version;
    const char *alias;  /* what other tables call it: "core" in core.Pod */
    const char *prefix; /* of definition names: "io.k8s.api.core.v1" */
};

/* A field as its line says; linked when all types are known. */
struct table_field {
    struct str name; /* "inline" where Go embeds the type */
    struct str type;
    struct str description;
    struct str default_text; /* p == NULL: none */
    struct str merge_key;
    struct str keys;
    uint32_t proto;
    bool required, pointer, always, merge, set, atomic, granular, retain_keys, replace;
    int line;
};

struct table_def {
    const struct table_group *group;
    struct schema *schema;
    const char *file;
    bool is_kind; /* has apiVersion and kind */
    struct table_field *fields;
    size_t n_fields;
    size_t cap_fields;
    int state; /* of linking */
};

/* Everything lives in the arena. */
struct table {
    struct arena *arena;
    struct map
        by_name; /* "core.Pod" to struct table_def, "core.Protocol" to one with a string schema */
    struct table_def **defs;
    size_t n_defs;
    size_t cap_defs;
    struct table_group **groups; /* in the order of the tables */
    size_t n_groups;
    size_t cap_groups;
    struct resource **resources;
    size_t n_resources;
    size_t cap_resources;
};

/*
 * Read tables.  *ret is valid as long as the arena, and needs table_done for its map.  An error
 * names file and line; with the embedded texts there is none (a unit test sees to that).
 */
int table_read(struct arena *a, const struct table_text *texts, struct table *ret,
               struct err *e) MUST_CHECK;
void table_done(struct table *t);
DEFINE_AUTO_DONE(struct table, table_done);

/* The definition of an alias and name ("meta", "ObjectMeta"), or NULL. */
struct table_def *table_find(const struct table *t, const char *alias, const char *name);

/* --- between the files of the reader --- */

#define TABLE_MAX_WORDS 48

/* The words of a line; quotes are taken away, `quoted` tells of those that began with one. */
struct table_line {
    const char *file;
    int number;
    bool indented;
    size_t n;
    struct str words[TABLE_MAX_WORDS];
    bool quoted[TABLE_MAX_WORDS];
};

/* Split a line; a comment leaves no words. */
int table_lex(struct arena *a, struct str text, struct table_line *line, struct err *e) MUST_CHECK;

/* Start a definition; fails where the name is taken. */
int table_add_def(struct table *t, const struct table_line *line, const struct table_group *g,
                  struct str name, struct table_def **ret, struct err *e) MUST_CHECK;

/* "resource ..." and the indented lines after it. */
int table_read_resource(struct table *t, const struct table_group *g, const struct table_line *line,
                        struct err *e) MUST_CHECK;
int table_read_resource_part(struct table *t, const struct table_group *g,
                             const struct table_line *line, struct err *e) MUST_CHECK;

/* Resolve type names, embed what is inline, make list kinds, tie resources to their schemas. */
int table_link(struct table *t, struct err *e) MUST_CHECK;
int table_link_resources(struct table *t, struct err *e) MUST_CHECK;

/* The codecs' own nodes ("time", "quantity", "int32", ...), or NULL if it is no such name. */
const struct schema *table_scalar(struct str name);

/* err_set with file and line in front. */
int table_err(struct err *e, const char *file, int line, const char *fmt, ...) PRINTF(4, 5);
