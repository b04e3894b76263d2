#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Turn text files into a C array: embed.py OUTPUT FILE...  The build's, for the type tables."""
import os
import sys


def quote(line):
    return '"' + line.replace('\\', '\\\\').replace('"', '\\"') + '\\n"'


def main():
    with open(sys.argv[1], 'w', encoding='utf-8') as out:
        out.write('#include "src/cluster/apiserver/types/table.h"\n\n')
        out.write('const struct table_text table_texts[] = {\n')
        for path in sys.argv[2:]:
            with open(path, encoding='utf-8') as table:
                lines = table.read().splitlines()
            out.write('    {"%s",\n' % os.path.basename(path))
            out.writelines('     %s\n' % quote(line) for line in lines)
            out.write('    },\n')
        out.write('    {0},\n};\n')


if __name__ == '__main__':
    main()
