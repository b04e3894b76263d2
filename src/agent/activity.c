/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Activity.
 *
 * slurmctld has no subscriptions; whoever wants to know a change within a second has to ask every
 * second, for nodes, partitions, jobs and reservations each.  But nearly everything that changes in
 * it comes as an RPC over a new TCP connection: scontrol, sbatch, a slurmd that registers or ends a
 * job.  The kernel counts accepted connections ("PassiveOpens" in /proc/net/snmp, for each network
 * namespace), and reading that is some microseconds.  So an idle slurmctld is left alone but for one
 * small call a second, and a busy one is asked at once.
 */
#include "src/agent/activity.h"

#include <fcntl.h>

#include "src/base/str.h"

/* The position of a name in the line of names. */
static bool column_of(struct str names, const char *name, size_t *ret)
{
    struct str word;

    for (size_t i = 0; str_split(&names, ' ', &word); i++) {
        if (str_eqz(word, name)) {
            *ret = i;
            return true;
        }
    }
    return false;
}

static bool column_get(struct str line, size_t column, uint64_t *ret)
{
    struct str word = {0};

    for (size_t i = 0; i <= column; i++)
        if (!str_split(&line, ' ', &word))
            return false;
    return str_to_u64(word, ret) == 0;
}

bool activity_parse(const char *text, uint64_t *ret_accepted)
{
    struct str rest = str_of(text);
    struct str line;
    size_t column = 0;
    bool names = false;

    while (str_split(&rest, '\n', &line)) {
        if (!str_starts(line, "Tcp: "))
            continue;
        if (names)
            return column_get(line, column, ret_accepted);
        if (!column_of(line, "PassiveOpens", &column))
            return false;
        names = true;
    }
    return false;
}

bool activity_read(uint64_t *ret_accepted)
{
    AUTO(close) int fd = open("/proc/net/snmp", O_RDONLY | O_CLOEXEC);
    char text[8192];
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

    if (n <= 0)
        return false;
    text[n] = '\0';
    return activity_parse(text, ret_accepted);
}
