/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The revisions of a NodeSet.
 *
 * The revision that pods should have is found again by what is in it, or made; those that no pod
 * has are forgotten.
 *
 * A NodeSet that Slinky's operator has looked after has pods with the hash of a revision of its
 * own, which is another text for the same spec.  When it is seen for the first time (our finalizer
 * is not there), and its status says that the spec has not changed since, a revision of ours is
 * made that has this hash.  So its pods count as what is declared, and none is replaced; pods that
 * are made later have the hash, too, so that Slinky's operator would keep them.  Our finalizer
 * comes after the revision: a NodeSet that has it is never taken for a new one.
 */
#include "src/build/labels.h"
#include "src/build/nodeset_revision.h"
#include "src/plan/nodeset_private.h"

static int64_t newest_revision(const struct plan_nodeset *in)
{
    int64_t newest = 0;

    for (size_t i = 0; i < in->n_revisions; i++)
        newest = MAX(newest, jsn_get_int(in->revisions[i], "revision", 0));
    return newest;
}

static bool is_in_use(const struct plan_nodeset *in, const char *hash)
{
    for (size_t i = 0; i < in->n_pods; i++)
        if (streq(in->pods[i]->hash, hash))
            return true;
    return false;
}

static const char *hash_of(const struct jsn *revision)
{
    return jsn_text(jsn_member(jsn_get(revision, "metadata.labels"), STR(LABEL_HASH)));
}

static int by_revision(const void *a, const void *b)
{
    int64_t x = jsn_get_int(*(const struct jsn *const *)a, "revision", 0);
    int64_t y = jsn_get_int(*(const struct jsn *const *)b, "revision", 0);

    return (x < y) - (x > y);
}

/* Old revisions that no pod has, beyond those that are to be kept. */
void nodeset_revisions_forget(const struct plan_nodeset *in, const char *hash, struct actions *to)
{
    const struct jsn **old = arena_calloc(to->arena, in->n_revisions + 1, sizeof(struct jsn *));
    size_t keep = (size_t)MAX(in->ns->spec.revision_history_limit, 0);
    size_t n = 0;

    for (size_t i = 0; i < in->n_revisions; i++)
        if (!streq(hash_of(in->revisions[i]), hash) && !is_in_use(in, hash_of(in->revisions[i])) &&
            !jsn_get_str(in->revisions[i], "metadata.deletionTimestamp") &&
            !nodeset_form_is_in_use(to->arena, in, in->revisions[i]))
            old[n++] = in->revisions[i];
    qsort(old, n, sizeof(*old), by_revision);
    for (size_t i = keep; i < n; i++) {
        struct action *a = actions_add(to, ACTION_DELETE);

        a->kind = plan_kind_find("ControllerRevision");
        a->namespace = jsn_get_str(old[i], "metadata.namespace");
        a->name = jsn_get_str(old[i], "metadata.name");
        a->uid = jsn_get_str(old[i], "metadata.uid");
    }
}

static void create(const struct plan_nodeset *in, const struct jsn *revision, struct actions *to)
{
    struct action *a = actions_add(to, ACTION_CREATE);

    a->body = revision;
    a->kind = plan_kind_find("ControllerRevision");
    a->namespace = api_namespace(&in->ns->meta);
    a->name = jsn_get_str(revision, "metadata.name");
}

/* The hash of a revision that has this content; NULL: there is none. */
static const char *find(struct arena *a, const struct plan_nodeset *in, const char *data,
                        const char *hash)
{
    struct jsn *content = NULL;

    for (size_t i = 0; i < in->n_revisions; i++)
        if (streq(hash_of(in->revisions[i]), hash))
            return hash;
    if (jsn_parse(a, str_of(data), NULL, &content, NULL) < 0)
        abort(); /* it is ours */
    for (size_t i = 0; i < in->n_revisions; i++)
        if (hash_of(in->revisions[i]) && jsn_equal(jsn_key(in->revisions[i], "data"), content))
            return hash_of(in->revisions[i]);
    return NULL;
}

static void hash_now(const struct plan_nodeset *in, const char *data,
                     char ret_hash[REVISION_HASH_LEN])
{
    const int32_t *collisions = in->ns->status.collision_count;

    revision_hash(data, collisions ? *collisions : 0, ret_hash);
}

const char *nodeset_revision_plan(const struct plan_nodeset *in, const char *data,
                                  struct actions *to)
{
    char hash[REVISION_HASH_LEN];
    const char *found;

    actions_step(to, "Revision");
    hash_now(in, data, hash);
    found = find(to->arena, in, data, hash);
    if (found)
        return arena_strdup(to->arena, found);
    create(in, build_revision(to->arena, in->ns, data, hash, newest_revision(in) + 1), to);
    return arena_strdup(to->arena, hash);
}

/* Pods of the present spec have a hash that is not ours; NULL: there are none. */
static const char *foreign_hash(const struct plan_nodeset *in, const char *ours)
{
    const struct nodeset_status *s = &in->ns->status;

    return s->hash && !streq(s->hash, ours) && s->observed_generation &&
                   s->observed_generation == in->ns->meta.generation && is_in_use(in, s->hash)
               ? s->hash
               : NULL;
}

bool nodeset_revision_take_over(const struct plan_nodeset *in, struct actions *to)
{
    struct nodeset_release release = {0};
    struct jsn *revision;
    char ours[REVISION_HASH_LEN];
    const char *hash;
    const char *data;

    if (in->cluster->controller)
        nodeset_release_of(to->arena, in, &release);
    data = revision_data(to->arena, in->ns, release.text);
    hash_now(in, data, ours);
    hash = foreign_hash(in, ours);
    if (!hash || find(to->arena, in, data, ours))
        return false;
    actions_step(to, "Revision");
    revision = build_revision(to->arena, in->ns, data, hash, newest_revision(in) + 1);
    /* The other one may have the usual name. */
    jsn_set_path(to->arena, revision, "metadata.name",
                 jsn_stringf(to->arena, "%s-%s-taken-over", in->ns->meta.name, hash));
    create(in, revision, to);
    actions_event(to, false, "TakenOver",
                  "Pods of revision %s, which another operator has made, are as declared and stay",
                  hash);
    return true;
}
