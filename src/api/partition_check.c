/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Validation of a Partition: what the object alone tells, and what may not change.
 *
 * Each setting is held against Slurm's own table of keys, so that the error names the field and
 * says what is allowed.  What Slurm would take but hardly anybody means (a DefaultTime above
 * MaxTime, DenyQos beside AllowQos) is a warning.
 */
#include <strings.h>

#include "src/api/names.h"
#include "src/api/partition.h"
#include "src/api/partition_conf.h"
#include "src/base/map.h"
#include "src/slurm/validate.h"

static void check_name(const struct api_partition *part, struct api_problems *p)
{
    const char *name = api_partition_slurm_name(part);
    const char *fault = partition_name_fault(name);

    if (fault)
        api_problem_value(p, API_INVALID, part->spec.name ? "spec.partitionName" : "metadata.name",
                          name_shown(p, name), "the name of a partition %s", fault);
}

static void check_controller_ref(const struct api_partition *part, struct api_problems *p)
{
    const struct api_controller_ref *ref = &part->spec.controller_ref;

    name_check_ref(p, "spec.controllerRef.name", ref->name);
    if (ref->namespace && ref->namespace[0] && part->meta.namespace &&
        !streq(ref->namespace, part->meta.namespace))
        api_problem_value(
            p, API_INVALID, "spec.controllerRef.namespace", name_shown(p, ref->namespace),
            "the Controller must be in the Partition's own namespace, %s", part->meta.namespace);
}

static void check_nodeset_refs(const struct api_partition *part, struct api_problems *p)
{
    const struct api_refs *refs = &part->spec.nodeset_refs;

    for (size_t i = 0; i < refs->n; i++) {
        const char *field = api_problem_path(p, "spec.nodeSetRefs[%zu].name", i);

        name_check_ref(p, field, refs->items[i].name);
        for (size_t k = 0; k < i; k++)
            if (streq(refs->items[k].name, refs->items[i].name))
                api_problem_value(p, API_DUPLICATE, field, name_shown(p, refs->items[i].name),
                                  "stands twice");
    }
}

static void check_value(struct api_problems *p, const char *field, const char *key_name,
                        const char *value, uint32_t release)
{
    const struct conf_key *key = keys_find(CONF_SLURM, CONF_PARTITION, str_of(key_name));
    AUTO(buf_done) struct buf needs = {0};
    struct err why = {0};

    if (release && !keys_in_release(key, release)) {
        release_needs(key->name, key->since, release, &needs);
        api_problem_add(p, API_FORBIDDEN, field, "%s", buf_str(&needs));
    } else if (strpbrk(value, "\n\r\\")) {
        api_problem_value(p, API_INVALID, field, name_shown(p, value),
                          "must stand in one line, without '\\'");
    } else if (value_check(key->type, release ? release : RELEASE_NEWEST, str_of(value), &why) ==
               -EINVAL) {
        api_problem_value(p, API_INVALID, field, name_shown(p, value), "%s", why.text);
    }
}

/* "+n1,-n2": what scontrol update takes from 23.11 on. */
static bool is_edit(const char *nodes)
{
    struct str rest = str_of(nodes);
    struct str word;

    while (str_split(&rest, ',', &word)) {
        word = str_trim(word);
        if (word.n > 0 && (word.p[0] == '+' || word.p[0] == '-'))
            return true;
    }
    return false;
}

static void check_nodes(const struct api_partition *part, uint32_t release, struct api_problems *p)
{
    const struct api_partition_spec *s = &part->spec;
    bool has_nodes = s->nodes && s->nodes[0];

    check_nodeset_refs(part, p);
    if (has_nodes && is_edit(s->nodes))
        api_problem_value(p, API_INVALID, "spec.nodes", name_shown(p, s->nodes),
                          "adds to or takes from what is there; a declaration names all nodes of "
                          "the partition");
    else if (has_nodes)
        check_value(p, "spec.nodes", "Nodes", s->nodes, release);
    if (has_nodes && strcasecmp(s->nodes, "ALL") == 0 && s->nodeset_refs.n)
        api_problem_value(p, API_INVALID, "spec.nodes", name_shown(p, s->nodes),
                          "is all nodes of the cluster: leave nodeSetRefs out, or write all: true");
    if (s->all && (has_nodes || s->nodeset_refs.n))
        api_problem_add(p, API_FORBIDDEN, "spec.all",
                        "is all nodes of the cluster: leave nodeSetRefs and nodes out, or all");
    if (!s->all && !has_nodes && !s->nodeset_refs.n)
        api_problem_add(p, API_REQUIRED, "spec.nodeSetRefs",
                        "must name the NodeSets of the partition; or give nodes, or all: true");
}

