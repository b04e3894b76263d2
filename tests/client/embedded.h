/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The embedded API server as a process of its own, for tests. */
#pragma once

#include <sys/types.h>

struct embedded {
    char dir[40];
    char *kubeconfig;
    const char *program;
    int port;
    pid_t pid;
};

/* Makes a state directory, starts the server on a free port, and waits until it listens. */
void embedded_init(struct embedded *s, const char *program);
/* SIGKILL; and start again on the same port and state. */
void embedded_kill(struct embedded *s);
void embedded_start(struct embedded *s);
/* End it and remove its state. */
void embedded_done(struct embedded *s);
