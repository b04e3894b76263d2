/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of what a container is made from: environment, command, fields, limits, config.json.
 */
#include "src/cluster/node/test/parse.h"

#include <sys/socket.h>

#include "src/cluster/node/cgroup.h"
#include "src/cluster/node/pods/env.h"
#include "src/cluster/node/runtime/capability.h"
#include "src/cluster/node/runtime/confine.h"
#include "src/cluster/node/runtime/oci_config.h"
#include "src/cluster/node/runtime/sysctls.h"

static const struct field_context fields = {.pod_ip = "10.131.0.9",
                                            .host_ip = "192.0.2.1",
                                            .cpu_milli = 4000,
                                            .memory_bytes = INT64_C(8) << 30};

static const struct jsn *get(void *arg, struct arena *a, const char *plural, const char *ns,
                             const char *name)
{
    (void)arg;
    assert_string_equal(ns, "ns");
    if (streq(plural, "configmaps") && streq(name, "cm"))
        return json_of(a, "{'data':{'a':'1','b':'2'},'binaryData':{'c':'AAE='}}");
    if (streq(plural, "secrets") && streq(name, "sec"))
        return json_of(a, "{'data':{'key':'c2VjcmV0'}}");
    return NULL;
}

static const struct object_source source = {get, NULL};

static int build(struct arena *a, const char *container, const char ***env, struct err *e)
{
    struct pod_spec *p =
        pod_of(a, arena_printf(a, "{'nodeName':'n1','containers':[%s]}", container));
    static const char *const before[] = {"PATH=/bin", "A=before", NULL};
    struct env_context x = {.fields = &fields, .source = &source, .before = before};

    return env_build(a, p, &p->ctrs[0], &x, env, e);
}

static const char *value(const char *const *env, const char *name)
{
    size_t n = strlen(name);

    for (; *env; env++)
        if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
            return *env + n + 1;
    return NULL;
}

static void later_variables_win_and_use_earlier_ones(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    const char **env;
    int r =
        build(&a,
              "{'name':'c','envFrom':[{'prefix':'X_','configMapRef':{'name':'cm'}},"
              "{'secretRef':{'name':'sec'}},{'configMapRef':{'name':'no','optional':true}}],"
              "'env':[{'name':'A','value':'own'},{'name':'B','value':'$(A)-$(X_b)-$$(A)-$(NO)'},"
              "{'name':'K','valueFrom':{'secretKeyRef':{'name':'sec','key':'key'}}},"
              "{'name':'IP','valueFrom':{'fieldRef':{'fieldPath':'status.podIP'}}},"
              "{'name':'N','valueFrom':{'fieldRef':{'fieldPath':'spec.nodeName'}}},"
              "{'name':'O','valueFrom':{'configMapKeyRef':{'name':'cm','key':'z',"
              "'optional':true}}}]}",
              &env, NULL);

    (void)state;
    assert_int_equal(r, 0);
    assert_string_equal(value(env, "PATH"), "/bin");
    assert_string_equal(value(env, "A"), "own");
    assert_string_equal(value(env, "B"), "own-2-$(A)-$(NO)");
    assert_string_equal(value(env, "X_a"), "1");
    assert_string_equal(value(env, "key"), "secret");
    assert_string_equal(value(env, "K"), "secret");
    assert_string_equal(value(env, "IP"), "10.131.0.9");
    assert_string_equal(value(env, "N"), "n1");
    assert_null(value(env, "O"));
}

