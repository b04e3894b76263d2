/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cluster as values for charts/slurm.
 *
 * The Controller, its NodeSets and its Accounting become the values of that name, and all else goes
 * along as extraObjects, as it is.  fullnameOverride keeps the Controller's name, so that what
 * names it goes on to do so.  NodeSets are called <controller>-worker-<name> by the chart; their
 * names in Slurm, and with them nodes and partitions, stay, and references to them follow.
 *
 * What the chart has no value for is an error, and not left out.
 */
#include "src/api/nodeset.h"
#include "src/cli/export.h"

struct values {
    struct arena *a;
    const struct jsn *controller;
    const char *ns;
    const char *name; /* of the Controller */
    struct jsn *to;
    struct jsn *renamed; /* names of NodeSets, old to new */
    struct err *e;
};

/* What a member of a spec is called among the values; "": the caller handles it. */
struct place {
    const char *member;
    const char *value;
};

static const struct place controller_places[] = {
    {"clusterName", "clusterName"},
    {"slurmKeyRef", "slurmKey.secretRef"},
    {"jwtKeyRef", "jwtKey.secretRef"},
    {"jwtHs256KeyRef", "jwtKey.secretRef"},
    {"jwksKeyRef", "jwksKeys.configMapRef"},
    {"accountingRef", ""},
    {"external", "controller.external"},
    {"externalConfig", "controller.externalConfig"},
    {"ha", "controller.ha"},
    {"slurmctld", "controller.slurmctld"},
    {"reconfigure", "controller.reconfigure"},
    {"logfile", "controller.logfile"},
    {"inplaceReconfigure", "controller.inplaceReconfigure"},
    {"template", ""},
    {"extraConf", "controller.extraConf"},
    {"configFileRefs", "configFileRefs"},
    {"prologScriptRefs", "prologScriptRefs"},
    {"epilogScriptRefs", "epilogScriptRefs"},
    {"prologSlurmctldScriptRefs", "prologSlurmctldScriptRefs"},
    {"epilogSlurmctldScriptRefs", "epilogSlurmctldScriptRefs"},
    {"persistence", "controller.persistence"},
    {"service", "controller.service"},
    {"metrics", "controller.metrics"},
    {NULL, NULL},
};

static const struct place accounting_places[] = {
    {"external", "external"},
    {"externalConfig", "externalConfig"},
    {"slurmdbd", "slurmdbd"},
    {"storageConfig", "storageConfig"},
    {"extraConf", "extraConf"},
    {"service", "service"},
    {"template", ""},
    {"slurmKeyRef", ""}, /* the Controller's, by the chart */
    {"jwtKeyRef", ""},
    {"jwtHs256KeyRef", ""},
    {NULL, NULL},
};

static const struct place nodeset_places[] = {
    {"controllerRef", ""},
    {"replicas", "replicas"},
    {"scalingMode", "scalingMode"},
    {"slurmd", "slurmd"},
    {"ssh", "ssh"},
    {"logfile", "logfile"},
    {"extraConf", "extraConf"},
    {"partition", ""},
    {"template", ""},
    {"volumeClaimTemplates", "volumeClaimTemplates"},
    {"persistentVolumeClaimRetentionPolicy", "persistentVolumeClaimRetentionPolicy"},
    {"updateStrategy", "updateStrategy"},
    {"revisionHistoryLimit", "revisionHistoryLimit"},
    {"minReadySeconds", "minReadySeconds"},
    {"ordinalPadding", "ordinalPadding"},
    {"pinToNode", "pinToNode"},
    {"workloadDisruptionProtection", "workloadDisruptionProtection"},
    {"pruneSlurmNodeRecords", "pruneSlurmNodeRecords"},
    {"oversubscribeNode", "oversubscribeNode"},
    {NULL, NULL},
};

static const char *name_of(const struct jsn *o)
{
    return jsn_get_str(o, "metadata.name");
}

