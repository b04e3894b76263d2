/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CustomResourceDefinitions.
 *
 * The schema comes from the very table that decodes an object, so that what the API accepts and
 * what the operator reads cannot part.  The files in deploy/crds are printed by this code
 * (`slurmkeeper crds`), and a test holds them against it.
 */
#include "src/api/crds.h"

#include "src/json/yaml.h"

static struct jsn *strings(struct arena *a, const char *const *list)
{
    struct jsn *array = jsn_array(a);

    for (; *list; list++)
        jsn_append(a, array, jsn_string(a, *list));
    return array;
}

static struct jsn *make_names(struct arena *a, const struct api_kind *kind)
{
    static const char *const categories[] = {"slurm", NULL};
    struct jsn *names = jsn_object(a);

    jsn_set_str(a, names, "kind", kind->kind);
    jsn_set(a, names, "listKind", jsn_stringf(a, "%sList", kind->kind));
    jsn_set_str(a, names, "plural", kind->plural);
    jsn_set_str(a, names, "singular", kind->singular);
    jsn_set(a, names, "shortNames", strings(a, kind->short_names));
    jsn_set(a, names, "categories", strings(a, categories));
    return names;
}

static struct jsn *make_columns(struct arena *a, const struct api_column *columns)
{
    struct jsn *list = jsn_array(a);

    for (; columns->name; columns++) {
        struct jsn *c = jsn_object(a);

        jsn_set_str(a, c, "name", columns->name);
        jsn_set_str(a, c, "type", columns->type);
        jsn_set_str(a, c, "description", columns->doc);
        jsn_set_str(a, c, "jsonPath", columns->path);
        if (columns->wide)
            jsn_set_int(a, c, "priority", 1);
        jsn_append(a, list, c);
    }
    return list;
}

static struct jsn *make_subresources(struct arena *a, const struct api_kind *kind)
{
    struct jsn *sub = jsn_object(a);
    struct jsn *scale;

    jsn_set(a, sub, "status", jsn_object(a));
    if (!kind->scale)
        return sub;
    scale = jsn_ensure_object(a, sub, "scale");
    jsn_set_str(a, scale, "specReplicasPath", ".spec.replicas");
    jsn_set_str(a, scale, "statusReplicasPath", ".status.replicas");
    jsn_set_str(a, scale, "labelSelectorPath", ".status.selector");
    return sub;
}

/* What old servers do not take: rules, and an empty text as a default, which Kubernetes 1.20 reads
 * as null and refuses.  Who decodes an object fills it in anyway. */
static void drop_rules(struct jsn *v)
{
    const char *standard = jsn_get_str(v, "default");

    jsn_del(v, "x-kubernetes-validations");
    if (standard && !standard[0])
        jsn_del(v, "default");
    JSN_FOR_MEMBERS (m, v)
        drop_rules(m->value);
    JSN_FOR_ITEMS (item, v)
        drop_rules(item);
}

static struct jsn *make_version(struct arena *a, const struct api_kind *kind, bool rules)
{
    struct jsn *version = jsn_object(a);
    struct jsn *schema = fields_kind_schema(a, kind->fields, kind->doc);

    if (!rules)
        drop_rules(schema);
    jsn_set_str(a, version, "name", kind->version);
    jsn_set_bool(a, version, "served", true);
    jsn_set_bool(a, version, "storage", true);
    jsn_set(a, version, "additionalPrinterColumns", make_columns(a, kind->columns));
    jsn_set(a, version, "subresources", make_subresources(a, kind));
    jsn_set_path(a, version, "schema.openAPIV3Schema", schema);
    return version;
}

struct jsn *api_crd(struct arena *a, const struct api_kind *kind, bool rules)
{
    struct jsn *crd = jsn_object(a);
    struct jsn *spec = jsn_object(a);
    struct jsn *versions = jsn_array(a);

    jsn_set_str(a, crd, "apiVersion", "apiextensions.k8s.io/v1");
    jsn_set_str(a, crd, "kind", "CustomResourceDefinition");
    jsn_set_path(a, crd, "metadata.name", jsn_stringf(a, "%s.%s", kind->plural, kind->group));
    jsn_set_str(a, spec, "group", kind->group);
    jsn_set_str(a, spec, "scope", "Namespaced");
    jsn_set(a, spec, "names", make_names(a, kind));
    jsn_append(a, versions, make_version(a, kind, rules));
    jsn_set(a, spec, "versions", versions);
    jsn_set(a, crd, "spec", spec);
    return crd;
}

void api_print_crds(struct buf *b, const struct api_kind *kind, bool rules)
{
    API_FOR_KINDS (k) {
        AUTO(arena_done) struct arena a = {0};

        if (kind && kind != k)
            continue;
        buf_adds(b, "# SPDX-License-Identifier: GPL-2.0-or-later\n"
                    "# Printed by `slurmkeeper crds` from the tables in src/api; not edited.\n"
                    "---\n");
        yaml_print(b, api_crd(&a, k, rules));
    }
}

const char *api_crd_file(struct arena *a, const struct api_kind *kind)
{
    return arena_printf(a, "%s_%s.yaml", kind->group, kind->plural);
}
