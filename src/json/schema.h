/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Schemas: what a JSON value may look like, and how patches merge it. */
#pragma once

#include "src/json/jsn.h"

enum schema_type {
    SCHEMA_ANY,
    SCHEMA_OBJECT,
    SCHEMA_ARRAY,
    SCHEMA_STRING,
    SCHEMA_INTEGER,
    SCHEMA_NUMBER,
    SCHEMA_BOOLEAN,
    SCHEMA_INT_OR_STRING,
};

/* How server-side apply owns a list or a map (x-kubernetes-list-type, x-kubernetes-map-type). */
enum schema_merge {
    SCHEMA_MERGE_DEFAULT, /* objects: granular; lists: atomic */
    SCHEMA_MERGE_ATOMIC,
    SCHEMA_MERGE_SET, /* list of scalars */
    SCHEMA_MERGE_MAP, /* list of objects, by list_keys */
    SCHEMA_MERGE_GRANULAR,
};

/* Strategic merge patch: what the field's tags say in Kubernetes' own types. */
enum schema_patch {
    SCHEMA_PATCH_MERGE = 1 << 0,   /* list: merge instead of replace */
    SCHEMA_PATCH_REPLACE = 1 << 1, /* object: replace instead of merge */
    SCHEMA_PATCH_RETAIN_KEYS = 1 << 2,
};

/*
 * Values whose text form, wire form or Go form is not that of their JSON type.  Only built-in types
 * have other codecs than SCHEMA_PLAIN.
 */
enum schema_codec {
    SCHEMA_PLAIN,
    SCHEMA_TIME,             /* RFC 3339 in seconds; null stands for "never" */
    SCHEMA_MICRO_TIME,       /* RFC 3339 with six decimals */
    SCHEMA_QUANTITY,         /* "500m", "1Gi"; numbers are accepted */
    SCHEMA_IS_INT_OR_STRING, /* 80 or "http" */
    SCHEMA_BYTES,            /* base64 */
    SCHEMA_RAW,              /* an object of any kind, bytes of JSON on the wire */
    SCHEMA_JSON,             /* any JSON value, message {1: bytes} on the wire */
    SCHEMA_FIELDS_V1,        /* as SCHEMA_JSON, an object */
    SCHEMA_OR_BOOL,          /* items, or a boolean */
    SCHEMA_OR_ARRAY,         /* items, or an array of them */
    SCHEMA_OR_STRINGS,       /* items, or an array of strings */
};

struct schema_property {
    struct str name;
    const struct schema *schema;
    uint32_t proto; /* protobuf field number of built-in types, else 0 */
    bool required;
    bool pointer; /* Go has a pointer here: a zero value is a value and is kept */
    bool always;  /* Go writes the field always, a zero value or null if it was not given */
};

/* What Go embeds: its fields are the outer object's in JSON, a message of their own in protobuf. */
struct schema_inline {
    uint32_t proto;
    const struct schema *schema;
};

/* A rule in CEL; structural.h runs it. */
struct schema_rule {
    const char *rule;
    const char *message;
    const char *message_expression;
    const char *reason;
    const char *field_path;
    bool optional_old_self;
};

/*
 * One node.  Nodes form a graph (types may be recursive) that lives in one arena and is never
 * changed once built.  Every pointer may be NULL, every list empty.
 */
struct schema {
    enum schema_type type;
    enum schema_codec codec;
    const char *name;       /* definition name ("io.k8s.api.core.v1.Container"), NULL: anonymous */
    const char *short_name; /* Go type name ("Container") for messages; the kind of kinds */
    const char *go_type;    /* the same with its package ("v1.Container"); NULL: not built in */
    const char *group;      /* of kinds, built in or custom, else NULL */
    const char *version;
    const char *description;
    const char *format;           /* "int32", "int64", "date-time", "byte", "int-or-string", ... */
    const struct schema *refines; /* the definition that a field's own attributes were added to */

    struct schema_property *properties; /* of objects, in declaration order */
    size_t n_properties;
    struct schema_inline *inlines; /* of built-in objects; their fields are in properties, too */
    size_t n_inlines;
    const char **required; /* names of all required members, NULL-terminated; of CRDs only */
    const struct schema *additional; /* schema of map values; NULL: no additional properties */
    const struct schema *items;      /* of arrays */

    const struct jsn *default_value;
    const struct jsn *enum_values; /* array */

    double minimum, maximum, multiple_of; /* where has_... below is true */
    int64_t min_length, max_length;       /* -1: none; likewise below */
    int64_t min_items, max_items;
    int64_t min_properties, max_properties;
    const char *pattern;

    const struct schema **all_of, **any_of, **one_of; /* value validations, NULL-terminated */
    const struct schema *not_schema;

    enum schema_merge merge;
    unsigned int patch;     /* enum schema_patch bits */
    const char **list_keys; /* of SCHEMA_MERGE_MAP, NULL-terminated */
    const char *patch_key;  /* merge key of strategic merge patch */

    struct schema_rule *rules; /* x-kubernetes-validations */
    size_t n_rules;
    bool has_rules;           /* here or below */
    const struct jsn *source; /* the openAPIV3Schema it was read from, if any */

    bool nullable;
    bool preserve_unknown;  /* x-kubernetes-preserve-unknown-fields */
    bool embedded_resource; /* x-kubernetes-embedded-resource */
    bool unique_items;
    bool has_minimum, has_maximum, has_multiple_of;
    bool exclusive_minimum, exclusive_maximum;
};

/* Set a node to one that allows everything of its type: no bounds, no attributes. */
void schema_init(struct schema *s, enum schema_type type);

/* The property of that name, or NULL. */
const struct schema_property *schema_property(const struct schema *s, struct str name);

/* The schema of a member of an object: its property, else the map's value schema, else NULL. */
const struct schema *schema_member(const struct schema *s, struct str name);
