/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CustomResourceDefinitions as objects: defaults, validation, and what their status says. */
#pragma once

#include "src/cluster/apiserver/checks.h"

#define DEFINITION_FINALIZER "customresourcecleanup.apiextensions.k8s.io"
#define DEFINITION_RESOURCE "customresourcedefinitions.apiextensions.k8s.io"

/* Names that follow from others, and the conversion that is the only one. */
void definition_set_defaults(struct arena *a, struct jsn *crd);

/* status.storedVersions gets the version that is marked as stored. */
void definition_note_stored(struct arena *a, struct jsn *crd);

/* Tell about every rule that is kept but cannot be evaluated here, and what it uses. */
typedef void (*definition_rule_fn)(void *arg, const char *rule, const char *uses);
void definition_unknown_rules(struct arena *a, const struct jsn *crd, definition_rule_fn fn,
                              void *arg);

void definition_validate(struct causes *cs, const struct jsn *crd);
void definition_validate_update(struct causes *cs, const struct jsn *crd, const struct jsn *old);

/* --- status --- */

/* {"type": ..., "status": ...} of that type, or NULL; and whether its status is "True". */
struct jsn *definition_condition(const struct jsn *crd, const char *type);
bool definition_is(const struct jsn *crd, const char *type);

/* Set a condition in the object; the time changes only with the status. */
void definition_set_condition(struct arena *a, struct jsn *crd, const char *type,
                              const char *status, const char *reason, const char *message,
                              const char *now);

/*
 * The status that follows from the names of a definition and those that others in its group have
 * (an array of definitions; it may itself be among them) or that are built in (texts, NULL-ended;
 * plural, singular and short names in `resources`, kinds and list kinds in `kinds`).  Returns a
 * copy of the definition with the new status, or NULL if nothing changes.
 */
struct definition_taken {
    const struct jsn *others;
    const char *const *resources;
    const char *const *kinds;
};

struct jsn *definition_next(struct arena *a, const struct jsn *crd,
                            const struct definition_taken *taken, const char *now);

/* Is it to be served?  Once names were accepted it is until it is gone. */
bool definition_served(const struct jsn *crd);

/* Is the group one that needs Kubernetes' approval, and does the annotation give it? */
enum definition_approval {
    APPROVAL_NOT_NEEDED,
    APPROVAL_GIVEN,
    APPROVAL_BYPASSED,
    APPROVAL_MISSING,
    APPROVAL_BAD
};
enum definition_approval definition_approval(const struct jsn *crd);

/* --- between the files --- */

/* `schema` is the place of an openAPIV3Schema. */

/* What OpenAPI v3 and Kubernetes' extensions allow. */
void definition_check_openapi(struct causes *cs, const struct place *schema);
/* Whether it is structural.  Returns false if it could not be asked: the schema uses what is not
 * supported at all, and definition_check_openapi says so. */
bool definition_check_structural(struct causes *cs, const struct place *schema);
/* Every default is valid by the schema it stands in.  Fails if the schema cannot be read. */
int definition_check_defaults(struct causes *cs, const struct place *schema,
                              struct err *e) MUST_CHECK;

void definition_check_subresources(struct causes *cs, const struct place *subresources);
void definition_check_columns(struct causes *cs, const struct place *columns);
void definition_check_selectable(struct causes *cs, const struct place *fields,
                                 const struct jsn *schema);
void definition_check_warning(struct causes *cs, const struct place *version);
void definition_check_names(struct causes *cs, const struct place *names);
void definition_check_conversion(struct causes *cs, const struct place *conversion);
void definition_check_approval(struct causes *cs, const struct jsn *crd);

/* A name by a form; all that is wrong in one sentence, with something before it. */
void definition_check_form(struct causes *cs, const struct place *at, enum name_form form,
                           const char *before);