static void what_is_missing_is_named_and_may_come_later(void **state)
{
    static const struct {
        const char *container;
        const char *text;
    } cases[] = {
        {"{'name':'c','envFrom':[{'configMapRef':{'name':'no'}}]}", "configmap \"no\" not found"},
        {"{'name':'c','env':[{'name':'A','valueFrom':{'secretKeyRef':{'name':'no','key':'k'}}}]}",
         "secret \"no\" not found"},
        {"{'name':'c','env':[{'name':'A','valueFrom':{'configMapKeyRef':{'name':'cm','key':'z'}}}]"
         "}",
         "couldn't find key z in ConfigMap ns/cm"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct err e = {0};
        const char **env;

        assert_int_equal(build(&a, cases[i].container, &env, &e), -ENOENT);
        assert_int_equal(e.class, ERR_RETRY);
        assert_string_equal(e.text, cases[i].text);
    }
}

static void commands_come_from_the_pod_or_a_start_script(void **state)
{
    static const struct {
        const char *container;
        const char *entrypoint;
        const char *argv; /* joined by blanks; NULL: an error */
    } cases[] = {
        {"{'name':'c','command':['a','$(V)'],'args':['b']}", "/ep", "a val b"},
        {"{'name':'c','args':['b']}", "/ep", "/ep b"},
        {"{'name':'c'}", "/ep", "/ep"},
        {"{'name':'c','args':['b']}", NULL, NULL},
        {"{'name':'c'}", NULL, NULL},
    };
    static const char *const env[] = {"V=val", NULL};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        AUTO(buf_done) struct buf b = {0};
        struct pod_spec *p =
            pod_of(&a, arena_printf(&a, "{'containers':[%s]}", cases[i].container));
        const char **argv = NULL;
        int r = env_command(&a, &p->ctrs[0], cases[i].entrypoint, env, &argv, NULL);

        assert_int_equal(r, cases[i].argv ? 0 : -EINVAL);
        for (; r == 0 && *argv; argv++)
            buf_printf(&b, "%s%s", b.n ? " " : "", *argv);
        if (r == 0)
            assert_string_equal(buf_str(&b), cases[i].argv);
    }
}

static void images_have_short_names(void **state)
{
    static const char *const cases[][2] = {
        {"slurmd", "slurmd"},
        {"slurmd:25.05", "slurmd"},
        {"ghcr.io/slinkyproject/slurmd:25.05-rockylinux9", "slurmd"},
        {"localhost:5000/a/slurmctld", "slurmctld"},
        {"r.io/x@sha256:0123", "x"},
        {"", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};

        assert_string_equal(env_image_name(&a, cases[i][0]), cases[i][1]);
    }
}

static void fields_of_pods_and_containers(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct pod_spec *p = NULL;
    const char *text = NULL;
    struct err e = {0};
    static const char *const cases[][2] = {
        {"metadata.name", "p"},          {"metadata.labels['a/b']", "1"},
        {"metadata.labels['none']", ""}, {"metadata.annotations", "k=\"v \\\"q\\\"\"\nz=\"2\""},
        {"status.hostIP", "192.0.2.1"},
    };

    (void)state;
    assert_int_equal(
        pod_spec_decode(&a,
                        json_of(&a, "{'metadata':{'name':'p','namespace':'n','uid':'u','labels':"
                                    "{'a/b':'1'},'annotations':{'z':'2','k':'v \\'q\\''}},'spec':"
                                    "{'containers':[{'name':'c','resources':{'limits':{'cpu':"
                                    "'1500m'},'requests':{'memory':'1Mi'}}}]}}"),
                        &p, &e),
        0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(field_value(&a, p, &fields, cases[i][0], &text, &e), 0);
        assert_string_equal(text, cases[i][1]);
    }
    assert_int_equal(field_value(&a, p, &fields, "status.phase", &text, &e), -EINVAL);
    static const char *const resources[][3] = {
        {"limits.cpu", "0", "2"},      {"limits.cpu", "1m", "1500"},
        {"limits.memory", "1Gi", "8"}, {"requests.memory", "1Ki", "1024"},
        {"requests.cpu", "1", "0"},
    };
    for (size_t i = 0; i < ARRAY_LEN(resources); i++) {
        const char *ref =
            arena_printf(&a, "{'resource':'%s','divisor':'%s'}", resources[i][0], resources[i][1]);

        assert_int_equal(field_resource(&a, p, &fields, &p->ctrs[0], json_of(&a, ref), &text, &e),
                         0);
        assert_string_equal(text, resources[i][2]);
    }
}

static void limits_become_settings_of_groups(void **state)
{
    static const struct {
        const char *resources;
        struct ctr_limits limits;
    } cases[] = {
        {"{}", {.cpu_shares = 2}},
        {"{'requests':{'cpu':'500m'}}", {.cpu_shares = 512}},
        {"{'limits':{'cpu':'2','memory':'64Mi'}}",
         {.cpu_shares = 2048,
          .cpu_quota_us = 200000,
          .cpu_period_us = 100000,
          .memory_bytes = 64 << 20}},
        {"{'limits':{'cpu':'1m'}}",
         {.cpu_shares = 2, .cpu_quota_us = 1000, .cpu_period_us = 100000}},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct ctr_limits l;

        limits_of(json_of(&a, cases[i].resources), &l);
        assert_memory_equal(&l, &cases[i].limits, sizeof(l));
    }
}

