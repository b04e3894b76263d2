/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Differences between two models.
 *
 * Each section is compared in the way that its lines mean something:
 *  - settings of the cluster and objects with a name (NodeSet, switches, power actions): by name,
 *    key by key, with the value kinds of the key table;
 *  - partitions: by name, as typed fields, so that defaults and inherited values count;
 *  - nodes: node by node (diff_nodes.c), so that n[1-10] equals n[1-5] and n[6-10];
 *  - DownNodes, front ends and gres lines, which have no names of their own: as whole lines.
 *
 * The result is in the order: cluster, objects of the new file, objects that are gone.
 */
#include "src/slurm/diff_impl.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

#include "src/base/alloc.h"

void diff_done(struct conf_diff *d)
{
    free(d->list);
    arena_done(&d->arena);
    *d = (struct conf_diff){0};
}

static const char *copy_null(struct conf_diff *d, const char *text)
{
    return text ? arena_strdup(&d->arena, text) : NULL;
}

void diff_add(struct conf_diff *d, struct conf_change change)
{
    change.object = copy_null(d, change.object);
    change.key_name = copy_null(d, change.key_name);
    change.from = copy_null(d, change.from);
    change.to = copy_null(d, change.to);
    array_reserve(&d->list, &d->cap, d->n + 1, sizeof(*d->list));
    d->list[d->n++] = change;
}

void diff_add_object(struct conf_diff *d, enum diff_what what, const struct model_object *object,
                     const char *name)
{
    AUTO(buf_done) struct buf text = {0};

    conf_line_print(object->line, &text);
    diff_add(d, (struct conf_change){
                    .what = what,
                    .section = object->section,
                    .object = name,
                    .from = what == DIFF_REMOVED ? buf_str(&text) : NULL,
                    .to = what == DIFF_ADDED ? buf_str(&text) : NULL,
                    .line = object->line,
                    .subject = object,
                });
}

static bool same_value(const struct conf_key *key, const char *a, const char *b)
{
    struct value_type type = key ? key->type : (struct value_type){VALUE_TEXT, NULL};

    if (key && key->dflt) {
        a = a ? a : key->dflt;
        b = b ? b : key->dflt;
    }
    if (!a || !b)
        return a == b;
    return value_same(type, str_of(a), str_of(b));
}

static void value_compare(struct conf_diff *d, const struct model_object *subject,
                          const char *object, const struct model_value *from,
                          const struct model_value *to)
{
    const struct model_value *any = to ? to : from;

    assert(any);
    if (same_value(any->key, from ? from->value : NULL, to ? to->value : NULL))
        return;
    diff_add(d, (struct conf_change){
                    .what = !from ? DIFF_ADDED
                            : !to ? DIFF_REMOVED
                                  : DIFF_CHANGED,
                    .section = subject ? subject->section : CONF_GLOBAL,
                    .object = object,
                    .subject = subject,
                    .key_name = any->name,
                    .key = any->key,
                    .from = from ? from->value : NULL,
                    .to = to ? to->value : NULL,
                    .line = any->line,
                });
}

static const struct model_value *value_find(const struct model_object *o, const char *name)
{
    for (size_t i = 0; i < o->n; i++)
        if (strcasecmp(o->values[i].name, name) == 0)
            return &o->values[i];
    return NULL;
}

void diff_values(struct conf_diff *d, const struct model_object *from,
                 const struct model_object *to, const char *name,
                 bool (*skip)(const struct conf_key *key))
{
    for (size_t i = 0; i < to->n; i++)
        if (!skip || !skip(to->values[i].key))
            value_compare(d, to, name, value_find(from, to->values[i].name), &to->values[i]);
    for (size_t i = 0; i < from->n; i++)
        if ((!skip || !skip(from->values[i].key)) && !value_find(to, from->values[i].name))
            value_compare(d, to, name, &from->values[i], NULL);
}

