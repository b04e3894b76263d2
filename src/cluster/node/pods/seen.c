/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which store the node has followed, and how far.
 *
 * A pod on this machine that the API server does not have was either deleted while nobody looked,
 * or the API server has another store than the one that the pod came from: an older backup, what a
 * damaged disk has left, an empty one, another cluster's.  The first must end, the others must not:
 * jobs run in them.  So the node keeps, beside its pods, the store's name and the newest version
 * that it saw; only where the store at hand goes on from there does absence mean deletion.
 *
 * The name is the uid of the namespace kube-system, which every cluster has one of, and after it
 * what the embedded API server writes into an annotation of it: the store's id and epoch (the epoch
 * changes with each restore).  A Kubernetes elsewhere has no such annotation; there the version
 * tells.
 */
#include "src/cluster/node/pods/seen.h"

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/base/groups.h"
#include "src/cluster/node/record.h"

#define MAX_BYTES 4096

void seen_done(struct seen *s)
{
    free(s->store);
    *s = (struct seen){0};
}

int seen_of_namespaces(const struct jsn *list, struct seen *ret, struct err *e)
{
    const char *version = jsn_get_str(list, "metadata.resourceVersion");
    const struct jsn *space = jsn_item(jsn_key(list, "items"), 0);
    const char *uid = jsn_get_str(space, "metadata.uid");
    const char *mark =
        jsn_text(jsn_key(jsn_get(space, "metadata.annotations"), API_STORE_ANNOTATION));
    int64_t n = 0;

    if (!uid || !version || str_to_i64(str_of(version), &n) < 0)
        return err_set(e, -ENOENT, ERR_RETRY, "the API server shows no namespace kube-system");
    ret->store = xasprintf("%s/%s", uid, mark ? mark : "");
    ret->version = n;
    return 0;
}

void seen_load(const char *path, struct seen *ret)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(free) char *text = NULL;
    struct jsn *v = NULL;
    size_t n;

    *ret = (struct seen){0};
    if (file_read(path, MAX_BYTES, &text, &n, NULL) < 0 ||
        jsn_parse(&a, (struct str){text, n}, NULL, &v, NULL) < 0)
        return;
    ret->store = xstrdup_null(jsn_get_str(v, "store"));
    ret->version = jsn_get_int(v, "resourceVersion", 0);
}

int seen_save(const char *path, const struct seen *s, struct err *e)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf b = {0};
    struct jsn *v = jsn_object(&a);

    jsn_set_str(&a, v, "store", s->store);
    jsn_set_int(&a, v, "resourceVersion", s->version);
    jsn_print(&b, v);
    return record_write(path, buf_view(&b), 0600, e);
}

enum seen_verdict seen_judge(const struct seen *before, const struct seen *now)
{
    if (!before->store)
        return SEEN_NEVER;
    if (!streq(before->store, now->store))
        return SEEN_OTHER;
    return now->version < before->version ? SEEN_OLDER : SEEN_SAME;
}

const char *seen_text(enum seen_verdict v)
{
    static const char *const texts[] = {
        [SEEN_SAME] = "the store that it came from",
        [SEEN_OLDER] = "an older state of its store",
        [SEEN_OTHER] = "a store that was restored, recovered or is another cluster's",
        [SEEN_NEVER] = "a store that this node has not followed before",
    };

    return texts[v];
}
