# SPDX-License-Identifier: GPL-2.0-or-later
"""When slurmctld took a change: the line of its log, with the moment at which the node wrote it down.

Slurm's own log has milliseconds; the log of the container has nanoseconds of the same machine's clock, and
is some ten microseconds late.
"""
import datetime
import glob
import os
import re
import time

LINE = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d{9})Z stderr \S (.*)")


def moment(line):
    """(nanoseconds since 1970, text) of a line of a container's log."""
    m = LINE.match(line)
    if not m:
        return 0, ""
    whole = datetime.datetime.fromisoformat(m[1] + "+00:00").timestamp()
    return int(whole) * 10**9 + int(m[2]), m[3]


class Log:
    def __init__(self, state):
        self.pattern = f"{state}/node/pods/*/logs/slurmctld/*.log"
        self.path, self.offset = None, 0

    def new_lines(self):
        """Whole lines that were written since the last look; another file is read from its beginning."""
        path = max(glob.glob(self.pattern), key=os.path.getmtime)
        if path != self.path:
            self.path, self.offset = path, 0
        with open(path, "rb") as f:
            f.seek(self.offset)
            whole = f.read().rpartition(b"\n")[0]
        self.offset += len(whole) + 1 if whole else 0
        return whole.decode(errors="replace").splitlines()

    def when_set(self, partition, minutes, limit_s):
        """The moment at which that MaxTime was set, or None if the log does not tell in time."""
        told = f"setting max_time to {minutes} for partition {partition}"
        end = time.monotonic() + limit_s
        while time.monotonic() < end:
            for line in self.new_lines():
                when, text = moment(line)
                if text.endswith(told):
                    return when
            time.sleep(0.002)
        return None
