/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whom a probe or a hook turns to, and with which words.
 *
 * A port may be a number, a number as text, or the name of one of the container's ports.  Without a
 * host the pod itself is meant.  A header of the pod's own replaces ours of the same name.
 */
#include "src/cluster/node/pods/handler_request.h"

#include <strings.h>

#define USER_AGENT "User-Agent"

uint16_t handler_port(const struct ctr_spec *c, const struct jsn *port)
{
    const char *name = jsn_text(port);
    uint32_t v;

    if (jsn_is(port, JSN_INT))
        return port->i > 0 && port->i < 65536 ? (uint16_t)port->i : 0;
    if (name && str_to_u32(str_of(name), &v) == 0)
        return v < 65536 ? (uint16_t)v : 0;
    JSN_FOR_ITEMS (p, jsn_key(c->json, "ports"))
        if (name && streq(jsn_get_str(p, "name"), name))
            return (uint16_t)jsn_get_int(p, "containerPort", 0);
    return 0;
}

const char *handler_host(const struct jsn *action, const char *pod_ip)
{
    const char *host = jsn_get_str(action, "host");

    return host && host[0] ? host : pod_ip;
}

static const char *const *headers_of(struct arena *a, const struct jsn *given)
{
    const char **headers = arena_calloc(a, jsn_len(given) + 2, sizeof(*headers));
    bool named = false;
    size_t n = 0;

    JSN_FOR_ITEMS (h, given) {
        const char *name = jsn_get_str(h, "name");
        const char *value = jsn_get_str(h, "value");

        if (!name)
            continue;
        named = named || strcasecmp(name, USER_AGENT) == 0;
        headers[n++] = arena_printf(a, "%s: %s", name, value ? value : "");
    }
    if (!named)
        headers[n++] = USER_AGENT ": kube-probe/slurmkeeper";
    return headers;
}

int handler_request_of(struct arena *a, const struct ctr_spec *c, const struct jsn *action,
                       const char *pod_ip, struct handler_request *ret, struct err *e)
{
    uint16_t port = handler_port(c, jsn_key(action, "port"));
    bool https = streq(jsn_get_str(action, "scheme"), "HTTPS");
    const char *path = jsn_get_str(action, "path");

    if (!port)
        return err_bad(e, "there is no such port");
    *ret = (struct handler_request){
        .url = arena_printf(a, "%s://%s:%u%s%s", https ? "https" : "http",
                            handler_host(action, pod_ip), port, path && path[0] == '/' ? "" : "/",
                            path ? path : ""),
        .headers = headers_of(a, jsn_key(action, "httpHeaders")),
    };
    return 0;
}

bool handler_status_ok(int status)
{
    return status >= 200 && status < 400;
}
