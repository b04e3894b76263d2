/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reader of the type tables, first pass: lines to definitions.
 *
 *   group GROUP VERSION ALIAS PREFIX      what follows belongs to this group and version
 *   string NAME VALUE...                  a string with a name of its own; values: the only ones
 *   type NAME [atomic] ["text"]           an object; kind NAME: one with apiVersion and kind
 *     FIELD TYPE NUMBER ATTRIBUTE... ["text"]
 *   resource PLURAL KIND SCOPE ...        see table_resource.c
 *
 * Field types and attributes are those of README.md.  Names may be used before they are defined and
 * across tables, so fields are kept as text here and become schemas in table_link.c.
 */
#include "src/cluster/apiserver/types/table.h"

#include "src/base/alloc.h"

/* What the lines read so far say about the next one. */
struct reader {
    struct table *t;
    struct table_group *group;
    struct table_def *def; /* whose fields the indented lines are */
    bool in_resource;
};

static const char *word(const struct table_line *line, size_t i)
{
    return i < line->n ? line->words[i].p : NULL;
}

struct table_def *table_find(const struct table *t, const char *alias, const char *name)
{
    char key[192];

    if (snprintf(key, sizeof(key), "%s.%s", alias, name) >= (int)sizeof(key))
        return NULL;
    return map_get(&t->by_name, str_of(key));
}

int table_add_def(struct table *t, const struct table_line *line, const struct table_group *g,
                  struct str name, struct table_def **ret, struct err *e)
{
    struct table_def *def = arena_calloc(t->arena, 1, sizeof(*def));
    const char *version = strrchr(g->prefix, '.');
    const char *key;

    key = arena_printf(t->arena, "%s." STR_FMT, g->alias, STR_ARG(name));
    if (map_get(&t->by_name, str_of(key))) {
        (void)table_err(e, line->file, line->number, "%s is defined twice", key);
        return -EINVAL;
    }
    def->group = g;
    def->file = line->file;
    def->schema = arena_alloc(t->arena, sizeof(*def->schema));
    schema_init(def->schema, SCHEMA_OBJECT);
    def->schema->short_name = arena_str(t->arena, name);
    def->schema->go_type =
        arena_printf(t->arena, "%s." STR_FMT, version ? version + 1 : g->version, STR_ARG(name));
    map_put(&t->by_name, str_of(key), def);
    *ret = def;
    return 0;
}

static int read_group(struct reader *r, const struct table_line *line, struct err *e)
{
    struct table *t = r->t;
    struct table_group *g;

    if (line->n != 5)
        return table_err(e, line->file, line->number, "group needs group, version, alias, prefix");
    r->def = NULL;
    r->in_resource = false;
    for (size_t i = 0; i < t->n_groups; i++) {
        if (streq(t->groups[i]->alias, word(line, 3))) {
            r->group = t->groups[i];
            return 0;
        }
    }
    g = arena_calloc(t->arena, 1, sizeof(*g));
    g->group = word(line, 1);
    g->version = word(line, 2);
    g->alias = word(line, 3);
    g->prefix = word(line, 4);
    arena_reserve(t->arena, &t->groups, &t->cap_groups, t->n_groups + 1, sizeof(*t->groups));
    t->groups[t->n_groups++] = g;
    r->group = g;
    return 0;
}

static int read_string(struct reader *r, const struct table_line *line, struct err *e)
{
    struct arena *a = r->t->arena;
    struct table_def *def;
    struct jsn *values = NULL;
    int res;

    if (line->n < 2)
        return table_err(e, line->file, line->number, "string needs a name");
    res = table_add_def(r->t, line, r->group, line->words[1], &def, e);
    if (res < 0)
        return res;
    for (size_t i = 2; i < line->n; i++) {
        values = values ? values : jsn_array(a);
        jsn_append(a, values, jsn_str(a, line->words[i]));
    }
    def->schema->type = SCHEMA_STRING;
    def->schema->enum_values = values;
    r->def = NULL;
    r->in_resource = false;
    return 0;
}

static int read_type(struct reader *r, const struct table_line *line, bool is_kind, struct err *e)
{
    struct table *t = r->t;
    struct table_def *def;
    int res;

    if (line->n < 2)
        return table_err(e, line->file, line->number, "a type needs a name");
    res = table_add_def(t, line, r->group, line->words[1], &def, e);
    if (res < 0)
        return res;
    def->is_kind = is_kind;
    if (is_kind) {
        /* Status and its like are written as v1, of no group. */
        def->schema->group = streq(r->group->alias, "meta") ? "" : r->group->group;
        def->schema->version = r->group->version;
    }
    def->schema->name = arena_printf(t->arena, "%s.%s", r->group->prefix, word(line, 1));
    for (size_t i = 2; i < line->n; i++) {
        if (line->quoted[i])
            def->schema->description = word(line, i);
        else if (str_eqz(line->words[i], "atomic"))
            def->schema->merge = SCHEMA_MERGE_ATOMIC;
        else
            return table_err(e, line->file, line->number, "unknown attribute '%s'", word(line, i));
    }
    arena_reserve(t->arena, &t->defs, &t->cap_defs, t->n_defs + 1, sizeof(struct table_def *));
    t->defs[t->n_defs++] = def;
    r->def = def;
    r->in_resource = false;
    return 0;
}