/* Lower-case copy of a key, for maps. */
static char *lower_of(const char *text)
{
    char *lower = xstrdup(text);

    for (char *c = lower; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return lower;
}

/* A setting as it is compared; all occurrences of a key that repeats, joined by blanks. */
struct joined {
    struct model_value v;
    struct buf text; /* what v.value points to */
};

static void joined_free(void *p)
{
    struct joined *j = p;

    buf_done(&j->text);
    free(j);
}

/* Add an occurrence; keys that may repeat are normalised one by one, the others when compared. */
static void joined_add(struct joined *j, const struct model_value *v)
{
    bool may_repeat = v->key && (v->key->flags & (KEY_REPEATS | KEY_REPEATS_2405));

    if (j->text.n > 0)
        buf_addc(&j->text, ' ');
    if (may_repeat)
        value_normal(v->key->type, str_of(v->value), &j->text);
    else
        buf_adds(&j->text, v->value);
    j->v = *v;
    j->v.value = buf_str(&j->text);
}

/* The settings of a model by lower-case key. */
static void settings_index(const struct model *m, struct map *ret)
{
    map_init(ret, joined_free);
    for (size_t i = 0; i < m->n_settings; i++) {
        AUTO(free) char *lower = lower_of(m->settings[i].name);
        struct joined *j = map_get(ret, str_of(lower));

        if (!j) {
            j = xcalloc(1, sizeof(*j));
            map_put(ret, str_of(lower), j);
        }
        joined_add(j, &m->settings[i]);
    }
}

static void settings_compare(struct conf_diff *d, const struct model *from, const struct model *to)
{
    AUTO(map_done) struct map old = {0};
    AUTO(map_done) struct map new = {0};

    settings_index(from, &old);
    settings_index(to, &new);
    for (size_t i = 0; i < to->n_settings; i++) {
        AUTO(free) char *lower = lower_of(to->settings[i].name);
        const struct joined *was = map_get(&old, str_of(lower));
        const struct joined *now = map_get(&new, str_of(lower));

        if (!now)
            continue;
        value_compare(d, NULL, NULL, was ? &was->v : NULL, &now->v);
        map_del(&old, str_of(lower));
        map_del(&new, str_of(lower));
    }
    for (size_t i = 0; i < from->n_settings; i++) {
        AUTO(free) char *lower = lower_of(from->settings[i].name);
        const struct joined *was = map_get(&old, str_of(lower));

        if (was)
            value_compare(d, NULL, NULL, &was->v, NULL);
        map_del(&old, str_of(lower));
    }
}

static void partition_add_changes(struct conf_diff *d, const struct model_object *to,
                                  const struct part_changes *changes)
{
    for (size_t i = 0; i < changes->n; i++) {
        const struct part_change *c = &changes->list[i];

        diff_add(d, (struct conf_change){
                        .what = DIFF_CHANGED,
                        .section = CONF_PARTITION,
                        .object = to->name,
                        .key_name = c->key->name,
                        .key = c->key,
                        .from = c->from,
                        .to = c->to,
                        .line = to->line,
                        .subject = to,
                    });
    }
}

bool diff_same_text(const struct model_object *a, const struct model_object *b)
{
    if (a->n != b->n || !streq(a->name, b->name))
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (!streq(a->values[i].name, b->values[i].name) ||
            !streq(a->values[i].value, b->values[i].value))
            return false;
    return true;
}

/* True if a partition of the same text means the same in both models. */
static bool same_defaults(const struct model *from, const struct model *to)
{
    return streq(model_setting(from, "DisableRootJobs"), model_setting(to, "DisableRootJobs"));
}

static int partition_compare(struct conf_diff *d, const struct model *mf,
                             const struct model_object *from, const struct model *mt,
                             const struct model_object *to, struct err *e)
{
    AUTO(partition_done) struct partition a;
    AUTO(partition_done) struct partition b;
    AUTO(part_changes_done) struct part_changes changes = {0};
    int r;

    partition_init(&a);
    partition_init(&b);
    r = model_partition(mf, from, &a, e);
    if (r == 0)
        r = model_partition(mt, to, &b, e);
    if (r < 0)
        return r;
    partition_diff(&a, &b, &changes);
    partition_add_changes(d, to, &changes);
    return 0;
}

/* True for the sections whose objects are told apart by their names. */
static bool has_name(enum conf_section section)
{
    return section == CONF_PARTITION || section == CONF_NODESET || section == CONF_POWER ||
           section == CONF_SWITCH;
}

static int value_order(const void *pa, const void *pb)
{
    const struct model_value *a = *(const struct model_value *const *)pa;
    const struct model_value *b = *(const struct model_value *const *)pb;

    return strcasecmp(a->name, b->name);
}

/* The normal form of a line: its values in normal form, sorted by key. */
static void line_normal(const struct model_object *o, struct buf *out)
{
    AUTO(free) const struct model_value **sorted = xcalloc(o->n + 1, sizeof(*sorted));

    if (o->section == CONF_GRES_LINE)
        value_normal((struct value_type){VALUE_HOSTS, NULL}, str_of(o->name), out);
    else
        value_normal((struct value_type){VALUE_NODES, NULL}, str_of(o->name), out);
    for (size_t i = 0; i < o->n; i++)
        sorted[i] = &o->values[i];
    qsort(sorted, o->n, sizeof(*sorted), value_order);
    for (size_t i = 0; i < o->n; i++) {
        buf_printf(out, " %s=", sorted[i]->name);
        value_normal(sorted[i]->key ? sorted[i]->key->type : (struct value_type){VALUE_TEXT, NULL},
                     str_of(sorted[i]->value), out);
    }
}

/* What identifies a line without a name among those of its model: section and meaning. */
static void identity(const struct model_object *o, struct buf *out)
{
    buf_clear(out);
    buf_printf(out, "%u ", (unsigned)o->section);
    line_normal(o, out);
}

/* Lines without a name, by what they mean; of several that mean the same, the last one counts. */
static void lines_index(const struct model *m, struct map *ret)
{
    AUTO(buf_done) struct buf id = {0};

    for (size_t i = 0; i < m->n_objects; i++) {
        if (m->objects[i].section == CONF_NODE || has_name(m->objects[i].section))
            continue;
        identity(&m->objects[i], &id);
        map_put(ret, buf_view(&id), &m->objects[i]);
    }
}

/* One side of a comparison. */
struct side {
    const struct model *m;
    struct map lines; /* without a name */
};

/* The object of this side that `o`, of either side, stands for; NULL: there is none. */
static const struct model_object *side_find(const struct side *s, const struct model_object *o,
                                            struct buf *id)
{
    if (has_name(o->section))
        return model_find(s->m, o->section, o->name);
    identity(o, id);
    return map_get(&s->lines, buf_view(id));
}

static int object_compare(struct conf_diff *d, const struct side *from, const struct side *to,
                          const struct model_object *was, const struct model_object *o,
                          struct err *e)
{
    if (!was)
        diff_add_object(d, DIFF_ADDED, o, o->name);
    else if (o->section == CONF_PARTITION)
        return partition_compare(d, from->m, was, to->m, o, e);
    else if (has_name(o->section))
        diff_values(d, was, o, o->name, NULL);
    return 0;
}

static int objects_compare(struct conf_diff *d, const struct side *from, const struct side *to,
                           struct err *e)
{
    AUTO(buf_done) struct buf id = {0};
    bool alike = same_defaults(from->m, to->m);

    for (size_t i = 0; i < to->m->n_objects; i++) {
        const struct model_object *o = &to->m->objects[i];
        const struct model_object *was;
        int r;

        if (o->section == CONF_NODE || side_find(to, o, &id) != o)
            continue; /* of several, the last one counts */
        was = side_find(from, o, &id);
        if (was && alike && diff_same_text(was, o))
            continue;
        r = object_compare(d, from, to, was, o, e);
        if (r < 0)
            return r;
    }
    for (size_t i = 0; i < from->m->n_objects; i++) {
        const struct model_object *o = &from->m->objects[i];

        if (o->section != CONF_NODE && side_find(from, o, &id) == o && !side_find(to, o, &id))
            diff_add_object(d, DIFF_REMOVED, o, o->name);
    }
    return 0;
}

int diff_models(const struct model *from, const struct model *to, struct conf_diff *ret,
                struct err *e)
{
    AUTO(diff_done) struct conf_diff d = {0};
    struct side a = {.m = from};
    struct side b = {.m = to};
    int r;

    assert(conf_kind_of(from->conf) == conf_kind_of(to->conf));
    settings_compare(&d, from, to);
    diff_nodes(&d, from, to);
    lines_index(from, &a.lines);
    lines_index(to, &b.lines);
    r = objects_compare(&d, &a, &b, e);
    map_done(&a.lines);
    map_done(&b.lines);
    if (r < 0)
        return r;
    *ret = d;
    d = (struct conf_diff){0};
    return 0;
}

void diff_print(const struct conf_change *change, struct buf *out)
{
    bool secret = change->key && (change->key->flags & KEY_SECRET);
    const char *from = change->from ? change->from : "";
    const char *to = change->to ? change->to : "";

    if (change->object)
        buf_printf(out, "%s %s: ", conf_section_name(change->section), change->object);
    if (!change->key_name)
        buf_adds(out, change->what == DIFF_ADDED ? "added" : "removed");
    else if (secret)
        buf_printf(out, "%s: changed", change->key_name);
    else
        buf_printf(out, "%s: %s -> %s", change->key_name, *from ? from : "(not set)",
                   *to ? to : "(not set)");
}
