/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Settings over what is made, by strategic merge.
 *
 * The schemas below say no more than which lists merge, and by which key; everything else merges as
 * objects do, or is replaced.  A value counts as it is written: false, 0 and "" are values too.
 * Null and empty lists are not: charts and generators write them for what nobody has set.
 */
#include "src/build/merge.h"

#include "src/json/patch_strategic.h"

#define MERGED_BY(name, key, items_)                                                               \
    static const struct schema name = {                                                            \
        .type = SCHEMA_ARRAY, .patch = SCHEMA_PATCH_MERGE, .patch_key = key, .items = (items_)}
#define FIELD(field_name, schema_) {.name = {field_name, sizeof(field_name) - 1}, .schema = schema_}

static const struct schema plain_object = {.type = SCHEMA_OBJECT, .preserve_unknown = true};

MERGED_BY(by_name, "name", &plain_object);
MERGED_BY(by_mount_path, "mountPath", &plain_object);
MERGED_BY(by_device_path, "devicePath", &plain_object);
MERGED_BY(by_container_port, "containerPort", &plain_object);
MERGED_BY(by_ip, "ip", &plain_object);
MERGED_BY(by_topology_key, "topologyKey", &plain_object);

static struct schema_property container_fields[] = {
    FIELD("env", &by_name),
    FIELD("ports", &by_container_port),
    FIELD("volumeDevices", &by_device_path),
    FIELD("volumeMounts", &by_mount_path),
};
static const struct schema container_schema = {.type = SCHEMA_OBJECT,
                                               .preserve_unknown = true,
                                               .properties = container_fields,
                                               .n_properties = ARRAY_LEN(container_fields)};
MERGED_BY(containers_by_name, "name", &container_schema);

static struct schema_property pod_fields[] = {
    FIELD("containers", &containers_by_name),
    FIELD("ephemeralContainers", &containers_by_name),
    FIELD("hostAliases", &by_ip),
    FIELD("imagePullSecrets", &by_name),
    FIELD("initContainers", &containers_by_name),
    FIELD("resourceClaims", &by_name),
    FIELD("schedulingGates", &by_name),
    FIELD("topologySpreadConstraints", &by_topology_key),
    FIELD("volumes", &by_name),
};
static const struct schema pod_schema = {.type = SCHEMA_OBJECT,
                                         .preserve_unknown = true,
                                         .properties = pod_fields,
                                         .n_properties = ARRAY_LEN(pod_fields)};

static struct jsn *given(struct arena *a, const struct jsn *v);

static struct jsn *given_members(struct arena *a, const struct jsn *v)
{
    struct jsn *copy = jsn_object(a);

    JSN_FOR_MEMBERS (m, v) {
        bool empty = jsn_is(m->value, JSN_ARRAY) && jsn_len(m->value) == 0;

        if (!empty && !jsn_is(m->value, JSN_NULL))
            jsn_set_member(a, copy, m->key, given(a, m->value));
    }
    return copy;
}

/* A copy without members that are null or empty lists. */
static struct jsn *given(struct arena *a, const struct jsn *v)
{
    struct jsn *list;

    if (jsn_is(v, JSN_OBJECT))
        return given_members(a, v);
    if (!jsn_is(v, JSN_ARRAY))
        return jsn_clone(a, v);
    list = jsn_array(a);
    JSN_FOR_ITEMS (item, v)
        jsn_append(a, list, given(a, item));
    return list;
}

static struct jsn *lay_over(struct arena *a, const struct schema *schema, const struct jsn *base,
                            const struct jsn *user, const char *field, struct api_problems *p)
{
    struct jsn *merged;
    struct err e = {0};

    if (!user)
        return jsn_clone(a, base);
    if (patch_strategic(a, schema, base, user, &merged, &e) == 0)
        return merged;
    api_problem_add(p, API_INVALID, field, "cannot be laid over what is made: %s", e.text);
    return jsn_clone(a, base);
}

