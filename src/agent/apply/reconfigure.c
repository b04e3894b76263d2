/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The step that has slurmctld read its files.
 *
 * One that does not answer has died of it, perhaps: it gets its old files back.
 *
 * From 23.11 on slurmctld starts another process on them and refuses when that ends, but does not
 * say why.  That process has: its last words are in a file beside the restart marker, a moment
 * later at most, since they pass through the start script.
 */
#include "src/agent/apply/engine_impl.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/file.h"

#include <sys/stat.h>

#define RECONFIGURE_TIMEOUT_MS 60000
#define WORDS_WAIT_MS 150
#define WORDS_MAX_BYTES ((size_t)64 << 10)
#define WORD_LEN 300

static bool settings_differ(const struct job *j)
{
    for (size_t i = 0; i < j->aim.compared.slurm.n; i++)
        if (j->aim.compared.slurm.list[i].section == CONF_GLOBAL)
            return true;
    return false;
}

/*
 * slurmctld is gone, or silent.  That may be an accident, the first time; when the same declaration
 * does it again, it is not.
 */
static void reconfigure_failed(struct job *j, int r, const struct err *e)
{
    struct engine *g = j->engine;
    struct err why = e ? *e : (struct err){0};

    if (!step_is_refusal(r)) {
        j->fate = FATE_LOST;
        why.class = streq(g->deadly, j->record->hash) ? ERR_PERMANENT : ERR_RETRY;
        memcpy(g->deadly, j->record->hash, sizeof(g->deadly));
    }
    step_failed(j, r, &why);
}

/* The last line that calls itself fatal, if the file was written since; owned, or NULL. */
static char *words_find(const struct engine *g, int64_t since_us)
{
    const char *slash = g->o.marker ? strrchr(g->o.marker, '/') : NULL;
    AUTO(free)
    char *path =
        slash ? xasprintf("%.*s/last-words", (int)(slash - g->o.marker), g->o.marker) : NULL;
    AUTO(free) char *text = NULL;
    struct stat st;
    const char *last = NULL;

    if (!path || stat(path, &st) < 0 ||
        (int64_t)st.st_mtim.tv_sec * 1000000 + st.st_mtim.tv_nsec / 1000 < since_us ||
        file_read(path, WORDS_MAX_BYTES, &text, NULL, NULL) < 0)
        return NULL;
    for (const char *at = text; (at = strstr(at, "fatal: ")); at += 7)
        last = at + 7;
    return last ? str_dup((struct str){last, MIN(strcspn(last, "\n"), (size_t)WORD_LEN)}) : NULL;
}

static void refuse(void *arg)
{
    struct job *j = arg;
    AUTO(free) char *words = words_find(j->engine, j->wait.since_us);
    struct err e = {0};

    j->wait.timer = loop_source_free(j->wait.timer);
    (void)err_set(&e, j->wait.refused, ERR_PERMANENT, "slurmctld refused the new configuration%s%s",
                  words ? ": " : "", words ? words : "");
    reconfigure_failed(j, j->wait.refused, &e);
}

/* A refusal without a reason: the reason is on its way. */
static bool is_mute(const struct jsn *answer)
{
    return jsn_get_int(jsn_key(answer, "error"), "code", 0) == -1;
}

static void on_reconfigured(struct job *j, int r, const struct jsn *answer, const struct err *e)
{
    if (step_is_refusal(r) && is_mute(answer)) {
        j->wait.refused = r;
        j->wait.timer = loop_add_timer(j->engine->o.loop, refuse, j);
        loop_timer_arm(j->wait.timer, WORDS_WAIT_MS);
        return;
    }
    if (r < 0) {
        reconfigure_failed(j, r, e);
        return;
    }
    handed_note(j->engine);
    if (settings_differ(j))
        link_restart(j->engine->o.link);
    step_done(j);
}

static void reconfigure(struct job *j)
{
    j->wait.since_us = clock_wall_us();
    step_call(j, "reconfigure", NULL, NULL, 0, RECONFIGURE_TIMEOUT_MS, on_reconfigured);
}

void step_reconfigure(struct job *j)
{
    handed_wait(j, reconfigure);
}
