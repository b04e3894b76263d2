/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm.conf and cgroup.conf of a cluster.
 *
 * The order of lines and sections is fixed, so that a diff of two versions shows what changed and
 * nothing else.  The user's extraConf comes last: of two lines with one key Slurm takes the last.
 * Three keys hold lists of which some options are needed; those are written once more after
 * extraConf with both, ours and the user's (config_merged.c).
 *
 * Workers are dynamic nodes, so there are no NodeName lines; MaxNodeCount bounds them and grows by
 * doubling, since a change of it restarts slurmctld.
 */
#include "src/build/controller_config.h"

#include "src/base/hash.h"
#include "src/build/config_impl.h"
#include "src/build/config_memo.h"
#include "src/build/labels.h"

static int64_t count_nodes(const struct build_cluster *c)
{
    int64_t n = 0;

    for (size_t i = 0; i < c->n_nodesets; i++)
        n += c->nodesets[i]->spec.replicas;
    return n;
}

static int64_t max_node_count(const struct build_cluster *c)
{
    int64_t wanted = count_nodes(c);
    int64_t n = MAX_NODE_COUNT_LEAST;

    while (n < wanted && n < MAX_NODE_COUNT_MOST)
        n *= 2;
    return n;
}

static void add_hosts(struct config_work *w, struct conf_text *t)
{
    const struct controller *ctl = w->c->controller;
    const char *ns = api_namespace(&ctl->meta);
    const char *name = labels_controller(w->a, ctl->meta.name);
    const char *internal = labels_internal(w->a, ctl->meta.name);

    for (int32_t i = 0; i < controller_replicas(ctl); i++)
        conf_text_line(t, "SlurmctldHost=%s-%d(%s-%d.%s.%s)", name, i, name, i, internal, ns);
    conf_text_line(t, "SlurmctldPort=%d", SLURMCTLD_PORT);
    conf_text_line(t, "SlurmctldAddr=%s", build_slurmctld_host(w->a, w->c));
}

static void add_general(struct config_work *w, struct conf_text *t)
{
    const char *cluster = controller_cluster_name(w->a, w->c->controller);

    conf_text_header(t, "GENERAL");
    conf_text_line(t, "ClusterName=%s", cluster);
    conf_text_line(t, "SlurmUser=slurm");
    add_hosts(w, t);
    conf_text_line(t, "StateSaveLocation=/var/spool/slurmctld/%s", cluster);
    conf_text_line(t, "SlurmdUser=root");
    conf_text_line(t, "SlurmdPort=%d", SLURMD_PORT);
    conf_text_line(t, "SlurmdSpoolDir=/var/spool/slurmd");
    conf_text_line(t, "MaxNodeCount=%lld", (long long)max_node_count(w->c));
}

static void add_logging(struct conf_text *t)
{
    conf_text_header(t, "LOGGING");
    conf_text_line(t, "SlurmctldLogFile=/var/log/slurm/slurmctld.log");
    conf_text_line(t, "SlurmSchedLogFile=/var/log/slurm/slurmctld.log");
    conf_text_line(t, "SlurmdLogFile=/var/log/slurm/slurmd.log");
}

static void add_auth(struct config_work *w, struct conf_text *t)
{
    const char *type = build_uses_munge(w->c) ? "munge" : "slurm";

    conf_text_line(t, "AuthType=auth/%s", type);
    conf_text_line(t, "CredType=cred/%s", type);
    conf_text_line(t, "AuthAltTypes=auth/jwt");
}

static void add_plugins(struct config_work *w, struct conf_text *t)
{
    static const char *const keys[] = {"AuthAltParameters", "AuthInfo", "LaunchParameters",
                                       "PrologFlags", "SlurmctldParameters"};

    conf_text_header(t, "PLUGINS & PARAMETERS");
    add_auth(w, t);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (config_managed_value(w, keys[i])[0])
            conf_text_line(t, "%s=%s", keys[i], config_managed_value(w, keys[i]));
    if (!build_has(w->c,
                   PROFILE_RECONFIGURE_REFUSES)) /* its default there knows no dynamic nodes */
        conf_text_line(t, "SelectType=select/cons_tres");
    if (w->c->env->cgroup == BUILD_CGROUP_NONE)
        conf_text_line(t, "ProctrackType=proctrack/linuxproc");
    if (w->c->controller->spec.metrics.enabled && build_has(w->c, PROFILE_METRICS))
        conf_text_line(t, "MetricsType=metrics/openmetrics");
}

