/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events of a watch, in the form its client wished, as seen through its selector: an object
 * that begins to match is ADDED, one that ceases to match is DELETED.
 */
#include "src/cluster/apiserver/object.h"
#include "src/cluster/apiserver/status.h"
#include "src/cluster/apiserver/watch_private.h"

/* The object of an event in the form the client wished. */
static struct jsn *event_object(struct watch *w, struct jsn *object)
{
    struct api_call *c = w->call;
    struct jsn *shown = object_present(c, object);
    struct jsn *version = jsn_get(shown, "metadata.resourceVersion");
    struct jsn *table;

    if (w->wish.form == FORM_METADATA)
        return answer_metadata_of(&c->arena, shown, w->wish.table_version);
    if (w->wish.form == FORM_OBJECT)
        return shown;
    table = answer_table(c, &w->wish, !w->columns_sent);
    w->columns_sent = true;
    if (version)
        jsn_set(&c->arena, jsn_key(table, "metadata"), "resourceVersion", version);
    jsn_append(&c->arena, jsn_key(table, "rows"), answer_table_row(c, &w->wish, shown, w->row));
    return table;
}

static void send_line(struct watch *w, const char *type, const struct jsn *object)
{
    AUTO(buf_done) struct buf b = {0};

    buf_printf(&b, "{\"type\":\"%s\",\"object\":", type);
    jsn_print(&b, object);
    buf_adds(&b, "}\n");
    http_stream_write(w->call->exchange, buf_view(&b));
}

/* Plain objects need no tree: the stored bytes go out as they are. */
static int send_row(struct watch *w, const char *type, const struct store_row *row)
{
    AUTO(buf_done) struct buf b = {0};
    int r;

    buf_printf(&b, "{\"type\":\"%s\",\"object\":", type);
    r = object_present_row(w->call, row, true, &b);
    if (r < 0)
        return r;
    buf_adds(&b, "}\n");
    http_stream_write(w->call->exchange, buf_view(&b));
    return 0;
}

static int send_event(struct watch *w, const char *type, const struct store_row *row,
                      struct jsn *object)
{
    if (w->wish.form == FORM_OBJECT)
        return send_row(w, type, row);
    send_line(w, type, event_object(w, object));
    return 0;
}

static struct jsn *bookmark_object(struct watch *w, int64_t version, bool initial_end)
{
    struct api_call *c = w->call;
    struct arena *a = &c->arena;
    struct jsn *o = jsn_object(a);

    jsn_set_path(a, o, "metadata.resourceVersion", jsn_stringf(a, "%lld", (long long)version));
    if (initial_end) {
        struct jsn *notes = jsn_object(a);

        jsn_set_str(a, notes, "k8s.io/initial-events-end", "true");
        jsn_set_path(a, o, "metadata.annotations", notes);
    }
    return o;
}

void watch_send_bookmark(struct watch *w, int64_t version, bool initial_end)
{
    struct api_call *c = w->call;
    struct arena_mark mark = arena_mark(&c->arena);
    struct jsn *o = bookmark_object(w, version, initial_end);

    if (w->wish.form == FORM_TABLE) {
        struct jsn *table = answer_table(c, &w->wish, !w->columns_sent);
        struct jsn *row = jsn_object(&c->arena);

        w->columns_sent = true;
        jsn_set(&c->arena, jsn_key(table, "metadata"), "resourceVersion",
                jsn_get(o, "metadata.resourceVersion"));
        jsn_set(&c->arena, row, "cells", jsn_array(&c->arena));
        jsn_set(&c->arena, row, "object", answer_metadata_of(&c->arena, o, w->wish.table_version));
        jsn_append(&c->arena, jsn_key(table, "rows"), row);
        o = table;
    } else if (w->wish.form == FORM_METADATA) {
        o = answer_metadata_of(&c->arena, o, w->wish.table_version);
    } else {
        struct jsn *full = jsn_object(&c->arena);

        jsn_set_str(&c->arena, full, "kind", c->res->kind);
        jsn_set_str(&c->arena, full, "apiVersion", object_api_version(&c->arena, c->res));
        jsn_set(&c->arena, full, "metadata", jsn_key(o, "metadata"));
        o = full;
    }
    send_line(w, "BOOKMARK", o);
    arena_rewind(&c->arena, mark);
}

/* Parse and match; a text that is empty matches nothing. */
static int matches(struct watch *w, const struct store_row *row, struct str text, bool *ret_matches,
                   struct jsn **ret_object)
{
    struct store_row r = *row;
    int result = 0;

    r.data = text;
    if (text.n > 0)
        result = object_of_row(w->call, &r, ret_object);
    *ret_matches = result == 0 && text.n > 0 && selection_match(&w->sel, *ret_object);
    return result;
}

/* It no longer matches: what the watcher knew of it goes, with the version of the change. */
static void send_departed(struct watch *w, const struct store_event *ev, struct jsn *before)
{
    jsn_set_path(&w->call->arena, before, "metadata.resourceVersion",
                 jsn_stringf(&w->call->arena, "%lld", (long long)ev->row.rv));
    send_line(w, "DELETED", event_object(w, before));
}

static int send_selected(struct watch *w, const struct store_event *ev)
{
    struct jsn *object = NULL;
    struct jsn *before = NULL;
    bool was = false;
    bool is = false;
    int r = matches(w, &ev->row, ev->prev, &was, &before);

    if (r == 0)
        r = matches(w, &ev->row, ev->row.data, &is, &object);
    if (r < 0)
        return r;
    is = is && ev->change != STORE_DELETED;
    if (is)
        return send_event(w, was ? "MODIFIED" : "ADDED", &ev->row, object);
    if (was && ev->change == STORE_DELETED)
        return send_event(w, "DELETED", &ev->row, object);
    if (was)
        send_departed(w, ev, before);
    return 0;
}

int watch_send_change(struct watch *w, const struct store_event *ev)
{
    static const char *const types[] = {"ADDED", "MODIFIED", "DELETED"};
    struct arena_mark mark = arena_mark(&w->call->arena);
    struct jsn *object = NULL;
    int r = 0;

    if (w->sel.ns && !streq(w->sel.ns, ev->row.key.ns))
        return 0;
    if (!selection_trivial(&w->sel)) {
        r = send_selected(w, ev);
    } else {
        if (w->wish.form != FORM_OBJECT)
            r = object_of_row(w->call, &ev->row, &object);
        if (r == 0)
            r = send_event(w, types[ev->change], &ev->row, object);
    }
    if (r == 0)
        arena_rewind(&w->call->arena, mark);
    return r;
}

int watch_send_present(struct watch *w, const struct store_row *row)
{
    struct arena_mark mark = arena_mark(&w->call->arena);
    bool look = !selection_trivial(&w->sel) || w->wish.form != FORM_OBJECT;
    struct jsn *object = NULL;
    int r = look ? object_of_row(w->call, row, &object) : 0;

    if (r == 0 && (!look || selection_match(&w->sel, object)))
        r = send_event(w, "ADDED", row, object);
    if (r == 0)
        arena_rewind(&w->call->arena, mark);
    return r;
}

void watch_send_error(struct watch *w, const struct jsn *status)
{
    send_line(w, "ERROR", status);
}
