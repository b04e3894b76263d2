#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Hold real clients against exec_server: exec, exit codes, 3 MB each way, terminals, cp, port-forward.
#
# usage: kubectl.sh EXEC_SERVER [KUBECTL...]     (default: the kubectl in PATH; 77 without any)
set -u
server=$1
shift
[ $# -gt 0 ] || set -- kubectl
command -v "$1" >/dev/null || exit 77

dir=$(mktemp -d)
pids=()
# shellcheck disable=SC2317 # the trap calls it
cleanup() {
    for pid in "${pids[@]}"; do
        kill "$pid" 2>/dev/null
        wait "$pid" 2>/dev/null
    done
    rm -rf "$dir"
}
trap cleanup EXIT
failed=0
check() { # NAME EXPECTED GOT
    if [ "$2" = "$3" ]; then
        echo "ok   $1"
    else
        echo "FAIL $1: expected '$2', got '$3'"
        failed=1
    fi
}

start_server() { # [tls]
    mkfifo "$dir/port"
    "$server" "$@" >"$dir/port" 2>"$dir/server.log" &
    server_pid=$!
    pids+=("$server_pid")
    read -r port <"$dir/port"
    rm "$dir/port"
}

head -c 3000000 /dev/urandom >"$dir/big"
sum=$(sha256sum <"$dir/big" | cut -d' ' -f1)

try() { # NAME KUBECTL-COMMAND...
    local name=$1
    shift
    k() { timeout 30 "$@"; }
    local x=("$@" exec p --)
    local xi=("$@" exec -i p --)

    check "$name: output" "hello" "$(k "${x[@]}" echo hello 2>&1)"
    check "$name: stderr" "oops" "$(k "${x[@]}" sh -c 'echo oops >&2' 2>&1 >/dev/null)"
    k "${x[@]}" sh -c 'exit 3' >/dev/null 2>&1
    check "$name: exit code" 3 $?
    k "${x[@]}" true
    check "$name: success" 0 $?
    k "${x[@]}" no-such-command >/dev/null 2>&1
    check "$name: no such command" 127 $?
    check "$name: stdin and its end" 3 "$(printf 'a\nb\nc\n' | k "${xi[@]}" wc -l)"
    check "$name: 3 MB out" "$sum" "$(k "${x[@]}" cat "$dir/big" | sha256sum | cut -d' ' -f1)"
    check "$name: 3 MB in" "$sum" "$(k "${xi[@]}" sha256sum <"$dir/big" | cut -d' ' -f1)"
    check "$name: 3 MB both ways" "$sum" "$(k "${xi[@]}" cat <"$dir/big" | sha256sum | cut -d' ' -f1)"
    check "$name: stdin that nobody reads" "done" "$(k "${xi[@]}" echo "done" <"$dir/big")"
    local tty_cmd="stty cols 97 rows 31; exec ${*@Q} exec -it p -- sh -c 'sleep 0.5; stty size'"
    check "$name: terminal size" "31 97" \
        "$(sleep 5 | k script -qec "$tty_cmd" /dev/null 2>/dev/null | tr -d '\r' | grep -E '^[0-9]+ [0-9]+$')"
    mkdir -p "$dir/to"
    k "$@" cp "$dir/big" "p:$dir/to/up" >/dev/null 2>&1
    check "$name: cp to the pod" "$sum" "$(sha256sum "$dir/to/up" 2>&1 | cut -d' ' -f1)"
    k "$@" cp "p:$dir/big" "$dir/to/down" >/dev/null 2>&1
    check "$name: cp from the pod" "$sum" "$(sha256sum "$dir/to/down" 2>&1 | cut -d' ' -f1)"
    rm -rf "$dir/to"
    try_forward "$name" "$@"
}

try_forward() {
    local name=$1
    shift
    rm -f "$dir/forward" # what the one before said is not to be read for this one's
    timeout 60 "$@" port-forward p ":$file_port" >"$dir/forward" 2>&1 &
    local pid=$!
    pids+=("$pid")
    for _ in $(seq 100); do
        grep -qs Forwarding "$dir/forward" && break
        sleep 0.1
    done
    local local_port
    local_port=$(sed -n 's/^Forwarding from 127.0.0.1:\([0-9]*\).*/\1/p' "$dir/forward")
    for i in 1 2 3; do
        check "$name: port-forward $i" "$sum" \
            "$(curl -s -m 20 "http://127.0.0.1:$local_port/big" | sha256sum | cut -d' ' -f1)"
    done
    check "$name: port-forward, three at a time" "$sum $sum $sum" "$(
        for i in 1 2 3; do
            curl -s -m 20 "http://127.0.0.1:$local_port/big" | sha256sum | cut -d' ' -f1 >"$dir/p$i" &
        done
        wait
        echo "$(cat "$dir/p1") $(cat "$dir/p2") $(cat "$dir/p3")"
    )"
    kill "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null

    rm -f "$dir/forward"
    timeout 60 "$@" port-forward p ":1" >"$dir/forward" 2>&1 &
    pid=$!
    pids+=("$pid")
    for _ in $(seq 100); do
        grep -qs Forwarding "$dir/forward" && break
        sleep 0.1
    done
    local_port=$(sed -n 's/^Forwarding from 127.0.0.1:\([0-9]*\).*/\1/p' "$dir/forward")
    curl -s -m 10 "http://127.0.0.1:$local_port/" >/dev/null
    for _ in $(seq 30); do
        grep -q refused "$dir/forward" && break
        sleep 0.1
    done
    check "$name: port-forward to a closed port" 1 "$(grep -c 'refused by the pod' "$dir/forward")"
    kill "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
}

(cd "$dir" && exec python3 -u -m http.server --bind 127.0.0.1 0 >"$dir/files.log" 2>&1) &
pids+=($!)
for _ in $(seq 100); do
    file_port=$(sed -n 's/.*port \([0-9]*\).*/\1/p' "$dir/files.log" 2>/dev/null)
    [ -n "$file_port" ] && break
    sleep 0.1
done

export HOME=$dir KUBECONFIG=/dev/null
for kubectl in "$@"; do
    version=$("$kubectl" version --client 2>/dev/null | grep -o 'v1\.[0-9]*' | head -1)
    start_server
    try "$version" "$kubectl" --server "http://127.0.0.1:$port"
    kill "$server_pid"
    wait "$server_pid"
    check "$version: server ends in order" 0 $?
    start_server tls
    try "$version, TLS" "$kubectl" --insecure-skip-tls-verify --token t --server "https://127.0.0.1:$port"
    kill "$server_pid"
    wait "$server_pid"
    check "$version, TLS: server ends in order" 0 $?
    cat "$dir/server.log"
done

start_server
timeout 60 /usr/bin/python3 "$(dirname "$0")/python_client.py" "$port" "$file_port"
case $? in
0) ;;
77) echo "skip the Python client: not installed" ;;
*) failed=1 ;;
esac
kill "$server_pid"
wait "$server_pid"
check "python: server ends in order" 0 $?
exit $failed
