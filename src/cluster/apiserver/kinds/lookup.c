/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looking at other objects of built-in kinds while deciding about one.
 *
 * Reads see what earlier requests of this turn have written, committed or not, so two services in
 * one turn do not get the same address.  A stored text that does not parse fails the call: it is
 * corrupt, and deciding as if it were not there could give the same thing away twice.
 */
#include "src/cluster/apiserver/kinds/lookup.h"

#include "src/cluster/apiserver/server.h"
#include "src/cluster/apiserver/status.h"

static int parse(struct api_call *c, const char *resource, const char *name, struct str data,
                 struct jsn **ret_object)
{
    struct err e = {0};

    if (jsn_parse(&c->arena, data, NULL, ret_object, &e) == 0)
        return 0;
    (void)err_wrap(&e, -EBADMSG, "the stored %s '%s' is corrupt", resource, name);
    return status_internal(c, &e);
}

int lookup_get(struct api_call *c, const char *resource, const char *ns, const char *name,
               struct jsn **ret_object)
{
    struct store_key k = {resource, ns, name};
    struct store_row row;
    struct err e = {0};
    int r = store_get(c->server->store, &k, &c->arena, &row, &e);

    if (r == -ENOENT)
        return r;
    if (r < 0)
        return status_internal(c, &e);
    return parse(c, resource, name, row.data, ret_object);
}

struct visit {
    struct api_call *c;
    lookup_fn fn;
    lookup_object_fn object_fn;
    void *arg;
    int result;
};

static bool visit_text(void *arg, const struct store_row *row)
{
    struct visit *v = arg;

    return v->fn(v->arg, row->data);
}

static bool visit_object(void *arg, const struct store_row *row)
{
    struct visit *v = arg;
    struct jsn *object;

    v->result = parse(v->c, row->key.resource, row->key.name, row->data, &object);
    return v->result == 0 && v->object_fn(v->arg, object);
}

static int each(struct api_call *c, const char *resource, const char *ns, store_row_fn fn,
                struct visit *v)
{
    struct store_list list = {.resource = resource, .ns = ns};
    struct err e = {0};

    if (store_each(c->server->store, &list, fn, v, &e) < 0)
        return status_internal(c, &e);
    return v->result;
}

int lookup_each(struct api_call *c, const char *resource, const char *ns, lookup_fn fn, void *arg)
{
    struct visit v = {.c = c, .fn = fn, .arg = arg};

    return each(c, resource, ns, visit_text, &v);
}

int lookup_each_object(struct api_call *c, const char *resource, const char *ns,
                       lookup_object_fn fn, void *arg)
{
    struct visit v = {.c = c, .object_fn = fn, .arg = arg};

    return each(c, resource, ns, visit_object, &v);
}
