/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * YAML text to JSON values.
 *
 * libyaml's parser gives events; a recursive descent over them builds the tree.  A text that is
 * JSON is read by the JSON parser instead, which is faster and knows what YAML does not (tabs,
 * surrogate pairs).  An alias is replaced by a copy of what it names, so that nobody shares nodes;
 * the copies are counted over the whole text, which is what stops a small text from growing into a
 * huge tree.  An anchor is known from the end of its node on, so a node cannot contain itself.
 */
#include "src/json/yaml_read.h"

#include <yaml.h>

#include "src/base/map.h"
#include "src/json/yaml_scalar.h"

#define MERGE_TAG "tag:yaml.org,2002:merge"
#define MAX_DUPLICATES 64

struct reader {
    struct arena *a;
    yaml_parser_t parser;
    yaml_event_t event;
    struct map anchors; /* name -> struct jsn; of the current document */
    struct map open;    /* anchors of nodes that are still being read */
    struct buf path;    /* to the node being read; kept only for notes */
    size_t aliased;
    int depth;
    struct jsn_notes *notes;
    struct err *e;
};

static void reader_done(struct reader *r)
{
    yaml_event_delete(&r->event);
    yaml_parser_delete(&r->parser);
    map_done(&r->anchors);
    map_done(&r->open);
    buf_done(&r->path);
}
DEFINE_AUTO_DONE(struct reader, reader_done);

static size_t line_of(const struct reader *r)
{
    return r->event.start_mark.line + 1;
}

static int syntax_error(struct reader *r)
{
    const yaml_parser_t *p = &r->parser;

    if (p->error == YAML_READER_ERROR)
        return err_bad(r->e, "yaml: byte %zu: %s", p->problem_offset,
                       p->problem ? p->problem : "unreadable text");
    return err_bad(r->e, "yaml: line %zu: %s%s%s", p->problem_mark.line + 1,
                   p->context ? p->context : "", p->context ? ", " : "",
                   p->problem ? p->problem : "broken text");
}

static int next_event(struct reader *r)
{
    yaml_event_delete(&r->event);
    if (!yaml_parser_parse(&r->parser, &r->event))
        return syntax_error(r);
    return 0;
}

static int read_node(struct reader *r, struct jsn **ret);

static size_t count_nodes(const struct jsn *v)
{
    size_t n = 1;

    JSN_FOR_ITEMS (item, v)
        n += count_nodes(item);
    JSN_FOR_MEMBERS (m, v)
        n += count_nodes(m->value);
    return n;
}

/* Take the cost of one more copy of v from what the text may still spend. */
static int spend(struct reader *r, const struct jsn *v)
{
    r->aliased += count_nodes(v);
    if (r->aliased > YAML_MAX_ALIASED)
        return err_bad(r->e, "yaml: line %zu: document contains excessive aliasing", line_of(r));
    return 0;
}

static int read_alias(struct reader *r, struct jsn **ret)
{
    const char *name = (const char *)r->event.data.alias.anchor;
    const struct jsn *target = map_get(&r->anchors, str_of(name));
    int rc;

    if (map_get(&r->open, str_of(name)))
        return err_bad(r->e, "yaml: line %zu: anchor '%s' value contains itself", line_of(r), name);
    if (!target)
        return err_bad(r->e, "yaml: line %zu: unknown anchor '%s' referenced", line_of(r), name);
    rc = spend(r, target);
    if (rc < 0)
        return rc;
    if (jsn_deeper_than(target, YAML_MAX_DEPTH - r->depth))
        return err_bad(r->e, "yaml: line %zu: exceeded max depth", line_of(r));
    *ret = jsn_clone(r->a, target);
    return 0;
}

static struct yaml_token token_of(const yaml_event_t *event)
{
    return (struct yaml_token){
        .tag = (const char *)event->data.scalar.tag,
        .text = {(const char *)event->data.scalar.value, event->data.scalar.length},
        .plain = event->data.scalar.plain_implicit,
        .line = event->start_mark.line + 1,
    };
}

