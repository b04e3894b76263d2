/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Node object of this machine, and its Lease.
 *
 * At the start the object is made, or its status brought up to date; labels, taints and cordons
 * that people set stay.  The Lease is renewed every ten seconds, the conditions' heartbeat every
 * five minutes.  A Node that somebody deletes is made again.
 */
#include "src/cluster/node/machine.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/base/log.h"
#include "src/base/process.h"
#include "src/cluster/node/pods/strangers.h"

#define LEASE_MS 10000
#define LEASE_SECONDS 40
#define STATUS_MS 300000
#define RETRY_MS 2000
#define LEASE_NAMESPACE "kube-node-lease"

struct machine {
    struct node *node;
    struct loop_source *status_timer;
    struct loop_source *lease_timer;
    struct kube_call *status_call;
    struct kube_call *lease_call;
    bool known; /* the Node is there */
    bool again; /* its status is another since it was sent */
    bool lease_known;
};

/* The address by which the machine reaches the world; nothing is sent to find it out. */
static void find_host_ip(char text[INET_ADDRSTRLEN])
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(53)};
    struct sockaddr_in own = {0};
    socklen_t n = sizeof(own);
    AUTO(close) int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    text[0] = '\0';
    to.sin_addr.s_addr = htonl(0xc0000208); /* 192.0.2.8, of a range for documentation */
    if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 &&
        getsockname(fd, (struct sockaddr *)&own, &n) == 0)
        (void)inet_ntop(AF_INET, &own.sin_addr, text, INET_ADDRSTRLEN);
}

static int64_t setting(const char *path)
{
    AUTO(free) char *text = NULL;
    size_t n = 0;
    int64_t value;

    if (file_read(path, 64, &text, &n, NULL) < 0 ||
        str_to_i64(str_trim((struct str){text, n}), &value) < 0)
        return 0;
    return value;
}

/* Numbers for processes and room for threads: whichever runs out first. */
static int64_t measure_tasks(void)
{
    int64_t numbers = setting("/proc/sys/kernel/pid_max");
    int64_t threads = setting("/proc/sys/kernel/threads-max");

    return numbers && threads ? MIN(numbers, threads) : MAX(numbers, threads);
}

int machine_measure(struct node *n, struct err *e)
{
    char ip[INET_ADDRSTRLEN];
    struct sysinfo info;

    if (sysinfo(&info) < 0)
        return err_errno(e, errno, "cannot ask the machine for its memory");
    n->memory_bytes = (int64_t)info.totalram * info.mem_unit;
    n->tasks = measure_tasks();
    n->cpu_milli = sysconf(_SC_NPROCESSORS_ONLN) * 1000;
    find_host_ip(ip);
    free(n->host_ip);
    n->host_ip = xstrdup(ip[0] ? ip : "127.0.0.1");
    return 0;
}

static void add_condition(struct arena *a, struct jsn *list, const char *type, bool holds,
                          const char *reason, const char *message)
{
    struct jsn *c = jsn_object(a);
    char now[CLOCK_RFC3339_LEN];

    clock_rfc3339(clock_wall_us(), now);
    jsn_set_str(a, c, "type", type);
    jsn_set_str(a, c, "status", holds ? "True" : "False");
    jsn_set_str(a, c, "reason", reason);
    jsn_set_str(a, c, "message", message);
    jsn_set_str(a, c, "lastHeartbeatTime", now);
    jsn_set_str(a, c, "lastTransitionTime", now);
    jsn_append(a, list, c);
}

static struct jsn *conditions(struct arena *a, const struct node *n)
{
    struct jsn *list = jsn_array(a);
    const char *unknown = strangers_sentence(n->strangers, a);

    add_condition(a, list, "MemoryPressure", false, "KubeletHasSufficientMemory",
                  "kubelet has sufficient memory available");
    add_condition(a, list, "DiskPressure", false, "KubeletHasNoDiskPressure",
                  "kubelet has no disk pressure");
    add_condition(a, list, "PIDPressure", false, "KubeletHasSufficientPID",
                  "kubelet has sufficient PID available");
    add_condition(a, list, "UnknownPods", unknown != NULL, unknown ? "NotInStore" : "AllPodsKnown",
                  unknown ? unknown : "the API server knows every pod that runs here");
    add_condition(a, list, "Ready", true, "KubeletReady", "slurmkeeper runs pods on this machine");
    return list;
}

