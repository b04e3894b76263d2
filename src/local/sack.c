/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sackd for the machine's own commands.
 *
 * A command has no key: it asks sackd, by a socket whose place is fixed in the library.  From 25.05
 * on each cluster of a machine has its own (/run/slurm-CLUSTER), and sackd makes it where
 * RUNTIME_DIRECTORY says; before that all of them share /run/slurm.  A socket at which somebody
 * answers is not taken away from him.
 *
 * sackd goes into the background by itself unless a service manager waits for it.
 */
#include "src/local/sack.h"

#include <ctype.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "src/base/file.h"
#include "src/base/which.h"
#include "src/slurm/profile.h"

/* Where commands of that release look for the socket. */
static const char *sack_dir(struct arena *a, uint32_t release, const char *cluster)
{
    char *dir;

    if (!profile_has(release, PROFILE_SACK_BY_CLUSTER))
        return "/run/slurm";
    dir = arena_printf(a, "/run/slurm-%s", cluster);
    for (char *p = dir; *p; p++)
        *p = (char)tolower((unsigned char)*p); /* as Slurm has its name */
    return dir;
}

static bool is_taken(const char *dir)
{
    AUTO(close) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un at = {.sun_family = AF_UNIX};

    if (fd < 0 || strlen(dir) + strlen("/sack.socket") >= sizeof(at.sun_path))
        return false;
    memcpy(at.sun_path, dir, strlen(dir));
    memcpy(at.sun_path + strlen(dir), "/sack.socket", strlen("/sack.socket"));
    return connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0;
}

int sack_start(struct loop *l, struct arena *a, const struct sack_options *o, struct daemon **ret,
               const char **ret_socket, struct err *e)
{
    const char *dir = sack_dir(a, o->release, o->cluster);
    const char *socket = NULL;
    AUTO(free) char *program = which_program("sackd", getenv("PATH"));
    /* by its whole name: it does not find itself again when it reads its keys again */
    const char *argv[] = {"env", NULL, o->supervise, program, "--systemd", "-f", o->conf, NULL};
    bool by_cluster = profile_has(o->release, PROFILE_SACK_BY_CLUSTER);
    struct daemon_options d = {.name = o->name, .argv = argv, .log = o->log};
    int r;

    if (!program)
        return err_set(e, -ENOENT, ERR_PERMANENT,
                       "sackd is not installed: apt-get install --no-install-recommends sackd");
    /* another cluster of that name: commands can be told where else to look */
    if (by_cluster && is_taken(dir)) {
        dir = arena_printf(a, "/run/%s", o->own);
        socket = arena_printf(a, "%s/sack.socket", dir);
    }
    if (is_taken(dir))
        return err_set(e, -EBUSY, ERR_RETRY,
                       "another sackd answers at %s/sack.socket, and %s; make the cluster with "
                       "AuthType=auth/munge in spec.extraConf%s",
                       dir,
                       by_cluster ? "the name of the cluster is the same"
                                  : "Slurm before 25.05 has room for one on a machine",
                       by_cluster ? ", or with another spec.clusterName" : "");
    r = file_make_dirs(dir, 0755, e);
    if (r < 0)
        return r;
    argv[1] = arena_printf(a, "RUNTIME_DIRECTORY=%s", dir);
    *ret = daemon_new(l, &d);
    *ret_socket = socket;
    return 0;
}
