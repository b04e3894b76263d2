/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Label and field selectors: parse, match, print. */
#pragma once

#include "src/json/jsn.h"

enum selector_op {
    SELECTOR_EQUALS,
    SELECTOR_DOUBLE_EQUALS,
    SELECTOR_NOT_EQUALS,
    SELECTOR_IN,
    SELECTOR_NOT_IN,
    SELECTOR_EXISTS,
    SELECTOR_NOT_EXISTS,
    SELECTOR_GREATER,
    SELECTOR_LESS,
};

struct selector_requirement {
    struct str key;
    enum selector_op op;
    struct str *values; /* sorted, each once */
    size_t n_values;
};

/* All requirements must hold; none at all matches everything, unless `nothing` is set. */
struct selector {
    struct selector_requirement *requirements; /* sorted by key when parsed */
    size_t n;
    size_t cap;
    bool nothing;
};

/*
 * Parse the text of a labelSelector: "a=b,a==b,a!=b,a in (x,y),a notin (x),a,!a,a>1,a<2"; of a
 * fieldSelector: "k=v,k==v,k!=v" with \ before , = and \ in values.  The selector lives in `a`, its
 * strings too.  Errors are kube-apiserver's sentences.
 */
int selector_parse_labels(struct arena *a, struct str text, struct selector **ret_selector,
                          struct err *e) MUST_CHECK;
int selector_parse_fields(struct arena *a, struct str text, struct selector **ret_selector,
                          struct err *e) MUST_CHECK;

/*
 * From an object with matchLabels and matchExpressions.  NULL selects nothing, an empty object
 * everything.  The selector borrows the object's strings.
 */
int selector_from_object(struct arena *a, const struct jsn *object, struct selector **ret_selector,
                         struct err *e) MUST_CHECK;

/* Add one requirement after checking key and values; the strings are borrowed. */
int selector_require(struct arena *a, struct selector *s, struct str key, enum selector_op op,
                     const struct str *values, size_t n_values, struct err *e) MUST_CHECK;
/* Put the requirements in the order of their keys, for a canonical text. */
void selector_sort(struct selector *s);

/* `labels` is an object of strings; NULL is an empty one. */
bool selector_match_labels(const struct selector *s, const struct jsn *labels);

/* The same with fields that the caller looks up; a view with p == NULL is "not there". */
typedef struct str (*selector_get_fn)(const void *context, struct str key);
bool selector_match(const struct selector *s, selector_get_fn get, const void *context);

/* The one value that the selector demands of `key`; false if there is no such demand. */
bool selector_exact(const struct selector *s, const char *key, struct str *ret_value);

/* The canonical text: "a=b,c in (x,y),!d". */
void selector_print(struct buf *b, const struct selector *s);
