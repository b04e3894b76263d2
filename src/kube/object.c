/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cached objects.
 *
 * The struct, its four identifying strings and the text lie in one allocation, so that an object
 * costs little more than its text.  managedFields are left out: they are often half of an object
 * and nobody here reads them.
 */
#include "src/kube/object.h"

#include "src/base/alloc.h"
#include "src/kube/object_private.h"

void kept_object_free(struct kept_object *k)
{
    if (!k)
        return;
    if (k->o.value && k->release)
        k->release(k->o.value);
    free(k->places);
    free(k);
}

int kube_object_parse(const struct kube_object *o, struct arena *a, struct jsn **ret_value,
                      struct err *e)
{
    if (o->text.n == 0)
        return err_bad(e, "'%s/%s': its text is not kept", o->namespace, o->name);
    return jsn_parse(a, o->text, NULL, ret_value, e);
}

static bool not_managed_fields(const struct jsn_member *m, const void *context)
{
    (void)context;
    return !str_eqz(m->key, "managedFields");
}

static void print(struct buf *b, const struct jsn *object)
{
    struct jsn *metadata = jsn_key(object, "metadata");

    jsn_keep_members(metadata, not_managed_fields, NULL);
    jsn_print(b, object);
}

static char *place_string(char **room, const char *text)
{
    size_t n = strlen(text) + 1;
    char *at = *room;

    memcpy(at, text, n);
    *room += n;
    return at;
}

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

struct kept_object *kept_object_new(const struct jsn *object, const struct kube_decoder *d,
                                    bool keep_text)
{
    const char *namespace = or_empty(jsn_get_str(object, "metadata.namespace"));
    const char *name = or_empty(jsn_get_str(object, "metadata.name"));
    const char *uid = or_empty(jsn_get_str(object, "metadata.uid"));
    const char *version = or_empty(jsn_get_str(object, "metadata.resourceVersion"));
    AUTO(buf_done) struct buf text = {0};
    void *value = NULL;
    struct err e = {0};
    struct kept_object *k;
    char *room;
    size_t n;

    if (d && d->decode)
        value = d->decode(d->arg, object, &e);
    if (keep_text)
        print(&text, object);
    n = sizeof(*k) + strlen(namespace) + strlen(name) + strlen(uid) + strlen(version) + text.n + 5;
    if (*e.text)
        n += strlen(e.text) + 1;
    k = xcalloc(1, n);
    k->release = d ? d->release : NULL;
    k->bytes = n;
    room = (char *)(k + 1);
    k->o = (struct kube_object){
        .namespace = place_string(&room, namespace),
        .name = place_string(&room, name),
        .uid = place_string(&room, uid),
        .version = place_string(&room, version),
        .text = {place_string(&room, buf_str(&text)), text.n},
        .value = value,
    };
    if (*e.text)
        k->o.problem = place_string(&room, e.text);
    return k;
}
