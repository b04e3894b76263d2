/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Saying that something cannot be done.
 *
 * For an object whose spec does not decode, and for one whose plan the API server refused for good.
 * Only the conditions are touched: counters stay as they were last seen.
 */
#include "src/plan/failure.h"

#include "src/plan/status.h"

struct conditioned {
    struct api_conditions conditions;
};

static const struct jsn_field conditioned_fields[] = {
    API_CONDITIONS_ROW(struct conditioned),
    JSN_END,
};

void plan_failure(const char *kind, const struct jsn *object, const char *reason, const char *why,
                  int64_t now_us, struct actions *to)
{
    struct conditioned st = {0};
    struct status_scribe scribe = {to, &st.conditions,
                                   jsn_get_int(object, "metadata.generation", 0), now_us};
    struct api_meta meta = {.name = jsn_get_str(object, "metadata.name"),
                            .namespace = jsn_get_str(object, "metadata.namespace")};
    struct jsn *want = jsn_object(to->arena);
    struct jsn *have = jsn_object(to->arena);
    struct err e = {0};

    actions_step(to, "Status");
    if (fields_decode(to->arena, conditioned_fields, jsn_key(object, "status"), &st, &e) < 0)
        st = (struct conditioned){0};
    /* The executor has said it in an event already, unless it is the object itself. */
    status_set(&scribe, "Ready", STATUS_FALSE, !streq(reason, "SyncFailed"), reason, "%s", why);
    want = fields_encode(to->arena, conditioned_fields, &st);
    if (jsn_get(object, "status.conditions"))
        jsn_set(to->arena, have, "conditions", jsn_get(object, "status.conditions"));
    if (streq(kind, "NodeSet") && !jsn_get(object, "status.nodeSetHash")) {
        jsn_set_str(to->arena, want, "nodeSetHash", "");
        jsn_set_str(to->arena, want, "selector", "");
    }
    status_write(to, kind, &meta, have, want);
}
