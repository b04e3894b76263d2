/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls about slurmctld itself: is it there, which one, what is it configured to, read the files
 * again, end, has it told its nodes.
 *
 * `ping` never waits for a controller that is not there.  Its answer is ok even then: that nobody
 * is up is an answer.  The release comes with the configuration, which is asked for with the time
 * of the last answer and so costs next to nothing while nothing changes.
 *
 * A slurmctld that is older than this libslurm, or much newer, refuses to talk to it.  That does
 * not pass by itself, so `ping` tells it apart from a slurmctld that is away.  Seen: libslurm 22.05
 * gets -1 ("Unspecified error") from 24.11, and nonsense from 26.05.
 */
#include "src/agent/worker/call.h"
#include "src/agent/worker/controllers.h"
#include "src/agent/worker/release.h"

#include <stdio.h>

#include "src/base/alloc.h"
#include "src/wire/state.h"

/* What the controller in charge said of itself last. */
static struct {
    time_t asked; /* its own clock */
    char *release;
    char *cluster;
    time_t boot_time;
    uint32_t hash;
} known;

static void known_take(const slurm_conf_t *conf)
{
    free(known.release);
    free(known.cluster);
    known.release = xstrdup_null(conf->version);
    known.cluster = xstrdup_null(conf->cluster_name);
    known.asked = conf->last_update;
    known.boot_time = conf->boot_time;
    known.hash = conf->hash_val;
}

static int known_refresh(void)
{
    slurm_conf_t *conf = NULL;

    if (slurm_load_ctl_conf(known.asked, &conf) != SLURM_SUCCESS)
        return errno == SLURM_NO_CHANGE_IN_DATA ? 0 : errno;
    known_take(conf);
    release_conf_free(conf);
    return 0;
}

void call_put_boot_time(struct worker_call *c)
{
    if (known_refresh() == 0)
        call_put_time(c, c->answer, "bootTime", known.boot_time);
}

static bool controllers_list(struct worker_call *c, struct jsn *list, bool *mismatch)
{
    bool any = false;

    for (size_t i = 0; i < controllers_count(); i++) {
        int code = controllers_ping(i);
        struct wire_controller one = {
            .name = controllers_name(i),
            .mode = i == 0 ? "primary" : "backup",
            .up = code == 0,
            .error = code != 0 ? slurm_strerror(code) : NULL,
        };

        jsn_append(c->arena, list, fields_encode(c->arena, wire_controller_fields, &one));
        any = any || code == 0;
        *mismatch = *mismatch || code == -1 || call_code_mismatch(code);
    }
    return any;
}

int call_ping(struct worker_call *c)
{
    static bool answered; /* the last time */
    struct jsn *list = jsn_array(c->arena);
    bool mismatch = false;
    bool up = controllers_list(c, list, &mismatch);
    int code = 0;

    /* it may leave between the two, or wait in standby: up means that it answers questions */
    if (up && ((!answered && controllers_way_closed()) || (code = known_refresh()) != 0))
        up = false;
    answered = up;
    jsn_set_bool(c->arena, c->answer, "mismatch", !up && (mismatch || call_code_mismatch(code)));
    jsn_set_bool(c->arena, c->answer, "up", up);
    jsn_set(c->arena, c->answer, "controllers", list);
    call_put_text(c, c->answer, "release", known.release);
    call_put_text(c, c->answer, "cluster", known.cluster);
    call_put_time(c, c->answer, "bootTime", known.boot_time);
    jsn_set_int(c->arena, c->answer, "hash", known.hash);
    jsn_set_int(c->arena, c->answer, "libslurm", release_built_for());
    return 0;
}

/* One line of slurm_print_key_pairs: "MessageTimeout          = 10 sec". */
static void pair_take(struct worker_call *c, struct str line, struct jsn *config)
{
    struct str key = {line.p, str_find(line, '=')};
    struct str value;

    if (key.n == line.n)
        return;
    value = str_trim((struct str){line.p + key.n + 1, line.n - key.n - 1});
    key = str_trim(key);
    if (key.n > 0 && !str_eqz(value, "(null)"))
        jsn_set(c->arena, config, arena_str(c->arena, key), jsn_str(c->arena, value));
}

static int pairs_take(struct worker_call *c, slurm_conf_t *conf, struct jsn *config)
{
    char title[] = "";
    AUTO(free) char *text = NULL;
    struct str rest;
    struct str line;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);

    if (!out)
        return call_failed(c, "refused", "out of memory");
    slurm_print_key_pairs(out, slurm_ctl_conf_2_key_pairs(conf), title);
    (void)fclose(out);
    rest = (struct str){text, n};
    while (str_split(&rest, '\n', &line))
        pair_take(c, line, config);
    return 0;
}

int call_conf(struct worker_call *c)
{
    slurm_conf_t *conf = NULL;
    struct jsn *config = jsn_object(c->arena);
    int r;

    if (slurm_load_ctl_conf(call_since(c), &conf) != SLURM_SUCCESS) {
        if (errno == SLURM_NO_CHANGE_IN_DATA)
            return call_unchanged(c);
        return call_refused(c, errno, "the configuration cannot be read");
    }
    jsn_set_int(c->arena, c->answer, "time", conf->last_update);
    call_put_text(c, c->answer, "release", conf->version);
    call_put_time(c, c->answer, "bootTime", conf->boot_time);
    jsn_set_int(c->arena, c->answer, "hash", conf->hash_val);
    jsn_set(c->arena, c->answer, "config", config);
    r = pairs_take(c, conf, config);
    release_conf_free(conf);
    return r;
}

int call_reconfigure(struct worker_call *c)
{
    if (slurm_reconfigure() != SLURM_SUCCESS)
        return call_refused(c, errno, "slurmctld did not take the new configuration");
    known.asked = 0;
    return 0;
}

/* slurmctld alone: slurmd and the jobs go on. */
int call_shutdown(struct worker_call *c)
{
    enum { CONTROLLER_ALONE = 2 };

    if (slurm_shutdown(CONTROLLER_ALONE) != SLURM_SUCCESS)
        return call_refused(c, errno, "slurmctld cannot be ended");
    known.asked = 0;
    return 0;
}

/* Messages to nodes: those that are being sent, and those of files that wait for their turn. */
int call_under_way(struct worker_call *c)
{
    stats_info_request_msg_t request = {.command_id = STAT_COMMAND_GET};
    stats_info_response_msg_t *stats = NULL;
    int64_t n;

    if (slurm_get_statistics(&stats, &request) != SLURM_SUCCESS)
        return call_refused(c, errno, "slurmctld does not tell what is under way to its nodes");
    n = stats->agent_count;
    for (uint32_t i = 0; i < stats->rpc_queue_type_count; i++)
        if (stats->rpc_queue_type_id[i] == RELEASE_MESSAGE_FILES)
            n += stats->rpc_queue_count[i];
    jsn_set_int(c->arena, c->answer, "messages", n);
    release_stats_free(stats);
    return 0;
}
