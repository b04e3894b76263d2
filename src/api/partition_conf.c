/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Partitions wherever they are declared.
 *
 * Three kinds of objects declare partitions: a NodeSet its own, a Partition one over many, and a
 * Controller by lines of extraConf.  In slurm.conf they stand side by side, and a name that stands
 * twice ends slurmctld: here is who claims which name.  The settings of a NodeSet's partition and
 * of a Partition are checked by one function.
 *
 * Which keys there are depends on the Slurm release.  Where that is not known yet (release 0), a
 * text is fine if any known release takes it; the error is then the newest one's.
 */
#include "src/api/partition_conf.h"

#include <ctype.h>
#include <strings.h>

#include "src/api/names.h"
#include "src/api/nodeset.h"
#include "src/api/partition.h"
#include "src/slurm/validate.h"

const char *partition_name_fault(const char *name)
{
    if (name && strcasecmp(name, "default") == 0)
        return "is taken by Slurm for the defaults of all other partitions; choose another name";
    return name_word_fault(str_of(name ? name : ""));
}

int partition_config_check(const char *name, struct str config, uint32_t release, struct err *e)
{
    struct err newest = {0};

    if (config.n && config.p[config.n - 1] == '\\')
        return err_bad(e, "%s: a '\\' at the end would join the line with the next one", name);
    if (release)
        return validate_partition_config(name, config, release, e);
    for (const uint32_t *series = profile_series; *series; series++)
        if (validate_partition_config(name, config, *series,
                                      series == profile_series ? &newest : NULL) == 0)
            return 0;
    return err_bad(e, "%s", newest.text);
}

/* Included files are looked into with the whole file. */
static int no_file(void *ctx, const char *path, struct str *ret_text, struct err *e)
{
    (void)ctx;
    (void)path;
    (void)e;
    *ret_text = STR("");
    return 0;
}

static struct conf *parse(struct str text)
{
    AUTO(faults_done) struct faults faults = {0};
    struct conf_input in = {
        .kind = CONF_SLURM, .name = "slurm.conf", .text = text, .lookup = no_file};
    struct conf *conf = NULL;
    struct err e = {0};

    return conf_parse(&in, &faults, &conf, &e) == 0 ? conf : NULL;
}

void partition_config_each(struct str config, partition_pair_fn fn, void *arg)
{
    AUTO(buf_done) struct buf text = {0};
    AUTO(conf_free) struct conf *conf = NULL;
    const struct conf_line *lines;
    size_t n = 0;

    if (str_trim(config).n == 0)
        return;
    buf_adds(&text, "PartitionName=x ");
    buf_addstr(&text, config);
    conf = parse(buf_view(&text));
    lines = conf ? conf_lines(conf, &n) : NULL;
    for (size_t i = 1; n > 0 && i < lines[0].n; i++)
        fn(arg, lines[0].pairs[i].key, lines[0].pairs[i].value);
}

static bool says_yes(const char *value)
{
    uint64_t yes = 0;

    return value && value_number((struct value_type){VALUE_BOOL, NULL}, str_of(value), &yes) == 0 &&
           yes;
}

static void find_default(void *arg, const char *key, const char *value)
{
    if (strcasecmp(key, "Default") == 0)
        *(bool *)arg = says_yes(value);
}

bool partition_config_is_default(struct str config)
{
    bool yes = false;

    partition_config_each(config, find_default, &yes);
    return yes;
}

struct claims {
    const char *controller;
    partition_claim_fn fn;
    void *arg;
    bool ended;
};

static bool tell(struct claims *c, const struct partition_claim *claim)
{
    c->ended = !c->fn(c->arg, claim);
    return !c->ended;
}

static bool is_of(const struct claims *c, const struct jsn *object)
{
    return streq(jsn_get_str(object, "spec.controllerRef.name"), c->controller) &&
           !jsn_get_str(object, "metadata.deletionTimestamp");
}

