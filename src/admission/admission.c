/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Admission of our kinds.
 *
 * The same function serves the embedded API server and, on Kubernetes, the webhook.  The schema has
 * been checked before; here are the rules that it cannot express: between fields, against the old
 * object, against other objects, and in Slurm's own language.  They stand by kind (controller.c,
 * ...).
 */
#include "src/admission/kinds.h"

#include "src/api/controller.h"
#include "src/slurm/profile.h"

#define ROW(ID, name) [KIND_##ID] = &admit_##name,
const struct admission_kind *const admission_kinds[API_N_KINDS] = {API_KINDS(ROW)};

void admission_add_error(struct api_problems *p, const struct err *e)
{
    struct str text = str_of(e->text);
    size_t colon = str_find(text, ':');

    if (str_starts(text, "spec.") && colon + 2 < text.n)
        api_problem_add(p, API_INVALID,
                        api_problem_path(p, STR_FMT, STR_ARG(((struct str){text.p, colon}))), "%s",
                        e->text + colon + 2);
    else
        api_problem_add(p, API_INVALID, "", "%s", e->text);
}

uint32_t admission_release(const struct admission_request *in, const struct api_meta *meta,
                           const char *controller, struct arena *a)
{
    const struct jsn *found = NULL;
    struct controller c;
    uint32_t release = 0;

    if (in->host_slurm)
        return in->release;
    if (api_lookup_get(in->lookup, "Controller", api_namespace(meta), controller, &found) ==
            API_PRESENT &&
        controller_decode(a, found, &c, NULL) == 0)
        release = controller_release(&c);
    return release ? release : in->release;
}

uint32_t admission_running(const struct admission_request *in, uint32_t named, const char *field,
                           struct api_problems *p)
{
    char runs[RELEASE_TEXT_LEN];
    char says[RELEASE_TEXT_LEN];

    if (!in->host_slurm)
        return named ? named : in->release;
    if (!named || !in->release)
        return in->release;
    release_series_text(in->release, runs);
    release_series_text(named, says);
    if (!streq(runs, says))
        api_problem_add(p, API_WARNING, field,
                        "no image is pulled here: pods run the Slurm of this machine, %s, and not "
                        "%s",
                        runs, says);
    return in->release;
}

void admission_any_metadata(const struct admission_request *in, struct api_problems *p)
{
    (void)in;
    (void)p;
}

void admission_check(const struct admission_request *in, struct api_problems *p)
{
    const struct api_kind *kind = api_kind_of(in->object);

    if (!kind || jsn_get_str(in->object, "metadata.deletionTimestamp"))
        return;
    if (!jsn_get_str(in->object, "metadata.name")) {
        api_problem_add(p, API_REQUIRED, "metadata.name", "name or generateName is required");
        return;
    }
    if (in->old && jsn_equal(jsn_key(in->object, "spec"), jsn_key(in->old, "spec")))
        admission_kinds[kind->id]->check_metadata(in, p);
    else
        admission_kinds[kind->id]->check(in, p);
}

struct admission_cause admission_cause_of(struct arena *a, const struct api_problem *p)
{
    static const struct {
        const char *reason;
        const char *begins;
    } forms[] = {
        [API_INVALID] = {"FieldValueInvalid", "Invalid value"},
        [API_REQUIRED] = {"FieldValueRequired", "Required value"},
        [API_FORBIDDEN] = {"FieldValueForbidden", "Forbidden"},
        [API_DUPLICATE] = {"FieldValueDuplicate", "Duplicate value"},
        [API_NOT_FOUND] = {"FieldValueNotFound", "Not found"},
    };
    bool shown = p->reason == API_DUPLICATE || p->reason == API_NOT_FOUND;
    const char *value = p->value || !shown ? p->value : "\"\"";

    assert(p->reason < ARRAY_LEN(forms));
    if (p->reason == API_REQUIRED || p->reason == API_FORBIDDEN)
        value = NULL;
    return (struct admission_cause){forms[p->reason].reason,
                                    arena_printf(a, "%s%s%s: %s", forms[p->reason].begins,
                                                 value ? ": " : "", value ? value : "", p->text)};
}
