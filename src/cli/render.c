/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmkeeper render: the configuration files that manifests give.
 *
 * Reads YAML or JSON from files, directories (their *.yaml, *.yml and *.json) or standard input,
 * and prints what the operator would hand to slurmctld.  Needs no cluster.  Problems go to standard
 * error, each with its file, document, object and field; if one is an error the exit status is 1
 * and nothing is printed.
 */
#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/build/render.h"
#include "src/cli/verbs.h"
#include "src/json/yaml.h"

struct inputs {
    struct arena *a;
    struct render_doc *docs;
    size_t n;
    size_t cap;
};

static int add_text(struct inputs *in, const char *name, struct str text, struct err *e)
{
    struct jsn *array;
    size_t number = 0;
    int r = yaml_parse_all(in->a, text, NULL, &array, e);

    if (r < 0)
        return err_wrap(e, r, "%s", name);
    JSN_FOR_ITEMS (doc, array) {
        arena_reserve(in->a, &in->docs, &in->cap, in->n + 1, sizeof(*in->docs));
        in->docs[in->n++] = (struct render_doc){
            doc, jsn_len(array) > 1 ? arena_printf(in->a, "%s, document %zu", name, ++number)
                                    : arena_strdup(in->a, name)};
    }
    return 0;
}

static int add_file(struct inputs *in, const char *path, struct err *e)
{
    AUTO(free) char *text = NULL;
    size_t n;
    int r = file_read(path, YAML_MAX_BYTES, &text, &n, e);

    if (r < 0)
        return r;
    return add_text(in, path, (struct str){arena_str(in->a, (struct str){text, n}), n}, e);
}

static int add_stdin(struct inputs *in, struct err *e)
{
    AUTO(buf_done) struct buf b = {.max = YAML_MAX_BYTES};
    char piece[16384];
    size_t n;

    while ((n = fread(piece, 1, sizeof(piece), stdin)) > 0)
        buf_add(&b, piece, n);
    if (ferror(stdin))
        return err_errno(e, EIO, "standard input");
    if (b.overflow)
        return err_bad(e, "standard input has more than %zu bytes", YAML_MAX_BYTES);
    return add_text(in, "standard input", (struct str){arena_str(in->a, buf_view(&b)), b.n}, e);
}

static int is_manifest(const struct dirent *d)
{
    return ends_with(d->d_name, ".yaml") || ends_with(d->d_name, ".yml") ||
           ends_with(d->d_name, ".json");
}

static int add_dir(struct inputs *in, const char *path, struct err *e)
{
    struct dirent **list = NULL;
    int n = scandir(path, &list, is_manifest, alphasort);
    int r = n < 0 ? err_errno(e, errno, "%s", path) : 0;

    for (int i = 0; i < n; i++) {
        if (r == 0)
            r = add_file(in, arena_printf(in->a, "%s/%s", path, list[i]->d_name), e);
        free(list[i]);
    }
    free(list);
    return r;
}

static int add_input(struct inputs *in, const char *path, struct err *e)
{
    struct stat st;

    if (streq(path, "-"))
        return add_stdin(in, e);
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return add_dir(in, path, e);
    return add_file(in, path, e);
}

static int read_env(const struct cli_args *args, struct build_env *env)
{
    static const struct {
        const char *name;
        enum build_cgroup cgroup;
    } cgroups[] = {{"v2", BUILD_CGROUP_V2},
                   {"v1", BUILD_CGROUP_V1},
                   {"hybrid", BUILD_CGROUP_HYBRID},
                   {"none", BUILD_CGROUP_NONE}};
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
    return cli_usage_error("render: --cgroup: '%s' is not one of v2, v1, hybrid, none", cgroup);
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

static int render(const struct cli_args *args, struct arena *a)
{
    struct inputs in = {.a = a};
    struct build_env env = {0};
    struct api_problems p = {.arena = a};
    struct render_result result;
    AUTO(buf_done) struct buf out = {0};
    struct err e = {0};
    int r = read_env(args, &env);

    for (size_t i = 0; r == 0 && cli_get_at(args, "filename", i); i++)
        if (add_input(&in, cli_get_at(args, "filename", i), &e) < 0)
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
    return fputs(buf_str(&out), stdout) < 0 || fflush(stdout) != 0 ? 1 : 0;
}

int verb_render_run(const struct cli_args *args)
{
    AUTO(arena_done) struct arena a = {0};

    if (!cli_has(args, "filename"))
        return cli_usage_error("render: -f FILE is needed; '-' reads standard input");
    return render(args, &a);
}
