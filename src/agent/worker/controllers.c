/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The controllers of the cluster.
 *
 * libslurm pings a controller by its number and tells nobody how many there are, at least not while
 * none of them is up.  So the file is read once more with our own parser.  A file that cannot be
 * read counts as one with a single controller, which is what most of them have.
 */
#include "src/agent/worker/controllers.h"

#include <netdb.h>
#include <poll.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <sys/socket.h>

#include "src/base/alloc.h"
#include "src/base/cleanup.h"
#include "src/slurm/conf.h"

#define CONTROLLERS_MAX 16
#define CONNECT_MS 1000

static char *names[CONTROLLERS_MAX];
static size_t count;
static char *shared_address; /* SlurmctldAddr; NULL: each has its own */
static char *port;

/* "name(address)" is called name. */
static void controller_add(const char *host)
{
    struct str name = {host, str_find(str_of(host), '(')};

    if (count < CONTROLLERS_MAX)
        names[count++] = str_dup(name);
}

void controllers_read(const struct conf *conf)
{
    size_t n = 0;
    const struct conf_line *lines = conf ? conf_lines(conf, &n) : NULL;

    for (size_t i = 0; i < n; i++) {
        struct str key = str_of(lines[i].pairs[0].key);
        const char *value = lines[i].pairs[0].value;

        if (lines[i].section != CONF_GLOBAL)
            continue;
        if (str_eq_nocase(key, STR("SlurmctldHost")))
            controller_add(value);
        else if (str_eq_nocase(key, STR("SlurmctldAddr")))
            shared_address = xstrdup(value);
        else if (str_eq_nocase(key, STR("SlurmctldPort")))
            port = xstrdup(value);
    }
    if (count == 0)
        controller_add("slurmctld");
}

size_t controllers_count(void)
{
    return count;
}

const char *controllers_name(size_t i)
{
    return names[i];
}

int controllers_ping(size_t i)
{
    int r;

    errno = 0;
    r = slurm_ping((int)i);
    if (r == SLURM_SUCCESS)
        return 0;
    return errno ? errno : r;
}

bool controllers_all_down(void)
{
    for (size_t i = 0; i < count; i++) {
        int code = controllers_ping(i);

        if (code != SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR &&
            code != SLURM_COMMUNICATIONS_CONNECTION_ERROR)
            return false;
    }
    return count > 0;
}

/* Is a connection refused, for certain? */
static bool is_refused(const struct addrinfo *to)
{
    AUTO(close) int fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct pollfd wait = {.fd = fd, .events = POLLOUT};
    socklen_t n = sizeof(int);
    int error = 0;

    if (fd < 0)
        return false;
    if (connect(fd, to->ai_addr, to->ai_addrlen) < 0) {
        if (errno != EINPROGRESS)
            return errno == ECONNREFUSED;
        if (poll(&wait, 1, CONNECT_MS) != 1 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n) < 0)
            return false;
    }
    return error == ECONNREFUSED;
}

bool controllers_way_closed(void)
{
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    bool closed;

    /* a range of ports is tried by libslurm in its own way */
    if (!shared_address || (port && strchr(port, '-')) ||
        getaddrinfo(shared_address, port ? port : "6817", &hints, &found) != 0)
        return false;
    closed = is_refused(found);
    freeaddrinfo(found);
    return closed;
}
