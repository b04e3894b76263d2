/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sets of fields: the algebra.
 *
 * Each level of a set is an array sorted by element, so that two sets combine in one pass over
 * both. Results share whole subtrees with their operands, which is safe because finished sets never
 * change. Walkers insert in sorted order, which makes insertion an append.
 */
#include "src/json/fieldset.h"

static int sign(bool less, bool greater)
{
    return less ? -1 : greater;
}

static double number_of(const struct jsn *v)
{
    return v->type == JSN_INT ? (double)v->i : v->d;
}

/* Numbers, strings, booleans, lists, objects, null: the order of types that printing follows. */
static int type_rank(const struct jsn *v)
{
    static const int ranks[] = {[JSN_INT] = 0,   [JSN_REAL] = 0,   [JSN_STRING] = 1, [JSN_BOOL] = 2,
                                [JSN_ARRAY] = 3, [JSN_OBJECT] = 4, [JSN_NULL] = 5};

    return ranks[v->type];
}

static int value_cmp(const struct jsn *x, const struct jsn *y);

static int array_cmp(const struct jsn *x, const struct jsn *y)
{
    for (size_t i = 0; i < x->a.n && i < y->a.n; i++) {
        int c = value_cmp(x->a.items[i], y->a.items[i]);

        if (c)
            return c;
    }
    return sign(x->a.n<y->a.n, x->a.n> y->a.n);
}

/* Objects that stand in elements have their keys sorted. */
static int object_cmp(const struct jsn *x, const struct jsn *y)
{
    for (size_t i = 0; i < x->o.n && i < y->o.n; i++) {
        int c = str_cmp(x->o.members[i].key, y->o.members[i].key);

        if (!c)
            c = value_cmp(x->o.members[i].value, y->o.members[i].value);
        if (c)
            return c;
    }
    return sign(x->o.n<y->o.n, x->o.n> y->o.n);
}

static int value_cmp(const struct jsn *x, const struct jsn *y)
{
    if (type_rank(x) != type_rank(y))
        return type_rank(x) < type_rank(y) ? -1 : 1;
    switch (x->type) {
    case JSN_INT:
    case JSN_REAL:
        if (x->type == JSN_INT && y->type == JSN_INT)
            return sign(x->i<y->i, x->i> y->i);
        return sign(number_of(x) < number_of(y), number_of(x) > number_of(y));
    case JSN_STRING:
        return str_cmp(x->s, y->s);
    case JSN_BOOL:
        return sign(x->b<y->b, x->b> y->b);
    case JSN_ARRAY:
        return array_cmp(x, y);
    case JSN_OBJECT:
        return object_cmp(x, y);
    case JSN_NULL:
        break;
    }
    return 0;
}

int fieldset_element_cmp(const struct fieldset_element *a, const struct fieldset_element *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->kind == FIELDSET_FIELD)
        return str_cmp(a->field, b->field);
    if (a->kind == FIELDSET_INDEX)
        return sign(a->index<b->index, a->index> b->index);
    return value_cmp(a->value, b->value);
}

