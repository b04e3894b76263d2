/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Features of a NodeSet's nodes.
 *
 * A NodeSet is, for Slurm, all nodes that have its name as a feature, and partitions name NodeSets.
 * So a feature in the extraConf of one NodeSet that is the name of another would put its nodes into
 * the other's partitions, with whatever rights those give.  That is refused, whichever of the two
 * comes first.  A Partition over both is the way to have them in one.
 */
#include "src/api/node_features.h"

#include <strings.h>

#include "src/api/names.h"
#include "src/slurm/conf.h"

struct conf *node_conf_parse(const char *extra_conf)
{
    AUTO(faults_done) struct faults faults = {0};
    AUTO(buf_done) struct buf line = {0};
    struct conf_input in = {.kind = CONF_SLURM, .name = "extraConf"};
    struct conf *conf = NULL;

    buf_adds(&line, "NodeName=x ");
    for (const char *p = extra_conf; *p; p++)
        buf_addc(&line, strchr("\n\r\t", *p) ? ' ' : *p);
    in.text = buf_view(&line);
    return conf_parse(&in, &faults, &conf, NULL) == 0 && faults.fatal == 0 ? conf : conf_free(conf);
}

/* Feature= and Features= are one key. */
static bool is_feature_key(const char *key)
{
    return strncasecmp(key, "Feature", 7) == 0;
}

typedef void (*feature_fn)(void *arg, struct str feature);

/* Each feature of an extraConf, as often as it stands there. */
static void each_feature(const char *extra_conf, feature_fn fn, void *arg)
{
    AUTO(conf_free) struct conf *conf = extra_conf ? node_conf_parse(extra_conf) : NULL;
    size_t n = 0;
    const struct conf_line *lines = conf ? conf_lines(conf, &n) : NULL;

    for (size_t i = 1; n > 0 && i < lines[0].n; i++) {
        struct str rest = str_of(lines[0].pairs[i].value);
        struct str item;

        while (is_feature_key(lines[0].pairs[i].key) && str_split(&rest, ',', &item))
            if (str_trim(item).n)
                fn(arg, str_trim(item));
    }
}

struct distinct {
    struct str seen[NODE_FEATURES_MAX + 1];
    size_t n;
};

static void add_distinct(struct distinct *d, struct arena *a, struct str feature)
{
    for (size_t i = 0; i < d->n; i++)
        if (str_eq(d->seen[i], feature))
            return;
    if (d->n <= NODE_FEATURES_MAX)
        d->seen[d->n++] = (struct str){arena_str(a, feature), feature.n};
}

struct counter {
    struct distinct distinct;
    struct arena *arena;
};

static void count(void *arg, struct str feature)
{
    struct counter *c = arg;

    add_distinct(&c->distinct, c->arena, feature);
}

void nodeset_check_features(const struct nodeset *ns, struct api_problems *p)
{
    struct counter *c = arena_calloc(p->arena, 1, sizeof(*c));
    const char *own = nodeset_slurm_name(p->arena, ns);

    c->arena = p->arena;
    if (own)
        count(c, str_of(own));
    each_feature(ns->spec.extra_conf, count, c);
    if (c->distinct.n > NODE_FEATURES_MAX)
        api_problem_add(p, API_INVALID, "spec.extraConf",
                        "Features: there are too many: a node has at most %d, the name of its "
                        "NodeSet among them",
                        NODE_FEATURES_MAX);
}

/* Is a name among the features? */
struct search {
    const char *name;
    bool found;
};

static void match(void *arg, struct str feature)
{
    struct search *s = arg;

    s->found = s->found || str_eqz(feature, s->name);
}

static bool has_feature(const char *extra_conf, const char *name)
{
    struct search s = {name, false};

    each_feature(extra_conf, match, &s);
    return s.found;
}

struct rival {
    const struct nodeset *ns;
    const char *slurm_name; /* of ns */
    struct arena *arena;
    bool reversed;    /* look for one that has our name, not for one whose name we have */
    const char *name; /* of the one found */
};

static bool visit(void *arg, const struct jsn *object)
{
    struct rival *r = arg;
    struct arena_mark mark = arena_mark(r->arena);
    struct nodeset other;
    bool clash = false;

    if (streq(jsn_get_str(object, "metadata.name"), r->ns->meta.name) ||
        !streq(jsn_get_str(object, "spec.controllerRef.name"), r->ns->spec.controller_ref.name) ||
        jsn_get_str(object, "metadata.deletionTimestamp"))
        return true;
    if (nodeset_decode(r->arena, object, &other, NULL) == 0) {
        const char *name = nodeset_slurm_name(r->arena, &other);

        clash = r->reversed ? has_feature(other.spec.extra_conf, r->slurm_name)
                            : name && !streq(name, r->slurm_name) &&
                                  has_feature(r->ns->spec.extra_conf, name);
    }
    arena_rewind(r->arena, mark);
    if (clash)
        r->name = arena_strdup(r->arena, jsn_get_str(object, "metadata.name"));
    return !clash;
}

static const char *find(struct arena *a, const struct nodeset *ns, const struct api_lookup *l,
                        bool reversed)
{
    struct rival r = {ns, nodeset_slurm_name(a, ns), a, reversed, NULL};

    if (r.slurm_name)
        (void)api_lookup_each(l, "NodeSet", api_namespace(&ns->meta), visit, &r);
    return r.name;
}

static void any(void *arg, struct str feature)
{
    (void)feature;
    *(bool *)arg = true;
}

const char *nodeset_feature_rival(struct arena *a, const struct nodeset *ns,
                                  const struct api_lookup *l)
{
    bool some = false;

    each_feature(ns->spec.extra_conf, any, &some);
    return some ? find(a, ns, l, false) : NULL;
}

void nodeset_check_feature_names(const struct nodeset *ns, const struct nodeset *old,
                                 const struct api_lookup *l, struct api_problems *p)
{
    bool same = old && streq(old->spec.extra_conf ? old->spec.extra_conf : "",
                             ns->spec.extra_conf ? ns->spec.extra_conf : "");
    const char *taken = same ? NULL : nodeset_feature_rival(p->arena, ns, l);
    const char *taker = old ? NULL : find(p->arena, ns, l, true);

    if (taken)
        api_problem_add(
            p, API_INVALID, "spec.extraConf",
            "Features: one of them is the name of NodeSet %s in Slurm, whose partitions "
            "these nodes would join; choose another, or use a Partition over both",
            taken);
    if (taker)
        api_problem_add(
            p, API_INVALID,
            api_template_hostname(&ns->spec.template) ? "spec.template.spec.hostname"
                                                      : "metadata.name",
            "nodes of NodeSet %s have this name as a feature (spec.extraConf) and would "
            "join the partitions of this one; choose another name",
            taker);
}
