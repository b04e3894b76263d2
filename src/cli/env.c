/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmkeeper env: what a shell needs for kubectl and Slurm's commands to work with the cluster.
 *
 * Prints exports for eval.  KUBECONFIG is for root alone (its file is); who may not read it gets
 * SLURM_CONF only, which is all that sinfo, srun and sbatch need.  Where several Controllers leave
 * the choice open, KUBECONFIG is printed alone, and the rest is said.
 */
#include <stdio.h>

#include "src/cli/reach.h"
#include "src/cli/verbs.h"

static void add_export(struct buf *b, const char *name, const char *value)
{
    buf_printf(b, "export %s='", name);
    for (; *value; value++) {
        if (*value == '\'')
            buf_adds(b, "'\\''");
        else
            buf_addc(b, *value);
    }
    buf_adds(b, "'\n");
}

int verb_env_run(const struct cli_args *args)
{
    AUTO(layout_done) struct layout l = {0};
    AUTO(reach_clients_done) struct reach_clients clients = {0};
    AUTO(buf_done) struct buf b = {0};
    const struct reach_client *client;
    struct err e = {0};

    if (layout_init(&l, reach_state(args), &e) < 0)
        return cli_failure("env: %s", e.text);
    if (layout_holder(&l) == 0)
        return reach_not_served("env", args, &l);
    reach_list(&l, &clients);
    client = reach_pick(&clients, cli_get(args, "controller"), &e);
    if (!client && cli_has(args, "controller"))
        return cli_failure("env: %s", e.text);
    if (!client && clients.n > 0)
        (void)cli_failure("env: SLURM_CONF is not set: %s with --controller", e.text);
    if (access(l.kubeconfig, R_OK) == 0)
        add_export(&b, "KUBECONFIG", l.kubeconfig);
    if (client)
        add_export(&b, "SLURM_CONF", client->conf);
    return fputs(buf_str(&b), stdout) < 0 || fflush(stdout) != 0 ? 1 : 0;
}