/* One line a script where Slurm takes several; else the one there may be. */
static void add_scripts(struct config_work *w, struct conf_text *t, const char *option,
                        const char *dir)
{
    bool repeats = build_has(w->c, PROFILE_PROLOG_REPEATS);

    if (!repeats && user_files_count(&w->files, option) > 1) {
        api_problem_add(
            w->p, API_FORBIDDEN,
            streq(option, "PrologSlurmctld") ? "spec.prologSlurmctldScriptRefs"
                                             : "spec.epilogSlurmctldScriptRefs",
            "Slurm before 24.05 runs one %s only, and here are %zu scripts; make one of "
            "them",
            option, user_files_count(&w->files, option));
        w->unusable = true;
        return;
    }
    for (size_t i = 0; i < w->files.n; i++)
        if (streq(w->files.items[i].option, option))
            conf_text_line(t, "%s=%s%s", option, dir, w->files.items[i].name);
}

static void add_slurmctld_scripts(struct config_work *w, struct conf_text *t)
{
    if (user_files_count(&w->files, "PrologSlurmctld") +
            user_files_count(&w->files, "EpilogSlurmctld") ==
        0)
        return;
    conf_text_header(t, "SLURMCTLD PROLOG & EPILOG");
    add_scripts(w, t, "PrologSlurmctld", SLURM_ETC "/");
    add_scripts(w, t, "EpilogSlurmctld", SLURM_ETC "/");
}

/* Slurm from 24.05 on fetches them by their plain names; for others they are mounted. */
static void add_node_scripts(struct config_work *w, struct conf_text *t)
{
    static const struct {
        const char *option;
        const char *dir;
    } lists[] = {{"Prolog", PROLOG_DIR}, {"Epilog", EPILOG_DIR}};

    if (user_files_count(&w->files, "Prolog") + user_files_count(&w->files, "Epilog") == 0)
        return;
    conf_text_header(t, "PROLOG & EPILOG");
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        if (build_has(w->c, PROFILE_PROLOG_REPEATS))
            add_scripts(w, t, lists[i].option, "");
        else if (user_files_count(&w->files, lists[i].option))
            conf_text_line(t, "%s=%s/*", lists[i].option, lists[i].dir);
    }
}

static void add_extra(struct config_work *w, struct conf_text *t)
{
    const char *extra = w->c->controller->spec.extra_conf;

    if (!extra || !extra[0])
        return;
    conf_text_header(t, "EXTRA CONFIG");
    conf_text_origin(t, w->controller, "spec.extraConf", true);
    conf_text_block(t, extra);
    conf_text_origin(t, w->controller, "spec.extraConf", false);
    config_add_merged(w, t);
}

void config_make_slurm_conf(struct config_work *w, struct conf_text *t)
{
    add_general(w, t);
    add_logging(t);
    add_plugins(w, t);
    config_add_accounting(w, t);
    add_slurmctld_scripts(w, t);
    add_node_scripts(w, t);
    config_add_nodesets(w, t);
    add_extra(w, t);
}

/* Make it until no Partition stands in its way, which each one does twice at most. */
static void make_good(struct config_work *w, struct conf_text *t)
{
    struct api_problems *told = w->p;
    struct api_problems *again = arena_calloc(w->a, 1, sizeof(*again));

    again->arena = w->a;
    for (w->round = 1;; w->round++) {
        config_make_slurm_conf(w, t);
        w->p = told;
        if (config_check_slurm_conf(w, t))
            return;
        conf_text_done(t);
        *t = (struct conf_text){.arena = w->a};
        w->p = again; /* what is wrong with the rest has been told once */
    }
}

