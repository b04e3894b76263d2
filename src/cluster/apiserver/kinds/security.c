/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Security contexts, of pods and of containers: ids in range, known profile types, combinations
 * that contradict each other, and what the host's network asks of the ports.
 *
 * Whether a pod may be privileged at all is not decided here: who can make pods on this machine can
 * do everything on it anyway.
 */
#include "src/cluster/apiserver/kinds/podspec.h"

static void check_id(struct causes *cs, const struct place *context, const char *key)
{
    struct place at = place_key(context, key);

    check_range(cs, &at, 0, INT32_MAX);
}

static void check_seccomp(struct causes *cs, const struct place *profile)
{
    static const char *const types[] = {"Localhost", "RuntimeDefault", "Unconfined", NULL};
    struct place type = place_key(profile, "type");
    struct place local = place_key(profile, "localhostProfile");

    if (!place_given(profile))
        return;
    if (!place_filled(&type))
        place_required(cs, &type, "type is required when seccompProfile is set");
    check_enum(cs, &type, types);
    if (!streq(place_str(&type), "Localhost")) {
        if (place_given(&local))
            place_invalid(cs, &local, "can only be set when seccomp type is Localhost");
    } else if (!place_given(&local)) {
        place_required(cs, &local, "must be set when seccomp type is Localhost");
    } else {
        check_relative_path(cs, &local);
    }
}

static bool adds_sys_admin(const struct place *context)
{
    JSN_FOR_ITEMS (item, jsn_get(context->value, "capabilities.add")) {
        if (streq(jsn_text(item), "CAP_SYS_ADMIN"))
            return true;
    }
    return false;
}

void container_security_check(struct causes *cs, const struct place *context)
{
    static const char *const mounts[] = {"Default", "Unmasked", NULL};
    struct place escalation = place_key(context, "allowPrivilegeEscalation");
    struct place privileged = place_key(context, "privileged");
    struct place proc_mount = place_key(context, "procMount");
    struct place seccomp = place_key(context, "seccompProfile");

    if (!place_given(context))
        return;
    check_id(cs, context, "runAsUser");
    check_id(cs, context, "runAsGroup");
    check_enum(cs, &proc_mount, mounts);
    check_seccomp(cs, &seccomp);
    if (!place_given(&escalation) || place_true(&escalation))
        return;
    if (place_true(&privileged))
        place_invalid(cs, context,
                      "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
    if (adds_sys_admin(context))
        place_invalid(cs, context,
                      "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` "
                      "CAP_SYS_ADMIN");
}

static void check_host_network(struct causes *cs, const struct place *spec)
{
    struct place containers = place_key(spec, "containers");

    if (!jsn_get_bool(spec->value, "hostNetwork", false))
        return;
    PLACE_FOR_ITEMS (c, &containers) {
        struct place ports = place_key(&c, "ports");

        PLACE_FOR_ITEMS (port, &ports) {
            struct place number = place_key(&port, "containerPort");

            if (place_int(&number, 0) != jsn_get_int(port.value, "hostPort", 0))
                place_invalid(cs, &number, "must match `hostPort` when `hostNetwork` is true");
        }
    }
}

static bool sysctl_ok(const char *name)
{
    struct str rest = str_of(name);
    struct str part;

    if (rest.n > 253)
        return false;
    while (str_split(&rest, '.', &part)) {
        for (size_t i = 0; i < part.n; i++) {
            bool end = i == 0 || i + 1 == part.n;
            char ch = part.p[i];

            if (!((ch >= 'a' && ch <= 'z') || (ch >= '0' && ch <= '9') ||
                  (!end && (ch == '-' || ch == '_'))))
                return false;
        }
        if (part.n == 0)
            return false;
    }
    return true;
}

static void check_sysctls(struct causes *cs, const struct place *list)
{
    AUTO(map_done) struct map names = {0};
    static char here[1];

    PLACE_FOR_ITEMS (sysctl, list) {
        struct place name = place_key(&sysctl, "name");

        if (!check_filled(cs, &name, NULL))
            continue;
        if (!sysctl_ok(place_str(&name)))
            place_invalid(
                cs, &name,
                "must have at most 253 characters and match regex "
                "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$");
        else if (!map_put(&names, str_of(place_str(&name)), here))
            place_duplicate(cs, &name);
    }
}

void pod_security_check(struct causes *cs, const struct place *spec)
{
    static const char *const policies[] = {"Always", "OnRootMismatch", NULL};
    struct place context = place_key(spec, "securityContext");
    struct place groups = place_key(&context, "supplementalGroups");
    struct place sysctls = place_key(&context, "sysctls");
    struct place change = place_key(&context, "fsGroupChangePolicy");
    struct place seccomp = place_key(&context, "seccompProfile");
    struct place share = place_key(&context, "shareProcessNamespace");

    check_host_network(cs, spec);
    check_id(cs, &context, "fsGroup");
    check_id(cs, &context, "runAsUser");
    check_id(cs, &context, "runAsGroup");
    PLACE_FOR_ITEMS (group, &groups)
        check_range(cs, &group, 0, INT32_MAX);
    share.value = jsn_key(spec->value, "shareProcessNamespace");
    if (place_true(&share) && jsn_get_bool(spec->value, "hostPID", false))
        place_invalid(cs, &share, "ShareProcessNamespace and HostPID cannot both be enabled");
    check_sysctls(cs, &sysctls);
    check_enum(cs, &change, policies);
    check_seccomp(cs, &seccomp);
}
