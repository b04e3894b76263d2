/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The downward API: what a pod may know about itself.
 *
 * Whole maps (metadata.labels, metadata.annotations) are printed one to a line, key="value", sorted
 * by key.  Resources are divided by the divisor and rounded up; a limit that is not set is the
 * machine's own capacity.
 */
#include "src/cluster/node/pods/field.h"

#include "src/cluster/node/pods/limits.h"
#include "src/json/quantity.h"

static int by_key(const void *x, const void *y)
{
    const struct jsn_member *a = x;
    const struct jsn_member *b = y;

    return str_cmp(a->key, b->key);
}

static const char *print_map(struct arena *a, const struct jsn *map)
{
    AUTO(buf_done) struct buf b = {0};
    size_t n = jsn_len(map);
    struct jsn_member *sorted = arena_calloc(a, n + 1, sizeof(*sorted));
    size_t k = 0;

    JSN_FOR_MEMBERS (m, map)
        sorted[k++] = *m;
    qsort(sorted, n, sizeof(*sorted), by_key);
    for (size_t i = 0; i < n; i++) {
        const char *text = jsn_text(sorted[i].value);

        buf_printf(&b, "%s" STR_FMT "=", i ? "\n" : "", STR_ARG(sorted[i].key));
        jsn_print_string(&b, str_of(text ? text : ""));
    }
    return arena_strdup(a, buf_str(&b));
}

/* "metadata.labels['key']": the key between the quotes. */
static bool subscript(const char *path, const char *map, struct str *ret_key)
{
    size_t n = strlen(map);
    size_t whole = strlen(path);

    if (strncmp(path, map, n) != 0 || whole < n + 4 || path[n] != '[' || path[n + 1] != '\'' ||
        !ends_with(path, "']"))
        return false;
    *ret_key = (struct str){path + n + 2, whole - n - 4};
    return true;
}

int field_value(struct arena *a, const struct pod_spec *p, const struct field_context *c,
                const char *path, const char **ret_text, struct err *e)
{
    static const char *const plain[] = {"metadata.name", "metadata.namespace", "metadata.uid",
                                        "spec.nodeName", "spec.serviceAccountName"};
    const char *text = NULL;
    struct str key;

    if (!path)
        return err_bad(e, "fieldRef: fieldPath is missing");
    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        if (streq(path, plain[i]))
            text = jsn_get_str(p->json, path);
    if (streq(path, "status.podIP") || streq(path, "status.podIPs"))
        text = c->pod_ip;
    else if (streq(path, "status.hostIP") || streq(path, "status.hostIPs"))
        text = c->host_ip;
    else if (streq(path, "metadata.labels") || streq(path, "metadata.annotations"))
        text = print_map(a, jsn_get(p->json, path));
    else if (subscript(path, "metadata.labels", &key))
        text = jsn_text(jsn_member(jsn_get(p->json, "metadata.labels"), key));
    else if (subscript(path, "metadata.annotations", &key))
        text = jsn_text(jsn_member(jsn_get(p->json, "metadata.annotations"), key));
    else if (!starts_with(path, "metadata.") && !starts_with(path, "spec."))
        return err_bad(e, "fieldRef: '%s' is not a field that a pod can ask for", path);
    *ret_text = text ? text : "";
    return 0;
}

static int64_t resource_milli(const struct ctr_spec *ctr, const struct field_context *c,
                              const char *resource)
{
    const struct jsn *limits = jsn_get(ctr->json, "resources.limits");
    const struct jsn *requests = jsn_get(ctr->json, "resources.requests");

    if (streq(resource, "limits.cpu"))
        return limits_milli(limits, "cpu", c->cpu_milli);
    if (streq(resource, "requests.cpu"))
        return limits_milli(requests, "cpu", 0);
    if (streq(resource, "limits.memory"))
        return limits_value(limits, "memory", c->memory_bytes) * 1000;
    if (streq(resource, "requests.memory"))
        return limits_value(requests, "memory", 0) * 1000;
    if (streq(resource, "limits.ephemeral-storage"))
        return limits_value(limits, "ephemeral-storage", 0) * 1000;
    if (streq(resource, "requests.ephemeral-storage"))
        return limits_value(requests, "ephemeral-storage", 0) * 1000;
    return -1;
}

int field_resource(struct arena *a, const struct pod_spec *p, const struct field_context *c,
                   const struct ctr_spec *own, const struct jsn *ref, const char **ret_text,
                   struct err *e)
{
    const char *name = jsn_get_str(ref, "containerName");
    const char *resource = jsn_get_str(ref, "resource");
    const char *divisor_text = jsn_get_str(ref, "divisor");
    struct quantity divisor = {0};
    int64_t milli, by = 1000;
    int i = name && name[0] ? pod_spec_find(p, name) : -1;
    const struct ctr_spec *ctr = i >= 0 ? &p->ctrs[i] : own;

    if (!ctr || (name && name[0] && i < 0))
        return err_bad(e, "resourceFieldRef: there is no container '%s'", name ? name : "");
    milli = resource ? resource_milli(ctr, c, resource) : -1;
    if (milli < 0)
        return err_bad(e, "resourceFieldRef: '%s' is not a resource", resource ? resource : "");
    if (divisor_text && quantity_parse(str_of(divisor_text), &divisor, NULL) == 0 &&
        quantity_milli(&divisor) > 0)
        by = quantity_milli(&divisor);
    *ret_text = arena_printf(a, "%lld", (long long)((milli + by - 1) / by));
    return 0;
}