static bool is_empty(const struct jsn *v)
{
    return !v || v->type == JSN_NULL || (jsn_is(v, JSN_STRING) && v->s.n == 0) ||
           ((jsn_is(v, JSN_OBJECT) || jsn_is(v, JSN_ARRAY)) && jsn_len(v) == 0);
}

static int beyond(struct values *w, const struct jsn *o, const char *what)
{
    return err_bad(w->e,
                   "%s %s/%s: the chart has no value for %s: export manifests, or take it away",
                   jsn_get_str(o, "kind"), w->ns, name_of(o), what);
}

static int put_spec(struct values *w, const struct jsn *o, const struct place *places,
                    struct jsn *to)
{
    JSN_FOR_MEMBERS (m, jsn_key(o, "spec")) {
        const struct place *p = places;

        while (p->member && !str_eqz(m->key, p->member))
            p++;
        if (is_empty(m->value))
            continue;
        if (!p->member)
            return beyond(w, o, arena_printf(w->a, "spec." STR_FMT, STR_ARG(m->key)));
        if (p->value[0])
            jsn_set_path(w->a, to, p->value, jsn_clone(w->a, m->value));
    }
    return 0;
}

/* A pod template is metadata and podSpec. */
static void put_template(struct values *w, const struct jsn *o, struct jsn *to)
{
    const struct jsn *meta = jsn_get(o, "spec.template.metadata");
    const struct jsn *spec = jsn_get(o, "spec.template.spec");

    if (!is_empty(meta))
        jsn_set(w->a, to, "metadata", jsn_clone(w->a, meta));
    if (!is_empty(spec))
        jsn_set(w->a, to, "podSpec", jsn_clone(w->a, spec));
}

static int put_controller(struct values *w)
{
    const struct jsn *notes = jsn_get(w->controller, "metadata.annotations");
    struct jsn *c;
    int r = put_spec(w, w->controller, controller_places, w->to);

    if (r < 0)
        return r;
    c = jsn_ensure_object(w->a, w->to, "controller");
    put_template(w, w->controller, c);
    if (!is_empty(notes))
        jsn_set(w->a, c, "annotations", jsn_clone(w->a, notes));
    if (jsn_key(w->to, "jwksKeys"))
        jsn_set_bool(w->a, jsn_key(w->to, "jwksKeys"), "enabled", true);
    return 0;
}

static int put_accounting(struct values *w, const struct jsn *o)
{
    struct jsn *v = jsn_object(w->a);
    int r = put_spec(w, o, accounting_places, v);

    if (r < 0)
        return r;
    jsn_set_bool(w->a, v, "enabled", true);
    put_template(w, o, v);
    jsn_set(w->a, w->to, "accounting", v);
    return 0;
}

static int put_nodeset(struct values *w, const struct jsn *o)
{
    struct jsn *sets = jsn_ensure_object(w->a, w->to, "nodesets");
    struct jsn *v = jsn_object(w->a);
    struct nodeset ns;
    const char *name;
    int r = nodeset_decode(w->a, o, &ns, w->e);

    if (r < 0)
        return err_wrap(w->e, r, "NodeSet %s/%s", w->ns, name_of(o));
    name = nodeset_slurm_name(w->a, &ns);
    if (jsn_member(sets, str_of(name)))
        return err_bad(w->e, "two NodeSets of %s/%s are called %s in Slurm", w->ns, w->name, name);
    r = put_spec(w, o, nodeset_places, v);
    if (r < 0)
        return r;
    put_template(w, o, v);
    if (streq(jsn_get_str(v, "podSpec.hostname"), arena_printf(w->a, "%s-", name)))
        (void)jsn_del_path(v, "podSpec.hostname"); /* the chart's own choice */
    if (is_empty(jsn_key(v, "podSpec")))
        (void)jsn_del(v, "podSpec");
    if (nodeset_has_partition(&ns)) {
        jsn_set_path(w->a, v, "partition.enabled", jsn_bool(w->a, true));
        jsn_set_path(w->a, v, "partition.config", jsn_string(w->a, nodeset_partition_config(&ns)));
    }
    jsn_set(w->a, sets, name, v);
    jsn_set_str(w->a, w->renamed, name_of(o), arena_printf(w->a, "%s-worker-%s", w->name, name));
    return 0;
}

