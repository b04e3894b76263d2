/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists.
 *
 * A list is the state at one version.  With `limit` it comes in pages, and every page shows the
 * same version: the continue token holds that version and the last key, and the store still knows
 * the past for a few minutes.  A token whose version is compacted gets 410 and a token to go on
 * with at the present state.
 *
 * Stored bytes go into the answer as they are; an object is parsed only where a selector or a table
 * needs to look inside.
 */
#include "src/cluster/apiserver/list.h"

#include "src/base/encode.h"
#include "src/cluster/apiserver/answer.h"
#include "src/cluster/apiserver/object.h"
#include "src/cluster/apiserver/options.h"
#include "src/cluster/apiserver/printer.h"
#include "src/cluster/apiserver/select.h"
#include "src/cluster/apiserver/status.h"
#include "src/cluster/apiserver/write.h"
#include "src/json/yaml.h"

struct page {
    int64_t limit;   /* 0: no limit */
    int64_t version; /* shown; the state at which the list is taken */
    int64_t at;      /* of the store: 0 for now */
    const char *after_ns;
    const char *after_name;
};

/* What the rows of a list are collected into. */
struct collected {
    struct api_call *c;
    const struct selection *sel;
    struct answer_wish wish;
    enum row_object row;
    struct page *page;
    struct buf items; /* printed objects or table rows, joined by commas */
    int64_t n;
    bool more;
    char *last_ns;
    char *last_name;
    int result;
};

static const char *make_token(struct arena *a, int64_t version, const char *ns, const char *name)
{
    AUTO(buf_done) struct buf json = {0};
    AUTO(buf_done) struct buf b = {0};
    struct jsn *v = jsn_object(a);

    jsn_set_str(a, v, "v", "meta.k8s.io/v1");
    jsn_set_int(a, v, "rv", version);
    jsn_set(a, v, "start", jsn_stringf(a, "%s/%s", ns, name));
    jsn_print(&json, v);
    encode_base64url(&b, buf_view(&json));
    return arena_str(a, buf_view(&b));
}

static int read_token(struct api_call *c, const char *token, struct page *p)
{
    AUTO(buf_done) struct buf b = {0};
    const char *start;
    const char *slash;
    struct jsn *v;

    if (decode_base64(&b, str_of(token)) < 0 ||
        jsn_parse(&c->arena, buf_view(&b), NULL, &v, NULL) < 0)
        return status_bad_request(c, "invalid continue token: not one of this server's");
    start = jsn_get_str(v, "start");
    slash = start ? strchr(start, '/') : NULL;
    p->at = jsn_get_int(v, "rv", 0);
    if (!streq(jsn_get_str(v, "v"), "meta.k8s.io/v1") || !slash || p->at == 0)
        return status_bad_request(c, "invalid continue token: not one of this server's");
    p->after_ns = arena_str(&c->arena, (struct str){start, (size_t)(slash - start)});
    p->after_name = slash + 1;
    if (p->at < 0)
        p->at = 0;
    p->version = p->at ? p->at : store_version(c->server->store);
    return 0;
}

static int too_large_version(struct api_call *c, int64_t asked)
{
    int r = status_fail(c, 504, "Timeout", "Too large resource version: %lld, current: %lld",
                        (long long)asked, (long long)store_version(c->server->store));

    status_add_cause(c, "ResourceVersionTooLarge", "", "Too large resource version");
    jsn_set_int(&c->arena, status_details(c), "retryAfterSeconds", 1);
    c->retry_after_s = 1;
    return r;
}

static int expired(struct api_call *c, const char *message)
{
    return status_fail(c, 410, "Expired", "%s", message);
}

static int read_version(struct api_call *c, struct page *p)
{
    const char *match = call_param(c, "resourceVersionMatch");
    int64_t asked = 0;
    int r = options_version(c, "resourceVersion", &asked);

    if (r < 0)
        return r;
    if (asked > store_version(c->server->store))
        return too_large_version(c, asked);
    if (streq(match, "Exact")) {
        if (asked < store_compacted(c->server->store))
            return expired(c, "The resourceVersion for the provided list is too old.");
        p->at = asked;
    }
    p->version = p->at ? p->at : store_version(c->server->store);
    return 0;
}