static struct jsn *joined(struct arena *a, const struct jsn *first, const struct jsn *second)
{
    struct jsn *all = jsn_array(a);

    JSN_FOR_ITEMS (item, first)
        jsn_append(a, all, item);
    JSN_FOR_ITEMS (item, second)
        jsn_append(a, all, item);
    return all;
}

/* A probe asks in one way only, and a hook does one thing. */
static void drop_handlers(struct jsn *action, const struct jsn *user)
{
    static const char *const handlers[] = {"exec", "grpc", "httpGet", "sleep", "tcpSocket"};
    bool own = false;

    for (size_t i = 0; i < ARRAY_LEN(handlers); i++)
        own = own || jsn_key(user, handlers[i]);
    for (size_t i = 0; own && i < ARRAY_LEN(handlers); i++)
        jsn_del(action, handlers[i]);
}

struct jsn *merge_container(struct arena *a, const struct jsn *base, const struct jsn *user,
                            const char *field, struct api_problems *p)
{
    static const char *const actions[] = {"lifecycle.postStart", "lifecycle.preStop",
                                          "livenessProbe", "readinessProbe", "startupProbe"};
    struct jsn *ground = jsn_clone(a, base);
    struct jsn *own = user ? given(a, user) : NULL;
    struct jsn *merged;

    for (size_t i = 0; i < ARRAY_LEN(actions); i++)
        drop_handlers(jsn_get(ground, actions[i]), jsn_get(own, actions[i]));
    merged = lay_over(a, &container_schema, ground, own, field, p);
    if (jsn_len(jsn_key(base, "args")) && jsn_len(jsn_key(own, "args")))
        jsn_set(a, merged, "args", joined(a, jsn_key(base, "args"), jsn_key(own, "args")));
    jsn_set(a, merged, "name", jsn_clone(a, jsn_key(base, "name")));
    return merged;
}

static bool has_named(const struct jsn *list, const char *name)
{
    JSN_FOR_ITEMS (item, list)
        if (streq(jsn_get_str(item, "name"), name))
            return true;
    return false;
}

/* A volume is one thing or another: of ours only what the user's names, too, is kept. */
static void retain_keys(struct arena *a, struct jsn *list, const struct jsn *ours)
{
    JSN_FOR_ITEMS (item, list) {
        struct jsn *keys = jsn_array(a);

        if (!has_named(ours, jsn_get_str(item, "name")))
            continue;
        JSN_FOR_MEMBERS (m, item)
            jsn_append(a, keys, jsn_str(a, m->key));
        jsn_set(a, item, "$retainKeys", keys);
    }
}

/* Our containers first, in our order: a sidecar of ours starts before what the user adds. */
static void ours_first(struct arena *a, struct jsn *spec, const struct jsn *base, const char *key)
{
    struct jsn *list = jsn_key(spec, key);
    const struct jsn *ours = jsn_key(base, key);
    struct jsn *ordered = jsn_array(a);

    if (!list || !ours)
        return;
    JSN_FOR_ITEMS (own, ours)
        JSN_FOR_ITEMS (item, list)
            if (streq(jsn_get_str(item, "name"), jsn_get_str(own, "name")))
                jsn_append(a, ordered, item);
    JSN_FOR_ITEMS (item, list)
        if (!has_named(ours, jsn_get_str(item, "name")))
            jsn_append(a, ordered, item);
    jsn_set(a, spec, key, ordered);
}

struct jsn *merge_pod_spec(struct arena *a, const struct jsn *base, const struct jsn *user,
                           const char *field, struct api_problems *p)
{
    struct jsn *own = user ? given(a, user) : NULL;
    struct jsn *merged;

    retain_keys(a, jsn_key(own, "volumes"), jsn_key(base, "volumes"));
    retain_keys(a, jsn_key(own, "resourceClaims"), jsn_key(base, "resourceClaims"));
    merged = lay_over(a, &pod_schema, base, own, field, p);
    ours_first(a, merged, base, "initContainers");
    ours_first(a, merged, base, "containers");
    return merged;
}
