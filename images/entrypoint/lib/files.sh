# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Files with which slurmd does not start: it goes on with the last ones that were good; to be sourced.
#
# slurmd fetches slurm.conf, gres.conf, plugstack.conf, cgroup.conf and the like from slurmctld, at
# its start and when slurmctld reads its own again.  slurmctld does not know what a node can do with
# them, and slurmd does not start with a bad one: the node and its jobs would be lost.  So the files
# of a start that went well are kept, on a volume that outlives the container.  (That slurmd has read
# others since says nothing: much of it is looked at in a start alone.)  When a start fails, slurmd is
# started with the slurm.conf of now and the other files that were kept; if that fails, too, with all
# that was kept.  Now and then the files that slurmctld has are tried again.
#
# The node's comment says so, "[files refused: WORDS]", for as long as it is so; the operator shows
# it in a condition of the NodeSet.

conf_cache=/var/spool/slurmd/conf-cache
# all end in "conf-cache", as slurmstepd's start script wants it
good_files=/var/log/slurm/last-good/conf-cache
new_files=/var/log/slurm/last-good.new/conf-cache
mixed_files=/run/slurm/mixed/conf-cache
slurmd_words=/run/slurm/slurmd.words
start_stamp=/run/slurm/slurmd.started   # as old as the last start
refused_words=/run/slurm/files.refused # there while they are
on_good_files=/run/slurm/files.good    # there while slurmd runs with those
good_after_s=5                         # a start went well
soon_s=10                              # an end is the files' fault
retry_first_s=15
retry_most_s=300

# same_files A B
same_files() {
    [ -e "$1/slurm.conf" ] && [ -e "$2/slurm.conf" ] && diff -rq "$1" "$2" >/dev/null 2>&1
}

# copy_files FROM TO, both of which are called conf-cache
copy_files() {
    rm -rf "${2%/*}"
    mkdir -p "${2%/*}" && cp -a "$1" "${2%/*}/"
}

# When a file changed last, in seconds of the clock; 0 if it is not there.
time_of() {
    local t

    t=$(stat -c %Y "$1" 2>/dev/null)
    echo "${t:-0}"
}

# For the background, as long as the container lives: keep the files of each start that goes well.
follow_files() {
    local pid seen="" since=0

    while sleep 1; do
        pid=$(cat "$slurmd_pid" 2>/dev/null)
        [ ! -e "$on_good_files" ] && kill -0 "$pid" 2>/dev/null || continue
        if [ "$pid" != "$seen" ]; then
            # only those that it has fetched itself
            [ -e "$conf_cache/slurm.conf" ] && [ ! "$conf_cache/slurm.conf" -ot "$start_stamp" ] || continue
            copy_files "$conf_cache" "$new_files" && seen=$pid
            since=$SECONDS
        elif ((SECONDS - since >= good_after_s)) && [ -e "$new_files" ]; then
            rm -rf "$refused_words" "${good_files%/*}"
            mv "${new_files%/*}" "${good_files%/*}"
        fi
    done
}

# ended_by_files STATUS STARTED: did slurmd, started at that second of the clock, end because of its
# files?  Only where there are others to go on with.  One that was killed or stopped did not; one that
# crashed did if it had only just been started.
ended_by_files() {
    case $1 in 0 | 137 | 143) return 1 ;; esac
    [ -e "$good_files/slurm.conf" ] || return 1
    ! same_files "$conf_cache" "$good_files" || return 1
    ((EPOCHSECONDS - $2 > soon_s)) || return 0
    (($1 < 128 && EPOCHSECONDS - $(time_of "$conf_cache") <= soon_s))
}

# The slurm.conf of now, all others as they were good.
mix_files() {
    copy_files "$good_files" "$mixed_files" && cp -a "$conf_cache/slurm.conf" "$mixed_files/"
}

# slurmd's arguments without the server of files.
without_server() { sed -E "s/(^| )--conf-server +[^ ]+/ /" <<<"$1"; }

# Why it ended: its last words, or the first thing that went wrong; without what would end the note.
last_words() {
    local words

    words=$(grep -a "fatal: " "$slurmd_words" 2>/dev/null | tail -n 1)
    [ -n "$words" ] || words=$(grep -a "error: " "$slurmd_words" 2>/dev/null | head -n 1)
    words=${words#*fatal: }
    words=${words#*error: }
    words=$(tr -d "]['\"\\\\" <<<"$words")
    echo "${words:-slurmd ended without a word}" | cut -c 1-300
}

# note_files WORDS: into the node's comment; without words the note goes.
note_files() {
    local name record old new

    name=$(hostname)
    record=$(timeout 20 scontrol show node "$name" 2>/dev/null) || return 1
    old=$(sed -n 's/^[[:space:]]*Comment=//p' <<<"$record")
    new=$(sed 's/ *\[files refused: [^]]*\]//' <<<"$old")
    [ -z "$1" ] || new="${new:+$new }[files refused: $1]"
    [ "$new" = "$old" ] || timeout 20 scontrol update "nodename=$name" "comment=$new"
}

# For the background: the comment says what the file refused_words does.
tell_files() {
    local told="" words

    while sleep 1; do
        words=$(cat "$refused_words" 2>/dev/null)
        [ "$words" != "$told" ] || continue
        note_files "$words" && told=$words
    done
}
