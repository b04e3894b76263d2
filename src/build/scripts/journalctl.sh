#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In a pod nothing keeps a journal: this shows what sssd has logged, as `journalctl -u sssd` does
# elsewhere.  Of all options -u, -n and -f count.
lines=+1
follow=""
unit=sssd
while [ $# -gt 0 ]; do
    case $1 in
    -u | --unit) unit=$2; shift ;;
    -u*) unit=${1#-u} ;;
    --unit=*) unit=${1#*=} ;;
    -n | --lines) lines=$2; shift ;;
    -n*) lines=${1#-n} ;;
    --lines=*) lines=${1#*=} ;;
    -f | --follow) follow=-f ;;
    esac
    shift
done
case ${unit%.service} in
sssd) ;;
*)
    echo "journalctl: this pod keeps no journal of $unit; kubectl logs shows what its programs say" >&2
    exit 1
    ;;
esac
touch /var/log/sssd/sssd.log
# shellcheck disable=SC2086  # nothing, or -f
exec tail -n "$lines" $follow /var/log/sssd/sssd.log
