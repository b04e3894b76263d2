/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Validation of a pod's volumes.
 *
 * Each volume has a name and exactly one source.  Sources that the embedded node can mount, and
 * those that people write by hand, are checked in depth; of the others only the table of required
 * fields holds.  Good volumes are handed to whoever checks the mounts.
 */
#include "src/cluster/apiserver/kinds/podspec.h"

#define MODE_TEXT "must be a number between 0 and 0777 (octal), both inclusive"

static void check_mode(struct causes *cs, const struct place *in, const char *key)
{
    struct place mode = place_key(in, key);
    int64_t m = place_int(&mode, 0);

    if (m < 0 || m > 0777)
        place_invalid(cs, &mode, MODE_TEXT);
}

/* A path inside the volume: relative, and not reserved for the volume's own bookkeeping. */
static void check_local_path(struct causes *cs, const struct place *path)
{
    const char *text = place_str(path);

    (void)check_filled(cs, path, NULL);
    check_relative_path(cs, path);
    if (starts_with(text, "..") && text[2] != '/' && text[2] != '\0')
        place_invalid(cs, path, "must not start with '..'");
}

static void check_key_to_path(struct causes *cs, const struct place *in)
{
    struct place items = place_key(in, "items");

    PLACE_FOR_ITEMS (item, &items) {
        struct place key = place_key(&item, "key");
        struct place path = place_key(&item, "path");

        (void)check_filled(cs, &key, NULL);
        check_local_path(cs, &path);
        check_mode(cs, &item, "mode");
    }
}

static void check_downward_items(struct causes *cs, const struct place *in)
{
    static const char *const fields[] = {"metadata.annotations", "metadata.labels", "metadata.name",
                                         "metadata.namespace",   "metadata.uid",    NULL};
    struct place items = place_key(in, "items");

    PLACE_FOR_ITEMS (item, &items) {
        struct place path = place_key(in, "path"); /* Kubernetes leaves "items[i]" out */
        struct place field = place_key(in, "fieldRef");
        struct place resource = place_key(in, "resourceFieldRef");

        path.value = jsn_key(item.value, "path");
        field.value = jsn_key(item.value, "fieldRef");
        resource.value = jsn_key(item.value, "resourceFieldRef");
        check_local_path(cs, &path);
        if (place_given(&field))
            field_ref_check(cs, &field, fields);
        if (place_given(&field) && place_given(&resource))
            cause_invalid_text(cs, place_text(cs, in), "\"resource\"",
                               "fieldRef and resourceFieldRef can not be specified "
                               "simultaneously");
        else if (place_given(&resource))
            resource_ref_check(cs, &resource, true);
        else if (!place_given(&field))
            place_required(cs, in, "one of fieldRef and resourceFieldRef is required");
        check_mode(cs, &item, "mode");
    }
}

static void check_secret(struct causes *cs, const struct place *s)
{
    struct place name = place_key(s, "secretName");

    (void)check_filled(cs, &name, NULL);
    check_mode(cs, s, "defaultMode");
    check_key_to_path(cs, s);
}

static void check_config_map(struct causes *cs, const struct place *s)
{
    struct place name = place_key(s, "name");

    (void)check_filled(cs, &name, NULL);
    check_mode(cs, s, "defaultMode");
    check_key_to_path(cs, s);
}

static void check_downward(struct causes *cs, const struct place *s)
{
    check_mode(cs, s, "defaultMode");
    check_downward_items(cs, s);
}

static void check_token(struct causes *cs, const struct place *token)
{
    struct place seconds = place_key(token, "expirationSeconds");
    struct place path = place_key(token, "path");
    int64_t s = place_int(&seconds, 3600);

    if (s < 600)
        place_invalid(cs, &seconds, "may not specify a duration less than 10 minutes");
    if (s > (int64_t)1 << 32)
        place_invalid(cs, &seconds, "may not specify a duration larger than 2^32 seconds");
    check_local_path(cs, &path);
}

static void check_unique_paths(struct causes *cs, const struct place *projected,
                               const struct place *source, struct map *paths)
{
    struct place items = place_key(source, "items");
    static char here[1];

    PLACE_FOR_ITEMS (item, &items) {
        struct place path = place_key(&item, "path");
        struct str text = str_of(place_str(&path));

        if (text.n > 0 && map_get(paths, text))
            cause_invalid(cs, place_text(cs, projected), path.value, "conflicting duplicate paths");
        else if (text.n > 0)
            (void)map_put(paths, text, here);
    }
}

static void check_projection(struct causes *cs, const struct place *projected,
                             const struct place *source, struct map *paths)
{
    struct place secret = place_key(source, "secret");
    struct place config = place_key(source, "configMap");
    struct place downward = place_key(source, "downwardAPI");
    struct place token = place_key(source, "serviceAccountToken");
    struct place *named[] = {&secret, &config};
    int n =
        place_given(&secret) + place_given(&config) + place_given(&downward) + place_given(&token);

    for (size_t i = 0; i < ARRAY_LEN(named); i++) {
        struct place name = place_key(named[i], "name");

        if (!place_given(named[i]))
            continue;
        (void)check_filled(cs, &name, NULL);
        check_key_to_path(cs, named[i]);
        check_unique_paths(cs, projected, named[i], paths);
    }
    if (place_given(&downward)) {
        check_downward_items(cs, &downward);
        check_unique_paths(cs, projected, &downward, paths);
    }
    if (place_given(&token))
        check_token(cs, &token);
    if (n > 1)
        place_forbidden(cs, source, "may not specify more than 1 volume type");
}

