/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: shim.sock, where the node, and nobody else, watches and attaches to a container.
 *
 * Peers say what the script says; steps: O n puts out n * 4096 bytes (n odd: as errors), T tells
 * watchers a line, P puts out as long as nobody is behind.
 *
 * What must hold: input comes in whole frames; a peer that does not read is known to be behind.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/cluster/node/shim/shim.h"
#include "tests/fuzz/peers.h"

#define MAX_FDS 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct world {
    struct shim_peers *shim;
    size_t input;
};

static char dir[] = "/dev/shm/fuzz-shim-XXXXXX";
static char large[65536];

void shim_die(int errnum, const char *fmt, ...)
{
    (void)errnum;
    (void)fprintf(stderr, "%s\n", fmt);
    abort();
}

static void forget_dir(void)
{
    (void)!file_remove_tree(dir, NULL);
}

static void on_input(void *arg, struct str data, bool end)
{
    struct world *w = arg;

    assert(data.n <= 1 << 20 && (end || data.p));
    w->input += data.n;
}

static void on_resize(void *arg, unsigned int width, unsigned int height)
{
    (void)arg;
    assert(width < 65536 && height < 65536);
}

static void serve(struct world *w)
{
    for (int i = 0; i < 8; i++) {
        struct pollfd fds[MAX_FDS];
        size_t n = shim_peers_poll(w->shim, fds, ARRAY_LEN(fds));

        assert(n > 0);
        if (poll(fds, n, 0) <= 0)
            return;
        shim_peers_serve(w->shim, fds, n);
    }
}

static int open_peer(void *arg)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "shim.sock"};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    (void)arg;
    if (fd < 0 || connect(fd, (struct sockaddr *)&un, sizeof(un)) < 0)
        abort();
    return fd;
}

static bool send_and_serve(void *arg, struct peers *p)
{
    peers_send_plain(p);
    serve(arg);
    return true;
}

static void take_step(void *arg, struct peers *p, char step, unsigned char n)
{
    struct world *w = arg;

    peers_send(p);
    if (step == 'O')
        shim_peers_output(w->shim, 1 + n % 2, (struct str){large, (size_t)n % 16 * 4096});
    else if (step == 'T')
        shim_peers_tell(w->shim, "started\n");
    for (int i = 0; step == 'P' && i < 40 && !shim_peers_full(w->shim); i++)
        shim_peers_output(w->shim, 1, (struct str){large, sizeof(large)});
    serve(w);
    peers_turn(p, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int home = -1;
    AUTO(loop_free) struct loop *loop = NULL;
    struct world w = {0};
    struct peers_target t = {
        .open = open_peer, .send = send_and_serve, .step = take_step, .arg = &w};

    if (home < 0 && (!mkdtemp(dir) || atexit(forget_dir) != 0 ||
                     (home = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0))
        abort();
    if (loop_new(&loop, NULL) < 0)
        abort();
    w.shim = shim_peers_new(dir, on_input, on_resize, &w);
    peers_run(loop, &t, data, size);
    serve(&w);
    shim_peers_flush(w.shim);
    w.shim = shim_peers_free(w.shim);
    (void)!fchdir(home);
    return 0;
}