/* Conditions that did not change keep the time at which they did. */
static void keep_transitions(struct arena *a, const struct node *n, struct jsn *fresh)
{
    const struct kube_object *o = kube_cache_get(n->nodes, "", n->name);
    struct jsn *old = NULL;

    if (!o || kube_object_parse(o, a, &old, NULL) < 0)
        return;
    JSN_FOR_ITEMS (was, jsn_get(old, "status.conditions"))
        JSN_FOR_ITEMS (is, fresh)
            if (streq(jsn_get_str(was, "type"), jsn_get_str(is, "type")) &&
                streq(jsn_get_str(was, "status"), jsn_get_str(is, "status")) &&
                jsn_get_str(was, "lastTransitionTime"))
                jsn_set_str(a, is, "lastTransitionTime", jsn_get_str(was, "lastTransitionTime"));
}

static struct jsn *capacity(struct arena *a, const struct node *n)
{
    struct jsn *c = jsn_object(a);
    struct statvfs fs;

    jsn_set(a, c, "cpu", jsn_stringf(a, "%lld", (long long)(n->cpu_milli / 1000)));
    jsn_set(a, c, "memory", jsn_stringf(a, "%lldKi", (long long)(n->memory_bytes >> 10)));
    jsn_set(a, c, "pods", jsn_stringf(a, "%d", MACHINE_MAX_PODS));
    if (statvfs(n->dir, &fs) == 0)
        jsn_set(a, c, "ephemeral-storage",
                jsn_stringf(a, "%lldKi", (long long)fs.f_blocks * (long long)fs.f_frsize / 1024));
    return c;
}

static void add_address(struct arena *a, struct jsn *list, const char *type, const char *address)
{
    struct jsn *o = jsn_object(a);

    jsn_set_str(a, o, "type", type);
    jsn_set_str(a, o, "address", address);
    jsn_append(a, list, o);
}

static char *os_name(void)
{
    AUTO(free) char *text = NULL;
    struct str rest, line;
    size_t n;

    if (file_read("/etc/os-release", 65536, &text, &n, NULL) < 0)
        return xstrdup("Linux");
    rest = (struct str){text, n};
    while (str_split(&rest, '\n', &line))
        if (str_starts(line, "PRETTY_NAME=\"") && line.n > 14)
            return str_dup((struct str){line.p + 13, line.n - 14});
    return xstrdup("Linux");
}

static struct jsn *node_info(struct arena *a, const struct node *n)
{
    struct jsn *o = jsn_object(a);
    const char *runtime = strrchr(n->runtime, '/');
    AUTO(free) char *os = os_name();
    struct utsname u;

    (void)uname(&u);
    jsn_set_str(a, o, "architecture",
                streq(u.machine, "x86_64")    ? "amd64"
                : streq(u.machine, "aarch64") ? "arm64"
                                              : u.machine);
    jsn_set_str(a, o, "bootID", process_boot_id());
    jsn_set(a, o, "containerRuntimeVersion",
            jsn_stringf(a, "%s://1", runtime ? runtime + 1 : n->runtime));
    jsn_set_str(a, o, "kernelVersion", u.release);
    jsn_set_str(a, o, "kubeProxyVersion", "v" SLURMKEEPER_VERSION);
    jsn_set_str(a, o, "kubeletVersion", "v" SLURMKEEPER_VERSION);
    jsn_set_str(a, o, "machineID", process_boot_id());
    jsn_set_str(a, o, "operatingSystem", "linux");
    jsn_set_str(a, o, "osImage", os);
    jsn_set_str(a, o, "systemUUID", process_boot_id());
    return o;
}

static struct jsn *status_of(struct arena *a, const struct node *n)
{
    struct jsn *s = jsn_object(a);
    struct jsn *addresses = jsn_array(a);
    struct jsn *list = conditions(a, n);

    keep_transitions(a, n, list);
    add_address(a, addresses, "InternalIP", n->host_ip);
    add_address(a, addresses, "Hostname", n->name);
    jsn_set(a, s, "addresses", addresses);
    jsn_set(a, s, "capacity", capacity(a, n));
    jsn_set(a, s, "allocatable", capacity(a, n));
    jsn_set(a, s, "conditions", list);
    jsn_set(a, s, "nodeInfo", node_info(a, n));
    return s;
}

static struct jsn *node_object(struct arena *a, const struct node *n)
{
    struct jsn *o = jsn_object(a);
    struct jsn *labels = jsn_object(a);
    struct jsn *info = node_info(a, n);

    jsn_set_str(a, o, "apiVersion", "v1");
    jsn_set_str(a, o, "kind", "Node");
    jsn_set_path(a, o, "metadata.name", jsn_string(a, n->name));
    jsn_set_str(a, labels, "kubernetes.io/hostname", n->name);
    jsn_set_str(a, labels, "kubernetes.io/os", "linux");
    jsn_set_str(a, labels, "kubernetes.io/arch", jsn_get_str(info, "architecture"));
    jsn_set_path(a, o, "metadata.labels", labels);
    jsn_set_path(a, o, "spec.podCIDR", jsn_string(a, n->bridge.cidr));
    jsn_set(a, o, "status", status_of(a, n));
    return o;
}