static void limits_of_a_fence_are_files_of_its_group(void **state)
{
    struct ctr_limits l = {1024, 150000, 100000, 1 << 20, 500};
    AUTO(buf_done) struct buf v1 = {0};
    AUTO(buf_done) struct buf v2 = {0};
    AUTO(buf_done) struct buf none = {0};

    (void)state;
    cgroup_settings(&l, false, &v1);
    assert_string_equal(buf_str(&v1), "cpu.shares=1024\ncpu.cfs_period_us=100000\n"
                                      "cpu.cfs_quota_us=150000\nmemory.limit_in_bytes=1048576\n"
                                      "pids.max=500\n");
    cgroup_settings(&l, true, &v2);
    assert_string_equal(buf_str(&v2), "cpu.weight=39\ncpu.max=150000 100000\nmemory.max=1048576\n"
                                      "pids.max=500\n");
    cgroup_settings(&(struct ctr_limits){0}, true, &none);
    assert_int_equal(none.n, 0);
}

static void pods_together_leave_something_to_the_machine(void **state)
{
    static const struct {
        int64_t memory_mib, most_mib;
    } cases[] = {{128, 64}, {512, 384}, {8192, 8192 - 409}, {1 << 20, (1 << 20) - 1024}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct ctr_limits l;

        limits_of_cluster(cases[i].memory_mib << 20, 1000, &l);
        assert_int_equal((l.memory_bytes + (1 << 20) - 1) >> 20, cases[i].most_mib);
        assert_int_equal(l.tasks, 750);
        assert_int_equal(limits_tasks_each(1000), 250);
    }
}

static void a_pods_demand_counts_what_runs_at_once(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct pod_demand d =
        limits_demand(json_of(&a, "{'initContainers':[{'resources':{'requests':{'cpu':'3'}}},"
                                  "{'restartPolicy':'Always','resources':{'requests':{'cpu':'1'}}},"
                                  "{'resources':{'requests':{'cpu':'2500m','memory':'1Gi'}}}],"
                                  "'containers':[{'resources':{'limits':{'cpu':'1'}}},"
                                  "{'resources':{'requests':{'memory':'2Gi'}}}]}"));

    (void)state;
    assert_int_equal(d.cpu_milli, 3500);
    assert_int_equal(d.memory_bytes, INT64_C(2) << 30);
}

static struct jsn *config_of(struct arena *a, const char *spec, struct err *e)
{
    struct pod_spec *p = pod_of(a, spec);
    static const char *const argv[] = {"sleep", "1", NULL};
    static const char *const env[] = {"A=b", NULL};
    struct oci_mounts mounts = {.arena = a};
    struct oci_input in = {.pod = p,
                           .ctr = &p->ctrs[0],
                           .argv = argv,
                           .env = env,
                           .cwd = "/",
                           .mounts = &mounts,
                           .cgroups_path = "/x/y",
                           .pause_pid = 42,
                           .may_have = capability_default() | 1U << 21 /* SYS_ADMIN */};
    struct jsn *c = NULL;

    oci_mounts_add(&mounts, "/usr", "overlay", "overlay", "lowerdir=/usr\nupperdir=/u");
    limits_of(jsn_key(p->ctrs[0].json, "resources"), &in.limits);
    return oci_config_build(a, &in, &c, e) == 0 ? c : NULL;
}

static bool has(const struct jsn *list, const char *text)
{
    JSN_FOR_ITEMS (i, list)
        if (streq(jsn_text(i), text))
            return true;
    return false;
}

static const char *namespace_path(const struct jsn *config, const char *type)
{
    JSN_FOR_ITEMS (n, jsn_get(config, "linux.namespaces")) {
        const char *path = jsn_get_str(n, "path");

        if (streq(jsn_get_str(n, "type"), type))
            return path ? path : "";
    }
    return NULL;
}

