/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stop-watch inside Slurm: does what is asked for on standard input, one line each, and answers
 * with nanoseconds.
 *
 *   update PARTITION MINUTES    one bare libslurm update of MaxTime; how long it took
 *   wait PARTITION MINUTES MS   until slurmctld shows that MaxTime; the monotonic clock then
 *   exists PARTITION MS         until slurmctld has the partition; the monotonic clock then
 *   killwait SECONDS MS         until slurmctld shows that KillWait; the monotonic clock then
 *   reconfigure                 one bare reconfigure; how long it took
 *   seldom PARTITION MS         as exists, but asks so seldom that slurmctld does not notice
 *
 * Answers "-" when the time is out, or what libslurm says.  SLURM_CONF names the cluster.
 */
#include <inttypes.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)
#define slurm_free_ctl_conf slurm_free_conf
#endif

#define ANY_TIME UINT32_MAX
#define LEAST_NAP_NS 300000
#define MOST_NAP_NS 5000000
#define SELDOM_NAP_NS 20000000

static int64_t now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void update(const char *name, uint32_t minutes)
{
    update_part_msg_t message;
    int64_t start = now_ns();

    slurm_init_part_desc_msg(&message);
    message.name = (char *)(uintptr_t)name;
    message.max_time = minutes;
    if (slurm_update_partition(&message) != 0)
        printf("- %s\n", slurm_strerror(errno));
    else
        printf("%" PRId64 "\n", now_ns() - start);
}

static int shows(const char *name, uint32_t minutes)
{
    partition_info_msg_t *all = NULL;
    int found = 0;

    if (slurm_load_partitions(0, &all, SHOW_ALL) != 0)
        return 0;
    for (uint32_t i = 0; i < all->record_count; i++) {
        const partition_info_t *p = &all->partition_array[i];

        if (strcmp(p->name, name) == 0 && (minutes == ANY_TIME || p->max_time == minutes))
            found = 1;
    }
    slurm_free_partition_info_msg(all);
    return found;
}

static void wait_for(const char *name, uint32_t minutes, int64_t limit_ms, int64_t least_nap_ns)
{
    int64_t end = now_ns() + limit_ms * 1000000;

    while (now_ns() < end) {
        struct timespec nap = {0, least_nap_ns};
        int64_t asked = now_ns();

        if (shows(name, minutes)) {
            printf("%" PRId64 "\n", now_ns());
            return;
        }
        /* Where the answer takes long, who waits for it must not be what slurmctld does most. */
        if (now_ns() - asked > least_nap_ns)
            nap.tv_nsec = now_ns() - asked < MOST_NAP_NS ? now_ns() - asked : MOST_NAP_NS;
        (void)nanosleep(&nap, NULL);
    }
    printf("-\n");
}

static int has_kill_wait(uint32_t seconds)
{
    slurm_conf_t *conf = NULL;
    int same;

    if (slurm_load_ctl_conf(0, &conf) != 0)
        return 0;
    same = conf->kill_wait == seconds;
    slurm_free_ctl_conf(conf);
    return same;
}

static void wait_kill_wait(uint32_t seconds, int64_t limit_ms)
{
    int64_t end = now_ns() + limit_ms * 1000000;

    while (now_ns() < end) {
        struct timespec nap = {0, MOST_NAP_NS};

        if (has_kill_wait(seconds)) {
            printf("%" PRId64 "\n", now_ns());
            return;
        }
        (void)nanosleep(&nap, NULL);
    }
    printf("-\n");
}

static void reconfigure(void)
{
    int64_t start = now_ns();

    if (slurm_reconfigure() != 0)
        printf("- %s\n", slurm_strerror(errno));
    else
        printf("%" PRId64 "\n", now_ns() - start);
}

int main(void)
{
    char line[512];
    char verb[16];
    char name[256];
    uint32_t minutes;
    int64_t ms;

    slurm_init(NULL);
    while (fgets(line, sizeof(line), stdin)) {
        if (sscanf(line, "%15s %255s %" SCNu32 " %" SCNd64, verb, name, &minutes, &ms) == 4)
            wait_for(name, minutes, ms, LEAST_NAP_NS);
        else if (strcmp(line, "reconfigure\n") == 0)
            reconfigure();
        else if (sscanf(line, "killwait %" SCNu32 " %" SCNd64, &minutes, &ms) == 2)
            wait_kill_wait(minutes, ms);
        else if (sscanf(line, "update %255s %" SCNu32, name, &minutes) == 2)
            update(name, minutes);
        else if (sscanf(line, "exists %255s %" SCNd64, name, &ms) == 2)
            wait_for(name, ANY_TIME, ms, LEAST_NAP_NS);
        else if (sscanf(line, "seldom %255s %" SCNd64, name, &ms) == 2)
            wait_for(name, ANY_TIME, ms, SELDOM_NAP_NS);
        else
            printf("- not understood\n");
        (void)fflush(stdout);
    }
    return 0;
}
