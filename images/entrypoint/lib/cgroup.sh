# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Control groups of v2 in a container that writes its own; to be sourced.
#
# A group with processes in it cannot limit groups below it.  A container begins with all its
# processes in its top group: they move into one below, so that slurmd can make groups for jobs
# beside that one, and limit them.  slurmd makes those in system.slice, which it expects to be
# there: elsewhere systemd makes it.
#
# Only where the container sees its own group as the top: the top of the machine is the machine's.

top_group=/sys/fs/cgroup

owns_top_group() {
    [ -w "$top_group/cgroup.subtree_control" ] && [ -e "$top_group/cgroup.type" ] &&
        grep -qx '0::/' /proc/self/cgroup
}

# Let the groups below a group be limited.  One at a time: what cannot be had hinders no other.
hand_down() {
    local controller controllers

    read -ra controllers <"$1/cgroup.controllers"
    for controller in "${controllers[@]}"; do
        echo "+$controller" >"$1/cgroup.subtree_control"
    done
}

# The list changes while its processes move, and others may come: until there is none.
leave_top_group() {
    local pid pids i

    for ((i = 0; i < 100; i++)); do
        mapfile -t pids <"$top_group/cgroup.procs"
        ((${#pids[@]})) || return 0
        for pid in "${pids[@]}"; do
            echo "$pid" >"$top_group/start/cgroup.procs"
        done
    done
}

prepare_groups() {
    owns_top_group || return 0
    mkdir -p "$top_group/start" "$top_group/system.slice"
    leave_top_group
    hand_down "$top_group"
    hand_down "$top_group/system.slice"
} 2>/dev/null
