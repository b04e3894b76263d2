/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a container mounts.
 *
 * Every mount and device names a volume of the pod, and no two of them share a path; block devices
 * need a claim behind them.  Kubernetes leaves the index out of some of these paths ("volumeMounts.
 * subPath"); so do we, as clients compare them.
 */
#include "src/cluster/apiserver/kinds/podspec.h"

static char present[1];

static void check_known(struct causes *cs, const struct place *name, const struct map *volumes)
{
    (void)check_filled(cs, name, NULL);
    if (!map_get(volumes, str_of(place_str(name))))
        cause_add(cs, "FieldValueNotFound", place_text(cs, name), "Not found: \"%s\"",
                  place_str(name));
}

/* Is there a device (or mount) with that value of `key`? */
static bool used_by(const struct place *list, const char *key, const char *value)
{
    JSN_FOR_ITEMS (item, list->value) {
        if (streq(jsn_get_str(item, key), value))
            return true;
    }
    return false;
}

static void check_propagation(struct causes *cs, const struct place *mounts,
                              const struct place *mount, bool privileged)
{
    static const char *const modes[] = {"Bidirectional", "HostToContainer", "None", NULL};
    struct place at = place_key(mounts, "mountPropagation");

    at.value = jsn_key(mount->value, "mountPropagation");
    check_enum(cs, &at, modes);
    if (streq(place_str(&at), "Bidirectional") && !privileged)
        place_forbidden(cs, &at,
                        "Bidirectional mount propagation is available only to privileged "
                        "containers");
}

/* Kubernetes leaves the index out of these paths; so do we. */
static void check_sub_paths(struct causes *cs, const struct place *mounts,
                            const struct place *mount)
{
    struct place sub = place_key(mounts, "subPath");
    struct place expr = place_key(mounts, "subPathExpr");
    struct place own_expr = place_key(mount, "subPathExpr");

    sub.value = jsn_key(mount->value, "subPath");
    expr.value = own_expr.value;
    check_relative_path(cs, &sub);
    if (place_filled(&sub) && place_filled(&expr))
        place_invalid(cs, &own_expr, "subPathExpr and subPath are mutually exclusive");
    check_relative_path(cs, &expr);
}

static void check_mounts(struct causes *cs, const struct place *mounts, const struct place *devices,
                         const struct map *volumes, bool privileged)
{
    AUTO(map_done) struct map paths = {0};

    PLACE_FOR_ITEMS (mount, mounts) {
        struct place name = place_key(&mount, "name");
        struct place path = place_key(&mount, "mountPath");

        check_known(cs, &name, volumes);
        if (check_filled(cs, &path, NULL) && !map_put(&paths, str_of(place_str(&path)), present))
            place_invalid(cs, &path, "must be unique");
        if (used_by(devices, "name", place_str(&name)))
            place_invalid(cs, &name, "must not already exist in volumeDevices");
        if (used_by(devices, "devicePath", place_str(&path)))
            place_invalid(cs, &path, "must not already exist as a path in volumeDevices");
        check_sub_paths(cs, mounts, &mount);
        check_propagation(cs, mounts, &mount, privileged);
    }
}

static void check_device_path(struct causes *cs, const struct place *path, struct map *paths)
{
    struct causes dots = {.arena = cs->arena};

    check_no_backsteps(&dots, path);
    if (!check_filled(cs, path, NULL))
        return;
    if (dots.n > 0)
        place_invalid(cs, path, "can not contain backsteps ('..')");
    else if (!map_put(paths, str_of(place_str(path)), present))
        place_invalid(cs, path, "must be unique");
}

static void check_devices(struct causes *cs, const struct place *devices,
                          const struct place *mounts, const struct map *volumes)
{
    AUTO(map_done) struct map paths = {0};
    AUTO(map_done) struct map names = {0};

    PLACE_FOR_ITEMS (device, devices) {
        struct place name = place_key(&device, "name");
        struct place path = place_key(&device, "devicePath");
        const struct jsn *volume = map_get(volumes, str_of(place_str(&name)));

        check_known(cs, &name, volumes);
        if (place_filled(&name) && !map_put(&names, str_of(place_str(&name)), present))
            place_invalid(cs, &name, "must be unique");
        if (volume && !jsn_key(volume, "persistentVolumeClaim") && !jsn_key(volume, "ephemeral"))
            place_invalid(cs, &name,
                          "can only use volume source type of PersistentVolumeClaim or Ephemeral "
                          "for block mode");
        check_device_path(cs, &path, &paths);
        if (used_by(mounts, "name", place_str(&name)))
            place_invalid(cs, &name, "must not already exist in volumeMounts");
        if (used_by(mounts, "mountPath", place_str(&path)))
            place_invalid(cs, &path, "must not already exist as a path in volumeMounts");
    }
}

void container_mounts_check(struct causes *cs, const struct place *container,
                            const struct map *volumes)
{
    struct place mounts = place_key(container, "volumeMounts");
    struct place devices = place_key(container, "volumeDevices");
    bool privileged = jsn_get_bool(container->value, "securityContext.privileged", false);

    check_mounts(cs, &mounts, &devices, volumes, privileged);
    check_devices(cs, &devices, &mounts, volumes);
}
