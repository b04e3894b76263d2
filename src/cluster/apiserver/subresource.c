/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Subresources other than status.
 *
 * Some are other views of the object (scale), some are acts on it (eviction, binding, finalize),
 * and some belong to the machine that runs the pod (log, exec, attach, portforward): those are
 * checked here and handed to the hook that the machine's part registered.
 */
#include "src/cluster/apiserver/subresource.h"

#include "src/cluster/apiserver/answer.h"
#include "src/cluster/apiserver/body.h"
#include "src/cluster/apiserver/eviction_call.h"
#include "src/cluster/apiserver/object.h"
#include "src/cluster/apiserver/options.h"
#include "src/cluster/apiserver/pod_call.h"
#include "src/cluster/apiserver/scale.h"
#include "src/cluster/apiserver/status.h"
#include "src/cluster/apiserver/token.h"
#include "src/cluster/apiserver/write.h"

/* POST pods/NAME/binding {"target": {"name": NODE}}: what a scheduler does. */
static void serve_binding(struct api_call *c)
{
    struct write_update how = {.unconditional = true};
    struct jsn *binding = NULL;
    struct jsn *old = NULL;
    struct jsn *pod = NULL;
    const char *node;
    int r = options_read_write(c, "CreateOptions", false);

    if (r == 0)
        r = body_read_subresource(c, &binding);
    if (r == 0)
        r = object_load(c, c->ns, c->name, &old);
    if (r == 0) {
        node = jsn_get_str(binding, "target.name");
        pod = jsn_clone(&c->arena, old);
        if (!node || !node[0])
            r = status_bad_request(c, "target.name: Required value");
        else if (jsn_get_str(old, "spec.nodeName") && jsn_get_str(old, "spec.nodeName")[0])
            r = status_conflict(c, c->name, "pod %s is already assigned to node \"%s\"", c->name,
                                jsn_get_str(old, "spec.nodeName"));
        else
            jsn_set_path(&c->arena, pod, "spec.nodeName", jsn_string(&c->arena, node));
        c->sub = NULL;
        c->binding = true;
        if (r == 0)
            r = write_update(c, old, pod, &how);
    }
    if (r < 0)
        answer_failure(c);
    else
        answer_json(c, 201, status_success(&c->arena, 201));
}

/* PUT namespaces/NAME/finalize: spec.finalizers only. */
static void serve_finalize(struct api_call *c)
{
    struct write_update how = {.unconditional = true};
    struct jsn *sent = NULL;
    struct jsn *old = NULL;
    struct jsn *object = NULL;
    struct jsn *list;
    int r = options_read_write(c, "UpdateOptions", false);

    if (r == 0)
        r = body_read_object(c, &sent);
    if (r == 0)
        r = object_load(c, "", c->name, &old);
    if (r < 0) {
        answer_failure(c);
        return;
    }
    object = jsn_clone(&c->arena, old);
    list = jsn_get(sent, "spec.finalizers");
    jsn_set_path(&c->arena, object, "spec.finalizers", list ? list : jsn_array(&c->arena));
    if (jsn_len(list) == 0)
        (void)jsn_del_path(object, "spec.finalizers");
    c->finalizing = true;
    c->sub = NULL;
    if (write_update(c, old, object, &how) < 0)
        answer_failure(c);
    else
        answer_object(c, 200, object_present(c, object));
}

void subresource_serve(struct api_call *c)
{
    static const struct {
        const char *name;
        void (*serve)(struct api_call *c);
    } known[] = {
        {"scale", scale_serve},
        {"eviction", eviction_serve},
        {"binding", serve_binding},
        {"finalize", serve_finalize},
        {"token", token_serve},
        {"log", pod_log_serve},
        {"exec", pod_exec_serve},
        {"attach", pod_exec_serve},
        {"portforward", pod_port_forward_serve},
    };

    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (streq(c->sub->name, known[i].name)) {
            known[i].serve(c);
            return;
        }
    }
    (void)status_no_resource(c);
    answer_failure(c);
}
