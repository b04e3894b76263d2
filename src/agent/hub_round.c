/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When the hub asks for what:
 *   - nobody talked to slurmctld (activity.c): one list a second, mostly the nodes, since those
 *     also change by themselves (a node that stops answering, a job at its limit);
 *   - somebody did: all four, and once more half a second later, for a connection is counted
 *     before slurmctld has done what it was made for; at most twice a second;
 *   - we did (hub_touch): all four at once, then one list every 100 ms for 5 s;
 *   - slurmctld does not answer: a ping a second; ten in the first seconds, for it may be starting;
 *   - it refuses our libslurm: a ping every ten seconds;
 *   - the kernel does not count connections: all four every second.
 *
 * A slurmctld that hangs takes connections and does not answer.  libslurm waits for it for longer
 * than anybody should be told that it answers: so it counts as down before the call has ended.
 */
#include "src/agent/hub_impl.h"

#define LOOK_MS 250 /* at the kernel's count */
#define TICK_MS 1000
#define CLOSE_TICK_MS 100
#define CLOSE_LOOK_MS 5000
#define ROUND_GAP_MS 500
#define CALL_TIMEOUT_MS 20000
#define OVERDUE_MS 8000

void hub_round_ended(struct hub *h)
{
    uint64_t accepted = 0;
    bool known = h->events.activity(&accepted);

    if (h->for_activity || (known && h->activity_known && accepted > h->accepted + h->round_calls))
        h->wanted = HUB_ALL;
    h->for_activity = false;
    h->activity_known = known;
    h->accepted = accepted;
    if (h->events.on_round)
        h->events.on_round(h->arg);
    hub_publish(h);
}

/* Ask for what is wanted, but for lists that have cost too much just now. */
static bool round_start(struct hub *h)
{
    h->round_calls = 0;
    if (h->boot_time == 0 && !h->pinging)
        hub_ping(h, HUB_PING_TIMEOUT_MS, NULL, NULL);
    for (unsigned i = 0; i < HUB_N_TABLES; i++) {
        bool dear = h->lists[i].not_before_ms > loop_now_ms(h->loop);

        if (!(h->wanted & 1U << i) || (dear && (h->known & 1U << i)))
            continue;
        h->wanted &= ~(1U << i);
        hub_refresh(h, (enum hub_table)i, CALL_TIMEOUT_MS, NULL, NULL);
    }
    return h->round_calls > 0;
}

/* Three times the nodes, then one of the others. */
static enum hub_table next_table(struct hub *h)
{
    unsigned tick = h->ticks++;

    if (tick % 4 != 3)
        return HUB_NODES;
    return (enum hub_table)(HUB_PARTITIONS + tick / 4 % (HUB_N_TABLES - HUB_PARTITIONS));
}

static bool somebody_talked(const struct hub *h)
{
    uint64_t accepted;

    return h->events.activity(&accepted) && accepted != h->accepted;
}

static void turn(struct hub *h, int64_t now)
{
    bool due = now >= h->next_ms;
    bool close = now < h->close_look_until_ms;

    h->for_activity = h->up && h->activity_known && somebody_talked(h);
    if (h->for_activity || (h->up && !h->activity_known && due))
        h->wanted = HUB_ALL;
    if (!h->up) {
        if (!due || h->pinging)
            return;
        hub_ping(h, HUB_PING_TIMEOUT_MS, NULL, NULL);
    } else if (h->wanted == 0 || !round_start(h)) {
        if (!due)
            return;
        h->round_calls = 0;
        hub_refresh(h, next_table(h), CALL_TIMEOUT_MS, NULL, NULL);
    }
    h->next_ms = now + (h->mismatch ? HUB_MISMATCH_MS : close ? CLOSE_TICK_MS : TICK_MS);
}

/* Time in which this process did not run is not held against slurmctld. */
static bool is_overdue(struct hub *h, int64_t now)
{
    h->silent_ms += MIN(now - h->ticked_ms, ROUND_GAP_MS);
    return h->up && !h->pinging && h->silent_ms > OVERDUE_MS;
}

void hub_on_timer(void *arg)
{
    struct hub *h = arg;
    int64_t now = loop_now_ms(h->loop);
    bool close = now < h->close_look_until_ms;

    if (h->in_flight == 0)
        turn(h, now);
    else if (is_overdue(h, now))
        hub_overdue(h);
    h->ticked_ms = now;
    loop_timer_arm(h->timer, close ? CLOSE_TICK_MS : h->round_calls > 1 ? ROUND_GAP_MS : LOOK_MS);
}

void hub_start(struct hub *h)
{
    h->next_ms = loop_now_ms(h->loop);
    hub_look_closely(h);
    loop_timer_arm(h->timer, 0);
}

void hub_look_closely(struct hub *h)
{
    h->close_look_until_ms = loop_now_ms(h->loop) + CLOSE_LOOK_MS;
}

void hub_doubt(struct hub *h, enum hub_table table)
{
    h->lists[table].since = 0;
}

void hub_touch(struct hub *h)
{
    h->wanted = HUB_ALL;
    hub_look_closely(h);
    if (h->up)
        loop_timer_arm(h->timer, 0);
}
