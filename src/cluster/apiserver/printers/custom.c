/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of custom resources: the name, then the additionalPrinterColumns of the version that was
 * asked for, each with a JSONPath into the object; without any, the age.
 *
 * A text column shows whatever is there as text; the other types show null where the value is of
 * another type.  A path that leads nowhere is null.
 */
#include "src/cluster/apiserver/printers/cells.h"
#include "src/json/path.h"

static const struct jsn *columns_of(const struct resource *res)
{
    return jsn_key(res->crd_version, "additionalPrinterColumns");
}

void custom_columns(struct arena *a, const struct resource *res, struct jsn *columns)
{
    static const struct printer_column name = COLUMN_NAME;
    static const struct printer_column age = {"Age", "date", "",
                                              "Time since the object was created.", 0};

    jsn_append(a, columns, column_object(a, &name));
    if (jsn_len(columns_of(res)) == 0)
        jsn_append(a, columns, column_object(a, &age));
    JSN_FOR_ITEMS (item, columns_of(res)) {
        const char *text = cells_text(item, "description");
        struct printer_column column = {
            .name = cells_text(item, "name"),
            .type = cells_text(item, "type"),
            .format = cells_text(item, "format"),
            .description = text,
            .priority = (int)jsn_get_int(item, "priority", 0),
        };

        if (text[0] == '\0')
            column.description =
                arena_printf(a, "Custom resource definition column (in JSONPath format): %s",
                             cells_text(item, "jsonPath"));
        jsn_append(a, columns, column_object(a, &column));
    }
}

static struct jsn *as_text(struct arena *a, const struct jsn *v)
{
    AUTO(buf_done) struct buf b = {0};

    if (jsn_is(v, JSN_STRING))
        return jsn_str(a, v->s);
    jsn_print(&b, v);
    return jsn_str(a, buf_view(&b));
}

static struct jsn *as_date(struct cells *c, const struct jsn *v)
{
    const char *text = jsn_text(v);

    if (!text)
        return jsn_null(c->arena);
    return jsn_string(c->arena, text[0] != '\0' ? cells_age_of(c, text) : "<invalid>");
}

static struct jsn *cell_of(struct cells *c, const char *type, const struct jsn *v)
{
    if (!v || v->type == JSN_NULL)
        return jsn_null(c->arena);
    if (streq(type, "string"))
        return as_text(c->arena, v);
    if (streq(type, "date"))
        return as_date(c, v);
    if (streq(type, "integer") && jsn_is(v, JSN_REAL))
        return jsn_int(c->arena, (int64_t)v->d);
    if ((streq(type, "integer") && jsn_is(v, JSN_INT)) ||
        (streq(type, "number") && (jsn_is(v, JSN_INT) || jsn_is(v, JSN_REAL))) ||
        (streq(type, "boolean") && jsn_is(v, JSN_BOOL)))
        return jsn_clone(c->arena, v);
    return jsn_null(c->arena);
}

/* The first value that a column's path names; one that does not parse names nothing. */
static const struct jsn *value_at(const struct cells *c, const char *text)
{
    struct path *p;

    return path_compile(c->arena, text, &p, NULL) < 0 ? NULL : path_first(p, c->object);
}

void custom_print(struct cells *c, const struct resource *res)
{
    cell_name(c);
    if (jsn_len(columns_of(res)) == 0)
        cell_age(c);
    JSN_FOR_ITEMS (item, columns_of(res)) {
        const struct jsn *v = value_at(c, cells_text(item, "jsonPath"));

        jsn_append(c->arena, c->row, cell_of(c, cells_text(item, "type"), v));
    }
}
