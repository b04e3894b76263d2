/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From lines to meaning.
 *
 * Lines are worked through in order, as slurmctld does: a NodeName=DEFAULT, PartitionName=DEFAULT
 * or FrontendName=DEFAULT line changes what the following lines of its section inherit; each other
 * line of a section makes an object with its own values and, for the keys it leaves out, the
 * inherited ones.  Lines with a single setting make the cluster's settings; where a key stands
 * twice, the last one counts, unless each of them does (SlurmctldHost; prologs from 24.05 on).
 *
 * Nothing is judged here: unknown keys and bad values are kept as they are for validate.c.
 */
#include "src/slurm/model.h"

#include <ctype.h>
#include <strings.h>

#include "src/base/alloc.h"

struct builder {
    struct model *m;
    struct map by_name; /* lower-case key to its place in m->settings, plus one */
    size_t cap_settings;
    size_t cap_objects;
    /* what a section inherits at this point; only three of them have DEFAULT lines */
    struct model_value *inherited[CONF_N_SECTIONS];
    size_t n_inherited[CONF_N_SECTIONS];
    size_t cap_inherited[CONF_N_SECTIONS];
};

struct model *model_free(struct model *m)
{
    if (!m)
        return NULL;
    free(m->settings);
    free(m->objects);
    for (size_t s = 0; s < CONF_N_SECTIONS; s++)
        map_done(&m->by_name[s]);
    arena_done(&m->arena);
    free(m);
    return NULL;
}

static bool repeats(const struct conf_key *key, uint32_t release)
{
    if (!key)
        return false;
    return (key->flags & KEY_REPEATS) ||
           ((key->flags & KEY_REPEATS_2405) && profile_has(release, PROFILE_PROLOG_REPEATS));
}

static struct model_value value_make(const struct model *m, const struct conf_line *line,
                                     const struct conf_pair *pair)
{
    const struct conf_key *key = keys_find(conf_kind_of(m->conf), line->section, str_of(pair->key));

    if (key && key->same_as)
        key = keys_find(conf_kind_of(m->conf), line->section, str_of(key->same_as));
    return (struct model_value){
        .key = key,
        .name = key ? key->name : pair->key,
        .value = pair->value,
        .line = line,
    };
}

static struct model_value *value_find(struct model_value *values, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(values[i].name, name) == 0)
            return &values[i];
    return NULL;
}

