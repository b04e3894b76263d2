#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Turn scripts into C strings: embed.py OUTPUT SCRIPT..."""
import os
import sys


def main():
    lines = ["/* SPDX-License-Identifier: GPL-2.0-or-later */", '#include "src/build/scripts.h"', ""]
    for path in sys.argv[2:]:
        name = os.path.splitext(os.path.basename(path))[0]
        with open(path, encoding="utf-8") as script:
            text = script.read()
        lines.append(f"const char script_{name}[] =")
        for line in text.splitlines(keepends=True):
            escaped = line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            lines.append(f'    "{escaped}"')
        lines[-1] += ";"
        lines.append("")
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.write("\n".join(lines))


main()
