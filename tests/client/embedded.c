/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The embedded API server as a process; see embedded.h. */
#include "src/base/test/unit.h"

#include "tests/client/embedded.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/loop/loop.h"

#define START_MS 30000

static struct sockaddr_in loopback(int port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int free_port(void)
{
    struct sockaddr_in a = loopback(0);
    socklen_t n = sizeof(a);
    AUTO(close) int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &n), 0);
    return ntohs(a.sin_port);
}

static bool listens(int port)
{
    struct sockaddr_in a = loopback(port);
    AUTO(close) int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    return connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0;
}

static NORETURN void become_server(const struct embedded *s)
{
    AUTO(free) char *listen = xasprintf("127.0.0.1:%d", s->port);
    AUTO(free) char *log = xasprintf("%s/log", s->dir);
    int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);

    loop_signals_reset();
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)dup2(fd, 1);
    (void)dup2(fd, 2);
    (void)execl(s->program, s->program, "apiserver", "--state", s->dir, "--listen", listen,
                "--history", "1", NULL);
    _exit(127);
}

void embedded_start(struct embedded *s)
{
    int64_t end = clock_mono_ms() + START_MS;

    s->pid = fork();
    assert_true(s->pid >= 0);
    if (s->pid == 0)
        become_server(s);
    while (!listens(s->port) || !file_exists(s->kubeconfig)) {
        if (clock_mono_ms() > end)
            fail_msg("the server does not start; see %s/log", s->dir);
        (void)usleep(20000);
    }
}

void embedded_init(struct embedded *s, const char *program)
{
    *s = (struct embedded){.dir = "/tmp/client-server-XXXXXX", .program = program};
    assert_non_null(mkdtemp(s->dir));
    s->kubeconfig = xasprintf("%s/admin.kubeconfig", s->dir);
    s->port = free_port();
    embedded_start(s);
}

void embedded_kill(struct embedded *s)
{
    (void)kill(s->pid, SIGKILL);
    (void)waitpid(s->pid, NULL, 0);
    s->pid = 0;
}

void embedded_done(struct embedded *s)
{
    struct err e = {0};

    if (s->pid > 0)
        embedded_kill(s);
    if (file_remove_tree(s->dir, &e) < 0)
        print_error("%s\n", e.text);
    free(s->kubeconfig);
}
