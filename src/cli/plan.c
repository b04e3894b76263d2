/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmkeeper plan: what manifests would change in the running clusters, and how.
 *
 * Reads the objects of the API server, lays the manifests over them, builds each cluster's
 * configuration as the operator would, and asks the cluster's agent what it would do with it; where
 * no agent can be asked, the files are compared with those that were written last.  Nothing is
 * changed.  What runs and is not as declared although nothing is on its way (drift) is listed, too.
 * The exit status is 0 for no change, 2 for changes or drift, and 1 for errors: also where an
 * object is wrong, or the agent would refuse the files.
 */
#include "src/cli/plan.h"

#include <stdio.h>
#include <unistd.h>

#include "src/base/map.h"
#include "src/cli/manifests.h"
#include "src/cli/reach.h"
#include "src/cli/verbs.h"

#define EXIT_CHANGES 2

struct planner {
    struct arena *a;
    struct plan_world world;
    struct build_env env; /* what the command line says */
    struct plan_cluster *clusters;
    size_t n;
    bool manifests;
    size_t errors;
    struct map told; /* problems */
};

void plan_change_add(struct arena *a, struct plan_cluster *c, enum change_class class,
                     const char *text, const char *why)
{
    arena_reserve(a, &c->changes, &c->cap, c->n + 1, sizeof(*c->changes));
    c->changes[c->n++] = (struct plan_change){class, arena_strdup(a, text ? text : ""),
                                              why ? arena_strdup(a, why) : NULL};
    if (class > c->class)
        c->class = class;
}

/*
 * Errors count where somebody can do something about them: in the manifests.  Those of objects that
 * are there are in their conditions, too.  All clusters are rendered for each: say a thing once.
 */
static void print_problems(struct planner *p, const struct api_problems *list)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct api_problem *x = &list->items[i];
        bool live = starts_with(x->object, "in the cluster");
        bool error = x->reason != API_WARNING && !live;
        AUTO(buf_done) struct buf b = {0};

        if (live && p->manifests)
            continue;
        api_problem_print(x, &b);
        if (!map_put(&p->told, buf_view(&b), p))
            continue;
        (void)fprintf(stderr, "%s: %s\n", error ? "error" : "warning", buf_str(&b));
        p->errors += error;
    }
}

static const struct render_cluster *find(const struct render_result *r, const char *full_name)
{
    for (size_t i = 0; i < r->n; i++)
        if (streq(r->clusters[i].name, full_name))
            return &r->clusters[i];
    return NULL;
}

/* Put the written files in the place of those that the objects of now would give. */
static struct jsn *written_files(struct planner *p, const struct render_cluster *now,
                                 const struct jsn *map)
{
    struct jsn *files = jsn_object(p->a);

    JSN_FOR_MEMBERS (m, jsn_key(now ? now->push : NULL, "files"))
        jsn_set_member(p->a, files, m->key, m->value);
    JSN_FOR_MEMBERS (m, jsn_key(map, "data"))
        jsn_set_member(p->a, files, m->key, m->value);
    return files;
}

static void compare(struct planner *p, const struct build_env *env, const char *full_name,
                    const struct render_cluster *then, struct plan_cluster *c)
{
    const struct jsn *map = plan_world_config(&p->world, c->ns, c->name);
    struct api_problems ignored = {.arena = p->a};
    struct render_result now;

    c->source = "files";
    c->is_new = !map;
    if (!map)
        return;
    render_manifests(p->a, env, p->world.now, p->world.n_now, &now, &ignored);
    plan_diff_files(p->a, written_files(p, find(&now, full_name), map),
                    jsn_key(then->push, "files"), c);
}

static void plan_cluster(struct planner *p, const char *full_name)
{
    struct plan_cluster *c = &p->clusters[p->n++];
    const char *slash = strchr(full_name, '/');
    AUTO(plan_agent_free) struct plan_agent *agent = NULL;
    struct api_problems problems = {.arena = p->a};
    struct build_env env = p->env;
    const struct render_cluster *then;
    const struct jsn *state = NULL;
    struct render_result result;
    struct err e = {0};

    *c = (struct plan_cluster){
        .ns = arena_str(p->a, (struct str){full_name, (size_t)(slash - full_name)}),
        .name = slash + 1,
        .warnings = jsn_array(p->a)};
    if (plan_agent_find(&p->world, c->ns, c->name, &agent, &e) == 0)
        state = plan_agent_state(agent, p->a);
    if (state) {
        uint32_t runs = plan_state_release(state);

        plan_upgrade(&p->world, c, runs);
        if (!env.release)
            env.release = runs;
    }
    if (c->refused) {
        c->release = env.release ? env.release : RELEASE_NEWEST;
        c->source = "agent";
        p->errors++;
        return;
    }
    plan_drift(&p->world, state, c);
    c->guessed = !env.release;
    plan_world_fit(&p->world, c->ns, c->name, &env);
    render_manifests(p->a, &env, p->world.then, p->world.n_then, &result, &problems);
    print_problems(p, &problems);
    then = find(&result, full_name);
    c->release = env.release ? env.release : RELEASE_NEWEST;
    c->source = "files";
    if (!then || !then->good || !then->push) {
        c->refused = !then || !then->good ? "Slurm would refuse the configuration"
                                          : "one of the files is no text";
        p->errors += !p->errors;
        return;
    }
    plan_nodes(&p->world, c);
    if (agent && plan_agent_ask(agent, p->a, then->push, c, &e) == 0) {
        p->errors += c->refused != NULL;
        return;
    }
    c->note = arena_strdup(p->a, e.text);
    compare(p, &env, full_name, then, c);
}

