# Shows a daemon's log file as this container's output: the file is a pipe, and whatever the
# daemon writes into it comes out here.  The pipe is opened for reading and writing, so that it
# stays open when the daemon closes it.  It is the daemon's user's alone, and so is the directory where
# that user may say so: jobs of others run beside, and must neither write lines nor put a pipe of
# theirs in its place.
trap 'exit 0' TERM INT
chmod 755 "${SOCKET%/*}" 2>/dev/null
[ -p "$SOCKET" ] || { rm -f "$SOCKET" && mkfifo -m 600 "$SOCKET"; }
chmod 600 "$SOCKET"
while :; do
    cat <>"$SOCKET" & wait $!
    sleep 1 & wait $!
done
