/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What this machine offers to a cluster.
 *
 * Pods run the Slurm that is installed here, as the user slurm that is known here; so its release
 * and that user's number are found, not configured.
 */
#include "src/local/host.h"

#include <pwd.h>
#include <stdio.h>
#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/buf.h"
#include "src/base/file.h"
#include "src/local/command.h"
#include "src/slurm/profile.h"

static const struct {
    const char *program;
    const char *package;
    bool all; /* releases */
    enum profile_feature with;
} needed[] = {
    {"slurmctld", "slurmctld", true},
    {"slurmd", "slurmd", true},
    {"sinfo", "slurm-client", true},
    {"munged", "munge", true},
    {"sackd", "sackd", false, PROFILE_AUTH_SLURM},
    {"ip", "iproute2", true},
    {"nft", "nftables", true},
};

static bool present(const char *program)
{
    static const char *const dirs[] = {"/usr/sbin", "/usr/bin",        "/sbin",
                                       "/bin",      "/usr/local/sbin", "/usr/local/bin"};

    for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
        AUTO(free) char *path = xasprintf("%s/%s", dirs[i], program);

        if (access(path, X_OK) == 0)
            return true;
    }
    return false;
}

/* What all releases need, or else what goes with a feature of this one. */
static int check_programs(uint32_t release, struct err *e)
{
    AUTO(buf_done) struct buf missing = {0};

    for (size_t i = 0; i < ARRAY_LEN(needed); i++)
        if ((needed[i].all || (release && profile_has(release, needed[i].with))) &&
            !present(needed[i].program))
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

int host_look(struct host *ret, struct err *e)
{
    AUTO(free) char *version = NULL;
    const struct passwd *slurm = getpwnam("slurm");
    int r = check_programs(0, e);

    if (r == 0)
        r = command_output((const char *const[]){"slurmctld", "-V", NULL}, NULL, 5000, &version, e);
    if (r == 0)
        r = release_parse(str_trim(str_of(version)), &ret->release, e);
    if (r == 0)
        r = check_programs(ret->release, e);
    if (r < 0)
        return r;
    if (!slurm)
        return err_set(e, -ENOENT, ERR_PERMANENT,
                       "this machine has no user slurm, whom slurmctld runs as: "
                       "adduser --system --group slurm");
    ret->slurm_uid = slurm->pw_uid;
    ret->slurm_gid = slurm->pw_gid;
    ret->cgroup = cgroup_kind();
    return 0;
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

bool host_has_agent(const char *program)
{
    AUTO(free) char *path = host_own_program(program, "../agent/", "slurmkeeper-agent");

    return path != NULL;
}
