/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a first plan means for what runs.
 *
 * A changed pod template of a StatefulSet or a Deployment ends its pods, and nothing else that
 * plans write does.  Workers are pods of their NodeSet itself: those of the revision that is
 * declared stay (src/plan/nodeset_history.c), the others are replaced as their nodes become free.
 */
#include <stdarg.h>

#include "src/build/labels.h"
#include "src/cli/adopt.h"
#include "src/plan/finalizer.h"

static void tell(struct adopt_effects *to, enum adopt_class class, const char *fmt, ...)
    PRINTF(3, 4);
static void tell(struct adopt_effects *to, enum adopt_class class, const char *fmt, ...)
{
    AUTO(buf_done) struct buf b = {0};
    va_list args;

    va_start(args, fmt);
    buf_vprintf(&b, fmt, args);
    va_end(args);
    for (size_t i = 0; i < to->n; i++)
        if (streq(to->items[i].text, buf_str(&b)))
            return; /* once is enough */
    arena_reserve(to->a, &to->items, &to->cap, to->n + 1, sizeof(*to->items));
    to->items[to->n++] = (struct adopt_effect){class, arena_strdup(to->a, buf_str(&b))};
}

static bool has_named(const struct jsn *list, const char *name)
{
    JSN_FOR_ITEMS (item, list)
        if (streq(jsn_get_str(item, "name"), name))
            return true;
    return false;
}

static void names_missing(const struct jsn *list, const struct jsn *in, const char *words,
                          struct buf *out)
{
    bool first = true;

    JSN_FOR_ITEMS (item, list) {
        const char *name = jsn_get_str(item, "name");

        if (has_named(in, name))
            continue;
        if (first && out->n)
            buf_adds(out, "; ");
        buf_printf(out, "%s %s", first ? words : ",", name);
        first = false;
    }
}

/* Which containers come and go; the rest of a template has too many words. */
static const char *differences(struct arena *a, const struct jsn *live, const struct jsn *patch)
{
    static const char *const lists[] = {"initContainers", "containers", "volumes"};
    AUTO(buf_done) struct buf b = {0};

    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        const char *path = arena_printf(a, "spec.template.spec.%s", lists[i]);
        const struct jsn *then = jsn_get(patch, path);

        if (!then)
            continue;
        names_missing(then, jsn_get(live, path), i < 2 ? "with" : "with volume", &b);
        names_missing(jsn_get(live, path), then, i < 2 ? "without" : "without volume", &b);
    }
    return b.n ? arena_strdup(a, buf_str(&b)) : "another pod template";
}

static void judge_template(const struct preview_plan *s, const struct action *action,
                           struct adopt_effects *to)
{
    const char *kind = action->kind->kind;
    const struct jsn *live = s->live(s->arg, kind, action->name);
    const char *why = differences(to->a, live, action->body);

    if (streq(kind, "StatefulSet"))
        tell(to, ADOPT_RESTART, "pods of StatefulSet %s (%s); jobs run on meanwhile", action->name,
             why);
    else
        tell(to, ADOPT_RESTART, "pods of Deployment %s, one by one (%s)%s", action->name, why,
             streq(jsn_get_str(s->object, "kind"), "LoginSet") ? "; sessions in them end" : "");
}

static bool judge_action(const struct preview_plan *s, const struct action *action,
                         struct adopt_effects *to)
{
    static const char *const verbs[] = {
        [ACTION_CREATE] = "is made", [ACTION_PATCH] = "is changed", [ACTION_DELETE] = "is deleted"};
    const char *own = jsn_get_str(s->object, "kind");

    if (action->verb > ACTION_DELETE || !action->kind || streq(action->kind->kind, own) ||
        streq(action->kind->kind, "Pod"))
        return false;
    if (action->verb == ACTION_PATCH && jsn_get(action->body, "spec.template"))
        judge_template(s, action, to);
    else
        tell(to, ADOPT_CHANGED, "%s %s %s", action->kind->kind, action->name, verbs[action->verb]);
    return true;
}

/* The hash that the workers have that stay; NULL: none of another operator. */
static const char *hash_taken_over(const struct preview_plan *s)
{
    for (size_t i = 0; i < s->plan->n; i++) {
        const struct action *action = &s->plan->items[i];

        if (action->verb == ACTION_CREATE && streq(action->kind->kind, "ControllerRevision"))
            return jsn_text(jsn_member(jsn_get(action->body, "metadata.labels"), STR(LABEL_HASH)));
    }
    return NULL;
}

static bool is_ours_already(const struct jsn *object)
{
    JSN_FOR_ITEMS (name, jsn_get(object, "metadata.finalizers"))
        if (streq(jsn_text(name), FINALIZER_NODESET))
            return true;
    return false;
}

static const char *pods_text(struct arena *a, size_t n)
{
    return arena_printf(a, "%zu worker pod%s", n, n == 1 ? "" : "s");
}

static void judge_workers(const struct preview_plan *s, struct adopt_effects *to)
{
    const char *name = jsn_get_str(s->object, "metadata.name");
    const char *hash = hash_taken_over(s);
    size_t kept = 0;

    if (streq(jsn_get_str(s->object, "spec.scalingMode"), "DaemonSet")) {
        tell(to, ADOPT_LEFT,
             "%s of NodeSet %s: scalingMode DaemonSet is not there yet, they run on and "
             "are not looked after",
             pods_text(to->a, s->n_pods), name);
        return;
    }
    for (size_t i = 0; hash && i < s->n_pods; i++)
        kept += streq(s->pods[i]->hash, hash);
    if (is_ours_already(s->object))
        tell(to, ADOPT_KEPT, "%s of NodeSet %s: our operator looks after them already",
             pods_text(to->a, s->n_pods), name);
    else if (kept)
        tell(to, ADOPT_KEPT, "%s of NodeSet %s", pods_text(to->a, kept), name);
    if (!is_ours_already(s->object) && kept < s->n_pods)
        tell(to, ADOPT_REPLACED,
             "%s of NodeSet %s: not of the revision that is declared; each when no job "
             "can run on it",
             pods_text(to->a, s->n_pods - kept), name);
}

void adopt_judge(const struct preview_plan *s, bool first, struct adopt_effects *to)
{
    if (streq(jsn_get_str(s->object, "kind"), "NodeSet")) {
        if (first)
            judge_workers(s, to);
        return;
    }
    for (size_t i = 0; i < s->plan->n; i++)
        (void)judge_action(s, &s->plan->items[i], to);
}
