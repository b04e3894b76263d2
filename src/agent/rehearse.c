/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Running a rehearsal.
 *
 * No release of slurmctld has an option that only checks files, and what it dies of is more than
 * any list here can hold.  So one is started on a copy, in a directory and a network namespace of
 * its own, and watched on its standard error.  "Running as primary controller" comes after the
 * files have been read, and the plugins for priorities, scheduling and security labels are loaded
 * after that; what the last of them says, or some time without an end, shows that it would serve.
 * It is killed there.  If it ends by itself before, the lines that it called fatal or error say
 * why.  A file that it misses it would wait for, and serve nobody for a minute: that is an end,
 * too.
 *
 * Takes about as long as a start of slurmctld: tens of milliseconds.
 */
#include "src/agent/rehearse.h"

#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/base/log.h"
#include "src/slurm/keyfiles.h"

#define REHEARSE_MS 10000
#define GRACE_MS 200 /* from the line to the proof, where no plugin says anything */
#define SAID_MAX_BYTES ((size_t)256 << 10)

struct rehearsal {
    struct loop *loop;
    char *dir;
    pid_t pid;
    int said_fd;
    struct buf said;
    bool running; /* it has read everything */
    bool proven;  /* it got as far as it shall */
    bool mcs;     /* a plugin for security labels is declared: it loads after that proof */
    bool late;
    bool missing; /* it waits for a file that will not come */
    struct loop_source *child;
    struct loop_source *output;
    struct loop_source *timer;
    rehearse_fn fn;
    void *arg;
};

static int file_put(const char *dir, const char *name, struct str text, mode_t mode, struct err *e)
{
    AUTO(free) char *path = xasprintf("%s/%s", dir, name);
    AUTO(close) int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    int r = fd < 0 ? -errno : file_write_all(fd, text);

    return r < 0 ? err_errno(e, -r, "cannot write '%s'", path) : 0;
}

/* Keys are not copied: links to the live ones. */
static void keys_link(const char *live, const char *dir)
{
    for (const struct keyfile *k = keyfiles; k->name; k++) {
        AUTO(free) char *from = xasprintf("%s/%s", live, k->name);
        AUTO(free) char *to = xasprintf("%s/%s", dir, k->name);

        if (k->slurm && file_exists(from))
            (void)!symlink(from, to);
    }
}

/* A port that nobody uses now; in a network of its own any would do. */
static unsigned free_port(void)
{
    AUTO(close) int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(a);

    if (fd < 0 || bind(fd, (struct sockaddr *)&a, n) < 0 ||
        getsockname(fd, (struct sockaddr *)&a, &n) < 0)
        return 26817;
    return ntohs(a.sin_port);
}

static void host_name(char *ret, size_t n)
{
    char *dot;

    if (gethostname(ret, n) < 0)
        ret[0] = '\0';
    ret[n - 1] = '\0';
    dot = strchr(ret, '.');
    if (dot)
        *dot = '\0';
}

static int scene_make(const struct rehearse_options *o, const struct candidate *c, const char *dir,
                      struct err *e)
{
    AUTO(free) char *state = xasprintf("%s/state", dir);
    AUTO(buf_done) struct buf conf = {0};
    char host[256];
    int r = 0;

    if (mkdir(state, 0700) < 0)
        return err_errno(e, errno, "cannot make '%s'", state);
    host_name(host, sizeof(host));
    rehearse_conf(c, dir, host, free_port(), o->dynamic_nodes, &conf);
    for (size_t i = 0; r == 0 && i < c->files.n; i++) {
        const struct fileset_file *f = &c->files.files[i];

        if (!streq(f->name, "slurm.conf"))
            r = file_put(dir, f->name, (struct str){f->text, f->n}, f->mode, e);
    }
    if (r == 0)
        r = file_put(dir, "slurm.conf", buf_view(&conf), 0600, e);
    keys_link(o->live, dir);
    return r;
}

/*
 * In a network of one's own: loopback, and an address beside it.  slurmctld asks the resolver which
 * kinds of addresses there are to listen on, and loopback's do not count.
 */
