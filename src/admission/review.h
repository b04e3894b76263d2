/* SPDX-License-Identifier: GPL-2.0-or-later */
/* AdmissionReview: what an API server asks a validating webhook, and what it is answered. */
#pragma once

#include "src/admission/admission.h"

#define REVIEW_VERSION "admission.k8s.io/v1"

/* What is known beside the question. */
struct review_context {
    const struct api_lookup *lookup; /* NULL: nothing of other objects */
    uint32_t release;                /* as in struct admission_request */
};

/*
 * Answer a review, in `a`: allowed or not, with a Status that has a cause for each problem, and
 * warnings.  Objects of other kinds, deletions, and subresources other than `scale` are allowed.
 * Fails with a sentence for what is no AdmissionReview of version v1: the caller answers 400.
 */
int review_answer(struct arena *a, const struct jsn *body, const struct review_context *context,
                  struct jsn **ret_answer, struct err *e) MUST_CHECK;
