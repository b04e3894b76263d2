/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a pod object to what the node works with.
 *
 * The API server has validated and defaulted the object; still nothing here trusts it to be
 * complete.  What only one concern needs (volumes, environment, security) stays JSON and is read
 * there.
 */
#include "src/cluster/node/pods/pod_spec.h"

#include <signal.h>

#include "src/json/quantity.h"

static struct handler_spec decode_handler(const struct jsn *v)
{
    static const struct {
        const char *key;
        enum handler_kind kind;
    } kinds[] = {{"exec", HANDLER_EXEC},
                 {"httpGet", HANDLER_HTTP},
                 {"tcpSocket", HANDLER_TCP},
                 {"sleep", HANDLER_SLEEP},
                 {"grpc", HANDLER_GRPC}};

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (jsn_key(v, kinds[i].key))
            return (struct handler_spec){kinds[i].kind, jsn_key(v, kinds[i].key)};
    return (struct handler_spec){HANDLER_NONE, NULL};
}

static int64_t at_least(int64_t v, int64_t least)
{
    return v < least ? least : v;
}

static struct probe_spec decode_probe(const struct jsn *v)
{
    return (struct probe_spec){
        .handler = decode_handler(v),
        .delay_s = at_least(jsn_get_int(v, "initialDelaySeconds", 0), 0),
        .period_s = at_least(jsn_get_int(v, "periodSeconds", 10), 1),
        .timeout_s = at_least(jsn_get_int(v, "timeoutSeconds", 1), 1),
        .successes = at_least(jsn_get_int(v, "successThreshold", 1), 1),
        .failures = at_least(jsn_get_int(v, "failureThreshold", 3), 1),
        .grace_s = jsn_get_int(v, "terminationGracePeriodSeconds", -1),
    };
}

static int decode_signal(const char *text)
{
    static const struct {
        const char *name;
        int number;
    } signals[] = {{"SIGHUP", SIGHUP},    {"SIGINT", SIGINT},   {"SIGQUIT", SIGQUIT},
                   {"SIGUSR1", SIGUSR1},  {"SIGUSR2", SIGUSR2}, {"SIGKILL", SIGKILL},
                   {"SIGWINCH", SIGWINCH}};

    for (size_t i = 0; text && i < ARRAY_LEN(signals); i++)
        if (streq(signals[i].name, text))
            return signals[i].number;
    return SIGTERM;
}

static const char *or_else(const char *s, const char *otherwise)
{
    return s && s[0] ? s : otherwise;
}

static void decode_container(const struct jsn *v, bool init, struct ctr_spec *c)
{
    bool stays = init && streq(jsn_get_str(v, "restartPolicy"), "Always");

    *c = (struct ctr_spec){
        .name = or_else(jsn_get_str(v, "name"), ""),
        .image = or_else(jsn_get_str(v, "image"), ""),
        .kind = stays  ? CTR_SIDECAR
                : init ? CTR_INIT
                       : CTR_MAIN,
        .json = v,
        .liveness = decode_probe(jsn_key(v, "livenessProbe")),
        .readiness = decode_probe(jsn_key(v, "readinessProbe")),
        .startup = decode_probe(jsn_key(v, "startupProbe")),
        .post_start = decode_handler(jsn_get(v, "lifecycle.postStart")),
        .pre_stop = decode_handler(jsn_get(v, "lifecycle.preStop")),
        .stop_signal = decode_signal(jsn_get_str(v, "lifecycle.stopSignal")),
        .tty = jsn_get_bool(v, "tty", false),
        .stdin_open = jsn_get_bool(v, "stdin", false),
        .stdin_once = jsn_get_bool(v, "stdinOnce", false),
        .message_path = or_else(jsn_get_str(v, "terminationMessagePath"), "/dev/termination-log"),
        .message_from_logs =
            streq(jsn_get_str(v, "terminationMessagePolicy"), "FallbackToLogsOnError"),
    };
}

static void decode_containers(struct arena *a, const struct jsn *spec, struct pod_spec *p)
{
    const struct jsn *init = jsn_key(spec, "initContainers");
    const struct jsn *main = jsn_key(spec, "containers");
    size_t n = 0;

    p->n_init = jsn_len(init);
    p->n = p->n_init + jsn_len(main);
    p->ctrs = arena_calloc(a, p->n ? p->n : 1, sizeof(*p->ctrs));
    JSN_FOR_ITEMS (item, init)
        decode_container(item, true, &p->ctrs[n++]);
    JSN_FOR_ITEMS (item, main)
        decode_container(item, false, &p->ctrs[n++]);
}

