# Makes slurmctld load a changed configuration: looks at the files once a second, and runs
# `scontrol reconfigure` until it succeeds.  What is there at the start is what slurmctld starts
# with.  Files of the kubelet (..data and kin) do not count.
dir=/etc/slurm

say() { printf '[%s] %s\n' "$(date)" "$*"; }

sum() { find -L "$dir" -maxdepth 1 -type f ! -name '..*' -exec sha256sum {} + 2>/dev/null | sort -k 2; }

nap() { sleep "$1" & wait $!; }

reconfigure() {
    say "Reconfiguring Slurm..."
    until scontrol reconfigure; do
        say "Failed to reconfigure, trying again in 2 s"
        nap 2
    done
    say "SUCCESS"
}

trap 'exit 0' TERM INT
last=$(sum)
say "Start '$dir' polling"
while :; do
    nap 1
    now=$(sum)
    [ "$now" = "$last" ] && continue
    reconfigure
    last=$now
done
