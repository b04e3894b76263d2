/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state directory of a cluster on one machine: what lies where, and what was chosen for it.
 * Who serves it is told by holder.c.
 */
#include "src/local/layout.h"

#include <limits.h>
#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/base/texts.h"
#include "src/json/jsn.h"
#include "src/local/install.h"

#define CHOICES_MAX_BYTES ((size_t)64 << 10)
/* "shares" was a list to which every `up` added the directory it was started in: not read any more.
 */
#define SHARES_KEY "declaredShares"

/*
 * Whoever owns the directory, or the link that leads to it, can exchange all that is in it: keys,
 * and which programs root runs.  Somebody may have made it before us, in /tmp for instance.
 */
static int check_owner(const char *state, struct err *e)
{
    struct stat st;

    if (lstat(state, &st) < 0 || st.st_uid == 0 || st.st_uid == geteuid())
        return 0;
    return err_bad(e,
                   "'%s' belongs to another user (%u), who could exchange what is in it: name "
                   "another state directory (--state)",
                   state, (unsigned int)st.st_uid);
}

/* A slash at the end would follow a link. */
static void cut_slashes(char *path)
{
    for (size_t n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
        path[n - 1] = '\0';
}

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
    cut_slashes(l->state);
    l->kubeconfig = xasprintf("%s/admin.kubeconfig", l->state);
    l->logs = xasprintf("%s/log", l->state);
    l->clients = xasprintf("%s/clients", l->state);
    l->held = xasprintf("%s/serve", l->state);
    return check_owner(l->state, e);
}

void layout_done(struct layout *l)
{
    free(l->state);
    free(l->kubeconfig);
    free(l->logs);
    free(l->clients);
    free(l->held);
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

void choices_done(struct choices *c)
{
    free(c->name);
    free(c->pod_cidr);
    (void)texts_free(c->shares);
    free(c->slurm);
    free(c->release);
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
    ret->no_agent = jsn_get_bool(v, "noAgent", false);
    ret->slurm = xstrdup_null(jsn_get_str(v, "slurm"));
    ret->release = xstrdup_null(jsn_get_str(v, "slurmRelease"));
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
    if (c->no_agent)
        jsn_set_bool(&a, v, "noAgent", true);
    if (c->slurm)
        jsn_set_str(&a, v, "slurm", c->slurm);
    if (c->release)
        jsn_set_str(&a, v, "slurmRelease", c->release);
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

/* The range that pods have now, where the node chose it; NULL: there is no pod. */
static char *range_in_use(const char *state)
{
    AUTO(free) char *path = xasprintf("%s/node/pod-cidr", state);
    struct layout l = {.state = (char *)(uintptr_t)state};
    char *text = NULL;
    size_t n;

    return layout_has_pods(&l) && file_read(path, 64, &text, &n, NULL) == 0 ? text : NULL;
}

int choices_check(const struct choices *kept, const char *state, const char *name,
                  const char *pod_cidr, struct err *e)
{
    AUTO(free) char *used = kept->pod_cidr ? xstrdup(kept->pod_cidr) : range_in_use(state);

    if (differs(kept->name, name))
        return err_bad(e,
                       "the cluster in '%s' is called '%s', not '%s': give --state another "
                       "directory, or purge it first ('slurmkeeper down --purge')",
                       state, kept->name, name);
    if (differs(used, pod_cidr))
        return err_bad(e,
                       "the pods in '%s' have addresses in %s, not in %s: take the cluster down "
                       "first ('slurmkeeper down')",
                       state, used, pod_cidr);
    return 0;
}

int choices_check_agent(const struct choices *running, bool without, struct err *e)
{
    if (!without || running->no_agent)
        return 0;
    return err_set(
        e, -EBUSY, ERR_PERMANENT,
        "the cluster runs with its agent, and --no-agent counts when it is started: take "
        "it down first ('slurmkeeper down'), then bring it up with --no-agent");
}

static bool same_prefix(const char *a, const char *b)
{
    AUTO(free) char *prefix = install_resolve(b);
    size_t n = strlen(prefix);

    while (n > 1 && prefix[n - 1] == '/')
        n--;
    return strncmp(a, prefix, n) == 0 && !a[n];
}

int choices_check_slurm(const struct choices *kept, const struct layout *l, const char *slurm,
                        struct err *e)
{
    if (!kept->slurm || !slurm || same_prefix(kept->slurm, slurm) || !layout_has_pods(l))
        return 0;
    return err_bad(e,
                   "the pods in '%s' run the Slurm in '%s', not in '%s': take the cluster down "
                   "first ('slurmkeeper down')",
                   l->state, kept->slurm, slurm);
}

static char *slurm_link(const struct layout *l)
{
    return xasprintf("%s/.slurm", l->clients);
}

char *layout_slurm(const struct layout *l)
{
    AUTO(free) char *path = slurm_link(l);
    char to[PATH_MAX];
    ssize_t n = readlink(path, to, sizeof(to) - 1);

    return n > 0 ? str_dup((struct str){to, (size_t)n}) : NULL;
}

int layout_put_slurm(const struct layout *l, const char *prefix, struct err *e)
{
    AUTO(free) char *path = slurm_link(l);
    AUTO(free) char *fresh = xasprintf("%s.new", path);

    (void)unlink(fresh);
    if (symlink(prefix, fresh) < 0 || rename(fresh, path) < 0)
        return err_errno(e, errno, "cannot make '%s'", path);
    return 0;
}

bool layout_has_pods(const struct layout *l)
{
    AUTO(free) char *path = xasprintf("%s/node/pods", l->state);

    return file_dir_count(path) > 0;
}
