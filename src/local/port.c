/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ports that clusters choose.
 *
 * `serve` looks for a free port, and the API server binds it a moment later: until then two
 * clusters that start together find the same one free, and one of them does not come up.  So a
 * socket without a file, named after the port, says who has chosen it, for as long as its holder
 * runs.  Such names belong to a network, as ports do.
 */
#include "src/local/port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "src/base/file.h"

static bool is_free(int port)
{
    AUTO(close) int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                             .sin_port = htons((uint16_t)port)};
    int on = 1;

    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    return fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0;
}

int port_hold(int port)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int n = snprintf(at.sun_path + 1, sizeof(at.sun_path) - 1, "slurmkeeper-port-%d", port);
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
    AUTO(close) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&at, length) < 0 || !is_free(port))
        return -1;
    return TAKE_FD(fd);
}
