/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way of slurmctld's messages to the commands on this machine.
 *
 * srun tells slurmctld the name of its host and a port.  slurmctld looks the name up among the
 * nodes of its configuration, which does not have this machine, and then connects to the address
 * 0.0.0.0, which is itself (srun_comm.c of Slurm 22.05: SRUN_STEP_SIGNAL, by which a waiting step
 * is begun, and others).  So what slurmctld sends to high ports of its own loopback is led to the
 * machine, at the address that pods reach it by.  That opens nothing: a pod may connect there
 * anyway.
 *
 * The kernel takes an answer for 127.0.0.1 from outside only where route_localnet is set.  What
 * else comes from outside for such an address is dropped, as it would be without.
 */
#include "src/cluster/node/network/callback.h"

#include <stdio.h>

#include "src/cluster/node/runtime/confine.h"

#define TIMEOUT_MS 20000

static const struct ctr_spec *slurmctld_of(const struct pod_spec *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (streq(p->ctrs[i].name, "slurmctld"))
            return &p->ctrs[i];
    return NULL;
}

bool callback_wanted(const struct pod_spec *p)
{
    return !p->host_network && slurmctld_of(p);
}

/* Of slurmctld alone, where it is known who that is; and never its own ports. */
static void print_match(struct buf *b, const struct pod_spec *p)
{
    const struct jsn *uid = confine_setting(p, slurmctld_of(p), "runAsUser");

    if (jsn_is(uid, JSN_INT) && uid->i > 0)
        buf_printf(b, "meta skuid %lld tcp dport 1024-65535 tcp dport != 6817-6821",
                   (long long)uid->i);
    else
        buf_adds(b, "tcp dport 32768-60999");
}

void callback_print(struct buf *b, const struct pod_spec *p, const char *gateway)
{
    buf_adds(b, "table ip slurmkeeper_callback {\n"
                " chain out { type nat hook output priority -100;\n"
                "  ip daddr 127.0.0.1 ");
    print_match(b, p);
    buf_printf(b,
               " dnat to %s\n"
               " }\n"
               " chain leave { type nat hook postrouting priority 100;\n"
               "  oifname \"eth0\" ip saddr 127.0.0.0/8 masquerade\n"
               " }\n"
               " chain enter { type filter hook input priority 0;\n"
               "  iifname \"eth0\" ip daddr 127.0.0.0/8 ct state != { established, related } drop\n"
               " }\n"
               "}\n",
               gateway);
}

struct job *callback_open(struct loop *l, pid_t pid, const char *rules, job_program_fn done,
                          void *arg)
{
    char net[64];
    const char *const argv[] = {"nsenter",
                                net,
                                "sh",
                                "-c",
                                "nft -f - && echo 1 >/proc/sys/net/ipv4/conf/eth0/route_localnet",
                                NULL};
    struct job_program program = {
        .argv = argv, .input = str_of(rules), .timeout_ms = TIMEOUT_MS, .done = done, .arg = arg};

    (void)snprintf(net, sizeof(net), "--net=/proc/%d/ns/net", (int)pid);
    return job_run(l, &program);
}