/* What clients of an external slurmctld need to find it; all else it tells them itself. */
static void make_external_conf(struct config_work *w, struct conf_text *t)
{
    conf_text_header(t, "GENERAL");
    conf_text_line(t, "ClusterName=%s", controller_cluster_name(w->a, w->c->controller));
    conf_text_line(t, "SlurmUser=slurm");
    conf_text_line(t, "SlurmctldHost=%s", build_slurmctld_host(w->a, w->c));
    conf_text_line(t, "SlurmctldPort=%d", build_slurmctld_port(w->c));
    conf_text_header(t, "PLUGINS & PARAMETERS");
    add_auth(w, t);
    config_add_accounting(w, t);
}

static const char *cgroup_conf(const struct build_cluster *c)
{
    if (c->env->cgroup == BUILD_CGROUP_V2)
        return "CgroupPlugin=cgroup/v2\nIgnoreSystemd=yes\n";
    if (c->env->cgroup == BUILD_CGROUP_AUTO)
        return "CgroupPlugin=autodetect\nIgnoreSystemd=yes\n";
    if (c->env->cgroup == BUILD_CGROUP_NONE && build_has(c, PROFILE_CGROUP_DISABLED))
        return "CgroupPlugin=disabled\n";
    return "CgroupPlugin=cgroup/v1\n";
}

static const char *hash_files(const struct config_work *w, const struct build_config *config)
{
    AUTO(buf_done) struct buf all = {0};
    char *hex = arena_alloc(w->a, SHA256_HEX_LEN + 1);

    for (size_t i = 0; i < config->n; i++)
        buf_printf(&all, "%s%c%s%c", config->files[i].name, 0, config->files[i].text, 0);
    for (size_t i = 0; i < w->files.n; i++) {
        buf_printf(&all, "%s%c", w->files.items[i].name, 0);
        buf_addstr(&all, w->files.items[i].text);
    }
    hash_sha256_hex(buf_view(&all), hex);
    return hex;
}

static void add_file(struct build_config *config, const char *name, const char *text)
{
    config->files[config->n++] = (struct build_file){name, text};
}

static int make_config(struct arena *a, const struct build_cluster *c, struct build_config *ret,
                       struct api_problems *p)
{
    struct config_work w = {.a = a, .c = c, .p = p};
    AUTO(conf_text_done) struct conf_text t = {.arena = a};
    size_t errors = p->errors;

    *ret = (struct build_config){0};
    w.controller = arena_printf(a, "Controller %s", api_full_name(a, &c->controller->meta));
    p->object = w.controller;
    if (c->controller->spec.external) {
        make_external_conf(&w, &t);
    } else {
        user_files_read(a, c, &w.files, p);
        config_parse_extra(&w);
        w.unusable = p->errors > errors;
        config_settle_nodesets(&w);
        config_settle_partitions(&w);
        make_good(&w, &t);
        config_check_files(&w);
        config_remember_partitions(&w);
        if (!user_files_find(&w.files, "cgroup.conf"))
            add_file(ret, "cgroup.conf", cgroup_conf(c));
    }
    add_file(ret, "slurm.conf", arena_str(a, buf_view(&t.text)));
    ret->hash = hash_files(&w, ret);
    ret->origins = t.origins;
    ret->n_origins = t.n;
    map_done(&w.nodesets);
    conf_free(w.extra);
    p->object = NULL;
    return w.unusable ? -EINVAL : 0;
}

int build_config(struct arena *a, const struct build_cluster *c, struct build_config *ret,
                 struct api_problems *p)
{
    int r = 0;

    if (!c->memo)
        return make_config(a, c, ret, p);
    assert(p->n == 0);
    if (config_memo_find(c->memo, c, a, ret, p, &r))
        return r;
    r = make_config(a, c, ret, p);
    config_memo_keep(c->memo, ret, p, r);
    return r;
}

const char *build_config_file(const struct build_config *config, const char *name)
{
    for (size_t i = 0; i < config->n; i++)
        if (streq(config->files[i].name, name))
            return config->files[i].text;
    return NULL;
}

const struct conf_origin *build_config_origin(const struct build_config *config, unsigned line)
{
    struct conf_text t = {.n = config->n_origins};

    memcpy(&t.origins, &config->origins, sizeof(t.origins)); /* read only */
    return conf_text_find(&t, line);
}
