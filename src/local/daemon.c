/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that is kept running.
 *
 * When it ends it is started again: after 100 ms at first, then after twice as long each time, up
 * to 10 s; who has lived for 10 s begins with 100 ms again.  Its log grows over all of its lives;
 * one that is larger than 16 MiB at a start is put aside as LOG.1.
 *
 * One that ends at once, and again and again, is noted with its last words in LOG.ailing, until it
 * lives for longer: whoever waits for it need not wait in vain.
 */
#include "src/local/daemon.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/base/log.h"
#include "src/base/texts.h"

#define WAIT_FIRST_MS 100
#define WAIT_MAX_MS 10000
#define LIVED_WELL_MS 10000
#define AILING_ENDS 3 /* in a row */
#define RECOVERED_MS 2000
#define WORDS_BYTES 4096
#define LOG_MAX_BYTES ((off_t)16 << 20)

struct daemon {
    struct loop *loop;
    char *name;
    char **argv;
    char *log;
    pid_t pid;
    int64_t started_ms;
    int64_t wait_ms;
    char *ailing; /* the note's path */
    unsigned ends;
    struct loop_source *recovered;
    struct loop_source *child;
    struct loop_source *timer; /* the next start, or the end of patience */
    bool stopping;
    void (*ended)(void *arg);
    void *ended_arg;
};

static void start(struct daemon *d);

static int open_log(const char *path)
{
    AUTO(free) char *old = xasprintf("%s.1", path);
    struct stat st;

    if (stat(path, &st) == 0 && st.st_size > LOG_MAX_BYTES)
        (void)rename(path, old);
    return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

/* In the child: nothing but async-signal-safe calls. */
static NORETURN void become(char **argv, int log, pid_t parent)
{
    int null = open("/dev/null", O_RDONLY);

    loop_signals_reset();
    (void)setsid();
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(0);
    (void)dup2(null, 0);
    (void)dup2(log >= 0 ? log : null, 1);
    (void)dup2(log >= 0 ? log : null, 2);
    (void)close_range(3, ~0U, 0); /* connections are no business of theirs */
    (void)execvp(argv[0], argv);
    _exit(127);
}

static void describe(int status, char *ret, size_t n)
{
    if (WIFSIGNALED(status))
        (void)snprintf(ret, n, "was killed by signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status) == 127)
        (void)snprintf(ret, n, "could not be started");
    else
        (void)snprintf(ret, n, "ended with status %d", WEXITSTATUS(status));
}

char *daemon_last_words(const char *log, const char *name)
{
    AUTO(free) char *prefix = xasprintf("slurmkeeper: %s: ", name);
    AUTO(free) char *text = NULL;
    const char *last;
    size_t n;

    if (file_read(log, (size_t)2 * LOG_MAX_BYTES, &text, &n, NULL) < 0)
        return NULL;
    text[str_trim((struct str){text, n}).n] = '\0';
    last = strrchr(text, '\n');
    last = last ? last + 1 : text;
    if (starts_with(last, prefix))
        last += strlen(prefix);
    return last[0] ? strndup(last, WORDS_BYTES) : NULL;
}

char *daemon_ailing(const char *logs, const char **ret_name)
{
    static const char *const names[] = {"apiserver", "operator", "node"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        AUTO(free) char *path = xasprintf("%s/%s.log.ailing", logs, names[i]);
        char *text = NULL;
        size_t n;

        *ret_name = names[i];
        if (file_read(path, WORDS_BYTES + 1, &text, &n, NULL) == 0)
            return text;
    }
    return NULL;
}

static void on_recovered(void *arg)
{
    struct daemon *d = arg;

    d->ends = 0;
    (void)unlink(d->ailing);
}

static void note_end(struct daemon *d, const char *how)
{
    AUTO(free) char *words = NULL;

    loop_timer_disarm(d->recovered);
    if (++d->ends < AILING_ENDS)
        return;
    words = daemon_last_words(d->log, d->name);
    (void)!file_write(d->ailing, str_of(words ? words : how), 0600, NULL);
}

static void on_end(void *arg, pid_t pid, int status)
{
    struct daemon *d = arg;
    char how[64];

    d->child = loop_source_free(d->child);
    d->pid = 0;
    loop_timer_disarm(d->recovered);
    if (d->stopping) {
        loop_timer_disarm(d->timer);
        if (d->ended)
            d->ended(d->ended_arg);
        return;
    }
    if (loop_now_ms(d->loop) - d->started_ms >= LIVED_WELL_MS)
        d->wait_ms = WAIT_FIRST_MS;
    describe(status, how, sizeof(how));
    note_end(d, how);
    log_warn("%s (process %d) %s: starting it again in %lld ms; its log is %s", d->name, (int)pid,
             how, (long long)d->wait_ms, d->log);
    loop_timer_arm(d->timer, d->wait_ms);
    d->wait_ms = MIN(d->wait_ms * 2, WAIT_MAX_MS);
}

static void start(struct daemon *d)
{
    AUTO(close) int log = open_log(d->log);
    pid_t parent = getpid();

    d->started_ms = loop_now_ms(d->loop);
    d->pid = fork();
    if (d->pid == 0)
        become(d->argv, log, parent);
    if (d->pid < 0) {
        d->pid = 0;
        log_warn("%s: no new process: %s; trying again", d->name, strerror(errno));
        loop_timer_arm(d->timer, WAIT_MAX_MS);
        return;
    }
    d->child = loop_add_child(d->loop, d->pid, on_end, d);
    loop_timer_arm(d->recovered, RECOVERED_MS);
}

static void on_timer(void *arg)
{
    struct daemon *d = arg;

    if (!d->stopping)
        start(d);
    else if (d->pid > 0)
        (void)kill(d->pid, SIGKILL);
}

struct daemon *daemon_new(struct loop *l, const struct daemon_options *o)
{
    struct daemon *d = xcalloc(1, sizeof(*d));

    d->loop = l;
    d->name = xstrdup(o->name);
    d->log = xstrdup(o->log);
    d->argv = texts_copy(o->argv);
    d->wait_ms = WAIT_FIRST_MS;
    d->timer = loop_add_timer(l, on_timer, d);
    d->ailing = xasprintf("%s.ailing", o->log);
    d->recovered = loop_add_timer(l, on_recovered, d);
    (void)unlink(d->ailing);
    start(d);
    return d;
}

void daemon_stop(struct daemon *d, int64_t grace_ms, void (*ended)(void *arg), void *arg)
{
    d->stopping = true;
    d->ended = ended;
    d->ended_arg = arg;
    loop_timer_disarm(d->timer);
    if (d->pid == 0) {
        loop_defer(d->loop, ended, arg);
        return;
    }
    (void)kill(d->pid, SIGTERM);
    loop_timer_arm(d->timer, grace_ms);
}

struct daemon *daemon_free(struct daemon *d)
{
    if (!d)
        return NULL;
    loop_source_free(d->child);
    loop_source_free(d->timer);
    loop_source_free(d->recovered);
    (void)unlink(d->ailing);
    free(d->ailing);
    if (d->pid > 0) {
        (void)kill(d->pid, SIGKILL);
        (void)waitpid(d->pid, NULL, 0);
    }
    (void)texts_free(d->argv);
    free(d->name);
    free(d->log);
    free(d);
    return NULL;
}

pid_t daemon_pid(const struct daemon *d)
{
    return d->pid;
}
