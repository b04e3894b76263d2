/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmkeeper env: what a shell needs for kubectl and Slurm's commands to work with the cluster.
 *
 * Prints exports for eval.  KUBECONFIG is for root alone (its file is); who may not read it gets
 * SLURM_CONF only, which is all that sinfo, srun and sbatch need; and PATH where the shell would
 * find those of another Slurm than the cluster's.  Where several Controllers leave the choice open,
 * KUBECONFIG is printed alone, and the rest is said.
 */
#include <stdio.h>

#include "src/base/alloc.h"
#include "src/base/which.h"
#include "src/cli/reach.h"
#include "src/cli/verbs.h"
#include "src/local/install.h"

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

/* Where the shell would find the commands of another Slurm. */
static void add_path(struct buf *b, const struct layout *l)
{
    AUTO(free) char *prefix = layout_slurm(l);
    AUTO(free) char *found = which_program("sinfo", getenv("PATH"));
    AUTO(free) char *there = found ? which_prefix(found) : NULL;
    AUTO(free) char *path = NULL;

    if (!prefix || streq(prefix, there))
        return;
    path = install_path(prefix, getenv("PATH"));
    add_export(b, "PATH", path);
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
    if (client && client->sack)
        add_export(&b, "SLURM_SACK_SOCKET", client->sack);
    else if (client && getenv("SLURM_SACK_SOCKET"))
        buf_adds(&b, "unset SLURM_SACK_SOCKET\n"); /* of another cluster */
    if (client)
        add_path(&b, &l);
    return fputs(buf_str(&b), stdout) < 0 || fflush(stdout) != 0 ? 1 : 0;
}
