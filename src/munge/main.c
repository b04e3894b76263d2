/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmkeeper-munge RING SOCKET PRIVATE [STAGE]: munge with a key that can change.
 *
 * RING is a file (src/slurm/keyring.h) that is looked at several times a second.  SOCKET is where
 * clients look for munged: a symbolic link, so that it can be pointed elsewhere in one step.
 * PRIVATE is a directory for keys and seeds.  STAGE, if it is named, gets the stage of the ring
 * once that is in effect.
 *
 *   the ring has    SOCKET leads to
 *   one key         the munged of that key
 *   two keys        this program, which passes requests on to both munged (relay.c)
 *
 * A munged that is needed is started, and answers, before the link changes; one that is not needed
 * any more ends after that.  Clients that were cut off ask again: libmunge does so by itself.
 */
#include <assert.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/munge/daemon.h"
#include "src/munge/relay.h"
#include "src/slurm/keyring.h"

#define LOOK_MS 250
#define START_MS 10000
#define CLIENTS_MAX 64
#define CLIENT_S 30
#define SLOTS 3 /* two keys, and one that is on its way out */

struct keeper {
    const char *ring_path;
    const char *socket;
    const char *private;
    const char *stage_path;
    char *text; /* of the ring that is in effect */
    struct munged slots[SLOTS];
    struct munged *sign;
    struct munged *also; /* NULL: no other key is accepted */
    int listener;
    int signals;
    unsigned clients;
    unsigned started; /* munged, ever: each has its own directory */
    bool complained;
    bool ending;
};

static void say(const char *text)
{
    (void)fprintf(stderr, "slurmkeeper-munge: %s\n", text);
}

static struct munged *slot_of_key(struct keeper *k, const struct buf *key)
{
    for (size_t i = 0; i < SLOTS; i++)
        if (k->slots[i].pid && str_eq(buf_view(&k->slots[i].key), buf_view(key)))
            return &k->slots[i];
    return NULL;
}

/* There is one: of three, at most two are in use. */
static struct munged *slot_free(struct keeper *k)
{
    struct munged *m = k->slots;

    while (m->pid)
        m++;
    assert(m < k->slots + SLOTS);
    return m;
}

static int slot_start(struct keeper *k, struct munged *m, struct err *e)
{
    AUTO(free) char *dir = xasprintf("%s/%u", k->private, ++k->started);
    AUTO(free) char *socket_path = xasprintf("%s.%u", k->socket, k->started);
    int r = munged_start(m, dir, socket_path, e);

    if (r == 0 && !munged_answers(m, START_MS))
        r = err_set(e, -ETIMEDOUT, ERR_RETRY, "munged does not answer");
    return r;
}

/* The munged of a key, started if there is none; NULL: it does not answer. */
static struct munged *munged_of(struct keeper *k, const struct buf *key, struct err *e)
{
    struct munged *m = slot_of_key(k, key);

    if (m)
        return m;
    m = slot_free(k);
    buf_addstr(&m->key, buf_view(key));
    if (slot_start(k, m, e) == 0)
        return m;
    munged_end(m);
    return NULL;
}

static int point_at(const struct keeper *k, const char *target, struct err *e)
{
    AUTO(free) char *fresh = xasprintf("%s.new", k->socket);

    (void)unlink(fresh);
    if (symlink(target, fresh) < 0 || rename(fresh, k->socket) < 0)
        return err_errno(e, errno, "cannot make '%s'", k->socket);
    return 0;
}

static int listener_open(struct keeper *k, const char *path, struct err *e)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd;

    if (k->listener >= 0)
        return 0;
    if (strlen(path) >= sizeof(a.sun_path))
        return err_set(e, -ENAMETOOLONG, ERR_PERMANENT, "the name '%s' is too long", path);
    memcpy(a.sun_path, path, strlen(path));
    (void)unlink(path);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || chmod(path, 0777) < 0 ||
        listen(fd, SOMAXCONN) < 0) {
        int r = err_errno(e, errno, "cannot listen at '%s'", path);

        if (fd >= 0)
            (void)close(fd);
        return r;
    }
    k->listener = fd;
    return 0;
}

static void listener_close(struct keeper *k)
{
    AUTO(free) char *path = xasprintf("%s.both", k->socket);

    if (k->listener < 0)
        return;
    (void)close(k->listener);
    (void)unlink(path);
    k->listener = -1;
}

/* Clients are led to where both keys, or the one, are known. */
static int lead(struct keeper *k, const struct munged *sign, bool both, struct err *e)
{
    AUTO(free) char *path = xasprintf("%s.both", k->socket);
    int r = both ? listener_open(k, path, e) : 0;

    return r < 0 ? r : point_at(k, both ? path : sign->socket, e);
}

