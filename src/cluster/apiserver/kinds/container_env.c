/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A container's environment: variables, where their values come from, and whole maps taken over by
 * envFrom.
 *
 * The two kinds of reference to the pod's own fields are shared with the downward API volumes.  A
 * field may be unknown altogether, or merely not offered where the reference stands; these are two
 * different sentences.
 */
#include "src/cluster/apiserver/kinds/podspec.h"

/* "metadata.labels['key']": the subscript, with the path before it in *path; NULL if none. */
static const char *subscript(struct arena *a, const char *text, const char **path)
{
    const char *open = strstr(text, "['");
    size_t n = strlen(text);

    if (!open || n < 4 || strcmp(text + n - 2, "']") != 0)
        return NULL;
    *path = arena_str(a, (struct str){text, (size_t)(open - text)});
    return arena_str(a, (struct str){open + 2, (size_t)(text + n - 2 - (open + 2))});
}

static bool takes_subscript(const char *path)
{
    return streq(path, "metadata.annotations") || streq(path, "metadata.labels");
}

static void check_subscript(struct causes *cs, const struct place *ref, const char *key)
{
    struct name_faults f = names_check(FORM_QUALIFIED, str_of(key));

    for (size_t i = 0; i < f.n; i++)
        cause_invalid(cs, place_text(cs, ref), jsn_string(cs->arena, key), "%s", f.text[i]);
}

/* Fields that a reference may name at all; others get another sentence than those that are merely
 * not supported where the reference stands. */
static bool convertible(const char *path)
{
    static const char *const known[] = {
        "metadata.annotations", "metadata.labels", "metadata.name",      "metadata.namespace",
        "metadata.uid",         "spec.nodeName",   "spec.restartPolicy", "spec.serviceAccountName",
        "spec.schedulerName",   "status.phase",    "status.hostIP",      "status.hostIPs",
        "status.podIP",         "status.podIPs",
    };

    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (streq(path, known[i]))
            return true;
    return false;
}

void field_ref_check(struct causes *cs, const struct place *ref, const char *const *fields)
{
    struct place version = place_key(ref, "apiVersion");
    struct place field = place_key(ref, "fieldPath");
    const char *path = place_str(&field);
    const char *key;

    if (!check_filled(cs, &version, NULL) || !check_filled(cs, &field, NULL))
        return;
    key = subscript(cs->arena, path, &path);
    if (!convertible(path))
        place_invalid(cs, &field, "error converting fieldPath: field label not supported: %s",
                      path);
    else if (key && !takes_subscript(path))
        place_invalid(cs, &field,
                      "error converting fieldPath: field label does not support subscript: %s",
                      place_str(&field));
    else if (key)
        check_subscript(cs, ref, key);
    else
        check_enum(cs, &field, fields);
}

void resource_ref_check(struct causes *cs, const struct place *ref, bool in_volume)
{
    static const char *const resources[] = {"limits.cpu",
                                            "limits.ephemeral-storage",
                                            "limits.memory",
                                            "requests.cpu",
                                            "requests.ephemeral-storage",
                                            "requests.memory",
                                            NULL};
    struct place container = place_key(ref, "containerName");
    struct place resource = place_key(ref, "resource");
    const char *text = place_str(&resource);

    if (in_volume && !check_filled(cs, &container, NULL))
        return;
    if (!check_filled(cs, &resource, NULL))
        return;
    if (!starts_with(text, "limits.hugepages-") && !starts_with(text, "requests.hugepages-"))
        check_enum(cs, &resource, resources);
}

static void check_key_ref(struct causes *cs, const struct place *ref)
{
    struct place name = place_key(ref, "name");
    struct place key = place_key(ref, "key");

    check_form_always(cs, &name, FORM_DNS_SUBDOMAIN);
    check_form_required(cs, &key, FORM_CONFIG_KEY);
}

static void check_value_from(struct causes *cs, const struct place *variable)
{
    static const char *const fields[] = {"metadata.name",
                                         "metadata.namespace",
                                         "metadata.uid",
                                         "spec.nodeName",
                                         "spec.serviceAccountName",
                                         "status.hostIP",
                                         "status.hostIPs",
                                         "status.podIP",
                                         "status.podIPs",
                                         NULL};
    struct place from = place_key(variable, "valueFrom");
    struct place value = place_key(variable, "value");
    struct place field = place_key(&from, "fieldRef");
    struct place resource = place_key(&from, "resourceFieldRef");
    struct place config = place_key(&from, "configMapKeyRef");
    struct place secret = place_key(&from, "secretKeyRef");
    int n =
        place_given(&field) + place_given(&resource) + place_given(&config) + place_given(&secret);

    if (!place_given(&from))
        return;
    if (place_given(&field))
        field_ref_check(cs, &field, fields);
    if (place_given(&resource))
        resource_ref_check(cs, &resource, false);
    if (place_given(&config))
        check_key_ref(cs, &config);
    if (place_given(&secret))
        check_key_ref(cs, &secret);
    if (n == 0)
        place_invalid_text(cs, &from, "\"\"",
                           "must specify one of: `fieldRef`, `resourceFieldRef`, "
                           "`configMapKeyRef` or `secretKeyRef`");
    else if (place_filled(&value))
        place_invalid_text(cs, &from, "\"\"", "may not be specified when `value` is not empty");
    else if (n > 1)
        place_invalid_text(cs, &from, "\"\"",
                           "may not have more than one field specified at a time");
}

static void check_env_from(struct causes *cs, const struct place *list)
{
    PLACE_FOR_ITEMS (source, list) {
        struct place prefix = place_key(&source, "prefix");
        struct place config = place_key(&source, "configMapRef");
        struct place secret = place_key(&source, "secretRef");
        struct place config_name = place_key(&config, "name");
        struct place secret_name = place_key(&secret, "name");

        if (place_filled(&prefix))
            check_form(cs, &prefix, FORM_ENV_NAME);
        if (place_given(&config))
            check_form_required(cs, &config_name, FORM_DNS_SUBDOMAIN);
        if (place_given(&secret))
            check_form_required(cs, &secret_name, FORM_DNS_SUBDOMAIN);
        if (!place_given(&config) && !place_given(&secret))
            place_invalid_text(cs, list, "\"\"",
                               "must specify one of: `configMapRef` or `secretRef`");
        else if (place_given(&config) && place_given(&secret))
            place_invalid_text(cs, list, "\"\"",
                               "may not have more than one field specified at a time");
    }
}

void container_env_check(struct causes *cs, const struct place *container)
{
    struct place env = place_key(container, "env");
    struct place from = place_key(container, "envFrom");

    PLACE_FOR_ITEMS (variable, &env) {
        struct place name = place_key(&variable, "name");

        check_form_required(cs, &name, FORM_ENV_NAME);
        check_value_from(cs, &variable);
    }
    check_env_from(cs, &from);
}
