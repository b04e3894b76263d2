/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events, of core/v1 and of events.k8s.io alike: both are stored as core events.
 *
 * An event without eventTime is of the old sort and must lie in the namespace of what it is about;
 * one with eventTime is of the new sort and must say who reports, what was done and why.
 */
#include "src/cluster/apiserver/kinds/kinds.h"

static void at_most(struct causes *cs, const char *field, const char *text, size_t max)
{
    if (strlen(text) > max)
        cause_invalid_text(cs, field, "\"\"", "can have at most %zu characters", max);
}

static void check_new(struct causes *cs, const struct jsn *event)
{
    struct place root = place_root(event);
    struct place controller = place_key(&root, "reportingComponent");
    static const struct {
        const char *field;
        size_t max;
    } texts[] = {{"reportingInstance", 128}, {"action", 128}, {"reason", 128}};

    controller.name = "reportingController"; /* its name in events.k8s.io and in the sentences */
    (void)check_filled(cs, &controller, NULL);
    check_form_always(cs, &controller, FORM_QUALIFIED);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        const char *text = kind_text(event, texts[i].field);

        if (text[0] == '\0')
            cause_required(cs, texts[i].field, NULL);
        at_most(cs, texts[i].field, text, texts[i].max);
    }
    at_most(cs, "message", kind_text(event, "message"), 1024);
}

static void validate(struct causes *cs, const struct jsn *event)
{
    const char *ns = kind_text(event, "metadata.namespace");
    const char *about = kind_text(event, "involvedObject.namespace");
    struct place root = place_root(event);
    struct place involved = place_key(&root, "involvedObject");
    struct place at = place_key(&involved, "namespace");
    bool is_new = jsn_get_str(event, "eventTime");
    bool good;

    if (about[0] == '\0')
        good = streq(ns, "default") || (is_new && streq(ns, "kube-system"));
    else
        good = is_new || streq(ns, about);
    if (!good)
        place_invalid(cs, &at, "does not match event.namespace");
    if (is_new)
        check_new(cs, event);
}

const struct strategy strategy_events = {
    .resource = "events",
    .no_generation = true,
    .create_on_update = true,
    .validate = validate,
};