static int read_page(struct api_call *c, struct page *p)
{
    const char *token = call_param(c, "continue");
    const char *limit = call_param(c, "limit");
    int r = options_check_list(c, false);

    if (r < 0)
        return r;
    if (limit && limit[0] && str_to_i64(str_of(limit), &p->limit) < 0)
        return status_bad_request(c, "limit: '%s' is not a number", limit);
    if (!token || !token[0])
        return read_version(c, p);
    if (call_param(c, "resourceVersion") && call_param(c, "resourceVersion")[0] &&
        !streq(call_param(c, "resourceVersion"), "0"))
        return status_bad_request(c,
                                  "specifying resource version is not allowed when using continue");
    return read_token(c, token, p);
}

static int add_item(struct collected *x, const struct store_row *row, struct jsn *object)
{
    struct api_call *c = x->c;
    struct jsn *shown;

    if (x->n > 0)
        buf_addc(&x->items, ',');
    if (x->wish.form == FORM_OBJECT)
        return object_present_row(c, row, c->res->custom, &x->items);
    object = object_present(c, object);
    if (x->wish.form == FORM_TABLE)
        shown = answer_table_row(c, &x->wish, object, x->row);
    else
        shown = answer_metadata_of(&c->arena, object, x->wish.table_version);
    jsn_print(&x->items, shown);
    return 0;
}

/* Match and print one row; nothing of it stays in the arena. */
static int take_row(struct collected *x, const struct store_row *row)
{
    bool look = !selection_trivial(x->sel) || x->wish.form != FORM_OBJECT;
    struct jsn *object = NULL;
    int r = look ? object_of_row(x->c, row, &object) : 0;

    if (r < 0 || (look && !selection_match(x->sel, object)))
        return r;
    if (x->page->limit > 0 && x->n == x->page->limit) {
        x->more = true;
        return 0;
    }
    r = add_item(x, row, object);
    if (r < 0)
        return r;
    x->n++;
    return 0;
}

static bool on_row(void *arg, const struct store_row *row)
{
    struct collected *x = arg;
    struct arena_mark mark = arena_mark(&x->c->arena);
    int64_t before = x->n;

    x->result = take_row(x, row);
    if (x->result < 0)
        return false;
    arena_rewind(&x->c->arena, mark);
    if (x->n > before && x->n == x->page->limit) {
        x->last_ns = arena_strdup(&x->c->arena, row->key.ns);
        x->last_name = arena_strdup(&x->c->arena, row->key.name);
    }
    return !x->more;
}

static int fail_list(struct api_call *c, const struct page *p, int r, const struct err *e)
{
    if (r != -ESTALE)
        return status_internal(c, e);
    if (!p->after_name)
        return expired(c, "The resourceVersion for the provided list is too old.");
    r = expired(c, "The provided continue parameter is too old to display a consistent list "
                   "result. You can start a new list without the continue parameter, or use the "
                   "continue token in this response to retrieve the remainder of the results. "
                   "Continuing with the provided token results in an inconsistent list - objects "
                   "that were created, modified, or deleted between the time the first chunk was "
                   "returned and now may show up in the list.");
    jsn_set_path(&c->arena, c->failure, "metadata.continue",
                 jsn_string(&c->arena, make_token(&c->arena, -1, p->after_ns, p->after_name)));
    return r;
}

static struct store_list store_query(struct api_call *c, const struct selection *sel,
                                     const struct page *p)
{
    return (struct store_list){
        .resource = call_store_name(c),
        .ns = sel->ns,
        .at_version = p->at,
        .after_ns = p->after_ns,
        .after_name = p->after_name,
    };
}

static int collect(struct collected *x)
{
    struct store_list q = store_query(x->c, x->sel, x->page);
    struct err e = {0};
    int r = store_each(x->c->server->store, &q, on_row, x, &e);

    if (x->result < 0)
        return x->result;
    return r < 0 ? fail_list(x->c, x->page, r, &e) : 0;
}

/* {"resourceVersion", "continue", "remainingItemCount"} */
static struct jsn *list_metadata(struct collected *x)
{
    struct arena *a = &x->c->arena;
    struct jsn *m = jsn_object(a);
    int64_t left = 0;

