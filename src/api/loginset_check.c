/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Validation of a LoginSet: what the object alone tells, what may not change, what it refers to.
 *
 * What sshd itself would refuse is not looked for here: it depends on its release.  Such a pod says
 * so and does not become ready, and those that run stay.
 */
#include "src/api/loginset.h"
#include "src/api/names.h"

static void check_name(const struct loginset *l, struct api_problems *p)
{
    const char *name = l->meta.name ? l->meta.name : "";
    const char *fault = name_label_fault(str_of(name));

    if (fault)
        api_problem_value(p, API_INVALID, "metadata.name", name_shown(p, name), "a name %s", fault);
}

static void check_controller_ref(const struct loginset *l, struct api_problems *p)
{
    const struct api_controller_ref *ref = &l->spec.controller_ref;

    name_check_ref(p, "spec.controllerRef.name", ref->name);
    if (ref->namespace && ref->namespace[0] && l->meta.namespace &&
        !streq(ref->namespace, l->meta.namespace))
        api_problem_value(
            p, API_INVALID, "spec.controllerRef.namespace", name_shown(p, ref->namespace),
            "the Controller must be in the LoginSet's own namespace, %s", l->meta.namespace);
}

static void check_sssd(const struct loginset *l, struct api_problems *p)
{
    const struct api_key_ref *ref = &l->spec.sssd_conf_ref;
    const char *fault = ref->key ? name_key_fault(str_of(ref->key)) : NULL;

    name_check_ref(p, "spec.sssdConfRef.name", ref->name);
    if (fault)
        api_problem_value(p, API_INVALID, "spec.sssdConfRef.key", name_shown(p, ref->key),
                          "a key %s", fault);
}

static void check_strategy(const struct loginset *l, struct api_problems *p)
{
    const char *type = jsn_get_str(l->spec.strategy, "type");

    if (type && type[0] && !streq(type, "RollingUpdate") && !streq(type, "Recreate"))
        api_problem_value(p, API_INVALID, "spec.strategy.type", name_shown(p, type),
                          "must be RollingUpdate or Recreate");
    else if (streq(type, "Recreate") && jsn_get(l->spec.strategy, "rollingUpdate"))
        api_problem_add(p, API_INVALID, "spec.strategy.rollingUpdate",
                        "may not be there where type is Recreate");
}

/* "ssh-ed25519 AAAA...", perhaps with options before. */
static bool is_key_line(struct str line)
{
    static const char *const types[] = {"ssh-", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-"};
    struct str word;

    while (str_split(&line, ' ', &word))
        for (size_t i = 0; i < ARRAY_LEN(types); i++)
            if (str_starts(word, types[i]))
                return true;
    return false;
}

static void check_root_keys(const struct loginset *l, struct api_problems *p)
{
    struct str rest = str_of(l->spec.root_keys);
    struct str line;
    unsigned number = 0;

    while (str_split(&rest, '\n', &line)) {
        struct str text = str_trim(line);

        number++;
        if (str_starts(text, "-----BEGIN"))
            api_problem_add(p, API_INVALID, "spec.rootSshAuthorizedKeys",
                            "line %u begins a private key; only public ones belong here", number);
        else if (text.n && text.p[0] != '#' && !is_key_line(text))
            api_problem_add(p, API_WARNING, "spec.rootSshAuthorizedKeys",
                            "line %u is no public key: sshd passes over it", number);
    }
}

static void check_service(const struct loginset *l, struct api_problems *p)
{
    if (jsn_len(jsn_get(l->spec.service.spec, "externalIPs")))
        api_problem_add(p, API_WARNING, "spec.service.spec.externalIPs",
                        "is ignored: it would let this namespace take over traffic of others");
}

void loginset_check_annotations(const struct loginset *l, struct api_problems *p)
{
    const char *said = api_annotation(&l->meta, LOGIN_GRACE_ANNOTATION);
    int64_t seconds;

    if (said &&
        (str_to_i64(str_of(said), &seconds) < 0 || seconds < 0 || seconds > LOGIN_GRACE_MAX_S))
        api_problem_add(p, API_WARNING, "metadata.annotations[" LOGIN_GRACE_ANNOTATION "]",
                        "%s is not a number of seconds up to %d: %d is used", name_shown(p, said),
                        LOGIN_GRACE_MAX_S, LOGIN_GRACE_DEFAULT_S);
}

void loginset_check(const struct loginset *l, struct api_problems *p)
{
    check_name(l, p);
    check_controller_ref(l, p);
    check_sssd(l, p);
    check_strategy(l, p);
    check_root_keys(l, p);
    check_service(l, p);
    loginset_check_annotations(l, p);
}

void loginset_check_update(const struct loginset *l, const struct loginset *old,
                           struct api_problems *p)
{
    if (!streq(l->spec.controller_ref.name, old->spec.controller_ref.name))
        api_problem_add(p, API_FORBIDDEN, "spec.controllerRef",
                        "cannot be changed: people would find themselves at another cluster; make "
                        "another LoginSet");
}

static void warn_missing(const struct loginset *l, const struct api_lookup *lookup,
                         struct api_problems *p, const char *field, const char *kind,
                         const char *name)
{
    if (name && name[0] &&
        api_lookup_get(lookup, kind, api_namespace(&l->meta), name, NULL) == API_ABSENT)
        api_problem_add(p, API_WARNING, field, "there is no %s %s in namespace %s yet", kind, name,
                        api_namespace(&l->meta));
}

void loginset_check_refs(const struct loginset *l, const struct api_lookup *lookup,
                         struct api_problems *p)
{
    warn_missing(l, lookup, p, "spec.controllerRef.name", "Controller",
                 l->spec.controller_ref.name);
    if (!l->spec.sssd_conf_ref.optional)
        warn_missing(l, lookup, p, "spec.sssdConfRef.name", "Secret", l->spec.sssd_conf_ref.name);
}
