/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What objects of ours name: ConfigMaps, Secrets, claims and accounts of their namespace.
 *
 * A spec has references of its own (slurmKeyRef, configFileRefs) and parts of pods (volumes, env,
 * imagePullSecrets), and both have the same few forms.  So the whole spec is walked, and a member
 * is a reference by what it is called.
 */
#include "src/api/controller.h"
#include "src/api/loginset.h"
#include "src/build/labels.h"
#include "src/build/login.h"
#include "src/cli/export.h"

static const struct export_kind kinds[] = {
    {"ServiceAccount", {"", "v1", "serviceaccounts"}, false},
    {"ConfigMap", {"", "v1", "configmaps"}, false},
    {"Secret", {"", "v1", "secrets"}, true},
    {"PersistentVolumeClaim", {"", "v1", "persistentvolumeclaims"}, false},
};

const struct export_kind *export_kind_find(const char *kind)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (streq(kinds[i].kind, kind))
            return &kinds[i];
    return NULL;
}

/* How references are written: the member, and where below it the name is; "": it is the name. */
static const struct {
    const char *member;
    const char *name;
    const char *kind;
} forms[] = {
    {"slurmKeyRef", "name", "Secret"},
    {"jwtKeyRef", "name", "Secret"},
    {"jwtHs256KeyRef", "name", "Secret"},
    {"passwordKeyRef", "name", "Secret"},
    {"sssdConfRef", "name", "Secret"},
    {"secretKeyRef", "name", "Secret"},
    {"imagePullSecrets", "name", "Secret"},
    {"secret", "secretName", "Secret"},
    {"secret", "name", "Secret"},
    {"secretRef", "name", "Secret"},
    {"jwksKeyRef", "name", "ConfigMap"},
    {"configFileRefs", "name", "ConfigMap"},
    {"prologScriptRefs", "name", "ConfigMap"},
    {"epilogScriptRefs", "name", "ConfigMap"},
    {"prologSlurmctldScriptRefs", "name", "ConfigMap"},
    {"epilogSlurmctldScriptRefs", "name", "ConfigMap"},
    {"configMapKeyRef", "name", "ConfigMap"},
    {"configMapRef", "name", "ConfigMap"},
    {"configMap", "name", "ConfigMap"},
    {"persistentVolumeClaim", "claimName", "PersistentVolumeClaim"},
    {"existingClaim", "", "PersistentVolumeClaim"},
    {"serviceAccountName", "", "ServiceAccount"},
};

struct walk {
    export_named_fn fn;
    void *arg;
    bool all_secrets; /* a Token's secretRef is what it makes, not what it needs */
};

static void tell(const struct walk *w, const struct jsn *v, const char *path, const char *kind)
{
    const char *name = path[0] ? jsn_get_str(v, path) : jsn_text(v);

    if (jsn_is(v, JSN_ARRAY)) {
        JSN_FOR_ITEMS (item, v)
            tell(w, item, path, kind);
    } else if (name && name[0]) {
        w->fn(w->arg, kind, name);
    }
}

static void walk(const struct walk *w, const struct jsn *v)
{
    JSN_FOR_ITEMS (item, v)
        walk(w, item);
    JSN_FOR_MEMBERS (m, v) {
        for (size_t i = 0; i < ARRAY_LEN(forms); i++)
            if (str_eqz(m->key, forms[i].member) &&
                (w->all_secrets || !streq(forms[i].member, "secretRef")))
                tell(w, m->value, forms[i].name, forms[i].kind);
        walk(w, m->value);
    }
}

void export_named(const struct jsn *object, export_named_fn fn, void *arg)
{
    struct walk w = {fn, arg, !streq(jsn_get_str(object, "kind"), "Token")};

    walk(&w, jsn_key(object, "spec"));
}

void export_made_secrets(struct arena *a, const struct jsn *object, export_named_fn fn, void *arg)
{
    const char *kind = jsn_get_str(object, "kind");
    struct controller c;
    struct loginset l;

    if (streq(kind, "Controller") && controller_decode(a, object, &c, NULL) == 0) {
        if (controller_makes_slurm_key(&c))
            fn(arg, "Secret", controller_slurm_key(a, &c).name);
        if (controller_makes_jwt_key(&c))
            fn(arg, "Secret", controller_jwt_key(a, &c).name);
    }
    if (streq(kind, "LoginSet") && loginset_decode(a, object, &l, NULL) == 0)
        fn(arg, "Secret", login_keys_name(a, &l));
}
