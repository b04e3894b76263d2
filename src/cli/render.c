/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmkeeper render: the configuration files that manifests give.
 *
 * Reads YAML or JSON from files, directories (their *.yaml, *.yml and *.json) or standard input,
 * and prints what the operator would hand to slurmctld.  Needs no cluster.  Problems go to standard
 * error, each with its file, document, object and field; if one is an error the exit status is 1
 * and nothing is printed.
 */
#include <stdio.h>

#include "src/base/map.h"
#include "src/cli/manifests.h"
#include "src/cli/verbs.h"

static int read_env(const struct cli_args *args, struct build_env *env)
{
    static const struct {
        const char *name;
        enum build_cgroup cgroup;
    } cgroups[] = {{"v2", BUILD_CGROUP_V2},
                   {"v1", BUILD_CGROUP_V1},
                   {"hybrid", BUILD_CGROUP_HYBRID},
                   {"none", BUILD_CGROUP_NONE},
                   {"auto", BUILD_CGROUP_AUTO}};
    const char *release = cli_get(args, "slurm-version");
    const char *cgroup = cli_get(args, "cgroup");
    struct err e = {0};

    if (release && release_parse(str_of(release), &env->release, &e) < 0)
        return cli_usage_error("render: --slurm-version: %s", e.text);
    if (!cgroup)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(cgroups); i++)
        if (streq(cgroup, cgroups[i].name)) {
            env->cgroup = cgroups[i].cgroup;
            return 0;
        }
    return cli_usage_error("render: --cgroup: '%s' is not one of v2, v1, hybrid, none, auto",
                           cgroup);
}

static void print_problems(const struct api_problems *p)
{
    for (size_t i = 0; i < p->n; i++) {
        AUTO(buf_done) struct buf b = {0};

        api_problem_print(&p->items[i], &b);
        (void)fprintf(stderr, "%s: %s\n", p->items[i].reason == API_WARNING ? "warning" : "error",
                      buf_str(&b));
    }
}

/* One file goes out as it is; of several each has its name above it. */
static void print_files(const struct render_result *result, const char *only, struct buf *out)
{
    for (size_t i = 0; i < result->n; i++) {
        const struct render_cluster *c = &result->clusters[i];

        for (size_t k = 0; k < c->config.n; k++) {
            const struct build_file *f = &c->config.files[k];

            if (only && !streq(only, f->name))
                continue;
            if (!only || result->n > 1)
                buf_printf(out, "%s# ----- %s: %s -----\n", out->n ? "\n" : "", c->name, f->name);
            buf_adds(out, f->text);
        }
    }
}

/* The names of all files, "cgroup.conf, slurm.conf", each once. */
static const char *file_names(struct arena *a, const struct render_result *result)
{
    AUTO(buf_done) struct buf b = {0};
    AUTO(map_done) struct map seen = {0};

    for (size_t i = 0; i < result->n; i++)
        for (size_t k = 0; k < result->clusters[i].config.n; k++) {
            const char *name = result->clusters[i].config.files[k].name;

            if (map_put(&seen, str_of(name), (void *)(uintptr_t)name))
                buf_printf(&b, "%s%s", b.n ? ", " : "", name);
        }
    return arena_strdup(a, buf_str(&b));
}

static int render(const struct cli_args *args, struct arena *a)
{
    struct manifests in = {.a = a};
    struct build_env env = {0};
    struct api_problems p = {.arena = a};
    struct render_result result;
    AUTO(buf_done) struct buf out = {0};
    struct err e = {0};
    int r = read_env(args, &env);

    for (size_t i = 0; r == 0 && cli_get_at(args, "filename", i); i++)
        if (manifests_add(&in, cli_get_at(args, "filename", i), &e) < 0)
            r = cli_failure("render: %s", e.text);
    if (r != 0)
        return r;
    render_manifests(a, &env, in.docs, in.n, &result, &p);
    print_problems(&p);
    if (p.errors)
        return cli_failure("render: %zu error%s", p.errors, p.errors == 1 ? "" : "s");
    if (result.n == 0)
        return cli_failure("render: there is no Controller in what was given");
    print_files(&result, cli_get(args, "only"), &out);
    if (out.n == 0 && cli_has(args, "only"))
        return cli_failure("render: there is no file %s; there are: %s", cli_get(args, "only"),
                           file_names(a, &result));
    return fputs(buf_str(&out), stdout) < 0 || fflush(stdout) != 0 ? 1 : 0;
}

int verb_render_run(const struct cli_args *args)
{
    AUTO(arena_done) struct arena a = {0};

    if (!cli_has(args, "filename"))
        return cli_usage_error("render: -f FILE is needed; '-' reads standard input");
    return render(args, &a);
}
