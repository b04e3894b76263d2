/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmkeeper adopt: what our operator would do to clusters that another one made.
 *
 * The operator's own caches are filled and its own plans made, and none is carried out: what they
 * would write is told by what it means for daemons, workers and sessions.  Who has to go first is
 * told, too.  Nothing is changed; the clusters are taken over when our operator is installed and
 * the other one is stopped.
 */
#include "src/cli/adopt.h"

#include <stdio.h>

#include "src/api/kinds.h"
#include "src/base/clock.h"
#include "src/cli/reach.h"
#include "src/cli/verbs.h"

#define EXIT_RESTARTS 2
/* A plan that waits for another's objects takes one more round. */
#define ROUNDS_MAX 8

struct adopter {
    struct arena *a;
    struct preview *w;
    const char *only; /* this namespace; NULL: all */
    size_t n_clusters;
    bool restarts;
};

/* An object of a cluster. */
struct member {
    const char *kind;
    const char *name;
};

struct members {
    struct member *items;
    size_t n;
    size_t cap;
};

/* Those of a kind that belong to the Controller; the Controller itself; its Accounting. */
static bool belongs(const struct api_kind *kind, const struct jsn *item,
                    const struct jsn *controller)
{
    const char *own = jsn_get_str(controller, "metadata.name");
    const char *name = jsn_get_str(item, "metadata.name");

    if (kind->id == KIND_CONTROLLER)
        return streq(name, own);
    if (kind->id == KIND_ACCOUNTING)
        return streq(name, jsn_get_str(controller, "spec.accountingRef.name"));
    return streq(jsn_get_str(item, "spec.controllerRef.name"), own);
}

static int find(struct adopter *x, struct ask *k, const struct api_kind *kind,
                const struct jsn *controller, struct members *to, struct err *e)
{
    struct kube_resource resource = {kind->group, kind->version, kind->plural};
    struct jsn *items = NULL;
    int r = ask_list(k, x->a, &resource, jsn_get_str(controller, "metadata.namespace"), &items, e);

    if (r == -ENOENT && !kind->needed)
        return 0;
    if (r < 0)
        return err_wrap(e, r, "reading %s", kind->plural);
    JSN_FOR_ITEMS (item, items) {
        if (!belongs(kind, item, controller))
            continue;
        arena_reserve(x->a, &to->items, &to->cap, to->n + 1, sizeof(*to->items));
        to->items[to->n++] = (struct member){kind->kind, jsn_get_str(item, "metadata.name")};
    }
    return 0;
}

struct judging {
    struct adopt_effects *to;
    bool first;
};

static void judge_plan(void *arg, const struct preview_plan *p)
{
    const struct judging *j = arg;

    adopt_judge(p, j->first, j->to);
}

/* Round by round, until no plan writes anything. */
static void judge(struct adopter *x, const char *ns, const struct members *list,
                  struct adopt_effects *to)
{
    bool wrote = true;

    for (int round = 0; wrote && round < ROUNDS_MAX; round++) {
        struct judging j = {to, round == 0};

        wrote = false;
        for (size_t i = 0; i < list->n; i++)
            wrote =
                preview_step(x->w, list->items[i].kind, ns, list->items[i].name, judge_plan, &j) ||
                wrote;
    }
}

static int by_class(const void *a, const void *b)
{
    const struct adopt_effect *x = a;
    const struct adopt_effect *y = b;

    if (x->class != y->class)
        return (x->class < y->class) - (x->class > y->class);
    return strcmp(x->text, y->text);
}

static void print(struct adopter *x, const struct jsn *controller, struct adopt_effects *list)
{
    static const char *const names[] = {[ADOPT_CHANGED] = "written",
                                        [ADOPT_KEPT] = "kept",
                                        [ADOPT_LEFT] = "left alone",
                                        [ADOPT_REPLACED] = "replaced",
                                        [ADOPT_RESTART] = "restarted"};

    printf("%scluster %s/%s\n", x->n_clusters++ ? "\n" : "",
           jsn_get_str(controller, "metadata.namespace"), jsn_get_str(controller, "metadata.name"));
    if (list->n)
        qsort(list->items, list->n, sizeof(*list->items), by_class);
    for (size_t i = 0; i < list->n; i++) {
        printf("  %-12s %s\n", names[list->items[i].class], list->items[i].text);
        x->restarts = x->restarts || list->items[i].class >= ADOPT_REPLACED;
    }
    if (list->n == 0)
        printf("  nothing to do\n");
}

static int judge_all(struct adopter *x, struct ask *k, struct err *e)
{
    struct kube_resource resource = {API_GROUP, API_VERSION, "controllers"};
    struct jsn *items = NULL;
    int r = ask_list(k, x->a, &resource, x->only, &items, e);

    if (r < 0)
        return err_wrap(e, r, "reading controllers");
    JSN_FOR_ITEMS (controller, items) {
        struct adopt_effects list = {.a = x->a};
        struct members members = {0};

        for (size_t i = 0; r == 0 && i < API_N_KINDS; i++)
            r = find(x, k, api_kinds[i], controller, &members, e);
        if (r < 0)
            return r;
        judge(x, jsn_get_str(controller, "metadata.namespace"), &members, &list);
        print(x, controller, &list);
    }
    return x->n_clusters ? 0
                         : err_set(e, -ENOENT, ERR_PERMANENT, "there is no Controller%s%s",
                                   x->only ? " in namespace " : "", x->only ? x->only : "");
}

static int run(struct adopter *x, const char *kubeconfig, struct err *e)
{
    AUTO(ask_free) struct ask *k = NULL;
    AUTO(preview_free) struct preview *w = NULL;
    struct jsn *rivals = NULL;
    int r = ask_new(kubeconfig, &k, e);

    if (r == 0)
        r = preview_new(kubeconfig, x->only, &w, e);
    x->w = w;
    if (r == 0)
        r = judge_all(x, k, e);
    if (r == 0)
        r = adopt_rivals(k, x->a, clock_wall_us(), &rivals, e);
    if (r < 0)
        return r;
    if (jsn_len(rivals))
        printf("\nfirst\n");
    JSN_FOR_ITEMS (text, rivals)
        printf("  %s\n", jsn_text(text));
    return fflush(stdout) != 0 ? err_errno(e, EIO, "standard output") : 0;
}

int verb_adopt_run(const struct cli_args *args)
{
    AUTO(arena_done) struct arena a = {0};
    struct adopter x = {.a = &a};
    const char *from = cli_get(args, "from");
    struct err e = {0};

    if (!streq(from, "slinky"))
        return cli_usage_error("adopt: say whose clusters: --from slinky");
    x.only = cli_get(args, "namespace");
    if (run(&x, reach_kubeconfig(args, &a), &e) < 0)
        return cli_failure("adopt: %s", e.text);
    return x.restarts ? EXIT_RESTARTS : 0;
}
