/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules of each kind; private to this directory. */
#pragma once

#include "src/admission/admission.h"

/* One kind (src/admission/X.c).  Both members are set: src/admission/test/admission.c looks. */
struct admission_kind {
    /* The object is new, or its spec has changed. */
    void (*check)(const struct admission_request *in, struct api_problems *p);
    /* Its spec is as it was: only what a change of labels and annotations can do.
     * admission_any_metadata: nothing. */
    void (*check_metadata)(const struct admission_request *in, struct api_problems *p);
};

#define ADMISSION_KIND_DECLARE(ID, name) extern const struct admission_kind admit_##name;
API_KINDS(ADMISSION_KIND_DECLARE)

/* By enum api_kind_id. */
extern const struct admission_kind *const admission_kinds[API_N_KINDS];

void admission_any_metadata(const struct admission_request *in, struct api_problems *p);

/* What a decoder says, as a problem of the field that it names. */
void admission_add_error(struct api_problems *p, const struct err *e);
/* The release that runs, where the object names this one (0: none); a warning at the field if that
 * is another one. */
uint32_t admission_running(const struct admission_request *in, uint32_t named, const char *field,
                           struct api_problems *p);
/* The release of the cluster that an object belongs to; 0: not known. */
uint32_t admission_release(const struct admission_request *in, const struct api_meta *meta,
                           const char *controller, struct arena *a);
