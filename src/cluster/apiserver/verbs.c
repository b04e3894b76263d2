/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Get, create, update and delete of single objects, and of their status.
 *
 * Each verb reads its options and its body, hands the object to write.h, and answers.
 */
#include "src/cluster/apiserver/verbs.h"

#include "src/cluster/apiserver/answer.h"
#include "src/cluster/apiserver/body.h"
#include "src/cluster/apiserver/object.h"
#include "src/cluster/apiserver/options.h"
#include "src/cluster/apiserver/rbac/authorize.h"
#include "src/cluster/apiserver/strategy.h"
#include "src/cluster/apiserver/write.h"

void verb_get(struct api_call *c)
{
    struct jsn *object = NULL;

    if (object_load(c, c->ns, c->name, &object) < 0)
        answer_failure(c);
    else
        answer_object(c, 200, object_present(c, object));
}

/* The body may leave name and namespace to the URL, but not contradict it. */
static int match_url(struct api_call *c, struct jsn *object)
{
    struct jsn *meta = jsn_key(object, "metadata");
    const char *ns = jsn_get_str(meta, "namespace");
    const char *name = jsn_get_str(meta, "name");

    if (c->stored->namespaced && ns && ns[0] && !streq(ns, c->ns))
        return status_bad_request(c, "the namespace of the provided object does not match the "
                                     "namespace sent on the request");
    if (c->name && name && name[0] && !streq(name, c->name))
        return status_bad_request(c,
                                  "the name of the object (%s) does not match the name on the URL "
                                  "(%s)",
                                  name, c->name);
    if (c->name)
        jsn_set_str(&c->arena, meta, "name", c->name);
    if (c->stored->namespaced)
        jsn_set_str(&c->arena, meta, "namespace", c->ns);
    return 0;
}

void verb_create(struct api_call *c)
{
    struct jsn *object = NULL;
    int r = options_read_write(c, "CreateOptions", false);

    if (r == 0)
        r = body_read_object(c, &object);
    if (r == 0)
        r = match_url(c, object);
    if (r == 0)
        r = write_adopt_asked(c) ? write_adopt(c, object) : write_create(c, object);
    if (r < 0)
        answer_failure(c);
    else
        answer_object(c, 201, object_present(c, object));
}

static int put(struct api_call *c, struct jsn *object, int *ret_code)
{
    static const struct write_update how = {0};
    struct jsn *old = NULL;
    int r = object_find(c, c->ns, c->name, &old);

    *ret_code = 200;
    if (r == -ENOENT && strategy_of(c->stored)->create_on_update && !c->sub) {
        *ret_code = 201;
        (void)jsn_del_path(object, "metadata.resourceVersion");
        r = rbac_check_verb(c, "create");
        return r < 0 ? r : write_create(c, object);
    }
    if (r == -ENOENT)
        return status_not_found(c, c->name);
    return r < 0 ? r : write_update(c, old, object, &how);
}

void verb_update(struct api_call *c)
{
    struct jsn *object = NULL;
    int code = 200;
    int r = options_read_write(c, "UpdateOptions", false);

    if (r == 0)
        r = body_read_object(c, &object);
    if (r == 0)
        r = match_url(c, object);
    if (r == 0)
        r = put(c, object, &code);
    if (r < 0)
        answer_failure(c);
    else
        answer_object(c, code, object_present(c, object));
}

void verb_delete(struct api_call *c)
{
    struct delete_options o;
    struct jsn *object = NULL;
    struct jsn *answer = NULL;
    int r = options_read_write(c, "DeleteOptions", false);

    if (r == 0)
        r = delete_options_read(c, &o);
    if (r == 0)
        r = object_load(c, c->ns, c->name, &object);
    if (r == 0)
        r = write_delete(c, object, &o, &answer);
    if (r < 0)
        answer_failure(c);
    else
        answer_object(c, 200, answer);
}
