# A login pod has to go: nobody comes in any more; the sessions in it are told, and waited for, at
# most $1 seconds.
#
# A session is a process of sshd that says who it serves ("sshd: alice@pts/0"); one that still asks
# for a password says something in brackets.  Terminals are written to directly: in a container
# nothing keeps the list of who is logged in that `wall` reads.
limit=$1
host=$(hostname)

titles() { for f in /proc/[0-9]*/cmdline; do echo "${f//[!0-9]/} $(tr '\0' ' ' 2>/dev/null <"$f")"; done; }
sessions() { titles | grep -cE '^[0-9]+ sshd(-session)?: [^][/ ]+(@[^ ]*)? *$'; }
listeners() { titles | sed -n 's/^\([0-9]*\) sshd.*\[listener\].*/\1/p'; }

tell() {
    local terminal

    for terminal in /dev/pts/[0-9]*; do
        [ -c "$terminal" ] || continue
        # one whose reader has stopped would hold up all others
        timeout 2 bash -c 'printf "\r\n\a%s\r\n" "$1" >"$2"' tell "$1" "$terminal" 2>/dev/null
    done
}

echo "$host is about to be stopped; please log in again" >/run/nologin
touch /run/login-leaves
for pid in $(listeners); do kill "$pid"; done
tell "*** $host is to be stopped. Please end this session and log in again; it ends by itself in $limit s. ***"
while ((SECONDS < limit)) && (($(sessions) > 0)); do
    ((limit - SECONDS != 60)) || tell "*** $host is stopped in 60 s. ***"
    sleep 1
done
(($(sessions) == 0)) || tell "*** $host is stopped now. ***"
exit 0
