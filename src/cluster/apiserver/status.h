/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Status objects: what the API answers when it refuses, with reason, code and causes. */
#pragma once

#include "src/cluster/apiserver/call.h"

/*
 * Each puts a Status into c->failure and returns -1 (so failing is one line:
 * `return status_not_found(c, name);`).  The texts are kube-apiserver's own, since clients and
 * people know them.
 */
int status_fail(struct api_call *c, int code, const char *reason, const char *fmt, ...)
    PRINTF(4, 5);
int status_bad_request(struct api_call *c, const char *fmt, ...) PRINTF(2, 3);
int status_not_found(struct api_call *c, const char *name); /* of c->res */
/* The same about another object, which the one of the call needs; group may be "". */
int status_missing(struct api_call *c, const char *group, const char *plural, const char *name);
int status_no_resource(struct api_call *c); /* no such resource or path */
int status_method_not_allowed(struct api_call *c);
int status_already_exists(struct api_call *c, const char *name, bool being_deleted);
int status_modified(struct api_call *c, const char *name); /* stale resourceVersion */
int status_conflict(struct api_call *c, const char *name, const char *fmt, ...) PRINTF(3, 4);
/* A conflict in which the object is called by its Kind, as failed delete preconditions are. */
int status_precondition(struct api_call *c, const char *name, const char *fmt, ...) PRINTF(3, 4);
int status_forbidden(struct api_call *c, const char *name, const char *fmt, ...) PRINTF(3, 4);
int status_unsupported_media(struct api_call *c, const char *accepted);
int status_internal(struct api_call *c, const struct err *e); /* 500 with the error's sentence */
int status_too_many(struct api_call *c, int64_t retry_after_s, const char *fmt, ...) PRINTF(3, 4);

/* A Status without a call, for refusals below the API (401, 413, malformed HTTP). */
struct jsn *status_object(struct arena *a, int code, const char *reason, const char *message);
/* Kubernetes' reason for an HTTP code ("NotFound"). */
const char *status_reason_of(int code);
/* Add {"causes": [...]} entries and other details to the failure at hand. */
struct jsn *status_details(struct api_call *c);
void status_add_cause(struct api_call *c, const char *reason, const char *field,
                      const char *message);

/* The Success Status of a deletion. */
struct jsn *status_deleted(struct api_call *c, const char *name, const char *uid);

/*
 * Validation: collect what is wrong, field by field, then fail once with 422 Invalid naming
 * everything.  `field` is a path such as "spec.ports[0].name".
 */
struct causes {
    struct arena *arena;
    struct cause {
        const char *reason; /* "FieldValueInvalid" */
        const char *field;
        const char *text; /* after "field: " */
    } *items;
    size_t n;
    size_t cap;
};

/* "Required value" or "Required value: <why>"; why may be NULL. */
void cause_required(struct causes *cs, const char *field, const char *why);
/* "Invalid value: <value>: <why>", the value printed as JSON prints it. */
void cause_invalid(struct causes *cs, const char *field, const struct jsn *value, const char *fmt,
                   ...) PRINTF(4, 5);
/* As cause_invalid with a value that is already text (as Go's %#v prints it). */
void cause_invalid_text(struct causes *cs, const char *field, const char *value, const char *fmt,
                        ...) PRINTF(4, 5);
/* "Unsupported value: <value>: supported values: "a", "b"". */
void cause_not_supported(struct causes *cs, const char *field, const struct jsn *value,
                         const char *const *supported);
void cause_forbidden(struct causes *cs, const char *field, const char *fmt, ...) PRINTF(3, 4);
void cause_duplicate(struct causes *cs, const char *field, const struct jsn *value);
void cause_too_long(struct causes *cs, const char *field, int64_t max);
void cause_add(struct causes *cs, const char *reason, const char *field, const char *fmt, ...)
    PRINTF(4, 5);
/* A path in the arena: cause_path(cs, "spec.ports[%zu].name", i). */
const char *cause_path(struct causes *cs, const char *fmt, ...) PRINTF(2, 3);

/* 0 if nothing was collected; else fails the call with 422 for this object of c->res. */
int status_invalid(struct api_call *c, const char *name, const struct causes *cs);
/* The same for an object of another kind (options, Scale, TokenRequest). */
int status_invalid_kind(struct api_call *c, const char *kind, const char *group, const char *name,
                        const struct causes *cs);
/* {"kind": "Status", "status": "Success", "code": ...} without details. */
struct jsn *status_success(struct arena *a, int code);
