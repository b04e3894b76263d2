/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Persistent volume claims.
 *
 * A claim gets the finalizer kubernetes.io/pvc-protection, so that it outlives the pods that use
 * it, and the default storage class where it names none.  Its deletion takes the finalizer off at
 * once if no pod uses the claim; otherwise protection.c does when the last pod is gone.
 *
 * A claim's spec is fixed; only a bound claim may ask for more storage.
 */
#include "src/cluster/apiserver/kinds/claims.h"

#include "src/cluster/apiserver/kinds/kinds.h"
#include "src/cluster/apiserver/kinds/labelselector.h"
#include "src/cluster/apiserver/kinds/lookup.h"
#include "src/cluster/apiserver/kinds/podspec.h"
#include "src/json/quantity.h"

static const char *const access_modes[] = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce",
                                           "ReadWriteOncePod", NULL};
static const char *const volume_modes[] = {"Block", "Filesystem", NULL};

void claims_add_finalizer(struct arena *a, struct jsn *object, const char *name)
{
    struct jsn *meta = jsn_ensure_object(a, object, "metadata");
    struct jsn *list = jsn_key(meta, "finalizers");

    if (!jsn_is(list, JSN_ARRAY)) {
        list = jsn_array(a);
        jsn_set(a, meta, "finalizers", list);
    }
    JSN_FOR_ITEMS (item, list) {
        if (streq(jsn_text(item), name))
            return;
    }
    jsn_append(a, list, jsn_string(a, name));
}

void claims_drop_finalizer(struct jsn *object, const char *name)
{
    struct jsn *list = jsn_get(object, "metadata.finalizers");

    for (size_t i = 0; i < jsn_len(list); i++) {
        if (streq(jsn_text(jsn_item(list, i)), name)) {
            jsn_remove_at(list, i);
            break;
        }
    }
    if (jsn_is(list, JSN_ARRAY) && jsn_len(list) == 0)
        (void)jsn_del_path(object, "metadata.finalizers");
}

static bool take_default_class(void *arg, struct jsn *class)
{
    const char **name = arg;
    const struct jsn *annotations = jsn_get(class, "metadata.annotations");

    if (!streq(jsn_text(jsn_key(annotations, "storageclass.kubernetes.io/is-default-class")),
               "true"))
        return true;
    *name = kind_text(class, "metadata.name");
    return false;
}

static int prepare_create(struct api_call *c, struct jsn *claim)
{
    struct jsn *spec = jsn_ensure_object(&c->arena, claim, "spec");
    struct jsn *status = jsn_object(&c->arena);
    const char *class = NULL;
    int r = 0;

    jsn_set_str(&c->arena, status, "phase", "Pending");
    jsn_set(&c->arena, claim, "status", status);
    claims_add_finalizer(&c->arena, claim, CLAIM_FINALIZER);
    if (!jsn_key(spec, "storageClassName"))
        r = lookup_each_object(c, "storageclasses.storage.k8s.io", "", take_default_class, &class);
    if (r == 0 && class)
        jsn_set_str(&c->arena, spec, "storageClassName", class);
    return r;
}

static bool is_used_by(const struct jsn *pod, const char *claim)
{
    /* Before it has a node nobody has mounted anything for it; afterwards it holds the claim until
     * it is gone, even if it has ended. */
    if (!kind_text(pod, "spec.nodeName")[0])
        return false;
    JSN_FOR_ITEMS (volume, jsn_get(pod, "spec.volumes")) {
        if (streq(jsn_get_str(volume, "persistentVolumeClaim.claimName"), claim))
            return true;
    }
    return false;
}

struct search {
    const char *claim;
    bool used;
};

static bool look_at_pod(void *arg, struct jsn *pod)
{
    struct search *s = arg;

    s->used = is_used_by(pod, s->claim);
    return !s->used;
}

int claims_find_user(struct api_call *c, const struct jsn *claim, bool *ret_used)
{
    struct search s = {.claim = kind_text(claim, "metadata.name")};
    int r = lookup_each_object(c, "pods", kind_text(claim, "metadata.namespace"), look_at_pod, &s);

    if (r == 0)
        *ret_used = s.used;
    return r;
}