static bool read_flag(struct table_field *f, struct str w)
{
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {
        {"required", &f->required},
        {"ptr", &f->pointer},
        {"always", &f->always},
        {"merge", &f->merge},
        {"set", &f->set},
        {"atomic", &f->atomic},
        {"retainkeys", &f->retain_keys},
        {"replace", &f->replace},
        {"granular", &f->granular},
    };

    for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
        if (str_eqz(w, flags[i].name)) {
            *flags[i].flag = true;
            return true;
        }
    }
    return false;
}

static bool read_value(struct table_field *f, struct str w)
{
    struct str key;

    if (!memchr(w.p, '=', w.n))
        return false;
    (void)str_split(&w, '=', &key);
    if (str_eqz(key, "default"))
        f->default_text = w;
    else if (str_eqz(key, "merge"))
        f->merge_key = w;
    else if (str_eqz(key, "keys"))
        f->keys = w;
    else
        return false;
    return true;
}

static int read_field(struct reader *r, const struct table_line *line, struct err *e)
{
    struct table_def *def = r->def;
    struct table_field *f;

    if (!def || line->n < 3)
        return table_err(e, line->file, line->number, "a field needs name, type and number");
    arena_reserve(r->t->arena, &def->fields, &def->cap_fields, def->n_fields + 1,
                  sizeof(*def->fields));
    f = &def->fields[def->n_fields++];
    *f = (struct table_field){.name = line->words[0], .type = line->words[1], .line = line->number};
    if (!str_eqz(line->words[2], "-") && str_to_u32(line->words[2], &f->proto) < 0)
        return table_err(e, line->file, line->number, "'%s' is not a number", word(line, 2));
    for (size_t i = 3; i < line->n; i++) {
        if (line->quoted[i])
            f->description = line->words[i];
        else if (!read_flag(f, line->words[i]) && !read_value(f, line->words[i]))
            return table_err(e, line->file, line->number, "unknown attribute '%s'", word(line, i));
    }
    f->merge = f->merge || f->merge_key.n > 0;
    f->always = f->always || f->required;
    return 0;
}

static int read_line(struct reader *r, const struct table_line *line, struct err *e)
{
    struct str first = line->n > 0 ? line->words[0] : (struct str){0};

    if (line->n == 0)
        return 0;
    if (str_eqz(first, "group") && !line->indented)
        return read_group(r, line, e);
    if (!r->group)
        return table_err(e, line->file, line->number, "a group line must come first");
    if (line->indented && r->in_resource)
        return table_read_resource_part(r->t, r->group, line, e);
    if (line->indented)
        return read_field(r, line, e);
    if (str_eqz(first, "string"))
        return read_string(r, line, e);
    if (str_eqz(first, "type") || str_eqz(first, "kind"))
        return read_type(r, line, str_eqz(first, "kind"), e);
    if (!str_eqz(first, "resource"))
        return table_err(e, line->file, line->number, "unknown word '%s'", first.p);
    r->in_resource = true;
    return table_read_resource(r->t, r->group, line, e);
}

static int read_text(struct table *t, const struct table_text *text, struct err *e)
{
    struct reader reader = {.t = t};
    struct table_line line = {.file = text->name};
    struct str rest = str_of(text->text), part;
    int r;

    while (str_split(&rest, '\n', &part)) {
        line.number++;
        r = table_lex(t->arena, part, &line, e);
        if (r == 0)
            r = read_line(&reader, &line, e);
        if (r < 0)
            return r;
    }
    return 0;
}

void table_done(struct table *t)
{
    map_done(&t->by_name);
}

int table_read(struct arena *a, const struct table_text *texts, struct table *ret, struct err *e)
{
    AUTO(table_done) struct table t = {.arena = a};
    int r = 0;

    for (size_t i = 0; texts[i].name && r == 0; i++)
        r = read_text(&t, &texts[i], e);
    if (r == 0)
        r = table_link(&t, e);
    if (r == 0)
        r = table_link_resources(&t, e);
    if (r < 0)
        return r;
    *ret = t;
    t.by_name = (struct map){0};
    return 0;
}
