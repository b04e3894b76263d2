# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# munged for a daemon of Slurm where the cluster authenticates by munge; to be sourced.
#
# slurmkeeper-munge, beside the start scripts or in PATH, follows the cluster's keys while they
# change.  Where it is missing, munged is started with the key of that moment.  The key is a file of
# a volume, which may belong to another user than munged likes: a copy does not.  Either is kept up
# for as long as the container lives.

munge_key=/etc/slurm/munge.key
munge_ring=/etc/slurm/munge.ring
munge_socket=/run/munge/munge.socket.2

# A program of ours: beside the directory of the start scripts, or in PATH.
own_program() {
    local beside=${0%/*}/../$1

    if [ -x "$beside" ]; then echo "$beside"; else command -v "$1"; fi
}

run_munged() {
    local dir=$1 stage=$2 keeper

    keeper=$(own_program slurmkeeper-munge)
    while :; do
        if [ -n "$keeper" ] && [ -r "$munge_ring" ]; then
            "$keeper" "$munge_ring" "$munge_socket" "$dir" "$stage"
        else
            install -m 0400 "$munge_key" "$dir/key"
            munged --foreground --force --key-file="$dir/key" --socket="$munge_socket" \
                --pid-file="$dir/pid" --seed-file="$dir/seed" --log-file="$dir/log" 2>/dev/null
        fi
        sleep 1
    done
}

# start_munged STAGE-FILE: returns when munged answers.  Nothing to do where the cluster's key is not
# of munge.
start_munged() {
    local dir i

    [ -r "$munge_key" ] || return 0
    mkdir -p /run/munge "${1%/*}"
    dir=$(mktemp -d /run/munge-XXXXXX)
    run_munged "$dir" "$1" &
    for ((i = 0; i < 500; i++)); do
        [ -S "$munge_socket" ] && munge -n >/dev/null 2>&1 && return 0
        sleep 0.02
    done
    echo "munged does not answer on $munge_socket; its log:" >&2
    cat "$dir"/log "$dir"/*/log >&2
    return 1
}
