/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists.
 *
 * A list is the state at one version.  One of up to a MiB is answered whole; what is longer is
 * streamed (list_stream.c), in the memory of a piece, however long it is.
 *
 * Stored bytes go into the answer as they are; an object is parsed only where a selector, a table
 * or YAML needs to look inside.
 */
#include "src/cluster/apiserver/list.h"

#include "src/base/alloc.h"
#include "src/cluster/apiserver/listing.h"
#include "src/cluster/apiserver/object.h"
#include "src/cluster/apiserver/status.h"

#define WHOLE_BYTES ((size_t)1 << 20)

/* What the store calls back with. */
struct visit {
    struct listing *listing;
    int result;
};

void listing_free(struct listing *l)
{
    buf_done(&l->items);
    free(l->after_ns);
    free(l->after_name);
    free(l->last_ns);
    free(l->last_name);
    free(l);
}

static void note_key(char **ns, char **name, const struct store_row *row)
{
    free(*ns);
    free(*name);
    *ns = xstrdup(row->key.ns);
    *name = xstrdup(row->key.name);
}

/* Match and print one row. */
static int take_row(struct listing *l, const struct store_row *row)
{
    bool look = !selection_trivial(&l->sel) || l->wish.form != FORM_OBJECT;
    struct jsn *object = NULL;
    int r = look ? object_of_row(l->call, row, &object) : 0;

    if (r < 0 || (look && !selection_match(&l->sel, object)))
        return r;
    if (l->page.limit > 0 && l->n == l->page.limit) {
        l->more = true;
        return 0;
    }
    r = listing_add(l, row, object);
    if (r < 0)
        return r;
    l->n++;
    if (l->n == l->page.limit)
        note_key(&l->last_ns, &l->last_name, row);
    return 0;
}

/* Nothing of a row stays in the arena. */
static bool on_row(void *arg, const struct store_row *row)
{
    struct visit *v = arg;
    struct listing *l = v->listing;
    struct arena_mark mark = arena_mark(&l->call->arena);

    v->result = take_row(l, row);
    if (v->result < 0)
        return false;
    arena_rewind(&l->call->arena, mark);
    l->full = !l->more && l->items.n > l->most;
    if (l->full)
        note_key(&l->after_ns, &l->after_name, row);
    return !l->more && !l->full;
}

int listing_collect(struct listing *l)
{
    struct api_call *c = l->call;
    struct visit v = {.listing = l};
    struct store_list q = {
        .resource = call_store_name(c),
        .ns = l->sel.ns,
        .at_version = l->page.at,
        .after_ns = l->after_name ? l->after_ns : l->page.after_ns,
        .after_name = l->after_name ? l->after_name : l->page.after_name,
    };
    struct err e = {0};
    int r;

    l->full = false;
    r = store_each(c->server->store, &q, on_row, &v, &e);
    if (v.result < 0)
        return v.result;
    return r < 0 ? page_fail(c, &l->page, r, &e) : 0;
}

static int prepare(struct listing *l)
{
    struct api_call *c = l->call;
    int r = answer_wish_read(c, &l->wish);

    if (r == 0)
        r = selection_read(c, &l->sel);
    if (r == 0)
        r = page_read(c, &l->page);
    if (r == 0 && l->wish.form == FORM_TABLE)
        r = answer_row_object(c, &l->row);
    return r;
}

static void send_whole(struct listing *l)
{
    AUTO(buf_done) struct buf b = {0};

    listing_print_head(l, &b, true);
    buf_addstr(&b, buf_view(&l->items));
    listing_print_tail(l, &b, true);
    answer_text(l->call, 200, listing_type(l), buf_view(&b));
}

void verb_list(struct api_call *c)
{
    struct listing *l = xcalloc(1, sizeof(*l));
    int r;

    l->call = c;
    l->most = WHOLE_BYTES;
    r = prepare(l);
    if (r == 0)
        r = listing_collect(l);
    if (r == 0 && l->full) {
        listing_stream(l);
        return;
    }
    if (r < 0)
        answer_failure(c);
    else
        send_whole(l);
    listing_free(l);
}
