/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of what slurmdbd's log says: lines as real ones wrote them. */
#include "src/base/test/unit.h"

#include "src/slurm/dbd_words.h"

static void the_last_word_of_a_log_counts(void **state)
{
    static const struct {
        const char *log;
        const char *reason;
        const char *line;
    } cases[] = {
        {"", NULL, ""},
        {"slurmdbd: Accounting storage MYSQL plugin loaded\n", NULL, ""},
        {"slurmdbd: error: mysql_real_connect failed: 1045 Access denied for user "
         "'slurm'@'10.0.0.1' (using password: YES)\n"
         "slurmdbd: error: The database must be up when starting the MYSQL plugin.  Trying again "
         "in "
         "5 seconds.\n",
         "DatabaseRefusesLogin",
         "error: mysql_real_connect failed: 1045 Access denied for user 'slurm'@'10.0.0.1' (using "
         "password: YES)"},
        {"[2026-11-19T03:41:32.123] error: mysql_real_connect failed: 2003 Can't connect to MySQL "
         "server on 'db' (111)\n",
         "DatabaseUnreachable",
         "error: mysql_real_connect failed: 2003 Can't connect to MySQL server on 'db' (111)"},
        {"slurmdbd: error: mysql_query failed: 2013 Lost connection to server during query\n"
         "slurmdbd: slurmdbd version 22.05.8 started\n",
         NULL, ""},
        {"slurmdbd: adding column container after id_wckey in table \"c_job_table\"\n",
         "SchemaUpgrade", "adding column container after id_wckey in table \"c_job_table\""},
        {"slurmdbd: accounting_storage/as_mysql: pre-converting usage table for c\n"
         "slurmdbd: accounting_storage/as_mysql: as_mysql_convert_tables_post_create: Conversion "
         "done: success!\n",
         NULL, ""},
        {"slurmdbd: fatal: slurmdbd.conf not owned by SlurmUser 0!=401\n", "SlurmdbdFailed",
         "fatal: slurmdbd.conf not owned by SlurmUser 0!=401"},
        {"slurmdbd is not installed here: install the package slurmdbd", "NotInstalled",
         "slurmdbd is not installed here: install the package slurmdbd"},
        {"[ERROR] InnoDB: Write to file ./x failed: No space left on device", "DiskFull",
         "InnoDB: Write to file ./x failed: No space left on device"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct dbd_words w = dbd_words_read(str_of(cases[i].log));

        if (cases[i].reason)
            assert_string_equal(w.reason, cases[i].reason);
        else
            assert_null(w.reason);
        if (w.reason) {
            assert_true(str_eqz(w.line, cases[i].line));
            assert_non_null(w.text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_word_of_a_log_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
