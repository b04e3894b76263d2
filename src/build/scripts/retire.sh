# Tells slurmctld, at $1 port $2, that this node goes with its pod.  A node that somebody else
# holds, with a reason of theirs, is left to them; on a node that is up a reason is left over, and
# nobody holds it.  Where slurmctld goes as well, as with their namespace, nobody waits for it:
# commands of Slurm's would, for seconds each.
controller=$1
port=$2
node=$(hostname)

is_up() { timeout 2 bash -c ": </dev/tcp/$controller/$port" 2>/dev/null; }

# A command of Slurm's, tried for as long as slurmctld is there.
ask() {
    local i

    for i in 1 2 3; do
        is_up || exit 0
        timeout $((i * 2)) "$@" && return
    done
    exit 0
}

record=$(ask scontrol -o show node "$node")
[ -n "$record" ] || exit 0
state=${record#* State=}
state=${state%% *}
case $state:$record in
*' Reason=slurmkeeper: '* | *' Reason=slurm-operator: '*) ;;
DOWN*:*' Reason='* | *DRAIN*:*' Reason='* | *FAIL*:*' Reason='*) exit 0 ;;
esac
ask scontrol update nodename="$node" state=down reason='slurmkeeper: Pod is terminating'
