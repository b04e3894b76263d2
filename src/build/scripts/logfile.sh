# Shows a daemon's log file as this container's output: the file is a pipe, and whatever the
# daemon writes into it comes out here.  The pipe is opened for reading and writing, so that it
# stays open when the daemon closes it.
trap 'exit 0' TERM INT
[ -p "$SOCKET" ] || { rm -f "$SOCKET" && mkfifo -m 777 "$SOCKET"; }
while :; do
    cat <>"$SOCKET" & wait $!
    sleep 1 & wait $!
done
