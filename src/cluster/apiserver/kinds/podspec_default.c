/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Defaults of pod specs that depend on other fields.
 *
 * The tables fill in constants; here is what needs a look around: the pull policy follows the tag
 * of the image, a volume without a source is an emptyDir, host ports follow container ports on the
 * host's network, requests follow limits.  The last and enableServiceLinks are for pods alone:
 * a template must come back as it was written, or every apply would see a difference.
 */
#include "src/cluster/apiserver/kinds/podspec.h"

/* Go's image parser: the tag, or "latest" where neither tag nor digest is given. */
static bool image_is_latest(const char *image)
{
    const char *digest = strchr(image, '@');
    size_t n = digest ? (size_t)(digest - image) : strlen(image);
    const char *tag = NULL;

    for (size_t i = 0; i < n; i++) {
        if (image[i] == '/')
            tag = NULL;
        else if (image[i] == ':')
            tag = image + i + 1;
    }
    if (n == 0)
        return false;
    return tag ? str_eqz((struct str){tag, (size_t)(image + n - tag)}, "latest") : !digest;
}

static void default_container(struct arena *a, struct jsn *c)
{
    const char *policy = jsn_get_str(c, "imagePullPolicy");
    const char *image = jsn_get_str(c, "image");

    if (!policy || policy[0] == '\0')
        jsn_set_str(a, c, "imagePullPolicy",
                    image_is_latest(image ? image : "") ? "Always" : "IfNotPresent");
    if (!jsn_is(jsn_key(c, "resources"), JSN_OBJECT))
        jsn_set(a, c, "resources", jsn_object(a));
}

static void default_host_ports(struct arena *a, struct jsn *c)
{
    JSN_FOR_ITEMS (port, jsn_key(c, "ports")) {
        if (jsn_get_int(port, "hostPort", 0) == 0)
            jsn_set_int(a, port, "hostPort", jsn_get_int(port, "containerPort", 0));
    }
}

static void default_requests(struct arena *a, struct jsn *c)
{
    struct jsn *resources = jsn_key(c, "resources");
    struct jsn *limits = jsn_key(resources, "limits");

    if (!jsn_is(limits, JSN_OBJECT))
        return;
    JSN_FOR_MEMBERS (limit, limits) {
        struct jsn *requests = jsn_ensure_object(a, resources, "requests");

        if (!jsn_member(requests, limit->key))
            jsn_set_member(a, requests, limit->key, jsn_clone(a, limit->value));
    }
}

static void default_containers(struct arena *a, struct jsn *spec, const char *key, bool pod)
{
    bool host_network = jsn_get_bool(spec, "hostNetwork", false);

    JSN_FOR_ITEMS (c, jsn_key(spec, key)) {
        default_container(a, c);
        if (host_network)
            default_host_ports(a, c);
        if (pod)
            default_requests(a, c);
    }
}

/* A volume that names no source is an emptyDir. */
static void default_volumes(struct arena *a, struct jsn *volumes)
{
    JSN_FOR_ITEMS (v, volumes) {
        size_t sources = 0;

        JSN_FOR_MEMBERS (m, v) {
            if (!str_eqz(m->key, "name") && m->value->type != JSN_NULL)
                sources++;
        }
        if (sources == 0 && jsn_is(v, JSN_OBJECT))
            jsn_set(a, v, "emptyDir", jsn_object(a));
    }
}

/* The old name of the field is kept in step with the new one. */
static void default_service_account(struct arena *a, struct jsn *spec)
{
    const char *name = jsn_get_str(spec, "serviceAccountName");
    const char *old = jsn_get_str(spec, "serviceAccount");

    if (name && name[0] != '\0')
        jsn_set_str(a, spec, "serviceAccount", name);
    else if (old && old[0] != '\0')
        jsn_set_str(a, spec, "serviceAccountName", old);
}

void podspec_default(struct arena *a, struct jsn *spec, bool pod)
{
    if (!jsn_is(spec, JSN_OBJECT))
        return;
    default_containers(a, spec, "containers", pod);
    default_containers(a, spec, "initContainers", pod);
    default_containers(a, spec, "ephemeralContainers", false);
    default_volumes(a, jsn_key(spec, "volumes"));
    default_service_account(a, spec);
    if (pod && !jsn_key(spec, "enableServiceLinks"))
        jsn_set_bool(a, spec, "enableServiceLinks", true);
}

void podtemplate_default(struct arena *a, struct jsn *object, const char *key)
{
    struct jsn *template = jsn_key(object, key);

    if (jsn_is(template, JSN_OBJECT))
        podspec_default(a, jsn_key(template, "spec"), false);
}
