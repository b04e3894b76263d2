# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The order in which the nodes of a NodeSet register; to be sourced.
#
# Slurm before 23.11 keeps dynamic nodes in the order in which their records were made, each in the
# first place that is free, and so are the nodes of a job: the first one has rank 0.  A node that
# slurmctld does not know yet therefore waits until those of its NodeSet with lower numbers are
# known.  It does not wait long: not when nothing happens any more (a lower pod may be missing), and
# never longer than some seconds; then it registers out of its turn.

order_answer_s=20 # for slurmctld's first answer
order_still_s=8   # without a new node
order_most_s=30   # in all

# nodes_ahead NAME < NAMES: how many of NAME's NodeSet with lower numbers are not among the names;
# -1 if NAME itself is.
nodes_ahead() {
    local name=$1 prefix number known line

    number=${name##*[!0-9]}
    prefix=${name%"$number"}
    known=0
    while read -r line; do
        if [ "$line" = "$name" ]; then
            echo -1
            return
        fi
        case $line in
        "$prefix"*[!0-9]* | "$prefix") ;;
        "$prefix"*) ((10#${line#"$prefix"} < 10#${number:-0})) && known=$((known + 1)) ;;
        esac
    done
    echo $((10#${number:-0} - known))
}

known_nodes() {
    local records

    records=$(SLURM_CONF_SERVER=$1 timeout 5 scontrol -o show nodes 2>/dev/null) || return 1
    sed -n 's/^NodeName=\([^ ]*\).*/\1/p' <<<"$records"
}

# The value of --conf-server among slurmd's arguments.
conf_server() {
    while [ $# -gt 1 ]; do
        [ "$1" != --conf-server ] || {
            echo "$2"
            return
        }
        shift
    done
}

# await_turn ARGUMENT...: before slurmd is started with these arguments.
await_turn() {
    local name server names ahead last="" begun first="" moved=0

    name=$(hostname)
    server=$(conf_server "$@")
    case $name in *[!0-9]0 | *[!0-9]) return 0 ;; esac
    [ -n "$server" ] || return 0
    begun=$SECONDS
    while [ -z "${ending:-}" ]; do
        if names=$(known_nodes "$server"); then
            first=${first:-$SECONDS}
            ahead=$(nodes_ahead "$name" <<<"$names")
            ((ahead > 0)) || return 0
            [ "$ahead" = "$last" ] || moved=$SECONDS
            last=$ahead
            ((SECONDS - moved < order_still_s && SECONDS - first < order_most_s)) || return 0
            ((ahead <= 20)) || ahead=20
            sleep "$(printf '0.%02d' $((ahead * 4)))"
        else
            ((SECONDS - begun < order_answer_s)) || return 0
            sleep 0.1
        fi
    done
}
