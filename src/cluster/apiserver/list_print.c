/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of a list: object, table or metadata, in JSON or YAML.
 *
 * It is printed in pieces: head, items, tail.  What the metadata say (is there more?) is known only
 * after the last item, so that a streamed list has them there; the order of keys means nothing.
 * YAML prints a sequence in the column of its key, so that an item is the same text anywhere.
 */
#include "src/cluster/apiserver/listing.h"
#include "src/cluster/apiserver/object.h"
#include "src/cluster/apiserver/printer.h"
#include "src/cluster/apiserver/server.h"
#include "src/cluster/apiserver/status.h"
#include "src/json/yaml.h"

static int add_json(struct listing *l, const struct store_row *row, struct jsn *object,
                    struct buf *b)
{
    struct api_call *c = l->call;
    struct jsn *shown;

    if (l->wish.form == FORM_OBJECT)
        return object_present_row(c, row, c->res->custom, b);
    object = object_present(c, object);
    if (l->wish.form == FORM_TABLE)
        shown = answer_table_row(c, &l->wish, object, l->row);
    else
        shown = answer_metadata_of(&c->arena, object, l->wish.table_version);
    jsn_print(b, shown);
    return 0;
}

static int add_yaml(struct listing *l, const struct store_row *row, struct jsn *object)
{
    struct arena *a = &l->call->arena;
    AUTO(buf_done) struct buf text = {0};
    struct jsn *one = jsn_array(a);
    struct jsn *item = NULL;
    struct err e = {0};
    int r = add_json(l, row, object, &text);

    if (r < 0)
        return r;
    if (jsn_parse(a, buf_view(&text), NULL, &item, &e) < 0)
        return status_internal(l->call, &e);
    jsn_append(a, one, item);
    yaml_print(&l->items, one);
    return 0;
}

int listing_add(struct listing *l, const struct store_row *row, struct jsn *object)
{
    if (l->wish.yaml)
        return add_yaml(l, row, object);
    if (l->n > 0)
        buf_addc(&l->items, ',');
    return add_json(l, row, object, &l->items);
}

const char *listing_type(const struct listing *l)
{
    return l->wish.yaml ? "application/yaml" : "application/json";
}

static const char *kind_of(const struct listing *l)
{
    switch (l->wish.form) {
    case FORM_TABLE:
        return "Table";
    case FORM_METADATA:
        return "PartialObjectMetadataList";
    case FORM_OBJECT:
        break;
    }
    return l->call->res->list_kind;
}

static const char *version_of(const struct listing *l)
{
    struct api_call *c = l->call;

    if (l->wish.form == FORM_OBJECT)
        return object_api_version(&c->arena, c->res);
    return arena_printf(&c->arena, "meta.k8s.io/%s", l->wish.table_version);
}

/* How many objects stand after the page; not told where a selector would have to look at them. */
static int64_t count_rest(struct listing *l)
{
    struct store_list q = {
        .resource = call_store_name(l->call),
        .ns = l->sel.ns,
        .after_ns = l->last_ns,
        .after_name = l->last_name,
    };
    int64_t n = 0;

    if (!selection_trivial(&l->sel) || store_count(l->call->server->store, &q, &n, NULL) < 0)
        return 0;
    return n;
}

/* {"resourceVersion", "continue", "remainingItemCount"} */
static struct jsn *list_metadata(struct listing *l)
{
    struct arena *a = &l->call->arena;
    struct jsn *m = jsn_object(a);
    int64_t rest;

    jsn_set(a, m, "resourceVersion", jsn_stringf(a, "%lld", (long long)l->page.version));
    if (!l->more)
        return m;
    jsn_set_str(a, m, "continue", page_token(a, l->page.version, l->last_ns, l->last_name));
    rest = count_rest(l);
    if (rest > 0)
        jsn_set_int(a, m, "remainingItemCount", rest);
    return m;
}

/* Members of the list, `{"key": value}`, as lines of YAML. */
static void print_yaml_member(struct listing *l, struct buf *b, const char *key, struct jsn *value)
{
    struct jsn *o = jsn_object(&l->call->arena);

    jsn_set(&l->call->arena, o, key, value);
    yaml_print(b, o);
}

static void print_yaml_head(struct listing *l, struct buf *b)
{
    struct arena *a = &l->call->arena;
    bool table = l->wish.form == FORM_TABLE;

    print_yaml_member(l, b, "apiVersion", jsn_string(a, version_of(l)));
    if (table)
        print_yaml_member(l, b, "columnDefinitions", printer_columns(a, l->call->res));
    buf_printf(b, "%s:%s\n", table ? "rows" : "items", l->n == 0 ? " []" : "");
}

void listing_print_head(struct listing *l, struct buf *b, bool metadata)
{
    if (l->wish.yaml) {
        print_yaml_head(l, b);
        return;
    }
    buf_printf(b, "{\"kind\":\"%s\",\"apiVersion\":\"%s\"", kind_of(l), version_of(l));
    if (metadata) {
        buf_adds(b, ",\"metadata\":");
        jsn_print(b, list_metadata(l));
    }
    if (l->wish.form == FORM_TABLE) {
        buf_adds(b, ",\"columnDefinitions\":");
        jsn_print(b, printer_columns(&l->call->arena, l->call->res));
    }
    buf_adds(b, l->wish.form == FORM_TABLE ? ",\"rows\":[" : ",\"items\":[");
}

void listing_print_tail(struct listing *l, struct buf *b, bool metadata)
{
    struct arena *a = &l->call->arena;

    if (l->wish.yaml) {
        print_yaml_member(l, b, "kind", jsn_string(a, kind_of(l)));
        print_yaml_member(l, b, "metadata", list_metadata(l));
        return;
    }
    buf_addc(b, ']');
    if (!metadata) {
        buf_adds(b, ",\"metadata\":");
        jsn_print(b, list_metadata(l));
    }
    buf_adds(b, "}\n");
}