static void forget_others(struct keeper *k)
{
    if (!k->also)
        listener_close(k);
    for (size_t i = 0; i < SLOTS; i++)
        if (&k->slots[i] != k->sign && &k->slots[i] != k->also && k->slots[i].pid)
            munged_end(&k->slots[i]);
}

static int adopt(struct keeper *k, const struct keyring *ring, struct err *e)
{
    struct munged *sign = munged_of(k, &ring->sign, e);
    struct munged *also = sign && ring->also.n > 0 ? munged_of(k, &ring->also, e) : NULL;
    int r;

    if (!sign || (ring->also.n > 0 && !also)) {
        forget_others(k);
        return e->num;
    }
    if (also == sign)
        also = NULL;
    r = lead(k, sign, also != NULL, e);
    if (r < 0)
        return r;
    k->sign = sign;
    k->also = also;
    forget_others(k);
    if (k->stage_path)
        r = file_write(k->stage_path, str_of(ring->stage), 0644, e);
    return r;
}

/* Look at the ring.  What cannot be used is told once, and looked at again. */
static void look(struct keeper *k)
{
    AUTO(keyring_done) struct keyring ring = {0};
    AUTO(free) char *text = NULL;
    struct err e = {0};
    size_t n = 0;
    int r = file_read(k->ring_path, KEYRING_MAX_BYTES, &text, &n, &e);

    if (r == 0 && k->text && streq(text, k->text)) {
        explicit_bzero(text, n);
        return;
    }
    if (r == 0)
        r = keyring_parse((struct str){text, n}, &ring, &e);
    if (r == 0)
        r = adopt(k, &ring, &e);
    if (r < 0 && !k->complained)
        say(e.text);
    k->complained = r < 0;
    if (r < 0)
        return;
    free(k->text);
    k->text = TAKE(text);
    (void)fprintf(stderr, "slurmkeeper-munge: stage %s, %s\n", ring.stage,
                  k->also ? "two keys are accepted" : "one key");
}

static void serve_one(struct keeper *k)
{
    int client = accept4(k->listener, NULL, NULL, SOCK_CLOEXEC);
    pid_t pid = client < 0 ? -1 : fork();

    if (pid == 0) {
        sigset_t none;

        (void)sigemptyset(&none);
        (void)sigprocmask(SIG_SETMASK, &none, NULL);
        (void)alarm(CLIENT_S);
        _exit(relay_serve(client, k->sign->socket, k->also->socket) < 0);
    }
    if (pid > 0)
        k->clients++;
    if (client >= 0)
        (void)close(client);
}

static void reap(struct keeper *k)
{
    pid_t pid;

    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
        struct munged *m = NULL;
        struct err e = {0};

        for (size_t i = 0; i < SLOTS; i++)
            if (k->slots[i].pid == pid)
                m = &k->slots[i];
        if (!m) {
            k->clients -= k->clients > 0;
            continue;
        }
        say("munged has ended: starting it again");
        (void)usleep(LOOK_MS * 1000);
        if (munged_again(m, &e) < 0)
            say(e.text);
    }
}

static void signals_take(struct keeper *k)
{
    struct signalfd_siginfo info;

    while (read(k->signals, &info, sizeof(info)) == sizeof(info))
        if (info.ssi_signo != SIGCHLD)
            k->ending = true;
    reap(k);
}

static void run(struct keeper *k)
{
    while (!k->ending) {
        bool room = k->listener >= 0 && k->clients < CLIENTS_MAX;
        struct pollfd fds[] = {{k->signals, POLLIN, 0}, {room ? k->listener : -1, POLLIN, 0}};

        (void)poll(fds, ARRAY_LEN(fds), LOOK_MS);
        signals_take(k);
        if (fds[1].revents)
            serve_one(k);
        else
            look(k);
    }
}

static void finish(struct keeper *k)
{
    listener_close(k);
    for (size_t i = 0; i < SLOTS; i++)
        munged_end(&k->slots[i]);
    (void)unlink(k->socket);
    if (k->text)
        explicit_bzero(k->text, strlen(k->text));
    free(k->text);
}

int main(int argc, char **argv)
{
    struct keeper k = {.listener = -1};
    sigset_t set;

    if (argc != 4 && argc != 5) {
        (void)fputs("usage: slurmkeeper-munge RING SOCKET PRIVATE [STAGE]\n", stderr);
        return 2;
    }
    k.ring_path = argv[1];
    k.socket = argv[2];
    k.private = argv[3];
    k.stage_path = argv[4];
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGCHLD);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    (void)signal(SIGPIPE, SIG_IGN);
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0 ||
        (k.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)) < 0) {
        say("cannot take signals");
        return 1;
    }
    look(&k);
    run(&k);
    finish(&k);
    return 0;
}