static bool visit_nodeset(void *arg, const struct jsn *object)
{
    AUTO(arena_done) struct arena a = {0};
    struct claims *c = arg;
    struct nodeset ns;

    if (!is_of(c, object) || !jsn_get(object, "spec.partition") ||
        nodeset_decode(&a, object, &ns, NULL) < 0 || !nodeset_has_partition(&ns))
        return true;
    return tell(c, &(struct partition_claim){
                       "NodeSet", ns.meta.name, nodeset_slurm_name(&a, &ns),
                       partition_config_is_default(str_of(nodeset_partition_config(&ns)))});
}

static bool visit_partition(void *arg, const struct jsn *object)
{
    struct claims *c = arg;
    const char *name = jsn_get_str(object, "spec.partitionName");
    const char *config = jsn_get_str(object, "spec.config");

    if (!is_of(c, object))
        return true;
    if (!name || !name[0])
        name = jsn_get_str(object, "metadata.name");
    return tell(
        c, &(struct partition_claim){"Partition", jsn_get_str(object, "metadata.name"), name,
                                     jsn_get_bool(object, "spec.default", false) ||
                                         (config && partition_config_is_default(str_of(config)))});
}

bool partition_claims_extra(const char *controller, const char *extra_conf, partition_claim_fn fn,
                            void *arg)
{
    AUTO(conf_free) struct conf *conf = extra_conf ? parse(str_of(extra_conf)) : NULL;
    size_t n = 0;
    const struct conf_line *lines = conf ? conf_lines(conf, &n) : NULL;

    for (size_t i = 0; i < n; i++) {
        const struct conf_pair *yes = conf_line_get(&lines[i], "Default");
        struct partition_claim claim = {"Controller", controller, lines[i].pairs[0].value,
                                        yes && says_yes(yes->value)};

        if (lines[i].section == CONF_PARTITION && strcasecmp(claim.name, "DEFAULT") != 0 &&
            !fn(arg, &claim))
            return false;
    }
    return true;
}

/* `name`: only those that may claim it; NULL: all. */
static void claims_visit(const struct api_lookup *l, const char *ns, const char *controller,
                         const char *name, partition_claim_fn fn, void *arg)
{
    static const struct {
        const char *kind;
        api_visit_fn visit;
    } kinds[] = {{"NodeSet", visit_nodeset}, {"Partition", visit_partition}};
    struct claims c = {controller, fn, arg, false};
    const struct jsn *found = NULL;

    if (api_lookup_get(l, "Controller", ns, controller, &found) == API_PRESENT &&
        !partition_claims_extra(controller, jsn_get_str(found, "spec.extraConf"), fn, arg))
        return;
    for (size_t i = 0; !c.ended && i < ARRAY_LEN(kinds); i++) {
        if (name)
            (void)api_lookup_each_named(l, kinds[i].kind, ns, name, kinds[i].visit, &c);
        else
            (void)api_lookup_each(l, kinds[i].kind, ns, kinds[i].visit, &c);
    }
}

void partition_claims_each(const struct api_lookup *l, const char *ns, const char *controller,
                           partition_claim_fn fn, void *arg)
{
    claims_visit(l, ns, controller, NULL, fn, arg);
}

struct search {
    struct arena *a;
    const char *name;
    const char *kind;
    const char *object;
    struct partition_claim *ret;
    bool found;
};

static bool look(void *arg, const struct partition_claim *claim)
{
    struct search *s = arg;

    if (!streq(claim->name, s->name) ||
        (streq(claim->kind, s->kind) && streq(claim->object, s->object)))
        return true;
    *s->ret = (struct partition_claim){claim->kind, arena_strdup(s->a, claim->object), s->name,
                                       claim->is_default};
    s->found = true;
    return false;
}

bool partition_claim_find(struct arena *a, const struct api_lookup *l, const char *ns,
                          const char *controller, const char *name, const char *kind,
                          const char *object, struct partition_claim *ret)
{
    struct search s = {a, name, kind, object, ret, false};

    if (name && controller)
        claims_visit(l, ns, controller, name, look, &s);
    return s.found;
}