static void the_configuration_holds_what_was_decided(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *c = config_of(
        &a, "{'containers':[{'name':'c','resources':{'limits':{'memory':'1Mi'}}}]}", NULL);

    (void)state;
    assert_string_equal(jsn_text(jsn_item(jsn_get(c, "process.args"), 0)), "sleep");
    assert_int_equal(jsn_get_int(c, "process.user.uid", -1), 0);
    assert_string_equal(jsn_get_str(c, "linux.cgroupsPath"), "/x/y");
    assert_int_equal(jsn_get_int(c, "linux.resources.memory.limit", 0), 1 << 20);
    assert_string_equal(namespace_path(c, "network"), "/proc/42/ns/net");
    assert_string_equal(namespace_path(c, "pid"), "");
    assert_true(has(jsn_get(c, "process.capabilities.bounding"), "CAP_CHOWN"));
    assert_false(has(jsn_get(c, "process.capabilities.bounding"), "CAP_SYS_ADMIN"));
    assert_true(has(jsn_get(c, "linux.maskedPaths"), "/proc/kcore"));
    assert_true(has(jsn_get(c, "linux.readonlyPaths"), "/proc/sys"));
    assert_int_equal(jsn_get_int(c, "process.user.umask", -1), 022);
    assert_int_equal(jsn_len(jsn_get(jsn_item(jsn_key(c, "mounts"), 0), "options")), 2);
}

static void host_namespaces_are_left_alone(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *c = config_of(&a,
                              "{'hostNetwork':true,'hostPID':true,'hostIPC':true,"
                              "'containers':[{'name':'c'}]}",
                              NULL);

    (void)state;
    assert_null(namespace_path(c, "network"));
    assert_null(namespace_path(c, "uts"));
    assert_null(namespace_path(c, "pid"));
    assert_null(namespace_path(c, "ipc"));
    c = config_of(&a, "{'shareProcessNamespace':true,'containers':[{'name':'c'}]}", NULL);
    assert_string_equal(namespace_path(c, "pid"), "/proc/42/ns/pid");
}

static void capabilities_are_dropped_then_added_within_what_we_have(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct err e = {0};
    struct jsn *c = config_of(&a,
                              "{'containers':[{'name':'c','securityContext':{'capabilities':{"
                              "'drop':['ALL'],'add':['SYS_ADMIN','CAP_KILL','SYS_BOOT']}}}]}",
                              &e);
    const struct jsn *set = jsn_get(c, "process.capabilities.effective");

    (void)state;
    assert_int_equal(jsn_len(set), 2);
    assert_true(has(set, "CAP_SYS_ADMIN") && has(set, "CAP_KILL"));
    assert_null(config_of(&a,
                          "{'containers':[{'name':'c','securityContext':{'capabilities':{'add':["
                          "'FLY']}}}]}",
                          &e));
    assert_string_equal(e.text, "there is no capability 'FLY'");
}

static void a_privileged_container_sees_everything(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *c =
        config_of(&a, "{'containers':[{'name':'c','securityContext':{'privileged':true}}]}", NULL);

    (void)state;
    assert_null(jsn_get(c, "linux.maskedPaths"));
    assert_null(jsn_get(c, "linux.seccomp"));
    assert_true(has(jsn_get(c, "process.capabilities.bounding"), "CAP_SYS_ADMIN"));
    assert_true(jsn_get_bool(jsn_item(jsn_get(c, "linux.resources.devices"), 0), "allow", false));
}

/* The errno that a call is refused with whatever its arguments are; 0: it is not. */
static int64_t refusal(const struct jsn *config, const char *call)
{
    JSN_FOR_ITEMS (rule, jsn_get(config, "linux.seccomp.syscalls"))
        if (!jsn_key(rule, "args") && has(jsn_key(rule, "names"), call))
            return jsn_get_int(rule, "errnoRet", 0);
    return 0;
}

static bool refuses_socket(const struct jsn *config, int family)
{
    JSN_FOR_ITEMS (rule, jsn_get(config, "linux.seccomp.syscalls"))
        if (has(jsn_key(rule, "names"), "socket") &&
            jsn_get_int(jsn_item(jsn_key(rule, "args"), 0), "valueTwo", 0) == family)
            return true;
    return false;
}

static void ordinary_containers_are_refused_what_their_capabilities_do_not_cover(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *c = config_of(&a, "{'containers':[{'name':'c'}]}", NULL);

    (void)state;
    assert_string_equal(jsn_get_str(c, "linux.seccomp.defaultAction"), "SCMP_ACT_ALLOW");
    assert_int_equal(refusal(c, "mount"), EPERM);
    assert_int_equal(refusal(c, "keyctl"), EPERM);
    assert_int_equal(refusal(c, "open_by_handle_at"), EPERM);
    assert_int_equal(refusal(c, "clone3"), ENOSYS);
    assert_int_equal(refusal(c, "clone"), 0);
    assert_int_equal(refusal(c, "read"), 0);
    c = config_of(&a,
                  "{'containers':[{'name':'c','securityContext':{'capabilities':{"
                  "'add':['SYS_ADMIN']}}}]}",
                  NULL);
    assert_int_equal(refusal(c, "mount"), 0);
    assert_int_equal(refusal(c, "clone3"), 0);
    assert_int_equal(refusal(c, "keyctl"), EPERM);
}

