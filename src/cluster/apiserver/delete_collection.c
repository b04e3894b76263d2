/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Deleting what a list would show.
 *
 * The answer shows what was deleted, unless that is more than anybody would read: then it is a
 * Status that says it was done.
 */
#include "src/cluster/apiserver/answer.h"
#include "src/cluster/apiserver/list.h"
#include "src/cluster/apiserver/object.h"
#include "src/cluster/apiserver/options.h"
#include "src/cluster/apiserver/select.h"
#include "src/cluster/apiserver/status.h"
#include "src/cluster/apiserver/write.h"

#define MAX_SHOWN_BYTES ((size_t)64 << 20)

/* The names first, then the deletions: the store is not changed while it is being read. */
struct victims {
    struct api_call *c;
    const struct selection *sel;
    struct jsn *objects;
    size_t bytes;
    int result;
};

static bool on_victim(void *arg, const struct store_row *row)
{
    struct victims *v = arg;
    struct jsn *object = NULL;

    v->result = object_of_row(v->c, row, &object);
    if (v->result < 0)
        return false;
    if (selection_match(v->sel, object)) {
        jsn_append(&v->c->arena, v->objects, object);
        v->bytes += row->data.n;
    }
    return true;
}

static int delete_all(struct api_call *c, struct jsn *objects, const struct delete_options *o,
                      struct jsn *items)
{
    JSN_FOR_ITEMS (object, objects) {
        struct jsn *shown = object_present(c, jsn_clone(&c->arena, object));
        struct jsn *answer;
        int r = write_delete(c, object, o, &answer);

        if (r < 0)
            return r;
        if (!c->res->custom) {
            (void)jsn_del(shown, "kind");
            (void)jsn_del(shown, "apiVersion");
        }
        jsn_append(&c->arena, items, shown);
    }
    return 0;
}

void verb_delete_collection(struct api_call *c)
{
    struct selection sel = {0};
    struct victims v = {.c = c, .sel = &sel, .objects = jsn_array(&c->arena)};
    struct jsn *items = jsn_array(&c->arena);
    struct jsn *list = jsn_object(&c->arena);
    struct store_list q = {.resource = call_store_name(c)};
    struct delete_options o;
    struct err e = {0};
    int r = options_read_write(c, "DeleteOptions", false);

    if (r == 0)
        r = delete_options_read(c, &o);
    if (r == 0)
        r = selection_read(c, &sel);
    q.ns = sel.ns;
    if (r == 0 && store_each(c->server->store, &q, on_victim, &v, &e) < 0)
        r = v.result < 0 ? v.result : status_internal(c, &e);
    if (r == 0)
        r = v.result < 0 ? v.result : delete_all(c, v.objects, &o, items);
    if (r < 0) {
        answer_failure(c);
        return;
    }
    if (v.bytes > MAX_SHOWN_BYTES) {
        answer_json(c, 200, status_success(&c->arena, 200));
        return;
    }
    jsn_set_str(&c->arena, list, "kind", c->res->list_kind);
    jsn_set_str(&c->arena, list, "apiVersion", object_api_version(&c->arena, c->res));
    jsn_set_path(&c->arena, list, "metadata.resourceVersion",
                 jsn_stringf(&c->arena, "%lld", (long long)store_version(c->server->store)));
    jsn_set(&c->arena, list, "items", items);
    answer_json(c, 200, list);
}