static int read_scalar(struct reader *r, struct jsn **ret)
{
    struct yaml_token t = token_of(&r->event);

    return yaml_scalar_value(r->a, &t, ret, r->e);
}

/* The current event is a key: its text, as a string. */
static int read_key(struct reader *r, struct str *ret)
{
    struct jsn *v;
    int rc;

    if (r->event.type != YAML_SCALAR_EVENT && r->event.type != YAML_ALIAS_EVENT)
        return err_bad(r->e, "yaml: line %zu: a mapping or a sequence cannot be a key", line_of(r));
    if (r->event.type == YAML_SCALAR_EVENT && !r->event.data.scalar.anchor) {
        struct yaml_token t = token_of(&r->event);

        return yaml_scalar_key(r->a, &t, ret, r->e);
    }
    rc = read_node(r, &v);
    if (rc < 0)
        return rc;
    return yaml_value_key(r->a, v, line_of(r), ret, r->e);
}

static bool is_merge_key(const struct reader *r)
{
    const char *tag;

    if (r->event.type != YAML_SCALAR_EVENT || !streq((char *)r->event.data.scalar.value, "<<"))
        return false;
    tag = (const char *)r->event.data.scalar.tag;
    return tag ? streq(tag, MERGE_TAG) : r->event.data.scalar.plain_implicit;
}

/* Members of `from` that `into` does not have. */
static void merge_mapping(struct reader *r, struct jsn *into, const struct jsn *from)
{
    JSN_FOR_MEMBERS (m, from)
        if (!jsn_member(into, m->key))
            jsn_set_member(r->a, into, m->key, m->value);
}

/* After "<<": a mapping, or a sequence of them of which the first has precedence. */
static int read_merge(struct reader *r, struct jsn *merged)
{
    bool ok = true;
    struct jsn *v = NULL;
    int rc = next_event(r);

    if (rc == 0)
        rc = read_node(r, &v);
    if (rc < 0)
        return rc;
    assert(v);
    if (v->type == JSN_OBJECT)
        merge_mapping(r, merged, v);
    else
        ok = v->type == JSN_ARRAY;
    JSN_FOR_ITEMS (item, v) {
        ok = ok && item->type == JSN_OBJECT;
        merge_mapping(r, merged, item);
    }
    if (!ok)
        return err_bad(r->e,
                       "yaml: line %zu: map merge requires map or sequence of maps as the value",
                       line_of(r));
    return 0;
}

static int duplicate_key(struct reader *r, struct str key)
{
    struct jsn_notes *n = r->notes;

    if (!n)
        return err_bad(r->e, "yaml: line %zu: key \"" STR_FMT "\" already set in map", line_of(r),
                       STR_ARG(key));
    if (n->n_duplicates >= MAX_DUPLICATES)
        return 0;
    arena_reserve(n->arena, &n->duplicates, &n->cap_duplicates, n->n_duplicates + 1,
                  sizeof(*n->duplicates));
    n->duplicates[n->n_duplicates++] = arena_str(n->arena, buf_view(&r->path));
    return 0;
}

/* Step into a member or item for the time of reading it; returns where to step back to. */
static size_t path_enter(struct reader *r, const struct str *key, size_t item)
{
    size_t before = r->path.n;

    if (!r->notes)
        return before;
    if (key)
        buf_printf(&r->path, "%s" STR_FMT, before ? "." : "", STR_ARG(*key));
    else
        buf_printf(&r->path, "[%zu]", item);
    return before;
}

static void path_leave(struct reader *r, size_t before)
{
    if (r->path.n > before) {
        r->path.n = before;
        r->path.p[before] = '\0';
    }
}

static int read_member(struct reader *r, struct jsn *object)
{
    struct jsn *value = NULL;
    struct str key = {0};
    size_t before;
    int rc = read_key(r, &key);

    if (rc < 0)
        return rc;
    before = path_enter(r, &key, 0);
    if (jsn_member(object, key))
        rc = duplicate_key(r, key);
    if (rc == 0)
        rc = next_event(r);
    if (rc == 0)
        rc = read_node(r, &value);
    if (rc < 0)
        return rc;
    path_leave(r, before);
    jsn_set_member(r->a, object, key, value);
    return 0;
}

