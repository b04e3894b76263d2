/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A socket inside the network of a pod.
 *
 * A socket belongs to the network namespace in which it was made, for good.  A child enters that of
 * the pod, makes the socket and hands the descriptor over; this process never leaves its own.
 */
#include "src/cluster/node/serve/pod_socket.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "src/base/err.h"

static int send_fd(int to, int fd)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = {0};
    char byte = 0;
    struct iovec iov = {&byte, 1};
    struct msghdr m = {.msg_iov = &iov,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof(control.bytes)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &fd, sizeof(fd));
    return sendmsg(to, &m, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static int receive_fd(int from)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    char byte;
    struct iovec iov = {&byte, 1};
    struct msghdr m = {.msg_iov = &iov,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof(control.bytes)};
    struct cmsghdr *c;
    int fd = -1;

    if (recvmsg(from, &m, MSG_CMSG_CLOEXEC) <= 0)
        return -1;
    c = CMSG_FIRSTHDR(&m);
    if (c && c->cmsg_type == SCM_RIGHTS)
        memcpy(&fd, CMSG_DATA(c), sizeof(fd));
    return fd;
}

int pod_socket(pid_t pid)
{
    char path[64];
    int pair[2];
    int fd = -1;
    pid_t child;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return -1;
    (void)snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
    child = fork();
    if (child == 0) {
        int ns = open(path, O_RDONLY | O_CLOEXEC);
        int s = ns >= 0 && setns(ns, CLONE_NEWNET) == 0
                    ? socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)
                    : -1;

        _exit(s >= 0 && send_fd(pair[1], s) == 0 ? 0 : 1);
    }
    (void)close(pair[1]);
    if (child > 0) {
        fd = receive_fd(pair[0]);
        (void)waitpid(child, NULL, 0);
    }
    (void)close(pair[0]);
    return fd;
}