static void setting_add(struct builder *b, const struct conf_line *line)
{
    struct model *m = b->m;
    struct model_value v = value_make(m, line, &line->pairs[0]);
    AUTO(free) char *lower = xstrdup(v.name);
    uintptr_t at;

    for (char *c = lower; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    at = (uintptr_t)map_get(&b->by_name, str_of(lower));
    if (at && !repeats(v.key, m->release)) {
        m->settings[at - 1] = v;
        return;
    }
    array_reserve(&m->settings, &b->cap_settings, m->n_settings + 1, sizeof(*m->settings));
    m->settings[m->n_settings++] = v;
    map_put(&b->by_name, str_of(lower), (void *)(uintptr_t)m->n_settings);
}

static bool is_default_line(const struct conf_line *line)
{
    return (line->section == CONF_NODE || line->section == CONF_PARTITION ||
            line->section == CONF_FRONTEND) &&
           strcasecmp(line->pairs[0].value, "DEFAULT") == 0;
}

static void inherit_set(struct builder *b, const struct conf_line *line)
{
    enum conf_section s = line->section;

    for (size_t i = 1; i < line->n; i++) {
        struct model_value v = value_make(b->m, line, &line->pairs[i]);
        struct model_value *old = value_find(b->inherited[s], b->n_inherited[s], v.name);

        if (!v.key) /* a fault of that line; passing it on would let it grow without limit */
            continue;
        if (old) {
            *old = v;
            continue;
        }
        array_reserve(&b->inherited[s], &b->cap_inherited[s], b->n_inherited[s] + 1, sizeof(v));
        b->inherited[s][b->n_inherited[s]++] = v;
    }
}

static void object_add(struct builder *b, const struct conf_line *line)
{
    enum conf_section s = line->section;
    struct model *m = b->m;
    struct model_object o = {.section = s, .name = line->pairs[0].value, .line = line};
    size_t most = line->n - 1 + b->n_inherited[s];

    o.values = arena_calloc(&m->arena, MAX(most, (size_t)1), sizeof(*o.values));
    for (size_t i = 1; i < line->n; i++) {
        struct model_value v = value_make(m, line, &line->pairs[i]);
        struct model_value *old = value_find(o.values, o.n, v.name);

        if (old)
            *old = v;
        else
            o.values[o.n++] = v;
    }
    for (size_t i = 0; i < b->n_inherited[s]; i++) {
        const struct model_value *v = &b->inherited[s][i];

        if ((v->key && (v->key->flags & KEY_OWN_ONLY)) || value_find(o.values, o.n, v->name))
            continue;
        o.values[o.n++] = *v;
    }
    array_reserve(&m->objects, &b->cap_objects, m->n_objects + 1, sizeof(*m->objects));
    m->objects[m->n_objects++] = o;
    (void)map_put(&m->by_name[s], str_of(o.name), (void *)(uintptr_t)m->n_objects);
}

struct model *model_new(const struct conf *conf, uint32_t release)
{
    struct model *m = xcalloc(1, sizeof(*m));
    struct builder b = {.m = m};
    const struct conf_line *lines;
    size_t n;

    m->conf = conf;
    m->release = release;
    lines = conf_lines(conf, &n);
    for (size_t i = 0; i < n; i++) {
        if (lines[i].section == CONF_GLOBAL)
            setting_add(&b, &lines[i]);
        else if (is_default_line(&lines[i]))
            inherit_set(&b, &lines[i]);
        else
            object_add(&b, &lines[i]);
    }
    for (unsigned s = 0; s < CONF_N_SECTIONS; s++)
        free(b.inherited[s]);
    map_done(&b.by_name);
    return m;
}

const char *model_setting(const struct model *m, const char *key)
{
    const struct conf_key *known = keys_find(conf_kind_of(m->conf), CONF_GLOBAL, str_of(key));
    const struct model_value *v = value_find(m->settings, m->n_settings, key);

    if (v)
        return v->value;
    return known ? known->dflt : NULL;
}

const char *model_get(const struct model_object *object, const char *key)
{
    const struct model_value *v = value_find(object->values, object->n, key);

    return v ? v->value : NULL;
}

const struct model_object *model_find(const struct model *m, enum conf_section section,
                                      const char *name)
{
    uintptr_t place = (uintptr_t)map_get(&m->by_name[section], str_of(name));

    return place ? &m->objects[place - 1] : NULL;
}

int model_partition(const struct model *m, const struct model_object *object, struct partition *ret,
                    struct err *e)
{
    AUTO(free) struct conf_pair *pairs = xcalloc(object->n + 1, sizeof(*pairs));
    uint64_t root = 0;
    int r;

    for (size_t i = 0; i < object->n; i++)
        pairs[i] = (struct conf_pair){object->values[i].name, object->values[i].value, '='};
    free(ret->name);
    ret->name = xstrdup(object->name);
    r = partition_load(ret, pairs, object->n, e);
    if (r < 0)
        return err_wrap(e, r, "partition '%s'", object->name);
    if (ret->disable_root_jobs == VALUE_UNSET) {
        r = value_number((struct value_type){VALUE_BOOL},
                         str_of(model_setting(m, "DisableRootJobs")), &root);
        ret->disable_root_jobs = r == 0 ? root : 0;
    }
    partition_settle(ret, m->release);
    return 0;
}

/* The names of all lines of a section; what is no host list adds nothing. */
static struct host_set *names_of(const struct model *m, enum conf_section section, bool literal)
{
    AUTO(hostlist_free) struct host_list *all = hostlist_new();

    for (size_t i = 0; i < m->n_objects; i++) {
        AUTO(hostlist_free) struct host_list *list = NULL;
        const struct host_range *ranges;
        size_t n;

        if (m->objects[i].section != section)
            continue;
        if (literal) {
            hostlist_push(all, str_of(m->objects[i].name));
            continue;
        }
        if (hostlist_parse(str_of(m->objects[i].name), &list, NULL) < 0)
            continue;
        ranges = hostlist_ranges(list, &n);
        for (size_t k = 0; k < n; k++)
            hostlist_push_range(all, &ranges[k]);
    }
    return hostset_of(all);
}

struct host_set *model_nodes(const struct model *m)
{
    return names_of(m, CONF_NODE, false);
}

struct host_set *model_nodesets(const struct model *m)
{
    return names_of(m, CONF_NODESET, true);
}
