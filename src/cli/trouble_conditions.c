/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What conditions of our objects say is wrong.
 *
 * A condition is good when it is true, unless it is in one of two lists: what somebody changed in
 * Slurm (Drifted) is good when it is false, and others tell of a state and of nothing wrong: pods
 * of an older template (Updated) serve.
 */
#include "src/cli/trouble_conditions.h"

#include "src/base/clock.h"

/* How long pods may take to start, and changes to reach Slurm, before somebody is told. */
#define STARTING_US (30 * 1000000LL)

static bool is_among(const char *const *types, const char *type)
{
    for (; *types; types++)
        if (streq(type, *types))
            return true;
    return false;
}

static bool is_bad(const struct jsn *condition)
{
    static const char *const should_not[] = {"Drifted", "ReplicaFailure", NULL};
    static const char *const states[] = {"Paused", "Deleting", "Updated", NULL};
    static const char *const told_by_drifted[] = {"ChangedInSlurm", NULL};
    const char *type = jsn_get_str(condition, "type");
    const char *status = jsn_get_str(condition, "status");

    if (is_among(should_not, type))
        return streq(status, "True");
    return streq(status, "False") && !is_among(states, type) &&
           !is_among(told_by_drifted, jsn_get_str(condition, "reason"));
}

static bool is_starting(const struct jsn *condition, int64_t now_us)
{
    static const char *const passing[] = {"PodsNotReady",
                                          "SlurmctldNotReady",
                                          "Applying",
                                          "Pending",
                                          "Writing",
                                          "NotRegistered",
                                          "NodesNotServing",
                                          "AccountingAwaited",
                                          "KeysAwaited",
                                          "UpgradingSlurmctld",
                                          "UpgradingNodes",
                                          "PasswordAwaited",
                                          "DatabaseNotReady",
                                          "SlurmdbdNotReady",
                                          "DatabaseUnreachable",
                                          NULL};
    const char *since = jsn_get_str(condition, "lastTransitionTime");
    int64_t when;

    return is_among(passing, jsn_get_str(condition, "reason")) && since &&
           clock_parse_rfc3339(str_of(since), &when) == 0 && now_us - when < STARTING_US;
}

static const char *one_line(struct arena *a, const char *text)
{
    char *copy = arena_strdup(a, text ? text : "no reason was given");

    for (char *p = copy; *p; p++)
        if (*p == '\n')
            *p = p[1] ? ' ' : '\0';
    return copy;
}

void trouble_say(struct arena *a, struct jsn *list, const char *kind, const struct jsn *object,
                 const char *what)
{
    const char *ns = jsn_get_str(object, "metadata.namespace");
    struct jsn *text = jsn_stringf(a, "%s %s%s%s: %s", kind, ns ? ns : "", ns ? "/" : "",
                                   jsn_get_str(object, "metadata.name"), one_line(a, what));

    JSN_FOR_ITEMS (known, list)
        if (jsn_equal(known, text))
            return;
    jsn_append(a, list, text);
}

void trouble_conditions(struct arena *a, const char *kind, const struct jsn *object, int64_t now_us,
                        bool impatient, struct jsn *list)
{
    JSN_FOR_ITEMS (c, jsn_get(object, "status.conditions")) {
        const char *message = jsn_get_str(c, "message");

        if (!is_bad(c) || (!impatient && is_starting(c, now_us)))
            continue;
        if (!message || !message[0])
            message = arena_printf(a, "%s is %s (%s)", jsn_get_str(c, "type"),
                                   jsn_get_str(c, "status"), jsn_get_str(c, "reason"));
        trouble_say(a, list, kind, object, message);
    }
}
