/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The log of slurmdbd, read for what is the matter.
 *
 * slurmdbd stays up without its database and tries again every few seconds; the only place where it
 * says why is its log.  Its lines quote MariaDB's errors by number and text, which have been the
 * same for twenty years.  What is not in the table is passed over; a line that says that all is
 * well again takes back what stands before it.
 */
#include "src/slurm/dbd_words.h"

#include <string.h>

static const struct {
    const char *part; /* of a line */
    const char *reason;
    const char *text;
} words[] = {
    {"Conversion done", NULL, NULL},
    {"slurmdbd version", NULL, NULL},
    {"ready for connections", NULL, NULL},
    {"Access denied", "DatabaseRefusesLogin",
     "the database refuses the user, its password or its rights"},
    {"Can't connect", "DatabaseUnreachable", "the database cannot be reached"},
    {"waiting for the database", "DatabaseUnreachable", "the database cannot be reached"},
    {"Unknown MySQL server host", "DatabaseUnreachable", "the database's host is not known"},
    {"Unknown server host", "DatabaseUnreachable", "the database's host is not known"},
    {"Lost connection", "DatabaseUnreachable", "the database has gone away"},
    {"server has gone away", "DatabaseUnreachable", "the database has gone away"},
    {"Too many connections", "DatabaseUnreachable", "the database takes no more connections"},
    {"is blocked because of", "DatabaseRefusesLogin", "the database has blocked this host"},
    {"Unknown database", "DatabaseMissing",
     "the database is not there, and its user may not make it"},
    {"No space left", "DiskFull", "the database has no room left"},
    {"Disk full", "DiskFull", "the database has no room left"},
    {"is full", "DiskFull", "the database has no room left"},
    {"onverting", "SchemaUpgrade", "the tables are being changed for this release of Slurm"},
    {"adding column", "SchemaUpgrade", "the tables are being changed for this release of Slurm"},
    {"adding key", "SchemaUpgrade", "the tables are being changed for this release of Slurm"},
    {"dropping column", "SchemaUpgrade", "the tables are being changed for this release of Slurm"},
    {"dropping key", "SchemaUpgrade", "the tables are being changed for this release of Slurm"},
    {"is not installed", "NotInstalled", "a program is missing"},
    {"Cannot find accounting_storage plugin", "NotInstalled", "a program is missing"},
    {"fatal: ", "SlurmdbdFailed", "slurmdbd ends"},
};

/* After "slurmdbd: " and "[2026-11-19T03:41:32.123] ". */
static struct str without_head(struct str line)
{
    static const char daemon[] = "slurmdbd: ";

    if (line.n > 0 && line.p[0] == '[') {
        size_t n = str_find(line, ']');

        if (n + 1 < line.n)
            line = str_trim((struct str){line.p + n + 1, line.n - n - 1});
    }
    if (str_starts(line, daemon))
        line = (struct str){line.p + sizeof(daemon) - 1, line.n - (sizeof(daemon) - 1)};
    return line;
}

struct dbd_words dbd_words_read(struct str log)
{
    struct dbd_words ret = {0};
    struct str line;

    while (str_split(&log, '\n', &line))
        for (size_t i = 0; i < ARRAY_LEN(words); i++) {
            if (!memmem(line.p, line.n, words[i].part, strlen(words[i].part)))
                continue;
            ret = (struct dbd_words){words[i].reason, words[i].text, without_head(str_trim(line))};
            break;
        }
    return ret;
}
