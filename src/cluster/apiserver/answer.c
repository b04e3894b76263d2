/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers.
 *
 * Three forms (object, table, metadata) in two encodings (JSON, YAML).  Protobuf is accepted in
 * requests but never sent: clients that prefer it take JSON where it is labelled so.
 *
 * While the turn's transaction is open all answers wait in s->waiting, also those to reads: they
 * may show states that are not on disk yet.  answer_commit runs as the loop's end-of-turn hook.
 */
#include "src/cluster/apiserver/answer.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/encode.h"
#include "src/base/log.h"
#include "src/cluster/apiserver/printer.h"
#include "src/cluster/apiserver/review.h"
#include "src/cluster/apiserver/status.h"
#include "src/http/media.h"
#include "src/json/indent.h"
#include "src/json/yaml.h"

struct waiting_answer {
    struct list link;
    struct api_call *call;
    int code;
    char *content_type;
    struct buf body;
};

struct api_call *call_new(struct apiserver *s, struct http_exchange *x)
{
    struct api_call *c = xcalloc(1, sizeof(*c));

    c->server = s;
    c->exchange = x;
    c->ns = "";
    return c;
}

void call_free(struct api_call *c)
{
    (void)resource_unref(c->res);
    url_query_done(&c->query);
    arena_done(&c->arena);
    free(c);
}

static bool is_meta_kind(const struct media_range *m, const char *kind)
{
    return str_eqz(media_param(m, "as"), kind) && str_eqz(media_param(m, "g"), "meta.k8s.io");
}

/* The first range of the Accept header that we can serve wins: clients list them by preference. */
static bool wish_from(const struct media_range *m, struct answer_wish *w)
{
    struct str version = media_param(m, "v");

    w->yaml = media_range_is(m, "application/yaml");
    if (!w->yaml && !media_range_covers(m, "application/json"))
        return false;
    w->table_version = str_eqz(version, "v1beta1") ? "v1beta1" : "v1";
    w->form = FORM_OBJECT;
    if (!media_param(m, "as").p)
        return true;
    if (is_meta_kind(m, "Table"))
        w->form = FORM_TABLE;
    else if (is_meta_kind(m, "PartialObjectMetadata") ||
             is_meta_kind(m, "PartialObjectMetadataList"))
        w->form = FORM_METADATA;
    else
        return false;
    return str_eqz(version, "v1") || str_eqz(version, "v1beta1");
}

/* What is only ever asked and answered is not shown in tables. */
static bool has_table(const struct api_call *c)
{
    return !c->res || !(review_is(c->res) || (c->sub && streq(c->sub->name, "token")));
}

int answer_wish_read(struct api_call *c, struct answer_wish *ret_wish)
{
    const char *accept = http_request_header(c->exchange, "Accept");
    struct media_accept wanted;

    *ret_wish = (struct answer_wish){.table_version = "v1"};
    if (!accept || !accept[0])
        return 0;
    if (media_accept_parse(accept, &wanted) < 0)
        wanted.n = 0;
    for (size_t i = 0; i < wanted.n; i++)
        if (wish_from(&wanted.ranges[i], ret_wish) &&
            (ret_wish->form != FORM_TABLE || has_table(c)))
            return 0;
    return status_fail(c, 406, "NotAcceptable",
                       "only the following media types are accepted: application/json, "
                       "application/yaml, application/vnd.kubernetes.protobuf");
}

/* Quotes and backslashes are escaped, control characters dropped. */
static void add_warning(struct buf *b, const char *text)
{
    buf_adds(b, "Warning: 299 - \"");
    for (const char *p = text; *p; p++) {
        if ((unsigned char)*p < ' ' || *p == 0x7F)
            continue;
        if (*p == '"' || *p == '\\')
            buf_addc(b, '\\');
        buf_addc(b, *p);
    }
    buf_adds(b, "\"\r\n");
}

const char *answer_headers(struct api_call *c)
{
    AUTO(buf_done) struct buf b = {0};
    char id[ENCODE_UUID_LEN + 1];

    encode_uuid(id);
    buf_printf(&b, "Audit-Id: %s\r\nCache-Control: no-cache, private\r\n", id);
    for (size_t i = 0; i < c->n_warnings; i++)
        add_warning(&b, c->warnings[i]);
    if (c->retry_after_s > 0)
        buf_printf(&b, "Retry-After: %lld\r\n", (long long)c->retry_after_s);
    return arena_str(&c->arena, buf_view(&b));
}

static void client_left(void *arg)
{
    struct waiting_answer *w = arg;

    w->call->exchange = NULL;
}

/* The body as the client gets it; `b` holds it where it is laid out for people. */
static struct str laid_out(const struct api_call *c, const char *content_type, struct str body,
                           struct buf *b)
{
    struct jsn_indent at = {0};

    if (!c->pretty || !streq(content_type, "application/json"))
        return body;
    jsn_indent(&at, b, body);
    return buf_view(b);
}

void answer_text(struct api_call *c, int code, const char *content_type, struct str body)
{
    AUTO(buf_done) struct buf b = {0};
    struct waiting_answer *w;

    if (!c->exchange) {
        call_free(c);
        return;
    }
    body = laid_out(c, content_type, body, &b);
    if (!store_dirty(c->server->store)) {
        http_reply(c->exchange, code, content_type, answer_headers(c), body);
        call_free(c);
        return;
    }
    w = xcalloc(1, sizeof(*w));
    w->call = c;
    w->code = code;
    w->content_type = xstrdup(content_type);
    buf_addstr(&w->body, body);
    list_append(&c->server->waiting, &w->link);
    http_exchange_on_close(c->exchange, client_left, w);
}

