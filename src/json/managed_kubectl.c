/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way from client-side to server-side apply.
 *
 * Client-side apply keeps the last configuration in an annotation.  When kubectl applies on the
 * server for the first time, fields of that configuration that still have its values are its own,
 * whoever is recorded for them; and the annotation follows what is applied, so that going back
 * works too.
 */
#include "src/json/managed_entry.h"

#define LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"
#define MAX_ANNOTATION_BYTES ((size_t)256 << 10)

static const char *last_applied(const struct jsn *object)
{
    const char *text = jsn_text(jsn_key(jsn_get(object, "metadata.annotations"), LAST_APPLIED));

    return text && text[0] ? text : NULL;
}

int managed_last_applied(struct arena *a, const struct managed_request *req, const struct jsn *live,
                         struct fieldset **ret_set, struct err *e)
{
    const char *text = last_applied(live);
    struct apply_comparison diff = {0};
    struct fieldset *set = NULL;
    struct jsn *config;
    int r;

    if (!text)
        return err_set(e, -ENOENT, ERR_PERMANENT, "no last applied annotation");
    r = jsn_parse(a, str_of(text), NULL, &config, e);
    if (r == 0 && !streq(jsn_get_str(config, "apiVersion"), req->api_version))
        r = err_bad(e, "the last applied configuration is of another version");
    if (r == 0)
        r = apply_check(req->schema, config, e);
    if (r == 0)
        r = apply_extract(a, req->schema, config, &set, e);
    if (r == 0)
        r = apply_compare(a, req->schema, config, live, &diff, e);
    if (r < 0)
        return r;
    set = fieldset_difference(a, set, diff.modified);
    set = fieldset_difference(a, set, diff.added);
    *ret_set = fieldset_difference(a, set, diff.removed);
    return 0;
}

static int compare_members(const void *x, const void *y)
{
    return str_cmp(((const struct jsn_member *)x)->key, ((const struct jsn_member *)y)->key);
}

static void sort_keys(struct jsn *v)
{
    JSN_FOR_ITEMS (item, v)
        sort_keys(item);
    if (!jsn_is(v, JSN_OBJECT))
        return;
    if (v->o.n > 1)
        qsort(v->o.members, v->o.n, sizeof(*v->o.members), compare_members);
    v->o.index = NULL;
    JSN_FOR_MEMBERS (m, v)
        sort_keys(m->value);
}

static size_t annotations_size(const struct jsn *annotations)
{
    size_t n = 0;

    JSN_FOR_MEMBERS (m, annotations)
        n += m->key.n + (jsn_is(m->value, JSN_STRING) ? m->value->s.n : 0);
    return n;
}

void managed_set_last_applied(struct arena *a, struct jsn *object, const struct jsn *config)
{
    AUTO(buf_done) struct buf b = {0};
    struct jsn *annotations = jsn_get(object, "metadata.annotations");
    struct jsn *copy;

    if (!last_applied(object))
        return;
    copy = jsn_clone(a, config);
    sort_keys(copy);
    (void)jsn_del(jsn_get(copy, "metadata.annotations"), LAST_APPLIED);
    jsn_print(&b, copy);
    buf_addc(&b, '\n');
    jsn_set(a, annotations, LAST_APPLIED, jsn_str(a, buf_view(&b)));
    if (annotations_size(annotations) > MAX_ANNOTATION_BYTES)
        (void)jsn_del(annotations, LAST_APPLIED);
}