static void check_projected(struct causes *cs, const struct place *s)
{
    AUTO(map_done) struct map paths = {0};
    struct place sources = place_key(s, "sources");

    check_mode(cs, s, "defaultMode");
    PLACE_FOR_ITEMS (source, &sources)
        check_projection(cs, s, &source, &paths);
}

static void check_host_path(struct causes *cs, const struct place *s)
{
    static const char *const types[] = {
        "",     "BlockDevice",  "CharDevice", "Directory", "DirectoryOrCreate",
        "File", "FileOrCreate", "Socket",     NULL};
    struct place path = place_key(s, "path");
    struct place type = place_key(s, "type");

    if (!check_filled(cs, &path, NULL))
        return;
    check_no_backsteps(cs, &path);
    check_enum(cs, &type, types);
}

static void check_empty_dir(struct causes *cs, const struct place *s)
{
    struct place limit = place_key(s, "sizeLimit");

    if (place_str(&limit)[0] == '-')
        place_forbidden(cs, &limit, "SizeLimit field must be a valid resource quantity");
}

static void check_nfs(struct causes *cs, const struct place *s)
{
    struct place server = place_key(s, "server");
    struct place path = place_key(s, "path");

    (void)check_filled(cs, &server, NULL);
    (void)check_filled(cs, &path, NULL);
    if (place_str(&path)[0] != '/')
        place_invalid(cs, &path, "must be an absolute path");
}

/* Sources: a function for those that need one, else up to two fields that must be there. */
static const struct source {
    const char *name;
    void (*check)(struct causes *cs, const struct place *source);
    const char *required[2];
} sources[] = {
    {"emptyDir", check_empty_dir, {0}},
    {"hostPath", check_host_path, {0}},
    {"secret", check_secret, {0}},
    {"configMap", check_config_map, {0}},
    {"downwardAPI", check_downward, {0}},
    {"projected", check_projected, {0}},
    {"persistentVolumeClaim", NULL, {"claimName"}},
    {"nfs", check_nfs, {0}},
    {"csi", NULL, {"driver"}},
    {"ephemeral", NULL, {0}},
    {"image", NULL, {"reference"}},
    {"gitRepo", NULL, {"repository"}},
    {"glusterfs", NULL, {"endpoints", "path"}},
    {"flexVolume", NULL, {"driver"}},
    {"cinder", NULL, {"volumeID"}},
    {"gcePersistentDisk", NULL, {"pdName"}},
    {"awsElasticBlockStore", NULL, {"volumeID"}},
    {"azureFile", NULL, {"secretName", "shareName"}},
    {"azureDisk", NULL, {"diskName", "diskURI"}},
    {"vsphereVolume", NULL, {"volumePath"}},
    {"photonPersistentDisk", NULL, {"pdID"}},
    {"portworxVolume", NULL, {"volumeID"}},
    {"quobyte", NULL, {"registry", "volume"}},
    {"scaleIO", NULL, {"gateway", "system"}},
    {"storageos", NULL, {0}},
    {"flocker", NULL, {0}},
    {"iscsi", NULL, {"targetPortal", "iqn"}},
    {"rbd", NULL, {"image"}},
    {"cephfs", NULL, {0}},
    {"fc", NULL, {0}},
};

static void check_source(struct causes *cs, const struct source *s, const struct place *at)
{
    if (s->check)
        s->check(cs, at);
    for (size_t i = 0; i < ARRAY_LEN(s->required) && s->required[i]; i++) {
        struct place field = place_key(at, s->required[i]);

        (void)check_filled(cs, &field, NULL);
    }
}

static void check_volume(struct causes *cs, const struct place *volume)
{
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
        struct place at = place_key(volume, sources[i].name);

        if (!place_given(&at))
            continue;
        if (n++ > 0)
            place_forbidden(cs, &at, "may not specify more than 1 volume type");
        else
            check_source(cs, &sources[i], &at);
    }
    if (n == 0)
        place_required(cs, volume, "must specify a volume type");
}

void volumes_check(struct causes *cs, const struct place *volumes, struct map *ret_volumes)
{
    PLACE_FOR_ITEMS (v, volumes) {
        struct place name = place_key(&v, "name");
        struct str key = str_of(place_str(&name));
        size_t before = cs->n;

        check_volume(cs, &v);
        check_form_required(cs, &name, FORM_DNS_LABEL);
        if (map_get(ret_volumes, key))
            place_duplicate(cs, &name);
        if (cs->n == before)
            (void)map_put(ret_volumes, key, jsn_item(volumes->value, v.index));
    }
}
