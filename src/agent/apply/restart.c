/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The step that has slurmctld started again.
 *
 * A restart is a marker for slurmctld's entry point, a request to end, and waiting for another
 * process to answer.  Children that know old settings are replaced on the way.
 *
 * A slurmctld that ends again at once leaves its last words beside the marker.  Its entry point
 * then waits for the old files and a second marker.
 *
 * An entry point of ours notes its starts beside the marker.  Others (Slinky's supervisord among
 * them) know no marker, and some leave a slurmctld down that has ended well.  supervisord is told
 * to start it by a script beside it (src/build/scripts/revive.sh), which leaves a note, too.  With
 * any other it comes back with its container, when the liveness probe has failed often enough. That
 * is waited for.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "src/agent/apply/engine_impl.h"
#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/base/log.h"

#define RPC_TIMEOUT_MS 30000
#define RESTART_WAIT_MS 45000
#define RESTART_WAIT_PROBE_MS 240000 /* six probes, ten seconds apart, and a back-off */
#define RESTART_LOOK_MS 100
#define MAX_WORDS 1024
#define PING_TIMEOUT_MS 20000 /* a second controller that is not to be found takes its time */

static void restart_look(void *arg);

/* Its start time tells, but for two starts in one second.  For these: the entry point has taken the
 * marker away when the old process was gone.  That must have been so before the question, or the
 * old one may have answered it with its last breath. */
static bool is_another(const struct job *j)
{
    return hub_boot_time(j->engine->o.hub) != j->wait.boot_before || j->wait.unmarked;
}

static char *words_path(const struct engine *g)
{
    return xasprintf("%s.failed", g->o.marker);
}

bool restart_has_ended(const struct engine *g, int64_t since_us, struct err *ret)
{
    AUTO(free) char *path = g->o.marker ? words_path(g) : NULL;
    AUTO(free) char *words = NULL;
    struct stat st;
    struct str line;
    size_t n;

    if (!path || stat(path, &st) < 0 ||
        (int64_t)st.st_mtim.tv_sec * 1000000 + st.st_mtim.tv_nsec / 1000 < since_us ||
        file_read(path, MAX_WORDS, &words, &n, ret) < 0)
        return false;
    line = str_trim(str_of(words));
    (void)err_set(ret, -EREMOTEIO, ERR_PERMANENT, "slurmctld has ended on it: " STR_FMT,
                  STR_ARG(line));
    return true;
}

/* What the last restart has left is no news any more. */
static bool mark(const struct engine *g)
{
    AUTO(free) char *words = g->o.marker ? words_path(g) : NULL;
    AUTO(close) int fd = -1;

    if (!words)
        return false;
    (void)unlink(words);
    fd = open(g->o.marker, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
    return fd >= 0;
}

static bool is_beside_marker(const struct engine *g, const char *note)
{
    const char *slash = strrchr(g->o.marker, '/');
    int n = slash ? (int)(slash - g->o.marker) : 0;
    AUTO(free) char *path = xasprintf("%.*s/%s", n, g->o.marker, note);

    return access(path, F_OK) == 0;
}

static int wait_ms(const struct engine *g)
{
    bool at_once = is_beside_marker(g, "started") || is_beside_marker(g, "revives");

    return at_once ? RESTART_WAIT_MS : RESTART_WAIT_PROBE_MS;
}

void restart_go_back(struct engine *g)
{
    if (!mark(g))
        log_error("cannot write '%s': slurmctld stays down", g->o.marker);
}

static void on_restarted(void *arg, int r, const struct err *e)
{
    struct job *j = arg;
    struct err late = {0};

    if (r == 0 && is_another(j)) {
        step_done(j);
        return;
    }
    if (loop_now_ms(j->engine->o.loop) > j->wait.deadline_ms) {
        (void)err_set(&late, -EREMOTEIO, ERR_RETRY, "slurmctld did not come back within %d s%s%s",
                      wait_ms(j->engine) / 1000, e && e->text[0] ? ": " : "", e ? e->text : "");
        step_failed(j, -EREMOTEIO, &late);
        return;
    }
    if (!j->wait.timer)
        j->wait.timer = loop_add_timer(j->engine->o.loop, restart_look, j);
    loop_timer_arm(j->wait.timer, RESTART_LOOK_MS);
}

static void restart_look(void *arg)
{
    struct job *j = arg;
    struct err e = {0};

    if (restart_has_ended(j->engine, 0, &e)) {
        j->fate = FATE_ENDED;
        step_failed(j, -EREMOTEIO, &e);
        return;
    }
    j->wait.unmarked = access(j->engine->o.marker, F_OK) != 0;
    hub_ping(j->engine->o.hub, PING_TIMEOUT_MS, on_restarted, j);
}

static void on_shut_down(struct job *j, int r, const struct jsn *answer, const struct err *e)
{
    (void)answer;
    /* one that is gone already is as good */
    if (r < 0 && r != -EHOSTDOWN) {
        step_failed(j, r, e);
        return;
    }
    link_restart(j->engine->o.link);
    j->wait.deadline_ms = loop_now_ms(j->engine->o.loop) + wait_ms(j->engine);
    restart_look(j);
}

static void shut_down(struct job *j)
{
    struct err e = {0};

    if (!mark(j->engine)) {
        (void)err_set(
            &e, -EHOSTDOWN, ERR_RETRY,
            "the files are in place, but this change needs slurmctld to be started again, "
            "and nobody here can do that: restart it by hand");
        step_failed(j, -EHOSTDOWN, &e);
        return;
    }
    j->wait.boot_before = hub_boot_time(j->engine->o.hub);
    step_call(j, "shutdown", NULL, NULL, 0, RPC_TIMEOUT_MS, on_shut_down);
}

void step_restart(struct job *j)
{
    handed_wait(j, shut_down);
}