static void on_status(void *arg, const struct kube_answer *a, const struct kube_failure *f)
{
    struct machine *m = arg;

    (void)a;
    m->status_call = NULL;
    if (!f) {
        loop_timer_arm(m->status_timer, m->known && !m->again ? STATUS_MS : 0);
        m->again = false;
        m->known = true;
        return;
    }
    m->known = f->err.num == -EEXIST;
    if (f->err.num != -ENOENT && f->err.num != -EEXIST)
        log_warn("node %s: not registered, trying again: %s", m->node->name, f->err.text);
    loop_timer_arm(m->status_timer, f->err.num == -EEXIST ? 0 : RETRY_MS);
}

/* First the status of a Node that is there; if there is none, the Node. */
static void on_status_time(void *arg)
{
    AUTO(arena_done) struct arena a = {0};
    struct machine *m = arg;
    struct jsn *body = jsn_object(&a);
    struct kube_request r = {.verb = KUBE_CREATE,
                             .resource = {"", "v1", "nodes"},
                             .body = node_object(&a, m->node),
                             .fn = on_status,
                             .arg = m};

    if (m->known) {
        jsn_set(&a, body, "status", status_of(&a, m->node));
        r.verb = KUBE_PATCH_STRATEGIC;
        r.name = m->node->name;
        r.subresource = "status";
        r.body = body;
    }
    m->status_call = kube_call_start(m->node->client, &r);
}

static void on_lease(void *arg, const struct kube_answer *a, const struct kube_failure *f)
{
    struct machine *m = arg;

    (void)a;
    m->lease_call = NULL;
    m->lease_known = !f || f->err.num == -EEXIST;
    loop_timer_arm(m->lease_timer, !f ? LEASE_MS : f->err.num == -EEXIST ? 0 : RETRY_MS);
}

static void on_lease_time(void *arg)
{
    AUTO(arena_done) struct arena a = {0};
    struct machine *m = arg;
    struct jsn *body = jsn_object(&a);
    char now[CLOCK_RFC3339_LEN];
    struct kube_request r = {.verb = KUBE_PATCH_MERGE,
                             .resource = {"coordination.k8s.io", "v1", "leases"},
                             .namespace = LEASE_NAMESPACE,
                             .name = m->node->name,
                             .urgent = true,
                             .body = body,
                             .fn = on_lease,
                             .arg = m};

    clock_rfc3339_micro(clock_wall_us(), now);
    jsn_set_path(&a, body, "spec.renewTime", jsn_string(&a, now));
    jsn_set_path(&a, body, "spec.holderIdentity", jsn_string(&a, m->node->name));
    jsn_set_path(&a, body, "spec.leaseDurationSeconds", jsn_int(&a, LEASE_SECONDS));
    if (!m->lease_known) {
        jsn_set_str(&a, body, "apiVersion", "coordination.k8s.io/v1");
        jsn_set_str(&a, body, "kind", "Lease");
        jsn_set_path(&a, body, "metadata.name", jsn_string(&a, m->node->name));
        r.verb = KUBE_CREATE;
        r.name = NULL;
    }
    m->lease_call = kube_call_start(m->node->client, &r);
}

struct machine *machine_new(struct node *n)
{
    struct machine *m = xcalloc(1, sizeof(*m));

    m->node = n;
    m->status_timer = loop_add_timer(n->loop, on_status_time, m);
    m->lease_timer = loop_add_timer(n->loop, on_lease_time, m);
    loop_timer_arm(m->status_timer, 0);
    loop_timer_arm(m->lease_timer, 0);
    return m;
}

void machine_tell(struct machine *m)
{
    if (m && m->known && !m->status_call)
        loop_timer_arm(m->status_timer, 0);
    else if (m)
        m->again = true;
}

void machine_register(struct machine *m)
{
    if (!m || m->status_call)
        return;
    m->known = false;
    loop_timer_arm(m->status_timer, 0);
}

struct machine *machine_free(struct machine *m)
{
    if (!m)
        return NULL;
    if (m->status_call)
        kube_call_cancel(m->status_call);
    if (m->lease_call)
        kube_call_cancel(m->lease_call);
    (void)loop_source_free(m->status_timer);
    (void)loop_source_free(m->lease_timer);
    free(m);
    return NULL;
}
