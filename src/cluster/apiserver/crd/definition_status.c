/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The status of a definition, as it follows from its names and those of others.
 *
 * Names are claimed first come, first served within a group: plural, singular and short names share
 * one space, kind and list kind another.  Each name that is free (or one's own already) is accepted
 * by itself; only when all are is the definition established, and once established it stays so.
 *
 *     NamesAccepted  True   NoConflicts
 *                    False  PluralConflict, SingularConflict, ShortNamesConflict, KindConflict,
 *                           ListKindConflict
 *     Established    False  NotAccepted  ->  True  InitialNamesAccepted
 *
 * Pure: the time is an argument, and what was decided before stands in the object.
 */
#include "src/cluster/apiserver/crd/definition.h"

#include <ctype.h>

struct jsn *definition_condition(const struct jsn *crd, const char *type)
{
    JSN_FOR_ITEMS (c, jsn_get(crd, "status.conditions"))
        if (streq(jsn_get_str(c, "type"), type))
            return c;
    return NULL;
}

bool definition_is(const struct jsn *crd, const char *type)
{
    return streq(jsn_get_str(definition_condition(crd, type), "status"), "True");
}

bool definition_served(const struct jsn *crd)
{
    return definition_is(crd, "NamesAccepted") || definition_is(crd, "Established");
}

void definition_set_condition(struct arena *a, struct jsn *crd, const char *type,
                              const char *status, const char *reason, const char *message,
                              const char *now)
{
    struct jsn *list = jsn_get(crd, "status.conditions");
    struct jsn *c = definition_condition(crd, type);
    bool same = streq(jsn_get_str(c, "status"), status);

    if (!jsn_is(list, JSN_ARRAY)) {
        list = jsn_array(a);
        jsn_set_path(a, crd, "status.conditions", list);
    }
    if (!c) {
        c = jsn_object(a);
        jsn_append(a, list, c);
    }
    jsn_set_str(a, c, "type", type);
    jsn_set_str(a, c, "status", status);
    if (!same || !jsn_get_str(c, "lastTransitionTime"))
        jsn_set_str(a, c, "lastTransitionTime", now);
    jsn_set_str(a, c, "reason", reason);
    jsn_set_str(a, c, "message", message);
}

void definition_set_defaults(struct arena *a, struct jsn *crd)
{
    struct jsn *spec = jsn_key(crd, "spec");
    struct jsn *names = jsn_key(spec, "names");
    const char *kind = jsn_get_str(names, "kind");
    const char *singular = jsn_get_str(names, "singular");
    const char *list_kind = jsn_get_str(names, "listKind");

    if (!jsn_is(spec, JSN_OBJECT))
        return;
    if (!jsn_is(jsn_key(spec, "conversion"), JSN_OBJECT))
        jsn_set_path(a, spec, "conversion.strategy", jsn_string(a, "None"));
    if (!jsn_is(names, JSN_OBJECT) || !kind || !*kind)
        return;
    if (!singular || !*singular) {
        char *lower = arena_strdup(a, kind);

        for (char *c = lower; *c; c++)
            *c = (char)tolower((unsigned char)*c);
        jsn_set_str(a, names, "singular", lower);
    }
    if (!list_kind || !*list_kind)
        jsn_set(a, names, "listKind", jsn_stringf(a, "%sList", kind));
}

static bool is_listed(const struct jsn *list, const char *text)
{
    JSN_FOR_ITEMS (item, list)
        if (streq(jsn_text(item), text))
            return true;
    return false;
}

void definition_note_stored(struct arena *a, struct jsn *crd)
{
    struct jsn *list = jsn_get(crd, "status.storedVersions");

    JSN_FOR_ITEMS (version, jsn_get(crd, "spec.versions")) {
        const char *name = jsn_get_str(version, "name");

        if (!name || !jsn_get_bool(version, "storage", false))
            continue;
        if (!jsn_is(list, JSN_ARRAY)) {
            list = jsn_array(a);
            jsn_set_path(a, crd, "status.storedVersions", list);
        }
        if (!is_listed(list, name))
            jsn_append(a, list, jsn_string(a, name));
        return;
    }
}

/* Has another definition, or the server itself, the name?  `keys` are those of acceptedNames. */
static bool in_use(const struct definition_taken *taken, const struct jsn *crd, const char *name,
                   const char *const *keys, const char *const *built_in)
{
    if (strings_have(built_in, name))
        return true;
    JSN_FOR_ITEMS (other, taken->others) {
        const struct jsn *names = jsn_get(other, "status.acceptedNames");

        if (streq(jsn_get_str(other, "metadata.name"), jsn_get_str(crd, "metadata.name")) ||
            !streq(jsn_get_str(other, "spec.group"), jsn_get_str(crd, "spec.group")))
            continue;
        for (size_t i = 0; keys[i]; i++)
            if (streq(jsn_get_str(names, keys[i]), name))
                return true;
        if (streq(keys[0], "plural") && is_listed(jsn_key(names, "shortNames"), name))
            return true;
    }
    return false;
}

static const char *const resource_keys[] = {"plural", "singular", NULL};
static const char *const kind_keys[] = {"kind", "listKind", NULL};

struct naming {
    struct arena *a;
    const struct definition_taken *taken;
    const struct jsn *crd;
    struct jsn *accepted; /* the new status.acceptedNames */
    const char *reason;   /* of the last conflict; NULL: none */
    const char *message;
};

static bool is_taken(const struct naming *n, const char *name, bool kind)
{
    return kind ? in_use(n->taken, n->crd, name, kind_keys, n->taken->kinds)
                : in_use(n->taken, n->crd, name, resource_keys, n->taken->resources);
}

static void claim(struct naming *n, const char *key, bool kind, const char *reason)
{
    const char *want = jsn_get_str(jsn_get(n->crd, "spec.names"), key);
    const char *have = jsn_get_str(n->accepted, key);

    if (!want)
        return;
    if (!streq(want, have) && is_taken(n, want, kind)) {
        n->reason = reason;
        n->message = arena_printf(n->a, "\"%s\" is already in use", want);
        return;
    }
    jsn_set_str(n->a, n->accepted, key, want);
}

static void take_list(struct naming *n, const char *key)
{
    struct jsn *want = jsn_key(jsn_get(n->crd, "spec.names"), key);

    if (jsn_len(want) > 0)
        jsn_set(n->a, n->accepted, key, jsn_clone(n->a, want));
    else
        (void)jsn_del(n->accepted, key);
}

/* All of them or none: a part of the short names would be no use to anybody. */
static void claim_short_names(struct naming *n)
{
    AUTO(buf_done) struct buf b = {0};
    size_t conflicts = 0;

    JSN_FOR_ITEMS (item, jsn_get(n->crd, "spec.names.shortNames")) {
        const char *name = jsn_text(item);

        if (!name || is_listed(jsn_key(n->accepted, "shortNames"), name) ||
            !is_taken(n, name, false))
            continue;
        buf_printf(&b, "%s\"%s\" is already in use", conflicts++ ? ", " : "", name);
    }
    if (conflicts == 0) {
        take_list(n, "shortNames");
        return;
    }
    n->reason = "ShortNamesConflict";
    n->message = arena_printf(n->a, conflicts > 1 ? "[%s]" : "%s", buf_str(&b));
}

static void set_approval(struct arena *a, struct jsn *crd, const char *now)
{
    static const char type[] = "KubernetesAPIApprovalPolicyConformant";
    const char *text =
        jsn_text(jsn_key(jsn_get(crd, "metadata.annotations"), "api-approved.kubernetes.io"));
    enum definition_approval state = definition_approval(crd);

    if (state == APPROVAL_GIVEN)
        definition_set_condition(a, crd, type, "True", "ApprovedAnnotation",
                                 arena_printf(a, "approved in %s", text), now);
    else if (state == APPROVAL_BYPASSED)
        definition_set_condition(a, crd, type, "False", "UnapprovedAnnotation",
                                 arena_printf(a, "not approved: \"%s\"", text), now);
}

struct jsn *definition_next(struct arena *a, const struct jsn *crd,
                            const struct definition_taken *taken, const char *now)
{
    struct jsn *next = jsn_clone(a, crd);
    struct jsn *status = jsn_ensure_object(a, next, "status");
    struct naming n = {.a = a, .taken = taken, .crd = crd};

    n.accepted = jsn_ensure_object(a, status, "acceptedNames");
    claim(&n, "plural", false, "PluralConflict");
    claim(&n, "singular", false, "SingularConflict");
    claim_short_names(&n);
    claim(&n, "kind", true, "KindConflict");
    claim(&n, "listKind", true, "ListKindConflict");
    take_list(&n, "categories");
    definition_set_condition(a, next, "NamesAccepted", n.reason ? "False" : "True",
                             n.reason ? n.reason : "NoConflicts",
                             n.reason ? n.message : "no conflicts found", now);
    if (!n.reason && !definition_is(next, "Established"))
        definition_set_condition(a, next, "Established", "True", "InitialNamesAccepted",
                                 "the initial names have been accepted", now);
    else if (n.reason && !definition_condition(next, "Established"))
        definition_set_condition(a, next, "Established", "False", "NotAccepted",
                                 "not all names are accepted", now);
    set_approval(a, next, now);
    return jsn_equal(jsn_key(next, "status"), jsn_key(crd, "status")) ? NULL : next;
}