/* The chart takes extraObjects for templates: what would be one is written so that it comes out. */
static struct jsn *quoted(struct arena *a, struct str text)
{
    AUTO(buf_done) struct buf b = {0};

    for (size_t i = 0; i < text.n; i++) {
        if (i + 1 < text.n && text.p[i] == '{' && text.p[i + 1] == '{') {
            buf_adds(&b, "{{`{{`}}");
            i++;
        } else {
            buf_addc(&b, text.p[i]);
        }
    }
    return jsn_str(a, buf_view(&b));
}

static struct jsn *escape(struct arena *a, const struct jsn *v)
{
    struct jsn *copy;

    if (jsn_is(v, JSN_STRING))
        return quoted(a, v->s);
    if (jsn_is(v, JSN_ARRAY)) {
        copy = jsn_array(a);
        JSN_FOR_ITEMS (item, v)
            jsn_append(a, copy, escape(a, item));
    } else if (jsn_is(v, JSN_OBJECT)) {
        copy = jsn_object(a);
        JSN_FOR_MEMBERS (m, v)
            jsn_set_member(a, copy, m->key, escape(a, m->value));
    } else {
        copy = jsn_clone(a, v);
    }
    return copy;
}

static void put_extra(struct values *w, const struct jsn *o)
{
    struct jsn *list = jsn_key(w->to, "extraObjects");
    struct jsn *copy = escape(w->a, o);

    if (!list) {
        list = jsn_array(w->a);
        jsn_set(w->a, w->to, "extraObjects", list);
    }
    /* wherever the release is installed */
    jsn_set_path(w->a, copy, "metadata.namespace",
                 jsn_string(w->a, "{{ include \"slurm.namespace\" . }}"));
    JSN_FOR_ITEMS (ref, jsn_get(copy, "spec.nodeSetRefs")) {
        const char *now = jsn_text(jsn_member(w->renamed, str_of(jsn_get_str(ref, "name"))));

        if (now)
            jsn_set_str(w->a, ref, "name", now);
    }
    jsn_append(w->a, list, copy);
}

/* Does it belong to the Controller, or to nobody? */
static bool concerns(const struct values *w, const struct jsn *o)
{
    const char *of = jsn_get_str(o, "spec.controllerRef.name");

    return streq(jsn_get_str(o, "metadata.namespace"), w->ns) && (!of || streq(of, w->name)) &&
           !streq(jsn_get_str(o, "kind"), "Controller");
}

static int put(struct values *w, const struct jsn *o, bool sets)
{
    const char *kind = jsn_get_str(o, "kind");

    if (!concerns(w, o) || streq(kind, "NodeSet") != sets)
        return 0;
    if (sets)
        return put_nodeset(w, o);
    if (streq(kind, "Accounting"))
        return streq(jsn_get_str(w->controller, "spec.accountingRef.name"), name_of(o))
                   ? put_accounting(w, o)
                   : 0;
    put_extra(w, o);
    return 0;
}

int export_values(struct arena *a, const struct jsn *controller, const struct jsn *objects,
                  struct jsn **ret_values, struct err *e)
{
    struct values w = {.a = a,
                       .controller = controller,
                       .ns = jsn_get_str(controller, "metadata.namespace"),
                       .name = name_of(controller),
                       .to = jsn_object(a),
                       .renamed = jsn_object(a),
                       .e = e};
    int r;

    jsn_set_str(a, w.to, "fullnameOverride", w.name);
    r = put_controller(&w);
    JSN_FOR_ITEMS (o, objects)
        if (r == 0)
            r = put(&w, o, true);
    JSN_FOR_ITEMS (o, objects)
        if (r == 0)
            r = put(&w, o, false);
    if (r == 0)
        *ret_values = w.to;
    return r;
}
