/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state directory of a cluster on one machine.
 *
 * Whoever serves the cluster holds a lock on a file in it for as long as it lives, so that a second
 * one is refused and a dead one is noticed at once, whatever process got its number since.
 */
#include "src/local/layout.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/json/jsn.h"

#define CHOICES_MAX_BYTES ((size_t)64 << 10)
/* "shares" was a list to which every `up` added the directory it was started in: not read any more.
 */
#define SHARES_KEY "declaredShares"

int layout_init(struct layout *l, const char *state, struct err *e)
{
    char here[PATH_MAX];

    *l = (struct layout){0};
    if (state[0] == '/')
        l->state = xstrdup(state);
    else if (getcwd(here, sizeof(here)))
        l->state = xasprintf("%s/%s", here, state);
    else
        return err_errno(e, errno, "the working directory cannot be read");
    l->kubeconfig = xasprintf("%s/admin.kubeconfig", l->state);
    l->logs = xasprintf("%s/log", l->state);
    l->clients = xasprintf("%s/clients", l->state);
    l->lock = xasprintf("%s/serve.lock", l->state);
    return 0;
}

void layout_done(struct layout *l)
{
    free(l->state);
    free(l->kubeconfig);
    free(l->logs);
    free(l->clients);
    free(l->lock);
    *l = (struct layout){0};
}

int layout_make(const struct layout *l, struct err *e)
{
    int r = file_make_dirs(l->state, 0711, e);

    if (r == 0 && chmod(l->state, 0711) < 0)
        r = err_errno(e, errno, "chmod '%s'", l->state);
    if (r == 0)
        r = file_make_dirs(l->logs, 0700, e);
    if (r == 0)
        r = file_make_dirs(l->clients, 0755, e);
    return r;
}

int layout_lock(const struct layout *l, int *ret_fd, struct err *e)
{
    AUTO(close) int fd = open(l->lock, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    char text[32];
    int n;

    if (fd < 0 || fchmod(fd, 0644) < 0)
        return err_errno(e, errno, "open '%s'", l->lock);
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno == EWOULDBLOCK)
            return err_set(e, -EBUSY, ERR_PERMANENT, "process %d serves '%s' already",
                           (int)layout_holder(l), l->state);
        return err_errno(e, errno, "lock '%s'", l->lock);
    }
    n = snprintf(text, sizeof(text), "%d\n", (int)getpid());
    if (ftruncate(fd, 0) < 0 || pwrite(fd, text, (size_t)n, 0) != n)
        return err_errno(e, errno, "write '%s'", l->lock);
    *ret_fd = TAKE_FD(fd);
    return 0;
}

pid_t layout_holder(const struct layout *l)
{
    AUTO(close) int fd = open(l->lock, O_RDONLY | O_CLOEXEC);
    char text[32] = "";
    int64_t pid;
    ssize_t n;

    if (fd < 0 || flock(fd, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return 0;
    n = pread(fd, text, sizeof(text) - 1, 0);
    if (n <= 0 || str_to_i64(str_trim((struct str){text, (size_t)n}), &pid) < 0)
        return 0;
    return (pid_t)pid;
}

void choices_done(struct choices *c)
{
    free(c->name);
    free(c->pod_cidr);
    for (char **s = c->shares; s && *s; s++)
        free(*s);
    free(c->shares);
    *c = (struct choices){0};
}

static char *choices_path(const struct layout *l)
{
    return xasprintf("%s/cluster.json", l->state);
}

int choices_read(const struct layout *l, struct choices *ret, struct err *e)
{
    AUTO(free) char *path = choices_path(l);
    AUTO(free) char *text = NULL;
    AUTO(arena_done) struct arena a = {0};
    struct jsn *v;
    const struct jsn *shares;
    size_t n;
    int r = file_read(path, CHOICES_MAX_BYTES, &text, &n, e);

    *ret = (struct choices){0};
    if (r == 0)
        r = jsn_parse(&a, (struct str){text, n}, NULL, &v, e);
    if (r < 0)
        return r;
    shares = jsn_key(v, SHARES_KEY);
    ret->name = xstrdup_null(jsn_get_str(v, "name"));
    ret->port = (int)jsn_get_int(v, "port", 0);
    ret->pod_cidr = xstrdup_null(jsn_get_str(v, "podCidr"));
    ret->shares = xcalloc(jsn_len(shares) + 1, sizeof(char *));
    n = 0;
    JSN_FOR_ITEMS (s, shares)
        if (jsn_text(s))
            ret->shares[n++] = xstrdup(jsn_text(s));
    return 0;
}

int choices_write(const struct layout *l, const struct choices *c, struct err *e)
{
    AUTO(free) char *path = choices_path(l);
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf b = {0};
    struct jsn *v = jsn_object(&a);
    struct jsn *shares = jsn_array(&a);

    jsn_set_str(&a, v, "name", c->name);
    jsn_set_int(&a, v, "port", c->port);
    if (c->pod_cidr)
        jsn_set_str(&a, v, "podCidr", c->pod_cidr);
    for (char **s = c->shares; s && *s; s++)
        jsn_append(&a, shares, jsn_string(&a, *s));
    jsn_set(&a, v, SHARES_KEY, shares);
    jsn_print_pretty(&b, v);
    buf_addc(&b, '\n');
    return file_write(path, buf_view(&b), 0644, e);
}

bool choices_name_ok(const char *name)
{
    size_t n = strlen(name);

    return n > 0 && n <= 40 && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == n;
}

static bool differs(const char *kept, const char *wanted)
{
    return kept && wanted && !streq(kept, wanted);
}

int choices_check(const struct choices *kept, const char *state, const char *name,
                  const char *pod_cidr, struct err *e)
{
    if (differs(kept->name, name))
        return err_bad(e,
                       "the cluster in '%s' is called '%s', not '%s': give --state another "
                       "directory, or purge it first ('slurmkeeper down --purge')",
                       state, kept->name, name);
    if (differs(kept->pod_cidr, pod_cidr))
        return err_bad(e,
                       "the pods in '%s' have addresses in %s, not in %s: purge it first "
                       "('slurmkeeper down --purge')",
                       state, kept->pod_cidr, pod_cidr);
    return 0;
}

int layout_end_holder(const struct layout *l, int64_t wait_ms, struct err *e)
{
    struct timespec t = {0, 10000000L};
    int64_t until = clock_mono_ms() + wait_ms;
    pid_t pid = layout_holder(l);

    if (pid > 0)
        (void)kill(pid, SIGTERM);
    while (pid > 0 && layout_holder(l) == pid) {
        if (clock_mono_ms() > until)
            return err_set(e, -ETIMEDOUT, ERR_RETRY, "process %d does not end", (int)pid);
        (void)nanosleep(&t, NULL);
    }
    return 0;
}

bool layout_has_pods(const struct layout *l)
{
    AUTO(free) char *path = xasprintf("%s/node/pods", l->state);
    DIR *dir = opendir(path);
    size_t n = 0;

    while (dir && readdir(dir))
        n++;
    if (dir)
        (void)closedir(dir);
    return n > 2; /* itself and the one above */
}