static enum restart_policy decode_restart(const char *text)
{
    if (streq(text, "Never"))
        return RESTART_NEVER;
    return streq(text, "OnFailure") ? RESTART_ON_FAILURE : RESTART_ALWAYS;
}

/* A pod's name may be longer than a host name; a cut one must not end with a dash or a dot. */
static const char *cut_host_name(struct arena *a, const char *name)
{
    struct str s = str_of(name);

    if (s.n > 63)
        s.n = 63;
    while (s.n > 0 && (s.p[s.n - 1] == '-' || s.p[s.n - 1] == '.'))
        s.n--;
    return arena_str(a, s);
}

int pod_spec_decode(struct arena *a, const struct jsn *pod, struct pod_spec **ret_spec,
                    struct err *e)
{
    struct pod_spec *p = arena_calloc(a, 1, sizeof(*p));
    const struct jsn *spec = jsn_key(pod, "spec");
    const char *host = jsn_get_str(spec, "hostname");

    p->json = pod;
    p->ns = jsn_get_str(pod, "metadata.namespace");
    p->name = jsn_get_str(pod, "metadata.name");
    p->uid = jsn_get_str(pod, "metadata.uid");
    if (!p->ns || !p->name || !p->uid || !p->uid[0] || strchr(p->uid, '/') || p->uid[0] == '.')
        return err_bad(e, "a pod without namespace, name or uid");
    p->node = jsn_get_str(spec, "nodeName");
    p->host_name = host && host[0] ? host : cut_host_name(a, p->name);
    p->subdomain = jsn_get_str(spec, "subdomain");
    p->restart = decode_restart(jsn_get_str(spec, "restartPolicy"));
    p->grace_s = jsn_get_int(spec, "terminationGracePeriodSeconds", 30);
    p->deadline_s = jsn_get_int(spec, "activeDeadlineSeconds", -1);
    p->host_network = jsn_get_bool(spec, "hostNetwork", false);
    p->host_pid = jsn_get_bool(spec, "hostPID", false);
    p->host_ipc = jsn_get_bool(spec, "hostIPC", false);
    p->share_pid = jsn_get_bool(spec, "shareProcessNamespace", false);
    p->deleting = jsn_get_str(pod, "metadata.deletionTimestamp") != NULL;
    p->delete_grace_s = jsn_get_int(pod, "metadata.deletionGracePeriodSeconds", p->grace_s);
    decode_containers(a, spec, p);
    *ret_spec = p;
    return 0;
}

int pod_spec_find(const struct pod_spec *p, const char *container)
{
    for (size_t i = 0; i < p->n; i++)
        if (streq(p->ctrs[i].name, container))
            return (int)i;
    return -1;
}

static bool positive(const struct jsn *list, const char *key, struct quantity *ret)
{
    const char *text = jsn_get_str(list, key);

    return text && quantity_parse(str_of(text), ret, NULL) == 0 && ret->nano > 0;
}

/* Does every limit stand, and every request equal its limit? */
static bool is_guaranteed(const struct jsn *resources)
{
    static const char *const keys[] = {"cpu", "memory"};

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        struct quantity limit, request;

        if (!positive(jsn_key(resources, "limits"), keys[i], &limit))
            return false;
        if (positive(jsn_key(resources, "requests"), keys[i], &request) &&
            quantity_cmp(&limit, &request) != 0)
            return false;
    }
    return true;
}

static bool asks_for_anything(const struct jsn *resources)
{
    struct quantity q;

    return positive(jsn_key(resources, "limits"), "cpu", &q) ||
           positive(jsn_key(resources, "limits"), "memory", &q) ||
           positive(jsn_key(resources, "requests"), "cpu", &q) ||
           positive(jsn_key(resources, "requests"), "memory", &q);
}

const char *pod_spec_qos(const struct pod_spec *p)
{
    bool all = p->n > 0;
    bool any = false;

    for (size_t i = 0; i < p->n; i++) {
        const struct jsn *resources = jsn_key(p->ctrs[i].json, "resources");

        all = all && is_guaranteed(resources);
        any = any || asks_for_anything(resources);
    }
    return all ? "Guaranteed" : any ? "Burstable" : "BestEffort";
}
