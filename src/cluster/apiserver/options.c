/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options in the query.
 *
 * Bad options are refused with 422 and the name of the options object, as kube-apiserver does:
 * its clients never see them, people with curl do.
 */
#include "src/cluster/apiserver/options.h"

#define MANAGER_MAX 128

int options_invalid(struct api_call *c, const char *kind, const struct causes *cs)
{
    return status_invalid_kind(c, kind, "meta.k8s.io", "", cs);
}

int options_bad_dry_run(struct api_call *c, const char *kind, const char *value)
{
    struct causes cs = {.arena = &c->arena};

    cause_add(&cs, "FieldValueNotSupported", "dryRun",
              "Unsupported value: [\"%s\"]: supported values: \"All\"", value);
    return options_invalid(c, kind, &cs);
}

static int read_dry_run(struct api_call *c, const char *kind)
{
    const char *value;

    for (size_t i = 0; (value = url_query_get_at(&c->query, "dryRun", i)); i++) {
        if (!value[0])
            continue;
        if (!streq(value, "All"))
            return options_bad_dry_run(c, kind, value);
        c->dry_run = true;
    }
    return 0;
}

static int read_field_validation(struct api_call *c, const char *kind)
{
    static const char *const supported[] = {"Ignore", "Strict", "Warn", NULL};
    const char *v = call_param(c, "fieldValidation");
    struct causes cs = {.arena = &c->arena};

    c->fields = FIELDS_WARN;
    if (streq(v, "Strict"))
        c->fields = FIELDS_STRICT;
    else if (streq(v, "Ignore"))
        c->fields = FIELDS_IGNORE;
    else if (v && v[0] && !streq(v, "Warn")) {
        cause_not_supported(&cs, "fieldValidation", jsn_string(&c->arena, v), supported);
        return options_invalid(c, kind, &cs);
    }
    return 0;
}

/* Without a fieldManager the user agent up to its first '/' stands for it. */
static const char *manager_of(struct api_call *c)
{
    const char *given = call_param(c, "fieldManager");
    const char *agent = c->user_agent ? c->user_agent : "";
    size_t n;

    if (given && given[0])
        return given;
    n = strcspn(agent, "/");
    if (n == 0)
        return "unknown";
    return arena_str(&c->arena, (struct str){agent, MIN(n, (size_t)MANAGER_MAX)});
}

static int read_manager(struct api_call *c, const char *kind, bool is_apply)
{
    const char *given = call_param(c, "fieldManager");
    struct causes cs = {.arena = &c->arena};

    if (given && strlen(given) > MANAGER_MAX)
        cause_too_long(&cs, "fieldManager", MANAGER_MAX);
    if (is_apply && (!given || !given[0]))
        cause_required(&cs, "fieldManager", "is required for apply patch");
    if (!is_apply && call_param(c, "force") && streq(kind, "PatchOptions"))
        cause_forbidden(&cs, "force", "may not be specified for non-apply patch");
    c->force = call_param_true(c, "force");
    c->manager = manager_of(c);
    return cs.n ? options_invalid(c, kind, &cs) : 0;
}

int options_read_write(struct api_call *c, const char *kind, bool is_apply)
{
    int r = read_dry_run(c, kind);

    if (r == 0)
        r = read_field_validation(c, kind);
    return r < 0 ? r : read_manager(c, kind, is_apply);
}

int options_version(struct api_call *c, const char *key, int64_t *ret_version)
{
    const char *text = call_param(c, key);

    *ret_version = 0;
    if (!text || !text[0])
        return 0;
    if (str_to_i64(str_of(text), ret_version) < 0 || *ret_version < 0)
        return status_fail(c, 500, "InternalError",
                           "%s: Invalid value: \"%s\": strconv.ParseUint: parsing \"%s\": invalid "
                           "syntax",
                           key, text, text);
    return 0;
}

static bool given(const struct api_call *c, const char *key)
{
    const char *v = call_param(c, key);

    return v && v[0];
}

static void check_watch(struct api_call *c, struct causes *cs)
{
    const char *match = call_param(c, "resourceVersionMatch");
    bool initial = given(c, "sendInitialEvents");

    if (given(c, "resourceVersionMatch") && !initial)
        cause_forbidden(cs, "resourceVersionMatch",
                        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is "
                        "provided");
    if (initial && !streq(match, "NotOlderThan"))
        cause_forbidden(cs, "resourceVersionMatch",
                        "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
}

static void check_list(struct api_call *c, struct causes *cs)
{
    static const char *const supported[] = {"Exact", "NotOlderThan", "", NULL};
    const char *match = call_param(c, "resourceVersionMatch");

    if (given(c, "sendInitialEvents"))
        cause_forbidden(cs, "sendInitialEvents", "sendInitialEvents is forbidden for list");
    if (!given(c, "resourceVersionMatch"))
        return;
    if (!given(c, "resourceVersion"))
        cause_forbidden(cs, "resourceVersionMatch",
                        "resourceVersionMatch is forbidden unless resourceVersion is provided");
    if (given(c, "continue"))
        cause_forbidden(cs, "resourceVersionMatch",
                        "resourceVersionMatch is forbidden when continue is provided");
    if (!streq(match, "Exact") && !streq(match, "NotOlderThan"))
        cause_not_supported(cs, "resourceVersionMatch", jsn_string(&c->arena, match), supported);
    if (streq(match, "Exact") && streq(call_param(c, "resourceVersion"), "0"))
        cause_forbidden(cs, "resourceVersionMatch",
                        "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
}

int options_check_list(struct api_call *c, bool watch)
{
    struct causes cs = {.arena = &c->arena};

    if (watch)
        check_watch(c, &cs);
    else
        check_list(c, &cs);
    return cs.n ? options_invalid(c, "ListOptions", &cs) : 0;
}
