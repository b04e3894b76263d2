/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Selections.
 *
 * Field selectors work on the fields that Kubernetes indexes for each kind and on no others: an
 * unknown one is refused, since a silent "nothing matches" would mislead.  Custom kinds may declare
 * theirs (selectableFields).
 */
#include "src/cluster/apiserver/select.h"

#include "src/cluster/apiserver/object.h"
#include "src/cluster/apiserver/status.h"

static const struct {
    const char *resource; /* as stored */
    const char *fields[12];
} known_fields[] = {
    {"pods",
     {"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
      "spec.hostNetwork", "status.phase", "status.podIP", "status.nominatedNodeName"}},
    {"events",
     {"involvedObject.kind", "involvedObject.namespace", "involvedObject.name",
      "involvedObject.uid", "involvedObject.apiVersion", "involvedObject.resourceVersion",
      "involvedObject.fieldPath", "reason", "reportingComponent", "source", "type"}},
    {"secrets", {"type"}},
    {"namespaces", {"status.phase"}},
    {"nodes", {"spec.unschedulable"}},
    {"replicasets.apps", {"status.replicas"}},
    {"replicationcontrollers", {"status.replicas"}},
    {"jobs.batch", {"status.successful"}},
};

static bool known_everywhere(const char *field)
{
    return streq(field, "metadata.name") || streq(field, "metadata.namespace");
}

static bool custom_selectable(const struct resource *res, const char *field)
{
    JSN_FOR_ITEMS (item, jsn_get(res->crd_version, "selectableFields")) {
        const char *path = jsn_get_str(item, "jsonPath");

        if (path && path[0] == '.' && streq(path + 1, field))
            return true;
    }
    return false;
}

static bool is_known(struct api_call *c, const char *field)
{
    const char *resource = call_store_name(c);

    if (known_everywhere(field))
        return true;
    if (c->res->custom)
        return custom_selectable(c->res, field);
    for (size_t i = 0; i < ARRAY_LEN(known_fields); i++)
        if (streq(known_fields[i].resource, resource))
            for (size_t k = 0; k < ARRAY_LEN(known_fields[i].fields); k++)
                if (known_fields[i].fields[k] && streq(known_fields[i].fields[k], field))
                    return true;
    return false;
}

/* Kinds of the core group that can be selected by more than their names say it shorter. */
static bool has_own_fields(struct api_call *c)
{
    static const char *const resources[] = {
        "pods", "events", "secrets", "services", "namespaces", "nodes", "replicationcontrollers",
        NULL};

    return strings_have(resources, call_store_name(c));
}

/* events.k8s.io has other names for some fields; NULL: it has no such field. */
static const char *stored_event_field(struct arena *a, const char *field)
{
    if (starts_with(field, "regarding."))
        return arena_printf(a, "involvedObject.%s", field + strlen("regarding."));
    if (streq(field, "reportingController"))
        return "reportingComponent";
    if (starts_with(field, "involvedObject.") || streq(field, "reportingComponent") ||
        streq(field, "source"))
        return NULL;
    return field;
}

/* What the stored object calls a field that is asked for. */
static const char *stored_field(struct api_call *c, const char *field)
{
    if (streq(c->res->group, "events.k8s.io"))
        return stored_event_field(&c->arena, field);
    return field;
}

static int check_fields(struct api_call *c, struct selector *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const char *key = arena_str(&c->arena, s->requirements[i].key);
        const char *stored = stored_field(c, key);

        if (stored && is_known(c, stored)) {
            s->requirements[i].key = str_of(stored);
            continue;
        }
        if (c->res->custom || has_own_fields(c))
            return status_bad_request(c, "field label not supported: %s", key);
        if (streq(call_store_name(c), "jobs.batch"))
            return status_bad_request(c, "field label \"%s\" not supported for Job", key);
        return status_bad_request(c,
                                  "\"%s\" is not a known field selector: only \"metadata.name\", "
                                  "\"metadata.namespace\"",
                                  key);
    }
    return 0;
}

static int read_fields(struct api_call *c, const char *text, struct selection *s)
{
    struct err e = {0};
    struct str name;

    if (selector_parse_fields(&c->arena, str_of(text), &s->fields, &e) < 0)
        return status_bad_request(c, "%s", e.text);
    if (selector_exact(s->fields, "metadata.name", &name))
        s->name = arena_str(&c->arena, name);
    return check_fields(c, s->fields);
}

int selection_read(struct api_call *c, struct selection *ret_selection)
{
    const char *labels = call_param(c, "labelSelector");
    const char *fields = call_param(c, "fieldSelector");
    struct selection s = {.ns = c->ns[0] ? c->ns : NULL, .name = c->name};
    struct err e = {0};
    int r = 0;

    if (labels && labels[0] && selector_parse_labels(&c->arena, str_of(labels), &s.labels, &e) < 0)
        return status_bad_request(c, "%s", e.text);
    if (fields && fields[0])
        r = read_fields(c, fields, &s);
    if (r == 0)
        *ret_selection = s;
    return r;
}

static struct str event_source(const struct jsn *event)
{
    const char *component = jsn_get_str(event, "source.component");

    if (!component || !component[0])
        component = jsn_get_str(event, "reportingComponent");
    return component ? str_of(component) : STR("");
}

/* Booleans and numbers compare as text; absent is "". */
static struct str field_of(const void *context, struct str key)
{
    static const char *const bools[] = {"false", "true"};
    char path[128];
    const struct jsn *v;

    if (key.n >= sizeof(path))
        return STR("");
    memcpy(path, key.p, key.n);
    path[key.n] = '\0';
    if (streq(path, "source"))
        return event_source(context);
    v = jsn_get(context, path);
    if (jsn_is(v, JSN_STRING))
        return v->s;
    if (jsn_is(v, JSN_BOOL))
        return str_of(bools[v->b]);
    return streq(path, "spec.unschedulable") || streq(path, "spec.hostNetwork") ? STR("false")
                                                                                : STR("");
}

bool selection_match(const struct selection *s, const struct jsn *object)
{
    if (s->ns && !streq(s->ns, object_namespace(object)))
        return false;
    if (s->name && !streq(s->name, object_name(object)))
        return false;
    if (s->labels && !selector_match_labels(s->labels, jsn_get(object, "metadata.labels")))
        return false;
    return !s->fields || selector_match(s->fields, field_of, object);
}

bool selection_trivial(const struct selection *s)
{
    return !s->name && !s->labels && !s->fields;
}