static void network_make(void)
{
    struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
    struct ifreq other = {.ifr_name = "lo:1"};
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0xc0000201)};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    memcpy(&other.ifr_addr, &at, sizeof(at)); /* 192.0.2.1, for documentation */
    (void)ioctl(fd, SIOCSIFFLAGS, &lo);
    (void)ioctl(fd, SIOCSIFADDR, &other);
    (void)close(fd);
}

/* Between fork and exec: system calls only.  What it leaves without a full path, or as a core, goes
 * with its directory. */
static void stage_enter(const char *dir, int said)
{
    int null = open("/dev/null", O_RDWR);

    loop_signals_reset();
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (unshare(CLONE_NEWNET) == 0)
        network_make();
    if (chdir(dir) < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(said, STDOUT_FILENO) < 0 ||
        dup2(said, STDERR_FILENO) < 0)
        _exit(126);
}

static int actor_start(struct rehearsal *r, const char *program, struct err *e)
{
    AUTO(free) char *conf = xasprintf("%s/slurm.conf", r->dir);
    char d[] = "-D";
    char f[] = "-f";
    AUTO(free) char *name = xstrdup(program);
    char *const argv[] = {name, d, f, conf, NULL};
    char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
    char *const envp[] = {path, NULL};
    int pipes[2];

    if (pipe2(pipes, O_CLOEXEC | O_NONBLOCK) < 0)
        return err_errno(e, errno, "cannot make a pipe");
    r->said_fd = pipes[0];
    r->pid = fork();
    if (r->pid == 0) {
        stage_enter(r->dir, pipes[1]);
        (void)execve(program, argv, envp);
        _exit(127);
    }
    (void)close(pipes[1]);
    if (r->pid < 0)
        return err_errno(e, errno, "cannot start a process");
    return 0;
}

static struct rehearsal *rehearse_stop(struct rehearsal *r)
{
    struct err e = {0};

    if (!r)
        return NULL;
    (void)loop_source_free(r->child);
    (void)loop_source_free(r->output);
    (void)loop_source_free(r->timer);
    if (r->pid > 0) {
        (void)kill(r->pid, SIGKILL);
        (void)waitpid(r->pid, NULL, 0);
    }
    if (r->said_fd >= 0)
        (void)close(r->said_fd);
    if (r->dir && file_remove_tree(r->dir, &e) < 0)
        log_warn("%s", e.text);
    buf_done(&r->said);
    free(r->dir);
    free(r);
    return NULL;
}

/* What it said, with its files by the names that they were declared by; owned. */
static char *said_here(const struct rehearsal *r)
{
    AUTO(free) char *dir = xasprintf("%s/", r->dir);
    AUTO(buf_done) struct buf out = {0};
    const char *from = buf_str(&r->said);
    const char *at;

    while ((at = strstr(from, dir))) {
        buf_add(&out, from, (size_t)(at - from));
        from = at + strlen(dir);
    }
    buf_adds(&out, from);
    return xstrdup(buf_str(&out));
}

static void reason_find(struct rehearsal *r, struct err *e)
{
    AUTO(free) char *said = said_here(r);
    struct str why = rehearse_why(str_of(said));

    (void)err_bad(e, "slurmctld would end on these files: " STR_FMT,
                  STR_ARG(why.n ? why : STR("it said nothing")));
}

static void reason_late(struct rehearsal *r, struct err *e)
{
    AUTO(free) char *said = said_here(r);
    struct str why = rehearse_why(str_of(said));

    (void)err_set(e, -ETIMEDOUT, ERR_RETRY,
                  "the rehearsal's slurmctld neither started nor ended in %d s%s" STR_FMT,
                  REHEARSE_MS / 1000, why.n ? ": " : "", STR_ARG(why));
}

/* "error: s_p_parse_file: cannot stat file DIR/NAME: No such file or directory, retrying ..." */
static void reason_missing(struct rehearsal *r, struct err *e)
{
    static const char before[] = "cannot stat file ";
    AUTO(free) char *said = said_here(r);
    const char *name = strstr(said, before);
    struct str words = str_of(name ? name + strlen(before) : "a file");
    struct str file = words;

    (void)str_split(&words, ':', &file);
    (void)err_bad(e, "slurmctld would wait for " STR_FMT ", which is not declared, and then end",
                  STR_ARG(file));
}