/* The Controllers that are concerned: all, or those of the namespaces that manifests write to. */
static void plan_all(struct planner *p)
{
    const struct plan_world *w = &p->world;

    p->clusters = arena_calloc(p->a, w->n_then + 1, sizeof(*p->clusters));
    for (size_t i = 0; i < w->n_then; i++) {
        const struct jsn *o = w->then[i].object;
        const char *ns = jsn_get_str(o, "metadata.namespace");
        const char *name = jsn_get_str(o, "metadata.name");

        if (!streq(jsn_get_str(o, "kind"), "Controller") || !name || !ns ||
            jsn_get_bool(o, "spec.external", false) ||
            (p->manifests && !jsn_member(w->touched, str_of(ns))))
            continue;
        plan_cluster(p, arena_printf(p->a, "%s/%s", ns, name));
    }
}

static int print(struct planner *p, bool json)
{
    AUTO(buf_done) struct buf out = {0};
    bool changes = false;

    if (json)
        plan_print_json(p->a, p->clusters, p->n, &out);
    else
        plan_print_text(p->clusters, p->n, isatty(STDOUT_FILENO) && !getenv("NO_COLOR"), &out);
    for (size_t i = 0; i < p->n; i++)
        changes = changes || p->clusters[i].n || p->clusters[i].is_new ||
                  jsn_len(p->clusters[i].drift) > 0;
    if (fputs(buf_str(&out), stdout) < 0 || fflush(stdout) != 0)
        return 1;
    if (p->errors)
        return 1;
    return changes ? EXIT_CHANGES : 0;
}

/* Is nothing of it an object? */
static bool is_values(const struct manifests *in)
{
    for (size_t i = 0; i < in->n; i++)
        if (jsn_get_str(in->docs[i].object, "kind"))
            return false;
    return in->n > 0;
}

static int run(const struct cli_args *args, struct planner *p)
{
    struct manifests in = {.a = p->a};
    const char *output = cli_get(args, "output");
    const char *release = cli_get(args, "slurm-version");
    AUTO(ask_free) struct ask *ask = NULL;
    struct err e = {0};

    if (output && !streq(output, "json") && !streq(output, "text"))
        return cli_failure("plan: --output: '%s' is neither text nor json", output);
    if (release && release_parse(str_of(release), &p->env.release, &e) < 0)
        return cli_failure("plan: --slurm-version: %s", e.text);
    for (size_t i = 0; cli_get_at(args, "filename", i); i++)
        if (manifests_add(&in, cli_get_at(args, "filename", i), &e) < 0)
            return cli_failure("plan: %s", e.text);
    p->manifests = cli_has(args, "filename");
    if (ask_new(reach_kubeconfig(args, p->a), &ask, &e) < 0)
        return cli_failure("plan: %s", e.text);
    p->world = (struct plan_world){.a = p->a, .ask = ask, .only = cli_get(args, "namespace")};
    p->world.namespace = p->world.only ? p->world.only : ask_namespace(ask);
    if (plan_world_read(&p->world, in.docs, in.n, &e) < 0)
        return cli_failure("plan: %s", e.text);
    plan_all(p);
    if (p->n == 0 && is_values(&in))
        return cli_failure(
            "plan: what was given has no objects (apiVersion and kind); of the values "
            "of a Helm chart make objects first: helm template NAME CHART -f VALUES "
            "| slurmkeeper plan -f -");
    if (p->n == 0)
        return cli_failure("plan: there is no Controller %s",
                           p->manifests ? "in the namespaces of what was given" : "yet");
    return print(p, streq(output, "json"));
}

int verb_plan_run(const struct cli_args *args)
{
    AUTO(arena_done) struct arena a = {0};
    struct planner p = {.a = &a};
    int status = run(args, &p);

    map_done(&p.told);
    return status;
}