static void sockets_of_odd_families_are_refused(void **state)
{
    static const int odd[] = {AF_VSOCK, AF_ALG, AF_CAN, AF_KCM};
    static const int usual[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_PACKET};
    AUTO(arena_done) struct arena a = {0};
    struct jsn *c = config_of(&a, "{'containers':[{'name':'c'}]}", NULL);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(odd); i++)
        assert_true(refuses_socket(c, odd[i]));
    for (size_t i = 0; i < ARRAY_LEN(usual); i++)
        assert_false(refuses_socket(c, usual[i]));
    assert_int_equal(refusal(c, "socketcall"), ENOSYS);
}

static void a_filter_is_left_out_only_where_the_pod_says_so(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct err e = {0};

    (void)state;
    assert_null(jsn_get(config_of(&a,
                                  "{'securityContext':{'seccompProfile':{'type':'Unconfined'}},"
                                  "'containers':[{'name':'c'}]}",
                                  NULL),
                        "linux.seccomp"));
    assert_non_null(jsn_get(config_of(&a,
                                      "{'securityContext':{'seccompProfile':{'type':'Unconfined'}},"
                                      "'containers':[{'name':'c','securityContext':{"
                                      "'seccompProfile':{'type':'RuntimeDefault'}}}]}",
                                      NULL),
                            "linux.seccomp"));
    assert_null(config_of(&a,
                          "{'containers':[{'name':'c','securityContext':{'seccompProfile':{"
                          "'type':'Localhost','localhostProfile':'x'}}}]}",
                          &e));
    assert_non_null(strstr(e.text, "RuntimeDefault and Unconfined"));
}

static void own_control_groups_are_a_namespace(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct pod_spec *p = pod_of(&a, "{'containers':[{'name':'c'}]}");
    struct oci_mounts mounts = {.arena = &a};
    struct oci_input in = {
        .pod = p, .ctr = &p->ctrs[0], .cwd = "/", .mounts = &mounts, .cgroups_path = "/x"};
    struct jsn *c = NULL;

    (void)state;
    for (int own = 0; own < 2; own++) {
        in.own_cgroups = own;
        assert_int_equal(oci_config_build(&a, &in, &c, NULL), 0);
        assert_int_equal(namespace_path(c, "cgroup") != NULL, own);
    }
}

static const char confined[] =
    "{'metadata':{'name':'p','namespace':'n','uid':'u','annotations':{"
    "'confine.slurmkeeper.dev/c':'CHOWN, KILL,SYS_BOOT','confine.slurmkeeper.dev/other':'X'}},"
    "'spec':{'containers':[{'name':'c','securityContext':{'privileged':true,'capabilities':{"
    "'add':['SYS_ADMIN']}}},{'name':'d','securityContext':{'privileged':true}}]}}";

static void a_confined_container_has_its_list_and_its_control_groups(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct pod_spec p = {.json = json_of(&a, confined)};
    const struct jsn *list = jsn_get(p.json, "spec.containers");
    struct ctr_spec c = {.name = "c", .json = jsn_item(list, 0)};
    struct ctr_spec d = {.name = "d", .json = jsn_item(list, 1)};
    uint64_t may_have = capability_default() | 1U << 21;
    uint64_t set = 0;

    (void)state;
    assert_false(confine_is_privileged(&p, &c));
    assert_true(confine_writes_cgroups(&p, &c));
    assert_int_equal(confine_capabilities(&p, &c, may_have, &set, NULL), 0);
    assert_int_equal(set, 1U << capability_number("CHOWN") | 1U << capability_number("KILL"));
    assert_true(confine_is_privileged(&p, &d));
    assert_int_equal(confine_capabilities(&p, &d, may_have, &set, NULL), 0);
    assert_int_equal(set, may_have);
    c.name = "other";
    assert_int_equal(confine_capabilities(&p, &c, may_have, &set, NULL), -EINVAL);
}

