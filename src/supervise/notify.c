/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The socket of NOTIFY_SOCKET.
 *
 * Datagrams of lines, each a pair; MAINPID is the one that counts here.  The socket lies in a
 * directory that only this user enters, and the kernel says who sent a message: whoever could
 * name a process could have another one taken for the daemon.
 */
#include "src/supervise/notify.h"

#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "src/base/alloc.h"

#define MESSAGE_MAX_BYTES 4096

static int dir_make(struct notify *n, struct err *e)
{
    static const char *const places[] = {"/run", "/tmp"};
    const char *own = getenv("TMPDIR");

    for (size_t i = 0; i < ARRAY_LEN(places) + 1; i++) {
        const char *place = i < ARRAY_LEN(places) ? places[i] : own;
        char *dir = place && place[0] ? xasprintf("%s/slurmkeeper-notify-XXXXXX", place) : NULL;

        if (dir && mkdtemp(dir)) {
            n->dir = dir;
            return 0;
        }
        free(dir);
    }
    return err_errno(e, errno, "no directory can be made in /run, /tmp or TMPDIR");
}

int notify_open(struct notify *n, struct err *e)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int on = 1;
    int r;

    *n = (struct notify){.fd = -1};
    r = dir_make(n, e);
    if (r < 0)
        return r;
    n->path = xasprintf("%s/socket", n->dir);
    if (strlen(n->path) >= sizeof(a.sun_path))
        return err_set(e, -ENAMETOOLONG, ERR_PERMANENT, "'%s' is too long for a socket", n->path);
    memcpy(a.sun_path, n->path, strlen(n->path));
    n->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (n->fd < 0 || setsockopt(n->fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0 ||
        bind(n->fd, (struct sockaddr *)&a, sizeof(a)) < 0)
        return err_errno(e, errno, "no socket at '%s'", n->path);
    return 0;
}

void notify_done(struct notify *n)
{
    if (n->fd >= 0)
        (void)close(n->fd);
    if (n->path)
        (void)unlink(n->path);
    if (n->dir)
        (void)rmdir(n->dir);
    free(n->path);
    free(n->dir);
    *n = (struct notify){.fd = -1};
}

pid_t notify_main_pid(struct str message)
{
    struct str line;

    while (str_split(&message, '\n', &line)) {
        uint64_t pid;

        if (!str_starts(line, "MAINPID="))
            continue;
        line = (struct str){line.p + 8, line.n - 8};
        if (str_to_u64(line, &pid) == 0 && pid > 0 && pid <= INT32_MAX)
            return (pid_t)pid;
    }
    return 0;
}

static bool sender_may(struct msghdr *m)
{
    struct cmsghdr *c = CMSG_FIRSTHDR(m);
    struct ucred from;

    if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_CREDENTIALS)
        return false;
    memcpy(&from, CMSG_DATA(c), sizeof(from));
    return from.uid == 0 || from.uid == getuid();
}

pid_t notify_read(struct notify *n)
{
    char text[MESSAGE_MAX_BYTES] = "";
    char control[CMSG_SPACE(sizeof(struct ucred))];

    for (;;) {
        struct iovec room = {text, sizeof(text)};
        struct msghdr m = {.msg_iov = &room,
                           .msg_iovlen = 1,
                           .msg_control = control,
                           .msg_controllen = sizeof(control)};
        ssize_t got = recvmsg(n->fd, &m, MSG_CMSG_CLOEXEC);
        pid_t pid;

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return 0;
        pid = sender_may(&m) ? notify_main_pid((struct str){text, (size_t)got}) : 0;
        if (pid > 0)
            return pid;
    }
}
