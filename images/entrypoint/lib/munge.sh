# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# munged for a daemon of Slurm where the cluster authenticates by munge; to be sourced.
#
# The key is a file of a volume, which may belong to another user than munged likes: a copy does
# not.  munged is kept up for as long as the container lives.

munge_key=/etc/slurm/munge.key
munge_socket=/run/munge/munge.socket.2

run_munged() {
    local dir=$1

    while :; do
        munged --foreground --force --key-file="$dir/key" --socket="$munge_socket" \
            --pid-file="$dir/pid" --seed-file="$dir/seed" --log-file="$dir/log" 2>/dev/null
        sleep 1
    done
}

# Returns when munged answers.  Nothing to do where the cluster's key is not of munge.
start_munged() {
    local dir i

    [ -r "$munge_key" ] || return 0
    mkdir -p /run/munge
    dir=$(mktemp -d /run/munge-XXXXXX)
    install -m 0400 "$munge_key" "$dir/key"
    run_munged "$dir" &
    for ((i = 0; i < 200; i++)); do
        [ -S "$munge_socket" ] && munge -n >/dev/null 2>&1 && return 0
        sleep 0.02
    done
    echo "munged does not answer on $munge_socket; its log:" >&2
    cat "$dir/log" >&2
    return 1
}