static void a_confined_container_opens_the_devices_that_it_names(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct pod_spec p = {.json = json_of(&a, confined)};
    struct ctr_spec c = {.name = "c", .json = jsn_item(jsn_get(p.json, "spec.containers"), 0)};
    struct oci_mounts mounts = {.arena = &a};
    const struct oci_device gpu = {"/dev/nvidia0", false, 195, 7, 0666};
    struct oci_input in = {.pod = &p,
                           .ctr = &c,
                           .cwd = "/",
                           .mounts = &mounts,
                           .cgroups_path = "/x",
                           .devices = &gpu,
                           .n_devices = 1};
    const struct jsn *rules;
    struct jsn *config;

    (void)state;
    assert_int_equal(oci_config_build(&a, &in, &config, NULL), 0);
    rules = jsn_get(config, "linux.resources.devices");
    assert_int_equal(jsn_len(rules), 2);
    assert_false(jsn_get_bool(jsn_item(rules, 0), "allow", true));
    assert_int_equal(jsn_get_int(jsn_item(rules, 1), "major", 0), 195);
    assert_string_equal(jsn_get_str(jsn_item(rules, 1), "access"), "rw");
    assert_null(jsn_get(config, "linux.devices"));
}

static void pods_set_what_their_namespaces_have(void **state)
{
    static const struct {
        const char *spec; /* beside the sysctl */
        const char *name;
        const char *why; /* NULL: it is taken */
    } cases[] = {
        {"", "net.core.somaxconn", NULL},
        {"", "kernel.shm_rmid_forced", NULL},
        {"", "fs.mqueue.msg_max", NULL},
        {"", "kernel.core_pattern", "of the whole machine"},
        {"", "vm.overcommit_memory", "of the whole machine"},
        {"", "kernel.semantics", "of the whole machine"},
        {"", "net/../kernel/core_pattern", "is not a name"},
        {"", "net..", "is not a name"},
        {"'hostNetwork':true,", "net.core.somaxconn", "hostNetwork"},
        {"'hostIPC':true,", "kernel.sem", "hostIPC"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct err e = {0};
        struct pod_spec *p =
            pod_of(&a, arena_printf(&a,
                                    "{%s'securityContext':{'sysctls':[{'name':'%s','value':'1'}]},"
                                    "'containers':[{'name':'c'}]}",
                                    cases[i].spec, cases[i].name));

        assert_int_equal(sysctls_check(p, &e), cases[i].why ? -EINVAL : 0);
        if (cases[i].why)
            assert_non_null(strstr(e.text, cases[i].why));
    }
}

static void a_command_inside_is_the_process_with_other_arguments(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *c = config_of(&a, "{'containers':[{'name':'c'}]}", NULL);
    struct jsn *p = oci_config_exec(&a, c, json_of(&a, "['id']"), true);

    (void)state;
    assert_string_equal(jsn_text(jsn_item(jsn_key(p, "args"), 0)), "id");
    assert_true(jsn_get_bool(p, "terminal", false));
    assert_true(has(jsn_key(p, "env"), "TERM=xterm"));
    assert_false(has(jsn_get(c, "process.env"), "TERM=xterm"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(later_variables_win_and_use_earlier_ones),
        cmocka_unit_test(what_is_missing_is_named_and_may_come_later),
        cmocka_unit_test(commands_come_from_the_pod_or_a_start_script),
        cmocka_unit_test(images_have_short_names),
        cmocka_unit_test(fields_of_pods_and_containers),
        cmocka_unit_test(limits_become_settings_of_groups),
        cmocka_unit_test(limits_of_a_fence_are_files_of_its_group),
        cmocka_unit_test(pods_together_leave_something_to_the_machine),
        cmocka_unit_test(a_pods_demand_counts_what_runs_at_once),
        cmocka_unit_test(the_configuration_holds_what_was_decided),
        cmocka_unit_test(host_namespaces_are_left_alone),
        cmocka_unit_test(capabilities_are_dropped_then_added_within_what_we_have),
        cmocka_unit_test(a_privileged_container_sees_everything),
        cmocka_unit_test(ordinary_containers_are_refused_what_their_capabilities_do_not_cover),
        cmocka_unit_test(sockets_of_odd_families_are_refused),
        cmocka_unit_test(a_filter_is_left_out_only_where_the_pod_says_so),
        cmocka_unit_test(own_control_groups_are_a_namespace),
        cmocka_unit_test(a_confined_container_has_its_list_and_its_control_groups),
        cmocka_unit_test(a_confined_container_opens_the_devices_that_it_names),
        cmocka_unit_test(pods_set_what_their_namespaces_have),
        cmocka_unit_test(a_command_inside_is_the_process_with_other_arguments),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
