/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Validation of one container: image, ports, probes and hooks.
 *
 * Names, host ports and what only init or ephemeral containers may not have are the business of
 * whoever goes through the list; environment, mounts, resources and security have their own files.
 */
#include "src/cluster/apiserver/kinds/podspec.h"

static const char *const protocols[] = {"SCTP", "TCP", "UDP", NULL};
static const char *const pull_policies[] = {"Always", "IfNotPresent", "Never", NULL};
static const char *const schemes[] = {"HTTP", "HTTPS", NULL};

static void check_exec(struct causes *cs, const struct place *exec)
{
    struct place command = place_key(exec, "command");

    if (jsn_len(command.value) == 0)
        place_required(cs, &command, NULL);
}

static void check_http(struct causes *cs, const struct place *http)
{
    struct place path = place_key(http, "path");
    struct place port = place_key(http, "port");
    struct place scheme = place_key(http, "scheme");
    struct place headers = place_key(http, "httpHeaders");

    (void)check_filled(cs, &path, NULL);
    check_port_or_name(cs, &port);
    check_enum(cs, &scheme, schemes);
    JSN_FOR_ITEMS (header, headers.value) {
        const char *name = jsn_get_str(header, "name");
        struct name_faults f = names_check(FORM_HTTP_HEADER, str_of(name ? name : ""));

        for (size_t i = 0; i < f.n; i++)
            cause_invalid(cs, place_text(cs, &headers), jsn_key(header, "name"), "%s", f.text[i]);
    }
}

static void check_tcp(struct causes *cs, const struct place *tcp)
{
    struct place port = place_key(tcp, "port");

    check_port_or_name(cs, &port);
}

static void check_grpc(struct causes *cs, const struct place *grpc)
{
    struct place port = place_key(grpc, "port");

    check_port(cs, &port);
}

static void check_sleep(struct causes *cs, const struct place *sleep)
{
    struct place seconds = place_key(sleep, "seconds");

    check_nonnegative(cs, &seconds);
}

/* A handler: exactly one of exec, httpGet, tcpSocket, and what more the list allows. */
static void handler_check(struct causes *cs, const struct place *at, bool grpc, bool sleep)
{
    const struct {
        const char *name;
        void (*check)(struct causes *cs, const struct place *action);
        bool allowed;
    } actions[] = {
        {"exec", check_exec, true}, {"httpGet", check_http, true}, {"tcpSocket", check_tcp, true},
        {"grpc", check_grpc, grpc}, {"sleep", check_sleep, sleep},
    };
    int n = 0;

    for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
        struct place action = place_key(at, actions[i].name);

        if (!actions[i].allowed || !place_given(&action))
            continue;
        if (n++ > 0)
            place_forbidden(cs, &action, "may not specify more than 1 handler type");
        else
            actions[i].check(cs, &action);
    }
    if (n == 0)
        place_required(cs, at, "must specify a handler type");
}

static void probe_check(struct causes *cs, const struct place *probe)
{
    static const char *const counts[] = {"initialDelaySeconds", "timeoutSeconds", "periodSeconds",
                                         "successThreshold", "failureThreshold"};

    if (!place_given(probe))
        return;
    handler_check(cs, probe, true, false);
    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        struct place at = place_key(probe, counts[i]);

        check_nonnegative(cs, &at);
    }
}

/* Liveness and startup: one success must be enough. */
static void check_probe_once(struct causes *cs, const struct place *container, const char *key)
{
    struct place probe = place_key(container, key);
    struct place threshold = place_key(&probe, "successThreshold");

    probe_check(cs, &probe);
    if (place_given(&probe) && place_int(&threshold, 1) != 1)
        place_invalid(cs, &threshold, "must be 1");
}

static void check_hooks(struct causes *cs, const struct place *lifecycle)
{
    struct place start = place_key(lifecycle, "postStart");
    struct place stop = place_key(lifecycle, "preStop");

    if (place_given(&start))
        handler_check(cs, &start, false, true);
    if (place_given(&stop))
        handler_check(cs, &stop, false, true);
}

static void check_ports(struct causes *cs, const struct place *ports)
{
    AUTO(map_done) struct map names = {0};
    static char here[1];

    PLACE_FOR_ITEMS (port, ports) {
        struct place name = place_key(&port, "name");
        struct place number = place_key(&port, "containerPort");
        struct place host = place_key(&port, "hostPort");
        struct place protocol = place_key(&port, "protocol");

        if (place_filled(&name)) {
            check_form(cs, &name, FORM_PORT_NAME);
            if (!map_put(&names, str_of(place_str(&name)), here))
                place_duplicate(cs, &name);
        }
        if (place_int(&number, 0) == 0)
            place_required(cs, &number, NULL);
        else
            check_port(cs, &number);
        if (place_int(&host, 0) != 0)
            check_port(cs, &host);
        check_enum_required(cs, &protocol, protocols);
    }
}

static void check_termination_policy(struct causes *cs, const struct place *policy)
{
    static const char text[] = "must be 'File' or 'FallbackToLogsOnError'";

    if (!check_filled(cs, policy, text))
        return;
    if (!streq(place_str(policy), "File") && !streq(place_str(policy), "FallbackToLogsOnError"))
        place_invalid(cs, policy, text);
}

static void check_restart_policy(struct causes *cs, const struct place *policy)
{
    static const char *const known[] = {"Always", NULL};

    check_enum(cs, policy, known);
}

void container_check(struct causes *cs, const struct place *c, const struct map *volumes)
{
    struct place image = place_key(c, "image");
    struct place lifecycle = place_key(c, "lifecycle");
    struct place policy = place_key(c, "terminationMessagePolicy");
    struct place readiness = place_key(c, "readinessProbe");
    struct place ports = place_key(c, "ports");
    struct place pull = place_key(c, "imagePullPolicy");
    struct place resources = place_key(c, "resources");
    struct place security = place_key(c, "securityContext");
    struct place restart = place_key(c, "restartPolicy");

    (void)check_filled(cs, &image, NULL);
    check_hooks(cs, &lifecycle);
    check_probe_once(cs, c, "livenessProbe");
    check_probe_once(cs, c, "startupProbe");
    check_termination_policy(cs, &policy);
    probe_check(cs, &readiness);
    check_ports(cs, &ports);
    container_env_check(cs, c);
    container_mounts_check(cs, c, volumes);
    check_enum_required(cs, &pull, pull_policies);
    container_resources_check(cs, &resources);
    container_security_check(cs, &security);
    check_restart_policy(cs, &restart);
}
