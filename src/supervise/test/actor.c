/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A daemon for the supervisor's tests: ends, hands over as slurmctld does, or forgets to say so. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#include "src/base/str.h"

static void nap_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000L};

    (void)nanosleep(&t, NULL);
}

static void name(pid_t pid)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    const char *path = getenv("NOTIFY_SOCKET");
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    memcpy(a.sun_path, path, MIN(strlen(path), sizeof(a.sun_path) - 1));
    if (connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0 ||
        dprintf(fd, "READY=1\nMAINPID=%d", (int)pid) < 0)
        _exit(99);
    (void)close(fd);
}

static void on_term(int signo)
{
    (void)signo;
    _exit(7);
}

/* The grandchild's number in this process; 0 in the grandchild. */
static pid_t successor(void)
{
    int to[2];
    pid_t pid = 0;
    pid_t child;

    if (pipe2(to, O_CLOEXEC) < 0)
        _exit(98);
    child = fork();
    if (child == 0) {
        pid_t grandchild = fork();

        if (grandchild == 0)
            return 0;
        _exit(write(to[1], &grandchild, sizeof(grandchild)) < 0);
    }
    (void)!read(to[0], &pid, sizeof(pid));
    (void)waitpid(child, NULL, 0);
    return pid;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    pid_t next;

    (void)signal(SIGTERM, on_term);
    if (streq(mode, "end")) {
        (void)fputs("fatal: last words\n", stderr);
        return 3;
    }
    if (streq(mode, "die"))
        return raise(SIGKILL);
    if (streq(mode, "wait")) {
        nap_ms(20000);
        return 1;
    }
    if (streq(mode, "name-a-stranger")) {
        name(getppid());
        return 5;
    }
    next = successor();
    if (next == 0) {
        nap_ms(streq(mode, "hand-over-late") ? 0 : streq(mode, "hand-over") ? 100 : 20000);
        return 4;
    }
    if (streq(mode, "forget"))
        return 6;
    nap_ms(streq(mode, "hand-over-late") ? 200 : 0);
    name(next);
    return 0;
}
