/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Users' files: the keys of the ConfigMaps that configFileRefs and the four lists of scripts name.
 *
 * They all become files of one directory, so each name may come once.  One ConfigMap may be in
 * several lists (a script that is prolog and epilog); its keys then count for each.
 */
#include "src/build/config_files.h"

#include "src/api/names.h"
#include "src/base/encode.h"

struct reader {
    struct arena *a;
    struct user_files *files;
    const char *field;
    const char *option;
};

static void add(struct reader *r, struct str name, struct str text)
{
    struct user_files *f = r->files;

    arena_reserve(r->a, &f->items, &f->cap, f->n + 1, sizeof(*f->items));
    f->items[f->n++] = (struct user_file){arena_str(r->a, name), r->field, r->option, text};
}

static void add_binary(struct reader *r, struct str name, const struct jsn *value)
{
    AUTO(buf_done) struct buf data = {0};

    if (jsn_is(value, JSN_STRING) && decode_base64(&data, value->s) == 0)
        add(r, name, (struct str){arena_str(r->a, buf_view(&data)), data.n});
}

static void read_map(struct reader *r, const struct jsn *map)
{
    JSN_FOR_MEMBERS (m, jsn_key(map, "data"))
        if (jsn_is(m->value, JSN_STRING))
            add(r, m->key, m->value->s);
    JSN_FOR_MEMBERS (m, jsn_key(map, "binaryData"))
        add_binary(r, m->key, m->value);
}

static int by_name(const void *a, const void *b)
{
    const struct user_file *x = a;
    const struct user_file *y = b;
    int r = strcmp(x->name, y->name);

    return r ? r : strcmp(x->option ? x->option : "", y->option ? y->option : "");
}

static void read_list(struct arena *a, const struct build_cluster *c, struct user_files *files,
                      const struct controller_ref_list *list, struct api_problems *p)
{
    const char *ns = api_namespace(&c->controller->meta);

    for (size_t i = 0; i < list->refs->n; i++) {
        const char *name = list->refs->items[i].name;
        const struct jsn *map = NULL;
        struct reader r = {a, files, arena_printf(a, "spec.%s[%zu].name", list->field, i),
                           list->option};

        if (api_lookup_get(c->lookup, "ConfigMap", ns, name, &map) == API_PRESENT)
            read_map(&r, map);
        else
            api_problem_value(p, API_NOT_FOUND, r.field, name_shown(p, name),
                              "there is no ConfigMap %s in namespace %s", name, ns);
    }
}

/* Two files of one name are fine only if they are the same key in two lists. */
static void check_twice(const struct user_files *files, struct api_problems *p)
{
    for (size_t i = 1; i < files->n; i++) {
        const struct user_file *x = &files->items[i - 1];
        const struct user_file *y = &files->items[i];

        if (streq(x->name, y->name) && x->text.p != y->text.p && !str_eq(x->text, y->text))
            api_problem_value(p, API_DUPLICATE, y->field, name_shown(p, y->name),
                              "file %s comes from %s, too, with another content", y->name,
                              x->field);
    }
}

void user_files_read(struct arena *a, const struct build_cluster *c, struct user_files *ret,
                     struct api_problems *p)
{
    struct controller_ref_list lists[CONTROLLER_REF_LISTS];

    *ret = (struct user_files){0};
    controller_ref_lists(c->controller, lists);
    for (size_t i = 0; i < CONTROLLER_REF_LISTS; i++)
        read_list(a, c, ret, &lists[i], p);
    if (ret->n)
        qsort(ret->items, ret->n, sizeof(*ret->items), by_name);
    check_twice(ret, p);
}

const struct user_file *user_files_find(const struct user_files *files, const char *name)
{
    for (size_t i = 0; i < files->n; i++)
        if (streq(files->items[i].name, name))
            return &files->items[i];
    return NULL;
}

size_t user_files_count(const struct user_files *files, const char *option)
{
    size_t n = 0;

    for (size_t i = 0; i < files->n; i++)
        n += files->items[i].option && streq(files->items[i].option, option);
    return n;
}
