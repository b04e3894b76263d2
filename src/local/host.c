/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What this machine offers to a cluster.
 *
 * Pods run a Slurm that is installed here (install.c), as the user slurm that is known here; so its
 * release and that user's number are found, not configured.
 */
#include "src/local/host.h"

#include <pwd.h>
#include <stdio.h>
#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/buf.h"
#include "src/base/file.h"
#include "src/base/which.h"
#include "src/slurm/profile.h"

static const struct {
    const char *program;
    const char *package;
} needed[] = {
    {"munged", "munge"},
    {"ip", "iproute2"},
    {"nft", "nftables"},
};

static bool present(const char *program)
{
    AUTO(free) char *path = which_program(program, getenv("PATH"));

    return path != NULL;
}

static int check_programs(struct err *e)
{
    AUTO(buf_done) struct buf missing = {0};

    for (size_t i = 0; i < ARRAY_LEN(needed); i++)
        if (!present(needed[i].program))
            buf_printf(&missing, " %s", needed[i].package);
    if (!present("runc") && !present("crun"))
        buf_adds(&missing, " runc");
    if (missing.n)
        return err_set(e, -ENOENT, ERR_PERMANENT,
                       "this machine lacks what a cluster runs: apt-get install "
                       "--no-install-recommends%s",
                       buf_str(&missing));
    return 0;
}

static const char *cgroup_kind(void)
{
    if (file_exists("/sys/fs/cgroup/cgroup.controllers"))
        return "v2";
    if (file_exists("/sys/fs/cgroup/unified/cgroup.controllers"))
        return "hybrid";
    return file_exists("/sys/fs/cgroup/memory") || file_exists("/sys/fs/cgroup/cpu") ? "v1"
                                                                                     : "none";
}

static bool is_listed(const char *path, const char *word)
{
    AUTO(free) char *text = NULL;
    struct str rest, one;
    size_t n;

    if (file_read(path, 4096, &text, &n, NULL) < 0)
        return false;
    rest = str_trim((struct str){text, n});
    while (rest.n && str_split(&rest, ' ', &one))
        if (str_eqz(one, word))
            return true;
    return false;
}

int host_limits_jobs(const char *top, struct err *e)
{
    static const char *const controllers[] = {"cpuset", "memory"};
    AUTO(free) char *list = xasprintf("%s/cgroup.controllers", top);
    bool v2 = file_exists(list);

    for (size_t i = 0; i < ARRAY_LEN(controllers); i++) {
        AUTO(free) char *v1 = xasprintf("%s/%s/cgroup.procs", top, controllers[i]);

        if (v2 ? is_listed(list, controllers[i]) : file_exists(v1))
            continue;
        return err_set(e, -ENOENT, ERR_PERMANENT,
                       "this machine has no control group '%s' (%s), so jobs cannot be held to the "
                       "cores and the memory that they ask for: have the kernel provide it "
                       "(cgroup_enable=%s), or bring up manifests of your own without task/cgroup "
                       "(--filename)",
                       controllers[i], v2 ? list : v1, controllers[i]);
    }
    return 0;
}

int host_look(const struct install_wish *wish, struct host *ret, struct err *e)
{
    const struct passwd *slurm = getpwnam("slurm");
    int r = check_programs(e);

    if (r == 0)
        r = install_find(wish, &ret->slurm, e);
    if (r < 0)
        return r;
    if (!slurm)
        return err_set(e, -ENOENT, ERR_PERMANENT,
                       "this machine has no user slurm, whom slurmctld runs as: "
                       "adduser --system --group slurm");
    if (profile_has(ret->slurm.release, PROFILE_HEALTH_HTTP)) {
        AUTO(free) char *slurmctld = xasprintf("%s/sbin/slurmctld", ret->slurm.prefix);

        ret->http = host_parses_http(slurmctld);
    }
    ret->slurm_uid = slurm->pw_uid;
    ret->slurm_gid = slurm->pw_gid;
    ret->cgroup = cgroup_kind();
    return 0;
}

void host_done(struct host *h)
{
    install_done(&h->slurm);
}

char *host_own_program(const char *program, const char *built, const char *name)
{
    const char *const places[] = {"", built, "../libexec/slurmkeeper/"};
    const char *slash = strrchr(program, '/');
    int n = slash ? (int)(slash - program) : 0;

    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        char *path = xasprintf("%.*s/%s%s", n, program, places[i], name);

        if (access(path, X_OK) == 0)
            return path;
        free(path);
    }
    return NULL;
}

/* Is the agent's child there that speaks with this slurmctld? */
static bool has_worker(const char *program, uint32_t release)
{
    for (const uint32_t *series = profile_series; *series; series++) {
        char text[RELEASE_TEXT_LEN];
        AUTO(free) char *name = NULL;
        AUTO(free) char *path = NULL;

        if (!profile_client_accepted(release, *series))
            continue;
        release_series_text(*series, text);
        name = xasprintf("slurmkeeper-agent-worker-%s", text);
        path = host_own_program(program, "../agent/worker/", name);
        if (path)
            return true;
    }
    return false;
}

int host_find_agent(const char *program, const struct install *slurm, struct err *e)
{
    AUTO(free) char *path = host_own_program(program, "../agent/", "slurmkeeper-agent");
    char text[RELEASE_TEXT_LEN];

    if (!path)
        return 0;
    if (has_worker(program, slurm->release))
        return 1;
    release_series_text(slurm->release, text);
    return err_set(e, -ENOENT, ERR_PERMANENT,
                   "slurmkeeper-agent was not built for Slurm %s, which is in '%s': configure the "
                   "build with -Dslurm=%s, or do without the agent by --no-agent",
                   text, slurm->prefix, slurm->prefix);
}
