/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What differs between two states of an object, for the human whose update was refused.
 *
 * Kubernetes appends a dump of Go structs to such refusals; here each member that differs gets one
 * line with its path, the old and the new value as JSON, cut where they are long.
 */
#include "src/cluster/apiserver/kinds/kinds.h"

#define SHOWN_MAX 120
#define LINES_MAX 20

void kind_keep(struct arena *a, struct jsn *object, const struct jsn *old, const char *key)
{
    struct jsn *v = jsn_key(old, key);

    if (v)
        jsn_set(a, object, key, v);
    else
        (void)jsn_del(object, key);
}

static const char *shown(struct arena *a, const struct jsn *v)
{
    AUTO(buf_done) struct buf b = {0};

    if (!v)
        return "unset";
    jsn_print(&b, v);
    if (b.n <= SHOWN_MAX)
        return arena_str(a, buf_view(&b));
    return arena_printf(a, "%.*s...", SHOWN_MAX, buf_str(&b));
}

static void add_line(struct arena *a, struct buf *b, struct str key, const struct jsn *new_value,
                     const struct jsn *old_value, const char *path, size_t *lines)
{
    if (check_same(new_value, old_value) || ++*lines > LINES_MAX)
        return;
    buf_printf(b, "\n\t%s." STR_FMT ": %s -> %s", path, STR_ARG(key), shown(a, old_value),
               shown(a, new_value));
}

const char *kind_difference(struct arena *a, const struct jsn *object, const struct jsn *old,
                            const char *path)
{
    AUTO(buf_done) struct buf b = {0};
    size_t lines = 0;

    JSN_FOR_MEMBERS (m, object) {
        add_line(a, &b, m->key, m->value, jsn_member(old, m->key), path, &lines);
    }
    JSN_FOR_MEMBERS (m, old) {
        if (!jsn_member(object, m->key))
            add_line(a, &b, m->key, NULL, m->value, path, &lines);
    }
    return arena_str(a, buf_view(&b));
}
