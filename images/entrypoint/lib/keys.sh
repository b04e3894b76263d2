# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The stage of a change of the cluster's key (docs/keys.md), for a worker; to be sourced.
#
# What this node has is told in its comment in Slurm, "[keys 3-accept]", for as long as a change is
# under way; what else is in the comment stays.  munge's keys change by themselves (munge.sh).
# slurmd reads its own when it reads its configuration again, which no job notices.

key_stage=/run/slurm/key-stage # by slurmkeeper-munge
slurmd_pid=/run/slurm/daemon.pid

# Of the files that are mounted; with munge, of those that are in effect.
stage_at_hand() {
    if [ -r /etc/slurm/slurm.jwks ]; then
        sed -n 's/.*"stage":"\([^"]*\)".*/\1/p' /etc/slurm/slurm.jwks
    elif [ -r /etc/slurm/key.stage ]; then
        cat /etc/slurm/key.stage
    else
        cat "$key_stage" 2>/dev/null
    fi
}

tell_stage() {
    local name record old new

    name=$(hostname)
    record=$(timeout 20 scontrol show node "$name" 2>/dev/null) || return 1
    old=$(sed -n 's/^[[:space:]]*Comment=//p' <<<"$record")
    new=$(sed 's/ *\[keys [^]]*\]//' <<<"$old")
    case $1 in *-rest) ;; *) new="${new:+$new }[keys $1]" ;; esac
    [ "$new" = "$old" ] || timeout 20 scontrol update "nodename=$name" "comment=$new"
}

# slurmd asks slurmctld for its configuration on the way: not while that does not answer, nor in the
# moments in which it is about to be started with the same keys.
reload_slurmd() {
    [ ! -r /etc/slurm/munge.ring ] || return 0
    sleep 5
    timeout 20 scontrol ping >/dev/null 2>&1 && kill -HUP "$(cat "$slurmd_pid")" 2>/dev/null
}

# For the background: as long as the container lives.  Told again and again while a change is under
# way: slurmctld may forget it.
follow_keys() {
    local stage loaded told="" last

    loaded=$(stage_at_hand)
    while sleep 1; do
        stage=$(stage_at_hand)
        [ -n "$stage" ] || continue
        if [ "$stage" != "$loaded" ]; then
            [ -n "$loaded" ] && { reload_slurmd || continue; }
            loaded=$stage
            sleep 1
        fi
        case $stage in
        *-rest) [ "$told" != "$stage" ] || continue ;;
        *) ((${last:-0} + 3 <= SECONDS)) || continue ;;
        esac
        last=$SECONDS
        tell_stage "$stage" && told=$stage
    done
}
