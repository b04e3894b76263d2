/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The manual of the protocol has a row for each member that goes over the wire, and no others.
 *
 * The chapters of docs/agent-protocol.md that describe a record have a Markdown table.  The words
 * in backquotes in the first column of its rows are held against the field tables.
 */
#include "src/base/test/unit.h"

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/base/map.h"
#include "src/wire/outcome.h"
#include "src/wire/state.h"
#include "src/wire/version.h"

#define MAX_BYTES ((size_t)1 << 20)

static char *document;

/* The text between a heading and the next one. */
static struct str chapter_of(const char *heading)
{
    AUTO(free) char *line = xasprintf("\n%s\n", heading);
    const char *at = strstr(document, line);
    const char *end;

    if (!at)
        fail_msg("docs/agent-protocol.md has no chapter '%s'", heading);
    at += strlen(line);
    end = strstr(at, "\n#");
    return end ? (struct str){at, (size_t)(end - at)} : str_of(at);
}

/* The words in backquotes of the first cell of each row. */
static void members_of(struct str chapter, struct map *ret)
{
    struct str line;

    while (str_split(&chapter, '\n', &line)) {
        struct str cell = {line.p + 1, line.n - 1};
        struct str piece;
        bool quoted = false;

        if (!str_starts(line, "| `"))
            continue;
        cell.n = str_find(cell, '|');
        for (; str_split(&cell, '`', &piece); quoted = !quoted)
            if (quoted)
                (void)map_put(ret, piece, ret);
    }
}

static void documented(const char *heading, const struct jsn_field *table,
                       const struct jsn_field *more)
{
    AUTO(map_done) struct map members = {0};
    const struct jsn_field *tables[] = {table, more};
    size_t at = 0;
    struct str name;
    void *value;

    members_of(chapter_of(heading), &members);
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        for (const struct jsn_field *f = tables[i]; f && f->kind != JSN_NOTHING; f++) {
            if (streq(f->path, WIRE_KEY))
                continue; /* every body has it */
            if (!map_get(&members, str_of(f->path)))
                fail_msg("'%s' has no row for the member '%s'", heading, f->path);
            (void)map_del(&members, str_of(f->path));
        }
    while (map_next(&members, &at, &name, &value))
        fail_msg("'%s' tells of '" STR_FMT "', which nobody sends", heading, STR_ARG(name));
}

static void every_member_has_its_row_in_the_manual(void **state)
{
    (void)state;
    documented("## An outcome", wire_outcome_fields, NULL);
    documented("### A problem", wire_problem_fields, NULL);
    documented("### A partition that waits", wire_waiting_fields, NULL);
    documented("### A node", wire_node_fields, wire_node_jobs_fields);
    documented("### A partition", wire_partition_fields, wire_job_counts_fields);
    documented("### A reservation", wire_reservation_fields, NULL);
    documented("### Drift", wire_drift_fields, NULL);
    documented("### slurmctld", wire_slurmctld_fields, NULL);
    documented("### A controller", wire_controller_fields, NULL);
    documented("### Counts of jobs", wire_job_counts_fields, NULL);
}

/* What a table writes, it reads: a node with everything. */
static void a_node_comes_back_as_it_was(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct wire_node out = {.name = "n1", .state = "IDLE+DRAIN", .reason = "disk", .cpus = 4};
    struct wire_node in = {0};
    struct err e = {0};

    (void)state;
    assert_int_equal(
        fields_decode(&a, wire_node_fields, fields_encode(&a, wire_node_fields, &out), &in, &e), 0);
    assert_string_equal(in.state, "IDLE+DRAIN");
    assert_string_equal(in.reason, "disk");
    assert_int_equal(in.cpus, 4);
    assert_null(in.comment);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_member_has_its_row_in_the_manual),
        cmocka_unit_test(a_node_comes_back_as_it_was),
    };
    struct err e = {0};
    size_t n;
    int r;

    if (argc != 2 || file_read(argv[1], MAX_BYTES, &document, &n, &e) < 0)
        return 2;
    r = cmocka_run_group_tests(tests, NULL, NULL);
    free(document);
    return r;
}
