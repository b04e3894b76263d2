/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sets of fields as FieldsV1 values, and paths as text.
 *
 * In FieldsV1 a node is an object whose keys are elements ("f:spec", "k:{\"name\":\"x\"}", "v:1",
 * "i:0") and "." for the node itself; an empty object is a member without children.  Keys come out
 * in the order of the elements, members and children mixed.  Keys that come in may stand in any
 * order.
 */
#include "src/json/fieldset.h"

static int compare_members(const void *x, const void *y)
{
    return str_cmp(((const struct jsn_member *)x)->key, ((const struct jsn_member *)y)->key);
}

/* Parse the JSON after "k:" or "v:"; the keys of an object get sorted. */
static int parse_value(struct arena *a, struct str key, struct fieldset_element *element,
                       struct err *e)
{
    struct jsn *v;
    int r = jsn_parse(a, (struct str){key.p + 2, key.n - 2}, NULL, &v, e);

    if (r < 0)
        return err_wrap(e, r, "parsing key as path element: \"%.100s\"", key.p);
    if (element->kind == FIELDSET_KEY && v->type != JSN_OBJECT)
        return err_bad(e, "parsing key as path element: \"%.100s\" has no object after k:", key.p);
    if (v->type == JSN_OBJECT && v->o.n > 1) {
        qsort(v->o.members, v->o.n, sizeof(*v->o.members), compare_members);
        v->o.index = NULL;
    }
    element->value = v;
    return 0;
}

/* 1 if the element is of a kind that is not known here. */
static int parse_element(struct arena *a, struct str key, struct fieldset_element *ret,
                         struct err *e)
{
    *ret = (struct fieldset_element){0};
    if (key.n < 2)
        return err_bad(e, "parsing key as path element: key must be 2 characters long: \"%s\"",
                       key.p);
    if (key.p[1] != ':')
        return err_bad(e, "parsing key as path element: missing colon: %.100s", key.p);
    switch (key.p[0]) {
    case 'f':
        ret->field = (struct str){key.p + 2, key.n - 2};
        return 0;
    case 'k':
        ret->kind = FIELDSET_KEY;
        return parse_value(a, key, ret, e);
    case 'v':
        ret->kind = FIELDSET_VALUE;
        return parse_value(a, key, ret, e);
    case 'i':
        ret->kind = FIELDSET_INDEX;
        if (str_to_i64((struct str){key.p + 2, key.n - 2}, &ret->index) < 0)
            return err_bad(e, "parsing key as path element: no index: %.100s", key.p);
        return 0;
    default:
        return 1;
    }
}

static int compare_nodes(const void *x, const void *y)
{
    return fieldset_element_cmp(&((const struct fieldset_node *)x)->element,
                                &((const struct fieldset_node *)y)->element);
}

/* Sort, and let the last of two equal elements win ("v:1" and "v:1.0" are equal). */
static void sort_nodes(struct fieldset *s)
{
    size_t kept = 0;

    qsort(s->nodes, s->n, sizeof(*s->nodes), compare_nodes);
    for (size_t i = 0; i < s->n; i++) {
        if (kept && compare_nodes(&s->nodes[kept - 1], &s->nodes[i]) == 0)
            kept--;
        s->nodes[kept++] = s->nodes[i];
    }
    s->n = kept;
}

static int parse_set(struct arena *a, const struct jsn *fields, struct fieldset **ret, bool *member,
                     struct err *e);

static int parse_node(struct arena *a, const struct jsn_member *m, struct fieldset *s,
                      struct err *e)
{
    struct fieldset_node node = {0};
    int r = parse_element(a, m->key, &node.element, e);

    if (r == 0)
        r = parse_set(a, m->value, &node.children, &node.member, e);
    if (r != 0)
        return r < 0 ? r : 0;
    arena_reserve(a, &s->nodes, &s->cap, s->n + 1, sizeof(*s->nodes));
    s->nodes[s->n++] = node;
    return 0;
}

static int parse_set(struct arena *a, const struct jsn *fields, struct fieldset **ret, bool *member,
                     struct err *e)
{
    struct fieldset *s = arena_calloc(a, 1, sizeof(*s));

    if (!jsn_is(fields, JSN_OBJECT))
        return err_bad(e, "a set of fields is made of objects, not of %s",
                       jsn_type_name(fields->type));
    JSN_FOR_MEMBERS (m, fields) {
        int r;

        if (str_eq(m->key, STR("."))) {
            *member = true;
            continue;
        }
        r = parse_node(a, m, s, e);
        if (r < 0)
            return r;
    }
    if (s->n == 0)
        *member = true;
    else
        sort_nodes(s);
    *ret = s->n ? s : NULL;
    return 0;
}

int fieldset_from_jsn(struct arena *a, const struct jsn *fields, struct fieldset **ret_set,
                      struct err *e)
{
    struct fieldset *s = NULL;
    bool member;
    int r = parse_set(a, fields, &s, &member, e);

    if (r < 0)
        return r;
    *ret_set = s ? s : arena_calloc(a, 1, sizeof(*s));
    return 0;
}

static void element_key(struct buf *b, const struct fieldset_element *element)
{
    switch (element->kind) {
    case FIELDSET_FIELD:
        buf_adds(b, "f:");
        buf_addstr(b, element->field);
        break;
    case FIELDSET_KEY:
        buf_adds(b, "k:");
        jsn_print(b, element->value);
        break;
    case FIELDSET_VALUE:
        buf_adds(b, "v:");
        jsn_print(b, element->value);
        break;
    case FIELDSET_INDEX:
        buf_printf(b, "i:%lld", (long long)element->index);
        break;
    }
}

static struct jsn *set_to_jsn(struct arena *a, const struct fieldset *s, bool self, struct buf *key)
{
    struct jsn *v = jsn_object(a);

    if (self && !fieldset_empty(s))
        jsn_set(a, v, ".", jsn_object(a));
    for (size_t i = 0; s && i < s->n; i++) {
        const struct fieldset_node *node = &s->nodes[i];
        struct jsn *below = set_to_jsn(a, node->children, node->member, key);

        buf_clear(key);
        element_key(key, &node->element);
        jsn_set_member(a, v, buf_view(key), below);
    }
    return v;
}

struct jsn *fieldset_to_jsn(struct arena *a, const struct fieldset *s)
{
    AUTO(buf_done) struct buf key = {0};

    return set_to_jsn(a, s, false, &key);
}

void fieldset_element_print(struct buf *b, const struct fieldset_element *element)
{
    switch (element->kind) {
    case FIELDSET_FIELD:
        buf_addc(b, '.');
        buf_addstr(b, element->field);
        break;
    case FIELDSET_KEY:
        buf_addc(b, '[');
        for (size_t i = 0; i < element->value->o.n; i++) {
            buf_adds(b, i ? "," : "");
            buf_addstr(b, element->value->o.members[i].key);
            buf_addc(b, '=');
            jsn_print(b, element->value->o.members[i].value);
        }
        buf_addc(b, ']');
        break;
    case FIELDSET_VALUE:
        buf_adds(b, "[=");
        jsn_print(b, element->value);
        buf_addc(b, ']');
        break;
    case FIELDSET_INDEX:
        buf_printf(b, "[%lld]", (long long)element->index);
        break;
    }
}

void fieldset_path_print(struct buf *b, const struct fieldset_path *path)
{
    if (!path)
        return;
    fieldset_path_print(b, path->up);
    fieldset_element_print(b, &path->element);
}