struct settings {
    struct api_problems *p;
    uint32_t release;
    struct map fields; /* key to field */
};

static void check_setting(void *arg, const char *field, const char *key, const char *value)
{
    struct settings *s = arg;
    const char *path = api_problem_path(s->p, "spec.%s", field);

    map_put(&s->fields, str_of(key), (void *)(uintptr_t)path);
    check_value(s->p, path, key, value, s->release);
}

/* The same in older words. */
static const char *modern_name(const char *key)
{
    const struct conf_key *k = keys_find(CONF_SLURM, CONF_PARTITION, str_of(key));

    if (!k)
        return key;
    return streq(k->name, "Shared") ? "OverSubscribe" : k->name;
}

static void check_twice(void *arg, const char *key, const char *value)
{
    struct settings *s = arg;
    const char *field = map_get(&s->fields, str_of(modern_name(key)));

    (void)value;
    if (field)
        api_problem_add(s->p, API_DUPLICATE, "spec.config",
                        "%s is set by %s already; leave it out of config", key, field);
}

/* The one way to say it from 26.05 on, and the older ones. */
static void check_exclusive(const struct api_partition *part, struct settings *s)
{
    static const char *const older[] = {"ExclusiveUser", "ExclusiveTopo", "OverSubscribe"};

    if (!part->spec.exclusive)
        return;
    for (size_t i = 0; i < ARRAY_LEN(older); i++) {
        const char *field = map_get(&s->fields, str_of(older[i]));

        if (field)
            api_problem_add(s->p, API_FORBIDDEN, "spec.exclusive",
                            "says the same as %s in another way: leave one of them out", field);
    }
}

static void check_config(const struct api_partition *part, struct settings *s)
{
    struct str config = str_of(part->spec.config);
    struct err e = {0};

    if (config.n == 0)
        return;
    if (partition_config_check(
            arena_printf(s->p->arena, "partition %s", api_partition_slurm_name(part)), config,
            s->release, &e) < 0)
        api_problem_add(s->p, API_INVALID, "spec.config", "%s", e.text);
    else
        partition_config_each(config, check_twice, s);
}

#define HEAD "ClusterName=x\nSlurmctldHost=x\nNodeSet=x Feature=x\n"
#define HEAD_LINES 3

/* What Slurm reads in another way than it is written. */
static void warn_odd(const struct api_partition *part, struct settings *s)
{
    AUTO(faults_done) struct faults faults = {0};
    AUTO(conf_free) struct conf *conf = NULL;
    AUTO(buf_done) struct buf text = {0};
    struct conf_input in = {.kind = CONF_SLURM, .name = "slurm.conf"};
    struct validate_context ctx = {.is_part = true,
                                   .release = s->release ? s->release : RELEASE_NEWEST};
    struct err e = {0};

    buf_printf(&text, HEAD "%s\n", api_partition_line(s->p->arena, part, "x", true));
    in.text = buf_view(&text);
    if (conf_parse(&in, &faults, &conf, &e) < 0)
        return;
    validate_conf(conf, &ctx, &faults);
    for (size_t i = 0; i < faults.n; i++)
        if (faults.list[i].level == FAULT_WARNING && faults.list[i].line == HEAD_LINES + 1)
            api_problem_add(s->p, API_WARNING, "spec", "%s", faults.list[i].text);
}

void api_partition_check(const struct api_partition *part, uint32_t release, struct api_problems *p)
{
    struct settings s = {.p = p, .release = release};
    size_t errors = p->errors;

    check_name(part, p);
    check_controller_ref(part, p);
    check_nodes(part, release, p);
    api_partition_settings(p->arena, part, check_setting, &s);
    check_exclusive(part, &s);
    check_config(part, &s);
    if (p->errors == errors)
        warn_odd(part, &s);
    map_done(&s.fields);
}

void api_partition_check_update(const struct api_partition *part, const struct api_partition *old,
                                struct api_problems *p)
{
    if (!streq(part->spec.controller_ref.name, old->spec.controller_ref.name))
        api_problem_add(p, API_FORBIDDEN, "spec.controllerRef",
                        "cannot be changed: jobs do not move between clusters; make another "
                        "Partition");
}
