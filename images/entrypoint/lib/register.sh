# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A node that slurmctld has lost registers again; to be sourced.
#
# slurmd registers when it starts, and not by itself afterwards.  The operator, which sees that
# slurmctld does not have the node, writes a new text into a file (an annotation of the pod); then
# slurmd is ended, and the start script starts it again.  Jobs do not notice.

register_asked=/etc/slurm/register
register_again=/run/slurm/register-again

# Was slurmd ended for that?  Told once.
registers_again() { rm "$register_again" 2>/dev/null; }

# For the background: as long as the container lives.
follow_register() {
    local known="" asked=""

    [ ! -r "$register_asked" ] || known=$(<"$register_asked")
    while sleep 1; do
        [ -r "$register_asked" ] && asked=$(<"$register_asked") || continue
        [ -n "$asked" ] && [ "$asked" != "$known" ] || continue
        known=$asked
        echo "slurmctld has no record of this node: slurmd is started again to register" >&2
        : >"$register_again"
        kill -TERM "$(cat "$slurmd_pid")" 2>/dev/null
    done
}
