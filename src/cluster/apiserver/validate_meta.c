/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Validation of metadata, alike for all kinds: names, labels, annotations, owner references,
 * finalizers, and what an update must not change.
 *
 * A generateName is checked as the beginning of a name: a dash at its end is fine.  Finalizers of
 * built-in kinds need a "/" unless they are one of the three standard names; custom resources may
 * use any qualified name.  An update goes through both functions; a field that the writer left out
 * counts as unchanged.
 */
#include "src/cluster/apiserver/strategy.h"

#include "src/cluster/apiserver/checks.h"
#include "src/cluster/apiserver/gotext.h"

static enum name_form form_of(enum name_rule rule)
{
    switch (rule) {
    case NAME_LABEL:
        return FORM_DNS_LABEL;
    case NAME_DNS1035:
        return FORM_DNS1035_LABEL;
    case NAME_PATH_SEGMENT:
        return FORM_PATH_SEGMENT;
    case NAME_SUBDOMAIN:
    case NAME_CUSTOM:
        break;
    }
    return FORM_DNS_SUBDOMAIN;
}

/* The dash at the end of "job-" becomes a letter: what will stand after it makes it good. */
static void check_generate_name(struct causes *cs, const struct place *at, enum name_form form)
{
    const char *text = place_str(at);
    size_t n = strlen(text);
    struct name_faults f;
    char *masked;

    if (n == 0)
        return;
    masked = arena_strdup(cs->arena, text);
    if (n > 1 && masked[n - 1] == '-')
        masked[n - 1] = 'a';
    f = names_check(form, (struct str){masked, n});
    for (size_t i = 0; i < f.n; i++)
        place_invalid(cs, at, "%s", f.text[i]);
}

static void check_names(struct causes *cs, const struct place *meta, enum name_form form,
                        bool namespaced)
{
    struct place generate = place_key(meta, "generateName");
    struct place name = place_key(meta, "name");
    struct place ns = place_key(meta, "namespace");

    check_generate_name(cs, &generate, form);
    if (check_filled(cs, &name, "name or generateName is required"))
        check_form(cs, &name, form);
    if (namespaced)
        check_form_required(cs, &ns, FORM_DNS_LABEL);
    else if (place_filled(&ns))
        place_forbidden(cs, &ns, "not allowed on this type");
}

static void check_owner(struct causes *cs, const struct place *owners, const struct jsn *owner)
{
    static const struct {
        const char *key, *why;
    } needed[] = {
        {"apiVersion", "version must not be empty"},
        {"kind", "must not be empty"},
        {"name", "must not be empty"},
        {"uid", "must not be empty"},
    };

    for (size_t i = 0; i < ARRAY_LEN(needed); i++) {
        struct place field = place_key(owners, needed[i].key);

        field.value = jsn_key(owner, needed[i].key);
        if (!place_filled(&field))
            place_invalid(cs, &field, "%s", needed[i].why);
    }
    if (streq(jsn_get_str(owner, "apiVersion"), "v1") && streq(jsn_get_str(owner, "kind"), "Event"))
        place_invalid(cs, owners, "/v1, Kind=Event is disallowed from being an owner");
}

static void check_owners(struct causes *cs, const struct place *owners)
{
    const char *controller = NULL;

    JSN_FOR_ITEMS (owner, owners->value) {
        const char *name = jsn_get_str(owner, "name");

        check_owner(cs, owners, owner);
        if (!jsn_get_bool(owner, "controller", false))
            continue;
        if (controller)
            place_invalid(cs, owners,
                          "Only one reference can have Controller set to true. Found \"true\" in "
                          "references for %s and %s",
                          controller, name ? name : "");
        else
            controller = name ? name : "";
    }
}

static bool standard_finalizer(const char *name)
{
    return streq(name, "orphan") || streq(name, "foregroundDeletion") || streq(name, "kubernetes");
}

void validate_finalizers(struct causes *cs, const struct place *at, bool qualified)
{
    bool orphan = false;
    bool foreground = false;

    PLACE_FOR_ITEMS (item, at) {
        const char *name = place_str(&item);
        struct name_faults f = names_check(FORM_QUALIFIED, str_of(name));

        for (size_t i = 0; i < f.n; i++)
            cause_invalid(cs, place_text(cs, at), item.value, "%s", f.text[i]);
        orphan |= streq(name, "orphan");
        foreground |= streq(name, "foregroundDeletion");
        if (qualified && !strchr(name, '/') && !standard_finalizer(name))
            place_invalid(cs, &item,
                          "name is neither a standard finalizer name nor is it fully qualified");
    }
    if (orphan && foreground)
        place_invalid_text(cs, at, gotext_value(cs->arena, at->value),
                           "finalizer orphan and foregroundDeletion cannot be both set");
}

void validate_metadata(struct causes *cs, const struct jsn *object, enum name_rule names,
                       bool namespaced)
{
    struct place root = place_root(object);
    struct place meta = place_key(&root, "metadata");
    struct place labels = place_key(&meta, "labels");
    struct place annotations = place_key(&meta, "annotations");
    struct place owners = place_key(&meta, "ownerReferences");
    struct place finalizers = place_key(&meta, "finalizers");

    check_names(cs, &meta, form_of(names), namespaced);
    check_labels(cs, &labels);
    check_annotations(cs, &annotations);
    check_owners(cs, &owners);
    validate_finalizers(cs, &finalizers, names != NAME_CUSTOM);
}

static bool has_text(const struct jsn *list, const char *text)
{
    JSN_FOR_ITEMS (item, list) {
        if (streq(jsn_text(item), text))
            return true;
    }
    return false;
}

static void check_no_new_finalizers(struct causes *cs, const struct place *at,
                                    const struct jsn *old)
{
    struct jsn *added = jsn_array(cs->arena);

    JSN_FOR_ITEMS (item, at->value) {
        const char *name = jsn_text(item);

        if (name && !has_text(old, name) && !has_text(added, name))
            jsn_append(cs->arena, added, item);
    }
    if (jsn_len(added) > 0)
        place_forbidden(cs, at,
                        "no new finalizers can be added if the object is being deleted, found new "
                        "finalizers %s",
                        gotext_go_strings(cs->arena, added));
}

static void check_unchanged(struct causes *cs, const struct place *meta, const struct jsn *old)
{
    static const char *const fields[] = {
        "name",
        "namespace",
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
    };

    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        struct place at = place_key(meta, fields[i]);

        if (place_given(&at))
            check_immutable(cs, &at, jsn_key(old, fields[i]));
    }
}

void validate_metadata_update(struct causes *cs, const struct jsn *object, const struct jsn *old)
{
    const struct jsn *old_meta = jsn_key(old, "metadata");
    struct place root = place_root(object);
    struct place meta = place_key(&root, "metadata");
    struct place finalizers = place_key(&meta, "finalizers");

    if (jsn_key(old_meta, "deletionTimestamp"))
        check_no_new_finalizers(cs, &finalizers, jsn_key(old_meta, "finalizers"));
    check_unchanged(cs, &meta, old_meta);
}
