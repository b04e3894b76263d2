/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cells of a row: texts, counts and ages, each appended to the row in the making.  Ages follow
 * kubectl's human durations; a time that is missing is "<unknown>".
 */
#include "src/cluster/apiserver/printers/cells.h"

#include "src/base/clock.h"
#include "src/cluster/apiserver/kinds/labelselector.h"

void cell_text(struct cells *c, const char *text)
{
    jsn_append(c->arena, c->row, jsn_string(c->arena, text));
}

void cell_textf(struct cells *c, const char *fmt, ...)
{
    AUTO(buf_done) struct buf b = {0};
    va_list ap;

    va_start(ap, fmt);
    buf_vprintf(&b, fmt, ap);
    va_end(ap);
    cell_text(c, buf_str(&b));
}

void cell_int(struct cells *c, int64_t i)
{
    jsn_append(c->arena, c->row, jsn_int(c->arena, i));
}

void cell_bool(struct cells *c, bool b)
{
    jsn_append(c->arena, c->row, jsn_bool(c->arena, b));
}

const char *cells_text(const struct jsn *v, const char *path)
{
    const char *s = jsn_get_str(v, path);

    return s ? s : "";
}

void cell_at(struct cells *c, const char *path, const char *otherwise)
{
    const char *s = cells_text(c->object, path);

    cell_text(c, s[0] != '\0' ? s : otherwise);
}

void cell_int_at(struct cells *c, const char *path, int64_t otherwise)
{
    cell_int(c, jsn_get_int(c->object, path, otherwise));
}

void cell_name(struct cells *c)
{
    cell_at(c, "metadata.name", "");
}

const char *cells_age_of(struct cells *c, const char *time)
{
    char text[CLOCK_AGE_LEN];
    int64_t then;

    if (!time || time[0] == '\0')
        return "<unknown>";
    if (clock_parse_rfc3339(str_of(time), &then) < 0)
        return "<invalid>";
    clock_age((c->now_us - then) / 1000000, text);
    return arena_strdup(c->arena, text);
}

void cell_age(struct cells *c)
{
    cell_text(c, cells_age_of(c, jsn_get_str(c->object, "metadata.creationTimestamp")));
}

static const char *joined(struct arena *a, const struct jsn *list, const char *key)
{
    AUTO(buf_done) struct buf b = {0};

    JSN_FOR_ITEMS (item, list)
        buf_printf(&b, "%s%s", item_i > 0 ? "," : "", cells_text(item, key));
    return arena_str(a, buf_view(&b));
}

void cell_containers(struct cells *c, const struct jsn *containers)
{
    cell_text(c, joined(c->arena, containers, "name"));
    cell_text(c, joined(c->arena, containers, "image"));
}

void cell_selector(struct cells *c, const struct jsn *selector)
{
    const char *text = labelselector_text(c->arena, selector);

    cell_text(c, text[0] != '\0' ? text : "<none>");
}

void cell_labels(struct cells *c, const struct jsn *labels)
{
    const char *text = labelmap_text(c->arena, labels);

    cell_text(c, text[0] != '\0' ? text : "<none>");
}
