# SPDX-License-Identifier: GPL-2.0-or-later
# A node that slurmctld knows from an earlier pod of the same name; to be sourced.
#
# Slurm before 23.11 keeps a dynamic node's first address, at which nobody is once the pod was made
# again; and a node that was taken down because its pod ended is not taken up again by itself.  Both
# are put right once this pod's slurmd has registered.  A reason that is not ours stays.
#
# slurmctld 22.05 does not save its nodes when one registers, only minutes later: were it killed
# meanwhile, it would not know the node any more, and slurmd does not register by itself again.  An
# update, even of what is so already, has them saved within seconds.

# The value of a field in a record of `scontrol -o show node`.
record_field() { sed -n "s/.*[[:space:]]$1=\([^[:space:]]*\).*/\1/p" <<<"$record"; }

# Is the record that of a slurmd which started at or after the given second?
registered_since() {
    local started

    started=$(record_field SlurmdStartTime)
    case $started in '' | None | Unknown) return 1 ;; esac
    [ "$(date -d "$started" +%s)" -ge "$1" ]
}

own_address() { getent ahostsv4 "$(hostname)" | sed -n '/^127\./d; s/ .*//p' | head -n 1; }

correct_address() {
    local known own

    known=$(record_field NodeAddr)
    own=$(own_address)
    case $known in *[!0-9.]* | '') return 0 ;; esac
    [ -z "$own" ] || scontrol update "nodename=$1" "nodeaddr=$own"
}

take_up() {
    case $record in
    *State=DOWN*Reason="slurmkeeper: Pod is terminating"* | *State=DOWN*Reason="slurm-operator: Pod is terminating"*)
        scontrol update "nodename=$1" state=resume
        ;;
    esac
}

# For the background: until it is done, or ten minutes are over.
rejoin() {
    local name begun record

    name=$(hostname)
    begun=$EPOCHSECONDS
    while ((EPOCHSECONDS < begun + 600)); do
        sleep 0.5
        record=$(timeout 20 scontrol -o show node "$name" 2>/dev/null) || continue
        registered_since "$begun" || continue
        correct_address "$name" && take_up "$name" && return
        sleep 1
    done
}
