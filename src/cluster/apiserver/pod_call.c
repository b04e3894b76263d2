/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests that the machine of a pod answers.
 *
 * The API server checks what it can know (the pod, its container, the options) and refuses with
 * kube-apiserver's own sentences; what is left goes to the process that runs pods.
 */
#include "src/cluster/apiserver/pod_call.h"

#include "src/cluster/apiserver/answer.h"
#include "src/cluster/apiserver/node_proxy.h"
#include "src/cluster/apiserver/object.h"
#include "src/cluster/apiserver/options.h"
#include "src/cluster/apiserver/status.h"

static const struct jsn *find_container(const struct jsn *pod, const char *name)
{
    static const char *const lists[] = {"spec.containers", "spec.initContainers",
                                        "spec.ephemeralContainers"};

    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        JSN_FOR_ITEMS (item, jsn_get(pod, lists[i]))
            if (streq(jsn_get_str(item, "name"), name))
                return item;
    return NULL;
}

static void list_containers(const struct jsn *pod, struct buf *b)
{
    JSN_FOR_ITEMS (item, jsn_get(pod, "spec.containers"))
        buf_printf(b, "%s%s", b->n ? " " : "", jsn_get_str(item, "name"));
}

/* The container asked for, or the only one; the default annotation counts too. */
static int check_container(struct api_call *c, const struct jsn *pod)
{
    const char *name = call_param(c, "container");
    AUTO(buf_done) struct buf all = {0};

    if (!name || !name[0]) {
        if (jsn_len(jsn_get(pod, "spec.containers")) == 1)
            return 0;
        if (jsn_key(jsn_get(pod, "metadata.annotations"),
                    "kubectl.kubernetes.io/default-container"))
            return 0;
        list_containers(pod, &all);
        return status_bad_request(c,
                                  "a container name must be specified for pod %s, choose one of: "
                                  "[%s]",
                                  c->name, buf_str(&all));
    }
    if (!find_container(pod, name))
        return status_bad_request(c, "container %s is not valid for pod %s", name, c->name);
    return 0;
}

static bool scheduled(const struct jsn *pod)
{
    const char *node = jsn_get_str(pod, "spec.nodeName");

    return node && node[0];
}

static int check_count(struct causes *cs, const struct api_call *c, const char *key, int64_t least)
{
    const char *text = call_param(c, key);
    int64_t n = 0;

    if (!text || !text[0])
        return 0;
    if (str_to_i64(str_of(text), &n) < 0)
        return -EINVAL;
    if (n < least)
        cause_invalid_text(cs, key, text, "must be greater than or equal to %lld",
                           (long long)least);
    return 0;
}

static int check_log_options(struct api_call *c)
{
    static const struct {
        const char *key;
        int64_t least;
    } counts[] = {{"tailLines", 0}, {"limitBytes", 1}, {"sinceSeconds", 1}};
    struct causes cs = {.arena = &c->arena};

    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        if (check_count(&cs, c, counts[i].key, counts[i].least) < 0)
            return status_bad_request(c, "%s: '%s' is not a number", counts[i].key,
                                      call_param(c, counts[i].key));
    if (call_param(c, "sinceSeconds") && call_param(c, "sinceTime"))
        cause_forbidden(&cs, "sinceSeconds",
                        "at most one of `sinceTime` or `sinceSeconds` may be specified");
    return cs.n ? status_invalid_kind(c, "PodLogOptions", "", c->name, &cs) : 0;
}

void pod_log_serve(struct api_call *c)
{
    struct jsn *pod = NULL;
    int r = check_log_options(c);

    if (r == 0)
        r = object_load(c, c->ns, c->name, &pod);
    if (r == 0)
        r = check_container(c, pod);
    if (r == 0 && !scheduled(pod)) {
        answer_text(c, 204, "text/plain", (struct str){"", 0});
        return;
    }
    if (r < 0)
        answer_failure(c);
    else
        node_proxy_pass(c, "logs");
}

void pod_exec_serve(struct api_call *c)
{
    bool exec = streq(c->sub->name, "exec");
    const char *command = call_param(c, "command");
    struct jsn *pod = NULL;
    int r = 0;

    if (exec && (!command || !command[0]))
        r = status_bad_request(c, "you must specify at least 1 command for the container");
    if (r == 0)
        r = object_load(c, c->ns, c->name, &pod);
    if (r == 0)
        r = check_container(c, pod);
    if (r == 0 && !scheduled(pod))
        r = status_bad_request(c, "pod %s does not have a host assigned", c->name);
    if (r < 0)
        answer_failure(c);
    else
        node_proxy_pass(c, exec ? "exec" : "attach");
}

void pod_port_forward_serve(struct api_call *c)
{
    struct jsn *pod = NULL;
    int r = object_load(c, c->ns, c->name, &pod);

    if (r == 0 && !scheduled(pod))
        r = status_bad_request(c, "pod %s does not have a host assigned", c->name);
    if (r < 0)
        answer_failure(c);
    else
        node_proxy_pass(c, "portforward");
}