/* The position of the element, or where it belongs. */
static size_t locate(const struct fieldset *s, const struct fieldset_element *element,
                     bool *ret_found)
{
    size_t low = 0;
    size_t high = s->n;

    *ret_found = false;
    if (s->n && fieldset_element_cmp(&s->nodes[s->n - 1].element, element) < 0)
        return s->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int c = fieldset_element_cmp(&s->nodes[middle].element, element);

        if (c == 0)
            *ret_found = true;
        if (c >= 0)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static struct fieldset_node *node_at(struct arena *a, struct fieldset *s,
                                     const struct fieldset_element *element)
{
    bool found;
    size_t at = locate(s, element, &found);

    if (!found) {
        arena_reserve(a, &s->nodes, &s->cap, s->n + 1, sizeof(*s->nodes));
        memmove(s->nodes + at + 1, s->nodes + at, (s->n - at) * sizeof(*s->nodes));
        s->nodes[at] = (struct fieldset_node){.element = *element};
        s->n++;
    }
    return &s->nodes[at];
}

static struct fieldset *descend(struct arena *a, struct fieldset *s,
                                const struct fieldset_path *path)
{
    struct fieldset_node *node;

    if (!path)
        return s;
    node = node_at(a, descend(a, s, path->up), &path->element);
    if (!node->children)
        node->children = arena_calloc(a, 1, sizeof(*node->children));
    return node->children;
}

void fieldset_insert(struct arena *a, struct fieldset *s, const struct fieldset_path *path)
{
    if (path)
        node_at(a, descend(a, s, path->up), &path->element)->member = true;
}

static void insert_text(struct arena *a, struct fieldset *s, struct str text,
                        const struct fieldset_path *up)
{
    struct fieldset_path here = {.up = up};

    (void)str_split(&text, '.', &here.element.field);
    if (text.p)
        insert_text(a, s, text, &here);
    else
        fieldset_insert(a, s, &here);
}

struct fieldset *fieldset_from_paths(struct arena *a, const char *const *paths)
{
    struct fieldset *s = arena_calloc(a, 1, sizeof(*s));

    for (; *paths; paths++)
        insert_text(a, s, str_of(*paths), NULL);
    return s;
}

bool fieldset_empty(const struct fieldset *s)
{
    return !s || s->n == 0;
}

bool fieldset_equal(const struct fieldset *x, const struct fieldset *y)
{
    if (fieldset_empty(x) || fieldset_empty(y))
        return fieldset_empty(x) && fieldset_empty(y);
    if (x == y || x->n != y->n)
        return x == y;
    for (size_t i = 0; i < x->n; i++)
        if (x->nodes[i].member != y->nodes[i].member ||
            fieldset_element_cmp(&x->nodes[i].element, &y->nodes[i].element) != 0 ||
            !fieldset_equal(x->nodes[i].children, y->nodes[i].children))
            return false;
    return true;
}

const struct fieldset_node *fieldset_find(const struct fieldset *s,
                                          const struct fieldset_element *element)
{
    bool found = false;
    size_t at = s ? locate(s, element, &found) : 0;

    return found ? &s->nodes[at] : NULL;
}

static const struct fieldset_node *find_path(const struct fieldset *s,
                                             const struct fieldset_path *path)
{
    const struct fieldset_node *up;

    if (!path->up)
        return fieldset_find(s, &path->element);
    up = find_path(s, path->up);
    return up ? fieldset_find(up->children, &path->element) : NULL;
}

bool fieldset_has(const struct fieldset *s, const struct fieldset_path *path)
{
    const struct fieldset_node *node = path ? find_path(s, path) : NULL;

    return node && node->member;
}

/* What becomes of one element; x or y is NULL where only the other set has it. */
typedef struct fieldset_node (*combine_fn)(struct arena *a, const struct fieldset_node *x,
                                           const struct fieldset_node *y);

static struct fieldset *combine(struct arena *a, const struct fieldset *x, const struct fieldset *y,
                                combine_fn fn)
{
    struct fieldset *out = arena_calloc(a, 1, sizeof(*out));
    size_t nx = x ? x->n : 0;
    size_t ny = y ? y->n : 0;
    size_t i = 0;
    size_t j = 0;

    while (i < nx || j < ny) {
        int c = i == nx   ? 1
                : j == ny ? -1
                          : fieldset_element_cmp(&x->nodes[i].element, &y->nodes[j].element);
        struct fieldset_node node =
            fn(a, c <= 0 ? &x->nodes[i] : NULL, c >= 0 ? &y->nodes[j] : NULL);

        i += c <= 0;
        j += c >= 0;
        if (!node.member && fieldset_empty(node.children))
            continue;
        arena_reserve(a, &out->nodes, &out->cap, out->n + 1, sizeof(*out->nodes));
        out->nodes[out->n++] = node;
    }
    return out;
}

static struct fieldset_node node_union(struct arena *a, const struct fieldset_node *x,
                                       const struct fieldset_node *y)
{
    struct fieldset_node node;

    if (!x || !y)
        return x ? *x : *y;
    node = (struct fieldset_node){.element = x->element, .member = x->member || y->member};
    if (x->children || y->children)
        node.children = fieldset_union(a, x->children, y->children);
    return node;
}

struct fieldset *fieldset_union(struct arena *a, const struct fieldset *x, const struct fieldset *y)
{
    return combine(a, x, y, node_union);
}

static struct fieldset_node node_intersection(struct arena *a, const struct fieldset_node *x,
                                              const struct fieldset_node *y)
{
    struct fieldset_node node = {0};

    if (!x || !y)
        return node;
    node = (struct fieldset_node){.element = x->element, .member = x->member && y->member};
    if (x->children && y->children)
        node.children = fieldset_intersection(a, x->children, y->children);
    return node;
}

struct fieldset *fieldset_intersection(struct arena *a, const struct fieldset *x,
                                       const struct fieldset *y)
{
    return combine(a, x, y, node_intersection);
}

static struct fieldset_node node_difference(struct arena *a, const struct fieldset_node *x,
                                            const struct fieldset_node *y)
{
    struct fieldset_node node = {0};

    if (!x || !y)
        return x ? *x : node;
    node = *x;
    node.member = x->member && !y->member;
    if (x->children && y->children)
        node.children = fieldset_difference(a, x->children, y->children);
    return node;
}

struct fieldset *fieldset_difference(struct arena *a, const struct fieldset *x,
                                     const struct fieldset *y)
{
    return combine(a, x, y, node_difference);
}

static struct fieldset_node node_difference_below(struct arena *a, const struct fieldset_node *x,
                                                  const struct fieldset_node *y)
{
    struct fieldset_node node = {0};

    if (!x || (y && y->member))
        return node;
    node = *x;
    if (y && x->children && y->children)
        node.children = fieldset_difference_below(a, x->children, y->children);
    return node;
}

struct fieldset *fieldset_difference_below(struct arena *a, const struct fieldset *x,
                                           const struct fieldset *y)
{
    return combine(a, x, y, node_difference_below);
}

/* Members first, then what is below: the order in which conflicts are told. */
static void each(const struct fieldset *s, const struct fieldset_path *up, fieldset_fn fn,
                 void *context)
{
    for (size_t i = 0; s && i < s->n; i++) {
        struct fieldset_path here = {up, s->nodes[i].element};

        if (s->nodes[i].member)
            fn(context, &here);
    }
    for (size_t i = 0; s && i < s->n; i++) {
        struct fieldset_path here = {up, s->nodes[i].element};

        each(s->nodes[i].children, &here, fn, context);
    }
}

void fieldset_each(const struct fieldset *s, fieldset_fn fn, void *context)
{
    each(s, NULL, fn, context);
}