    jsn_set(a, m, "resourceVersion", jsn_stringf(a, "%lld", (long long)x->page->version));
    if (!x->more)
        return m;
    jsn_set_str(a, m, "continue", make_token(a, x->page->version, x->last_ns, x->last_name));
    if (selection_trivial(x->sel)) {
        struct page rest = {.after_ns = x->last_ns, .after_name = x->last_name};
        struct store_list q = store_query(x->c, x->sel, &rest);

        if (store_count(x->c->server->store, &q, &left, NULL) == 0 && left > 0)
            jsn_set_int(a, m, "remainingItemCount", left);
    }
    return m;
}

static void print_head(struct collected *x, struct buf *b)
{
    struct api_call *c = x->c;

    if (x->wish.form == FORM_METADATA)
        buf_printf(b, "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/%s\"",
                   x->wish.table_version);
    else if (x->wish.form == FORM_TABLE)
        buf_printf(b, "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/%s\"",
                   x->wish.table_version);
    else
        buf_printf(b, "{\"kind\":\"%s\",\"apiVersion\":\"%s\"", c->res->list_kind,
                   object_api_version(&c->arena, c->res));
    buf_adds(b, ",\"metadata\":");
    jsn_print(b, list_metadata(x));
    if (x->wish.form == FORM_TABLE) {
        buf_adds(b, ",\"columnDefinitions\":");
        jsn_print(b, printer_columns(&c->arena, c->res));
        buf_adds(b, ",\"rows\":[");
    } else {
        buf_adds(b, ",\"items\":[");
    }
}

static void send_items(struct collected *x)
{
    AUTO(buf_done) struct buf b = {0};

    print_head(x, &b);
    buf_addstr(&b, buf_view(&x->items));
    buf_done(&x->items);
    buf_adds(&b, "]}\n");
    answer_text(x->c, 200, "application/json", buf_view(&b));
}

static void send_yaml(struct collected *x)
{
    struct api_call *c = x->c;
    struct jsn *list = jsn_object(&c->arena);
    AUTO(buf_done) struct buf array = {0};
    AUTO(buf_done) struct buf out = {0};
    struct jsn *items = NULL;

    buf_printf(&array, "[%s]", buf_str(&x->items));
    if (jsn_parse(&c->arena, buf_view(&array), NULL, &items, NULL) < 0)
        items = jsn_array(&c->arena);
    jsn_set_str(&c->arena, list, "apiVersion", object_api_version(&c->arena, c->res));
    jsn_set(&c->arena, list, "items", items);
    jsn_set_str(&c->arena, list, "kind", c->res->list_kind);
    jsn_set(&c->arena, list, "metadata", list_metadata(x));
    yaml_print(&out, list);
    answer_text(c, 200, "application/yaml", buf_view(&out));
}

static int prepare(struct api_call *c, struct collected *x, struct selection *sel, struct page *p)
{
    int r = answer_wish_read(c, &x->wish);

    if (r == 0)
        r = selection_read(c, sel);
    if (r == 0)
        r = read_page(c, p);
    if (r == 0 && x->wish.form == FORM_TABLE)
        r = answer_row_object(c, &x->row);
    return r;
}

void verb_list(struct api_call *c)
{
    struct selection sel = {0};
    struct page page = {0};
    struct collected x = {.c = c, .sel = &sel, .page = &page};
    int r = prepare(c, &x, &sel, &page);

    if (r == 0)
        r = collect(&x);
    if (r < 0) {
        answer_failure(c);
    } else if (x.wish.yaml) {
        send_yaml(&x);
    } else {
        send_items(&x);
    }
    buf_done(&x.items);
}

/* The names first, then the deletions: the store is not changed while it is being read. */
struct victims {
    struct api_call *c;
    const struct selection *sel;
    struct jsn *objects;
    int result;
};

static bool on_victim(void *arg, const struct store_row *row)
{
    struct victims *v = arg;
    struct jsn *object = NULL;

    v->result = object_of_row(v->c, row, &object);
    if (v->result < 0)
        return false;
    if (selection_match(v->sel, object))
        jsn_append(&v->c->arena, v->objects, object);
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
    jsn_set_str(&c->arena, list, "kind", c->res->list_kind);
    jsn_set_str(&c->arena, list, "apiVersion", object_api_version(&c->arena, c->res));
    jsn_set_path(&c->arena, list, "metadata.resourceVersion",
                 jsn_stringf(&c->arena, "%lld", (long long)store_version(c->server->store)));
    jsn_set(&c->arena, list, "items", items);
    answer_json(c, 200, list);
}