static int read_mapping(struct reader *r, struct jsn **ret)
{
    struct jsn *object = jsn_object(r->a);
    struct jsn *merged = jsn_object(r->a);
    int rc;

    for (;;) {
        rc = next_event(r);
        if (rc < 0)
            return rc;
        if (r->event.type == YAML_MAPPING_END_EVENT)
            break;
        rc = is_merge_key(r) ? read_merge(r, merged) : read_member(r, object);
        if (rc < 0)
            return rc;
    }
    merge_mapping(r, object, merged);
    *ret = object;
    return 0;
}

static int read_sequence(struct reader *r, struct jsn **ret)
{
    struct jsn *array = jsn_array(r->a);

    for (;;) {
        struct jsn *item;
        size_t before;
        int rc = next_event(r);

        if (rc < 0)
            return rc;
        if (r->event.type == YAML_SEQUENCE_END_EVENT)
            break;
        before = path_enter(r, NULL, array->a.n);
        rc = read_node(r, &item);
        if (rc < 0)
            return rc;
        path_leave(r, before);
        jsn_append(r->a, array, item);
    }
    *ret = array;
    return 0;
}

static int read_nested(struct reader *r, struct jsn **ret)
{
    int rc;

    if (r->depth >= YAML_MAX_DEPTH)
        return err_bad(r->e, "yaml: line %zu: exceeded max depth", line_of(r));
    r->depth++;
    rc = r->event.type == YAML_MAPPING_START_EVENT ? read_mapping(r, ret) : read_sequence(r, ret);
    r->depth--;
    return rc;
}

static const char *anchor_of(const yaml_event_t *event)
{
    if (event->type == YAML_SCALAR_EVENT)
        return (const char *)event->data.scalar.anchor;
    if (event->type == YAML_MAPPING_START_EVENT)
        return (const char *)event->data.mapping_start.anchor;
    if (event->type == YAML_SEQUENCE_START_EVENT)
        return (const char *)event->data.sequence_start.anchor;
    return NULL;
}

/* The current event begins a node. */
static int read_node(struct reader *r, struct jsn **ret)
{
    const char *anchor = anchor_of(&r->event);
    const char *name = anchor ? arena_strdup(r->a, anchor) : NULL;
    struct jsn *v = NULL;
    int rc;

    if (name)
        (void)map_put(&r->open, str_of(name), r);
    if (r->event.type == YAML_SCALAR_EVENT)
        rc = read_scalar(r, &v);
    else if (r->event.type == YAML_ALIAS_EVENT)
        rc = read_alias(r, &v);
    else
        rc = read_nested(r, &v);
    if (rc < 0)
        return rc;
    if (name) {
        (void)map_del(&r->open, str_of(name));
        (void)map_put(&r->anchors, str_of(name), v);
    }
    *ret = v;
    return 0;
}

/* After a document start event, up to and with its end event. */
static int read_document(struct reader *r, struct jsn **ret)
{
    int rc;

    map_done(&r->anchors);
    rc = next_event(r);
    if (rc == 0)
        rc = read_node(r, ret);
    return rc < 0 ? rc : next_event(r);
}

static int read_stream(struct reader *r, struct jsn *documents)
{
    int rc = 0;

    while (rc == 0 && r->event.type != YAML_STREAM_END_EVENT) {
        struct jsn *document = NULL;

        rc = next_event(r);
        if (rc == 0 && r->event.type == YAML_DOCUMENT_START_EVENT)
            rc = read_document(r, &document);
        if (rc == 0 && document && document->type != JSN_NULL)
            jsn_append(r->a, documents, document);
    }
    return rc;
}

int yaml_read(struct arena *a, struct str text, struct jsn_notes *notes, struct jsn *documents,
              struct err *e)
{
    AUTO(reader_done) struct reader r = {.a = a, .notes = notes, .e = e};

    if (!yaml_parser_initialize(&r.parser))
        abort();
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text.p, text.n);
    return read_stream(&r, documents);
}
