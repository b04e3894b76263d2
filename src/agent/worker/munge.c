/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon that signs our messages.
 *
 * Its socket is the one of AuthInfo ("socket=/run/munge.socket,ttl=300"), or munge's own default.
 * One connection tells whether it is there; it is closed without a word, which munged bears.
 */
#include "src/agent/worker/munge.h"

#include <sys/socket.h>
#include <sys/un.h>

#include "src/base/alloc.h"
#include "src/slurm/model.h"

#define SOCKET_DEFAULT "/run/munge/munge.socket.2"

static bool used;
static char *path;

static char *socket_option(const char *auth_info)
{
    struct str rest = str_of(auth_info);
    struct str option;

    while (str_split(&rest, ',', &option))
        if (str_starts(option, "socket="))
            return str_dup((struct str){option.p + 7, option.n - 7});
    return xstrdup(SOCKET_DEFAULT);
}

void munge_read(const struct conf *conf)
{
    AUTO(model_free) struct model *m = model_new(conf, RELEASE_NEWEST);
    const char *type = model_setting(m, "AuthType");
    const char *info = model_setting(m, "AuthInfo");

    used = !type || str_eq_nocase(str_of(type), STR("auth/munge")) ||
           str_eq_nocase(str_of(type), STR("munge"));
    free(path);
    path = socket_option(info ? info : "");
}

const char *munge_socket(void)
{
    return path ? path : SOCKET_DEFAULT;
}

bool munge_down(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd;
    bool down;

    if (!used || strlen(munge_socket()) >= sizeof(address.sun_path))
        return false;
    memcpy(address.sun_path, munge_socket(), strlen(munge_socket()));
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return false;
    down = connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 &&
           (errno == ECONNREFUSED || errno == ENOENT);
    (void)close(fd);
    return down;
}
