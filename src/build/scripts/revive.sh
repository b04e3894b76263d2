# Beside slurmctld, in its container: sees to it that a restart that was asked for happens.
#
# supervisord, in Slinky's images, takes a slurmctld that ended well for done, and after a reconfigure
# it does not even know the one that runs.  So once the marker is there and slurmctld is gone,
# supervisord is told to start its programs again (SIGHUP).  $1 is the directory of the marker.
#
# An entry point of ours does all this itself, and notes each start in `started`: then there is
# nothing to do here.  Where process 1 is neither, the container ends with slurmctld, or nobody knows
# better.  `revives` tells the agent that it need not wait for a liveness probe.
dir=$1

say() { { printf '%s\n' "$*" >/proc/1/fd/2; } 2>/dev/null; }

is_supervised() { [ ! -e "$dir/started" ] && read -r name </proc/1/comm && [ "$name" = supervisord ]; }

# A zombie does not count: it is gone, and its parent has not looked yet.
runs() {
    for stat in /proc/[0-9]*/stat; do
        { read -r line <"$stat"; } 2>/dev/null || continue
        case $line in
        *'(slurmctld) '[ZX]*) ;;
        *'(slurmctld) '*) return 0 ;;
        esac
    done
    return 1
}

watch() {
    while [ ! -e "$dir/started" ]; do
        if is_supervised; then
            [ -e "$dir/revives" ] || : >"$dir/revives"
            if [ -e "$dir/restart" ] && ! runs; then
                say "slurmctld ended as asked: telling supervisord to start it again"
                rm -f "$dir/restart"
                kill -HUP 1
            fi
        fi
        sleep 0.5
    done
}

# Whoever runs this hook waits until its output is closed.  (A redirection of the call alone would leave
# copies of the old descriptors open in the shell.)
exec </dev/null >/dev/null 2>&1
watch &
exit 0