void answer_json(struct api_call *c, int code, const struct jsn *v)
{
    AUTO(buf_done) struct buf b = {0};

    jsn_print(&b, v);
    buf_addc(&b, '\n');
    answer_text(c, code, "application/json", buf_view(&b));
}

void answer_failure(struct api_call *c)
{
    if (!c->failure)
        (void)status_fail(c, 500, "InternalError", "the request failed, and nothing says why");
    answer_json(c, (int)jsn_get_int(c->failure, "code", 500), c->failure);
}

struct jsn *answer_metadata_of(struct arena *a, const struct jsn *presented,
                               const char *meta_version)
{
    struct jsn *o = jsn_object(a);
    struct jsn *meta = jsn_key(presented, "metadata");

    jsn_set_str(a, o, "kind", "PartialObjectMetadata");
    jsn_set(a, o, "apiVersion", jsn_stringf(a, "meta.k8s.io/%s", meta_version));
    jsn_set(a, o, "metadata", meta ? meta : jsn_object(a));
    return o;
}

int answer_row_object(struct api_call *c, enum row_object *ret_row)
{
    const char *v = call_param(c, "includeObject");

    if (!v || !v[0] || streq(v, "Metadata"))
        *ret_row = ROW_METADATA;
    else if (streq(v, "None"))
        *ret_row = ROW_NONE;
    else if (streq(v, "Object"))
        *ret_row = ROW_OBJECT;
    else
        return status_bad_request(c, "unrecognized includeObject value: \"%s\"", v);
    return 0;
}

struct jsn *answer_table(struct api_call *c, const struct answer_wish *w, bool columns)
{
    struct arena *a = &c->arena;
    struct jsn *t = jsn_object(a);

    jsn_set_str(a, t, "kind", "Table");
    jsn_set(a, t, "apiVersion", jsn_stringf(a, "meta.k8s.io/%s", w->table_version));
    jsn_set(a, t, "metadata", jsn_object(a));
    jsn_set(a, t, "columnDefinitions", columns ? printer_columns(a, c->res) : jsn_null(a));
    jsn_set(a, t, "rows", jsn_array(a));
    return t;
}

struct jsn *answer_table_row(struct api_call *c, const struct answer_wish *w, struct jsn *presented,
                             enum row_object row)
{
    struct jsn *object = presented;

    if (row == ROW_NONE)
        object = jsn_null(&c->arena);
    else if (row == ROW_METADATA)
        object = answer_metadata_of(&c->arena, presented, w->table_version);
    return printer_row(&c->arena, c->res, presented, object, clock_wall_us());
}

static int table_of_one(struct api_call *c, const struct answer_wish *w, struct jsn *presented,
                        struct jsn **ret_table)
{
    struct jsn *version = jsn_get(presented, "metadata.resourceVersion");
    enum row_object row = ROW_METADATA;
    int r = answer_row_object(c, &row);

    if (r < 0)
        return r;
    *ret_table = answer_table(c, w, true);
    if (version)
        jsn_set(&c->arena, jsn_key(*ret_table, "metadata"), "resourceVersion", version);
    jsn_append(&c->arena, jsn_key(*ret_table, "rows"), answer_table_row(c, w, presented, row));
    return 0;
}

void answer_object(struct api_call *c, int code, struct jsn *presented)
{
    AUTO(buf_done) struct buf b = {0};
    bool status = streq(jsn_get_str(presented, "kind"), "Status");
    struct answer_wish w;
    int r = answer_wish_read(c, &w);

    if (r == 0 && !status && w.form == FORM_TABLE)
        r = table_of_one(c, &w, presented, &presented);
    else if (r == 0 && !status && w.form == FORM_METADATA)
        presented = answer_metadata_of(&c->arena, presented, w.table_version);
    if (r < 0) {
        answer_failure(c);
        return;
    }
    if (w.yaml) {
        yaml_print(&b, presented);
        answer_text(c, code, "application/yaml", buf_view(&b));
        return;
    }
    answer_json(c, code, presented);
}

/* The write was undone: say so instead of what the handler had answered. */
static void refuse(struct waiting_answer *w, const struct err *why)
{
    w->call->failure = NULL;
    (void)status_internal(w->call, why);
    w->code = (int)jsn_get_int(w->call->failure, "code", 500);
    buf_clear(&w->body);
    jsn_print(&w->body, w->call->failure);
    free(w->content_type);
    w->content_type = xstrdup("application/json");
}

void answer_commit(struct apiserver *s)
{
    struct list ready;
    struct err e = {0};
    int r;

    if (!store_dirty(s->store) && list_empty(&s->waiting))
        return;
    list_init(&ready);
    LIST_FOR_EACH (w, &s->waiting, struct waiting_answer, link) {
        list_remove(&w->link);
        list_append(&ready, &w->link);
    }
    r = store_commit(s->store, &e);
    if (r < 0)
        log_error("writes were undone: %s", e.text);
    LIST_FOR_EACH (w, &ready, struct waiting_answer, link) {
        list_remove(&w->link);
        if (r < 0)
            refuse(w, &e);
        if (w->call->exchange)
            http_reply(w->call->exchange, w->code, w->content_type, answer_headers(w->call),
                       buf_view(&w->body));
        call_free(w->call);
        free(w->content_type);
        buf_done(&w->body);
        free(w);
    }
}
