/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Strategies of definitions and of custom resources.
 *
 * A definition is deleted in two steps: the request only marks it and holds it by a finalizer, and
 * the controller lets go when all objects of its kind are gone.  While it is being deleted no new
 * ones can be made.
 */
#include "src/cluster/apiserver/crd/controller.h"
#include "src/cluster/apiserver/crd/custom.h"
#include "src/cluster/apiserver/crd/definition.h"
#include "src/cluster/apiserver/kinds/kinds.h"
#include "src/cluster/apiserver/object.h"

static void warn_rule(void *arg, const char *rule, const char *uses)
{
    call_warn(
        arg,
        "the validation rule \"%s\" is kept, but this API server does not evaluate it: it uses "
        "%s",
        rule, uses);
}

static int prepare_definition(struct api_call *c, struct jsn *crd)
{
    (void)jsn_del(crd, "status");
    jsn_set_path(&c->arena, crd, "status.conditions", jsn_null(&c->arena));
    jsn_set_path(&c->arena, crd, "status.acceptedNames.plural", jsn_string(&c->arena, ""));
    jsn_set_path(&c->arena, crd, "status.acceptedNames.kind", jsn_string(&c->arena, ""));
    definition_note_stored(&c->arena, crd);
    definition_unknown_rules(&c->arena, crd, warn_rule, c);
    return 0;
}

static int prepare_definition_update(struct api_call *c, struct jsn *crd, const struct jsn *old)
{
    struct jsn *status = jsn_key(crd, "status");

    if (c->sub)
        return 0;
    if (status == jsn_key(old, "status"))
        jsn_set(&c->arena, crd, "status", jsn_clone(&c->arena, status));
    definition_note_stored(&c->arena, crd);
    if (!jsn_equal(jsn_key(crd, "spec"), jsn_key(old, "spec")))
        definition_unknown_rules(&c->arena, crd, warn_rule, c);
    return 0;
}

/* The first request to delete it: hold it until its objects are gone. */
static int begin_delete(struct api_call *c, struct jsn *crd)
{
    struct jsn *finalizers = jsn_get(crd, "metadata.finalizers");

    if (jsn_get_str(crd, "metadata.deletionTimestamp"))
        return 0;
    if (!jsn_is(finalizers, JSN_ARRAY)) {
        finalizers = jsn_array(&c->arena);
        jsn_set_path(&c->arena, crd, "metadata.finalizers", finalizers);
    }
    JSN_FOR_ITEMS (item, finalizers)
        if (streq(jsn_text(item), DEFINITION_FINALIZER))
            return 0;
    jsn_append(&c->arena, finalizers, jsn_string(&c->arena, DEFINITION_FINALIZER));
    definition_set_condition(&c->arena, crd, "Terminating", "True", "InstanceDeletionPending",
                             "CustomResourceDefinition marked for deletion; CustomResource "
                             "deletion will begin soon",
                             call_now(c));
    return 0;
}

const struct strategy strategy_crds = {
    .resource = DEFINITION_RESOURCE,
    .names = NAME_CUSTOM, /* its own finalizer has no "/" */
    .status_reset = true,
    .needs_version = true,
    .bare_deletion = true,
    .set_defaults = definition_set_defaults,
    .prepare_create = prepare_definition,
    .prepare_update = prepare_definition_update,
    .validate = definition_validate,
    .validate_update = definition_validate_update,
    .check_delete = begin_delete,
};

static int prepare_custom(struct api_call *c, struct jsn *object)
{
    if (!crd_controller_ending(c->server->crds, c->res))
        return 0;
    return status_forbidden(c, object_name(object),
                            "create not allowed while custom resource definition is terminating");
}

static const struct strategy plain = {
    .resource = "",
    .names = NAME_CUSTOM,
    .needs_version = true,
    .prepare_create = prepare_custom,
};

static const struct strategy with_status = {
    .resource = "",
    .names = NAME_CUSTOM,
    .needs_version = true,
    .status_reset = true,
    .prepare_create = prepare_custom,
};

const struct strategy *custom_strategy(const struct resource *res)
{
    return resource_sub(res, STR("status")) ? &with_status : &plain;
}
