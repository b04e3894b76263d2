/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a structural schema does to a value: prune, default, validate; texts as Kubernetes has them.
 */
#pragma once

#include "src/json/schema.h"

struct pattern_cache;

/* One thing that is wrong with a value. */
struct schema_fault {
    const char *reason; /* "FieldValueInvalid" */
    const char *field;  /* "spec.ports[0].name"; "<nil>" where Kubernetes names none */
    const char *text;   /* after "field: " */
};

#define SCHEMA_FAULTS_MAX 256

/* What is wrong, each thing once; beyond the maximum faults are only counted. */
struct schema_faults {
    struct arena *arena;
    struct schema_fault *items;
    size_t n;
    size_t cap;
    size_t dropped;
};

void schema_fault(struct schema_faults *f, const char *reason, const char *field, const char *fmt,
                  ...) PRINTF(4, 5);

/* Paths of fields that a schema does not know, in Kubernetes' naming ("spec.list[0].x"). */
struct schema_unknown {
    struct arena *arena;
    const char **paths;
    size_t n;
    size_t cap;
};

/*
 * How schemas are applied.  `object_meta` is the schema of ObjectMeta, by which the metadata of
 * embedded resources is pruned (NULL: it is left alone).
 */
struct structural {
    const struct schema *object_meta;
    struct pattern_cache *patterns;
};

/*
 * Remove what the schema does not know.  x-kubernetes-preserve-unknown-fields keeps all of a node;
 * properties below it are still pruned inside.  `s` is the schema of a whole resource: apiVersion,
 * kind and metadata stay (metadata is pruned by its own schema, if it has one).  With `unknown` the
 * removed paths are listed: those in metadata first, the others sorted.
 */
void schema_prune(const struct structural *how, struct jsn *object, const struct schema *s,
                  struct schema_unknown *unknown);

/*
 * Fill in defaults.  First null goes where it may not be: a field that is not nullable and has no
 * default is dropped; one with a default gets it.  Then missing fields get theirs, also inside
 * defaults.  `s` is the schema of a whole resource; its metadata is left alone.
 */
void schema_default(struct arena *a, struct jsn *object, const struct schema *s);

/* Only the first half of that: drop nulls that may not be and have no default. */
void schema_drop_nulls(struct jsn *object, const struct schema *s);

/* Prune any value by its own schema, such as a default inside a schema. */
void schema_prune_value(const struct structural *how, struct jsn *v, const struct schema *s);

/*
 * Check a value.  `prefix` stands before every field ("status" where v is a status; NULL or "" for
 * a whole resource); the sentences name the path without it, as Kubernetes does.  With `root` v is
 * a whole resource: of its metadata only name and generateName are looked at.
 */
void schema_validate(const struct structural *how, const struct schema *s, const struct jsn *v,
                     const char *prefix, bool root, struct schema_faults *faults);

/* Lists of type set and map: no item, or no item's keys, may stand twice. */
void schema_validate_lists(const struct schema *s, const struct jsn *v, const char *prefix,
                           struct schema_faults *faults);

/*
 * Rules in CEL.  `old` is the value before, NULL on create: rules that compare with it run only
 * where there is one.  A rule that uses what is not known here (cel.h) is passed over.
 */
void schema_validate_rules(const struct structural *how, const struct schema *s,
                           const struct jsn *v, const struct jsn *old,
                           struct schema_faults *faults);

/* A value as kube-apiserver prints it in messages: "a", 5, {"name":"a"}. */
void schema_print_go(struct buf *b, const struct jsn *v);
/* A string as Go's %q does it. */
void schema_print_go_string(struct buf *b, struct str s);
/* A number as Go's %v does it: 0.5, 1e+21. */
void schema_print_go_real(struct buf *b, double d);
/* Compact JSON with members sorted by key: equal values give equal text. */
void schema_print_canonical(struct buf *b, const struct jsn *v);