static int check_delete(struct api_call *c, struct jsn *claim)
{
    bool used = false;
    int r = claims_find_user(c, claim, &used);

    if (r == 0 && !used)
        claims_drop_finalizer(claim, CLAIM_FINALIZER);
    return r;
}

void claims_check_modes(struct causes *cs, const struct place *spec, const char *why)
{
    struct place modes = place_key(spec, "accessModes");
    struct place volume_mode = place_key(spec, "volumeMode");

    if (jsn_len(modes.value) == 0)
        place_required(cs, &modes, why);
    JSN_FOR_ITEMS (mode, modes.value) {
        struct place at = modes;

        at.value = mode;
        check_enum(cs, &at, access_modes);
    }
    check_enum(cs, &volume_mode, volume_modes);
}

static struct quantity storage_of(const struct jsn *claim)
{
    const char *text = jsn_get_str(claim, "spec.resources.requests.storage");
    struct quantity q = {0};

    if (text && quantity_parse(str_of(text), &q, NULL) < 0)
        return (struct quantity){0};
    return q;
}

static void check_source(struct causes *cs, const struct place *source)
{
    struct place name = place_key(source, "name");
    struct place kind = place_key(source, "kind");
    struct place group = place_key(source, "apiGroup");

    if (!place_given(source))
        return;
    (void)check_filled(cs, &name, NULL);
    (void)check_filled(cs, &kind, NULL);
    if (!place_filled(&group) && !streq(place_str(&kind), "PersistentVolumeClaim"))
        cause_invalid(cs, place_text(cs, source), kind.value,
                      "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
}

static void validate(struct causes *cs, const struct jsn *claim)
{
    struct place root = place_root(claim);
    struct place spec = place_key(&root, "spec");
    struct place selector = place_key(&spec, "selector");
    struct place class = place_key(&spec, "storageClassName");
    struct place source = place_key(&spec, "dataSource");
    const struct jsn *storage = jsn_get(spec.value, "resources.requests.storage");

    claims_check_modes(cs, &spec, "at least 1 access mode is required");
    labelselector_check(cs, &selector);
    if (!storage)
        cause_required(cs, "spec.resources[storage]", NULL);
    else if (storage_of(claim).nano <= 0)
        cause_invalid(cs, "spec.resources[storage]", storage, "must be greater than zero");
    if (place_filled(&class))
        check_form(cs, &class, FORM_DNS_SUBDOMAIN);
    check_source(cs, &source);
}

static void validate_update(struct causes *cs, const struct jsn *claim, const struct jsn *old)
{
    const struct jsn *old_spec = jsn_key(old, "spec");
    struct jsn *rest = jsn_clone(cs->arena, jsn_key(claim, "spec"));
    struct quantity now = storage_of(claim);
    struct quantity was = storage_of(old);

    if (kind_text(old_spec, "volumeName")[0] == '\0')
        kind_keep(cs->arena, rest, old_spec, "volumeName");
    if (!jsn_key(old_spec, "storageClassName"))
        kind_keep(cs->arena, rest, old_spec, "storageClassName");
    if (streq(jsn_get_str(claim, "status.phase"), "Bound") && jsn_get(rest, "resources.requests"))
        kind_keep(cs->arena, jsn_get(rest, "resources.requests"),
                  jsn_get(old_spec, "resources.requests"), "storage");
    if (!check_same(rest, old_spec))
        cause_forbidden(cs, "spec",
                        "spec is immutable after creation except resources.requests for bound "
                        "claims%s",
                        kind_difference(cs->arena, rest, old_spec, "spec"));
    if (quantity_cmp(&now, &was) < 0)
        cause_forbidden(cs, "spec.resources.requests.storage",
                        "field can not be less than previous value");
}

const struct strategy strategy_persistentvolumeclaims = {
    .resource = "persistentvolumeclaims",
    .no_generation = true,
    .status_reset = true,
    .deletes_to_object = true,
    .prepare_create = prepare_create,
    .validate = validate,
    .validate_update = validate_update,
    .check_delete = check_delete,
};
