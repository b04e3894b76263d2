/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What holds the namespaces of a pod on the test cluster: waits, and buries orphans. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void on_signal(int signo)
{
    if (signo != SIGCHLD)
        _exit(0);
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
}

int main(void)
{
    (void)signal(SIGCHLD, on_signal);
    (void)signal(SIGTERM, on_signal);
    (void)signal(SIGINT, on_signal);
    for (;;)
        (void)pause();
}
