# SPDX-License-Identifier: GPL-2.0-or-later
"""How slurmd's container begins where control groups are v2: in groups that slurmd can work with.

In namespaces of its own, where /sys/fs/cgroup is a v2 tree; so it runs on hybrid machines, too.
"""
import os
import subprocess

import pytest

LIB = f"{os.path.dirname(os.path.abspath(__file__))}/../../../images/entrypoint/lib/cgroup.sh"

# The machine's v2 tree is mounted at $place; a group of it becomes the top of a container's.
OUTSIDE = """
export place=$(mktemp -d)
mount -t cgroup2 none "$place" && mkdir "$place/$group" || exit 77
( echo $BASHPID > "$place/$group/cgroup.procs" && exec unshare --cgroup --mount bash -c "$inside" )
status=$?
for d in start system.slice; do rmdir "$place/$group/$d"; done 2>/dev/null
rmdir "$place/$group"; umount "$place"; rmdir "$place"
exit $status
"""
BEGIN = """
umount -R -l /sys/fs/cgroup; mount -t cgroup2 none /sys/fs/cgroup || exit 77
. "$lib"
cd /sys/fs/cgroup
"""


def run_inside(text):
    done = subprocess.run(["unshare", "--mount", "bash", "-c", OUTSIDE], check=False, capture_output=True, text=True,
                          timeout=30, env={**os.environ, "lib": LIB, "inside": BEGIN + text,
                                           "group": f"sk-groups-{os.getpid()}"})
    if done.returncode == 77:
        pytest.skip("this machine mounts no v2 control groups")
    return done


def test_processes_leave_the_top_and_controllers_are_handed_down():
    done = run_inside("""
sleep 100 & child=$!
prepare_groups
echo top: $(cat cgroup.procs)
grep -qx $$ start/cgroup.procs && grep -qx $child start/cgroup.procs && echo moved
[ "$(cat cgroup.controllers)" = "$(cat cgroup.subtree_control)" ] && echo handed
[ "$(cat cgroup.controllers)" = "$(cat system.slice/cgroup.subtree_control)" ] && echo further
prepare_groups && echo again
kill $child; wait
""")
    assert done.stdout.split("\n") == ["top:", "moved", "handed", "further", "again", ""], done.stderr


def test_the_machines_own_top_is_left_alone():
    done = run_inside("owns_top_group && echo ours; top_group=$place; [ -w $top_group/cgroup.procs ] && echo seen;"
                      "owns_top_group && echo wrong; true")
    assert done.stdout.split() == ["ours", "seen"], done.stderr