static void finish(struct rehearsal *r)
{
    struct err e = {0};
    rehearse_fn fn = r->fn;
    void *arg = r->arg;
    int result = 0;

    if (r->missing) {
        reason_missing(r, &e);
        result = -EINVAL;
    } else if (r->late) {
        reason_late(r, &e);
        result = -ETIMEDOUT;
    } else if (!r->proven) {
        reason_find(r, &e);
        result = -EINVAL;
    }
    (void)rehearse_stop(r);
    fn(arg, result, &e);
}

static bool output_take(struct rehearsal *r)
{
    char chunk[8192];
    const char *running;
    ssize_t n;

    while ((n = read(r->said_fd, chunk, sizeof(chunk))) > 0)
        if (r->said.n < SAID_MAX_BYTES)
            buf_add(&r->said, chunk, (size_t)n);
    running = strstr(buf_str(&r->said), "Running as primary controller");
    if (running && !r->running && r->timer)
        loop_timer_arm(r->timer, GRACE_MS);
    r->running = running != NULL;
    r->proven = running && !r->mcs && strstr(running, "mcs: ");
    r->missing = !running && strstr(buf_str(&r->said), "retrying in 1sec up to 60sec");
    return n != 0;
}

static void on_output(void *arg, int fd, uint32_t events)
{
    struct rehearsal *r = arg;

    (void)fd;
    (void)events;
    if (!output_take(r))
        r->output = loop_source_free(r->output);
    if (r->proven || r->missing)
        finish(r);
}

static void on_end(void *arg, pid_t pid, int status)
{
    struct rehearsal *r = arg;

    (void)pid;
    (void)status;
    r->pid = 0;
    (void)output_take(r);
    r->proven = false; /* whatever it has said, it does not serve */
    finish(r);
}

static void on_late(void *arg)
{
    struct rehearsal *r = arg;

    r->proven = r->running;
    r->late = !r->running;
    finish(r);
}

/* A directory for it: where temporary ones belong, or else, where nothing else can be written, in
 * the record's. */
static char *dir_make(const char *live, struct err *e)
{
    const char *tmp = getenv("TMPDIR");
    char *dir = xasprintf("%s/slurmkeeper-rehearsal-XXXXXX", tmp && tmp[0] ? tmp : "/tmp");

    if (mkdtemp(dir))
        return dir;
    free(dir);
    dir = xasprintf("%s/.slurmkeeper/rehearsal-XXXXXX", live);
    if (mkdtemp(dir))
        return dir;
    (void)err_errno(e, errno, "cannot make '%s'", dir);
    free(dir);
    return NULL;
}

static int rehearse_start(struct loop *l, const struct rehearse_options *o,
                          const struct candidate *c, rehearse_fn fn, void *arg,
                          struct rehearsal **ret, struct err *e)
{
    struct rehearsal *rehearsal = xcalloc(1, sizeof(*rehearsal));
    int r;

    *rehearsal = (struct rehearsal){.loop = l, .said_fd = -1, .fn = fn, .arg = arg};
    rehearsal->mcs = model_setting(candidate_model(c), "MCSPlugin") != NULL;
    rehearsal->dir = dir_make(o->live, e);
    r = rehearsal->dir ? scene_make(o, c, rehearsal->dir, e) : -EROFS;
    if (r == 0)
        r = actor_start(rehearsal, o->slurmctld, e);
    if (r < 0) {
        (void)rehearse_stop(rehearsal);
        return err_wrap(e, r, "the rehearsal cannot start");
    }
    rehearsal->child = loop_add_child(l, rehearsal->pid, on_end, rehearsal);
    rehearsal->output = loop_add_fd(l, rehearsal->said_fd, EPOLLIN, on_output, rehearsal);
    rehearsal->timer = loop_add_timer(l, on_late, rehearsal);
    loop_timer_arm(rehearsal->timer, REHEARSE_MS);
    *ret = rehearsal;
    return 0;
}

const struct rehearse_ops rehearse_slurmctld = {rehearse_start, rehearse_stop};
