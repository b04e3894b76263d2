# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Users from a directory by sssd, and sshd for them; for logins and workers; to be sourced.
#
# sssd.conf and sshd_config are mounted where they are wanted: a file of that name that is not a
# mount is the image's own, and starts nothing.
#
# What keeps a container from starting is told on its output and in its termination message, which
# the operator shows in a condition.

sssd_conf=/etc/sssd/sssd.conf
sssd_log=/var/log/sssd/sssd.log

is_mounted() { awk -v path="$1" '$5 == path { found = 1 } END { exit !found }' /proc/self/mountinfo; }

give_up() {
    echo "$1" >&2
    [ ! -e /dev/termination-log ] || echo "$1" >/dev/termination-log
    exit 1
}

# need PROGRAM PACKAGE
need() {
    command -v "$1" >/dev/null ||
        give_up "$1 is not installed: install the package $2 (Debian: apt-get install --no-install-recommends $2)"
}

# need_library NAME PACKAGE: NAME as it stands below /usr/lib
need_library() {
    local file

    for file in /usr/lib/*/"$1" /usr/lib64/"$1" /usr/lib/"$1"; do
        [ ! -e "$file" ] || return 0
    done
    give_up "$1 is not installed: install the package $2 (Debian: apt-get install --no-install-recommends $2)"
}

# A file or directory of /etc that is a link to what all pods share becomes this one's own.
make_own() {
    [ -L "$1" ] || return 0
    cp -RL "$1" "$1.own" && rm "$1" && mv "$1.own" "$1"
}

# add_line FILE PATTERN LINE: unless a line matches
add_line() { [ ! -f "$1" ] || grep -qE "$2" "$1" || echo "$3" >>"$1"; }

# Names from sssd after the files' own; passwords by sssd; a home directory at the first log-in.
prepare_names() {
    local base

    make_own /etc/nsswitch.conf
    make_own /etc/pam.d
    for base in passwd group; do
        grep -qE "^$base:.*\<sss\>" /etc/nsswitch.conf || sed -i "s/^$base:.*/& sss/" /etc/nsswitch.conf
    done
    add_line /etc/pam.d/common-session 'pam_mkhomedir' 'session optional pam_mkhomedir.so umask=0077'
    # who started the container may have logged in himself: then nobody here can be said to have
    for base in sshd login su; do
        [ ! -f "/etc/pam.d/$base" ] ||
            sed -i -E 's/^(session[[:space:]]+)required([[:space:]]+pam_loginuid\.so)/\1optional\2/' "/etc/pam.d/$base"
    done
}

sssd_directories() {
    local base=/var/lib/sss

    mkdir -p "$base"/{deskprofile,gpo_cache,mc,pipes,pubconf/krb5.include.d} /var/log/sssd /run/sssd
    mkdir -p -m 0700 "$base"/{db,keytabs,pipes/private,secrets}
}

run_sssd() {
    local status

    while :; do
        rm -f /run/sssd.pid
        sssd -i --logger=stderr > >(tee -a "$sssd_log" >&2) 2>&1
        status=$?
        echo "sssd ended with status $status" | tee -a "$sssd_log" >&2
        touch /run/sssd.ended
        sleep 2
    done
}

# Returns when sssd answers.  A directory that cannot be reached does not keep it from that: whom it
# has seen before, and local accounts, can log in.
start_sssd() {
    local i

    need sssd sssd-ldap
    need_library libnss_sss.so.2 libnss-sss
    need_library security/pam_sss.so libpam-sss
    prepare_names
    sssd_directories
    run_sssd &
    for ((i = 0; i < 600; i++)); do
        [ ! -S /var/lib/sss/pipes/nss ] || [ ! -S /var/lib/sss/pipes/pam ] || return 0
        [ ! -e /run/sssd.ended ] || break
        sleep 0.05
    done
    sleep 0.2 # what it said last may still be on its way
    give_up "sssd does not start with the sssd.conf that is declared: $(grep -v '^sssd ended' "$sssd_log" | tail -n 1)"
}

# Public keys of users of the directory, unless sshd_config says otherwise.
key_command() {
    local helper=/usr/bin/sss_ssh_authorizedkeys

    [ -x "$helper" ] && sshd -T 2>/dev/null | grep -qx 'authorizedkeyscommand none' || return 0
    echo "-o AuthorizedKeysCommand=$helper -o AuthorizedKeysCommandUser=nobody"
}

# sshd, until the container ends.  Sessions outlive it, and so it is started again.  One that was
# ended because the pod has to go stays away.
run_sshd() {
    local options

    options=$(key_command)
    while [ ! -e /run/login-leaves ]; do
        # shellcheck disable=SC2086  # a list of options is meant
        "$(command -v sshd)" -D -e $options ${SSHD_OPTIONS:-}
        sleep 1
    done
}

start_sshd() {
    local words

    need sshd openssh-server
    mkdir -p /run/sshd
    ls /etc/ssh/ssh_host_*_key >/dev/null 2>&1 || ssh-keygen -A >/dev/null
    words=$(sshd -t 2>&1) || give_up "sshd does not start with the sshd_config that is declared: $(tail -n 1 <<<"$words")"
    run_sshd &
}

# sshd of a worker: only who has a job on this node comes in, and what he does there is the job's.
#
# pam_slurm_adopt asks the slurmd of this node, so that it comes last of all that may refuse, and
# whom it refuses nobody else lets in.  It moves the session into the job's control group; what
# pam_systemd would do there undoes that.
start_job_sshd() {
    local pam=/etc/pam.d/sshd

    need sshd openssh-server
    need_library security/pam_slurm_adopt.so libpam-slurm-adopt
    make_own /etc/pam.d
    [ -f "$pam" ] || give_up "$pam is not there: sshd cannot ask whether somebody has a job here"
    grep -q pam_slurm_adopt "$pam" ||
        sed -i "0,/^@include common-account/s|^@include common-account|&\n$(adopt_line)|" "$pam"
    grep -q pam_slurm_adopt "$pam" || add_line "$pam" pam_slurm_adopt "$(adopt_line)"
    sed -i 's/^\(-\{0,1\}session.*pam_systemd\)/#\1/' /etc/pam.d/common-session "$pam" 2>/dev/null
    start_sshd
}

# slurm.conf does not name dynamic nodes: it has to be told which one this is.
adopt_line() {
    local options=${PAM_SLURM_ADOPT_OPTIONS:-action_adopt_failure=deny action_generic_failure=deny}

    case $options in *nodename=*) ;; *) options+=" nodename=$(hostname)" ;; esac
    echo "account required pam_slurm_adopt.so $options"
}
