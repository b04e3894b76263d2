/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of reading and printing configuration files; checked against Slurm 22.05's parser. */
#include "src/base/test/unit.h"

#include "src/base/alloc.h"
#include "src/slurm/conf.h"

/* Files for Includes, by path. */
struct files {
    const char *path;
    const char *text;
};

static int files_lookup(void *ctx, const char *path, struct str *ret_text, struct err *e)
{
    for (const struct files *f = ctx; f && f->path; f++)
        if (streq(f->path, path)) {
            *ret_text = str_of(f->text);
            return 0;
        }
    return err_set(e, -ENOENT, ERR_PERMANENT, "there is no such file");
}

static struct conf *parse(enum conf_kind kind, const char *text, const struct files *files,
                          struct faults *faults)
{
    struct conf_input in = {
        .kind = kind,
        .name = "/etc/slurm/slurm.conf",
        .text = str_of(text),
        .lookup = files_lookup,
        .ctx = (void *)(uintptr_t)files,
    };
    struct conf *c = NULL;
    struct err e = {0};

    assert_int_equal(conf_parse(&in, faults, &c, &e), 0);
    return c;
}

/* Parse, print back, and hold both the text and the faults against what is expected. */
static void check(enum conf_kind kind, const char *text, const char *printed, const char *faulty)
{
    AUTO(faults_done) struct faults faults = {0};
    AUTO(conf_free) struct conf *c = parse(kind, text, NULL, &faults);
    AUTO(buf_done) struct buf out = {0};
    AUTO(buf_done) struct buf wrong = {0};

    conf_print(c, &out);
    faults_print(&faults, &wrong);
    assert_string_equal(buf_str(&out), printed);
    assert_string_equal(buf_str(&wrong), faulty);
}

static void lines_are_read_as_slurm_reads_them(void **state)
{
    static const struct {
        const char *text;
        const char *printed;
    } cases[] = {
        {"", ""},
        {"\n  \n\t\n# only a comment \\\n", ""},
        {"ClusterName=a", "ClusterName=a\n"},
        {" ClusterName = a \r\n", "ClusterName=a\n"},
        {"MailDomain=\"a b\"", "MailDomain=\"a b\"\n"},
        {"MailDomain=\"ab\"", "MailDomain=ab\n"},
        {"MailDomain=\"\"", "MailDomain=\"\"\n"},
        {"MailDomain=\"a", "MailDomain=\"a\n"},
        {"MailDomain=\"a\"b", "MailDomain=\"a\"b\n"},
        {"MailDomain=a # comment", "MailDomain=a\n"},
        {"MailDomain=a\\#b", "MailDomain=a\\#b\n"},
        {"MailDomain=\"x # y\"", "MailDomain=\"x\n"},
        {"MailDomain=a\\\\b", "MailDomain=a\\\\b\n"},
        {"MailDomain=a\\\nb", "MailDomain=ab\n"},
        {"MailDomain=a\\  \nb", "MailDomain=ab\n"},
        {"MailDomain=a\\\\\nTmpFS=/t", "MailDomain=a\\\\\nTmpFS=/t\n"},
        {"MailDomain=a \\ # comment\n\nTmpFS=/t", "MailDomain=a\nTmpFS=/t\n"},
        {"MailDomain=a\\", "MailDomain=a\n"},
        {"MailDomain+=a", "MailDomain=a\n"},
        {"NodeName=n[1-3] CPUs=4 \\\n  State=UNKNOWN\n", "NodeName=n[1-3] CPUs=4 State=UNKNOWN\n"},
        {"nodename=n1 REASON=\"it is broken\"", "nodename=n1 REASON=\"it is broken\"\n"},
        {"PartitionName=foo Nodes=foo ", "PartitionName=foo Nodes=foo\n"},
        {"PartitionName=a Nodes= b", "PartitionName=a Nodes=b\n"},
        {"SlurmctldHost=a(10.0.0.1)", "SlurmctldHost=a(10.0.0.1)\n"},
        {"includes.x=1", "includes.x=1\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        check(CONF_SLURM, cases[i].text, cases[i].printed, "");
}

static void what_slurm_refuses_is_a_fault_with_its_line(void **state)
{
    static const struct {
        const char *text;
        const char *printed;
        const char *faults;
    } cases[] = {
        {"\nMailDomain=", "", "/etc/slurm/slurm.conf:2: error: cannot read 'MailDomain='\n"},
        {"MailDomain=a b\nTmpFS=/t", "MailDomain=a\nTmpFS=/t\n",
         "/etc/slurm/slurm.conf:1: error: cannot read 'b' after MailDomain; a value with blanks "
         "needs quotes\n"},
        {"MailDomain=a TmpFS=/t", "MailDomain=a\n",
         "/etc/slurm/slurm.conf:1: error: only one setting may stand in a line, here follows "
         "'TmpFS=/t'\n"},
        {"=x\nMailDomain", "",
         "/etc/slurm/slurm.conf:1: error: cannot read '=x'\n"
         "/etc/slurm/slurm.conf:2: error: cannot read 'MailDomain'\n"},
        {" include x.conf", "", "/etc/slurm/slurm.conf:1: error: cannot read 'include x.conf'\n"},
        {"a=1 \\\n b\nc d", "a=1\n",
         "/etc/slurm/slurm.conf:1: error: cannot read 'b' after a; a value with blanks needs "
         "quotes\n"
         "/etc/slurm/slurm.conf:3: error: cannot read 'c d'\n"},
        {"NodeName=n1 Reason=a b CPUs=1", "NodeName=n1 Reason=a\n",
         "/etc/slurm/slurm.conf:1: error: cannot read 'b CPUs=1' after Reason; a value with blanks "
         "needs quotes\n"},
        {"NodeName=n1 CPUs", "NodeName=n1\n",
         "/etc/slurm/slurm.conf:1: error: cannot read 'CPUs'\n"},
        {"Include gone.conf", "",
         "/etc/slurm/slurm.conf:1: error: Include '/etc/slurm/gone.conf': there is no such "
         "file\n"},
        {"Include %c.conf", "",
         "/etc/slurm/slurm.conf:1: error: ClusterName must stand before the Include of "
         "'%c.conf'\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        check(CONF_SLURM, cases[i].text, cases[i].printed, cases[i].faults);
}

static void includes_stand_in_their_place(void **state)
{
    static const struct files files[] = {
        {"/etc/slurm/nodes.conf", "NodeName=n1\nInclude /more/parts.conf\nNodeName=n2"},
        {"/more/parts.conf", "\nPartitionName=p Nodes=n1"},
        {"/etc/slurm/abc.d/x.conf", "MailDomain=abc"},
        {0},
    };
    AUTO(faults_done) struct faults faults = {0};
    AUTO(conf_free)
    struct conf *c = parse(
        CONF_SLURM, "ClusterName=ABC\nINCLUDE nodes.conf\nInclude %c.d/x.conf # here\nTmpFS=/t",
        files, &faults);
    AUTO(buf_done) struct buf out = {0};
    const struct conf_line *lines;
    size_t n;

    (void)state;
    assert_int_equal(faults.fatal, 0);
    conf_print(c, &out);
    assert_string_equal(buf_str(&out), "ClusterName=ABC\nNodeName=n1\nPartitionName=p Nodes=n1\n"
                                       "NodeName=n2\nMailDomain=abc\nTmpFS=/t\n");
    lines = conf_lines(c, &n);
    assert_int_equal(n, 6);
    assert_string_equal(lines[2].file, "/more/parts.conf");
    assert_int_equal(lines[2].line, 2);
    assert_string_equal(lines[5].file, "/etc/slurm/slurm.conf");
    assert_int_equal(lines[5].line, 4);
}

static void includes_end_somewhere(void **state)
{
    static const struct files files[] = {
        {"/etc/slurm/a.conf", "TmpFS=/t\nInclude a.conf\n"},
        {0},
    };
    AUTO(faults_done) struct faults faults = {0};
    AUTO(conf_free) struct conf *c = parse(CONF_SLURM, "Include a.conf", files, &faults);
    size_t n;

    (void)state;
    (void)conf_lines(c, &n);
    assert_int_equal(n, CONF_MAX_DEPTH);
    assert_int_equal(faults.fatal, 1);
    assert_string_equal(faults.list[0].text,
                        "Include '/etc/slurm/a.conf': files include each other "
                        "more than 8 levels deep");
}

static void without_a_lookup_an_include_is_a_fault(void **state)
{
    AUTO(faults_done) struct faults faults = {0};
    AUTO(conf_free) struct conf *c = NULL;
    struct conf_input in = {.kind = CONF_SLURM, .name = "extraConf", .text = STR("Include x")};
    struct err e = {0};

    (void)state;
    assert_int_equal(conf_parse(&in, &faults, &c, &e), 0);
    assert_int_equal(faults_error(&faults, &e), -EINVAL);
    assert_string_equal(e.text, "extraConf:1: Include 'x': no files can be included here");
}

static void limits_are_errors(void **state)
{
    AUTO(faults_done) struct faults faults = {0};
    AUTO(buf_done) struct buf big = {0};
    AUTO(buf_done) struct buf many = {0};
    struct conf *c = NULL;
    struct conf_input in = {.kind = CONF_SLURM, .name = "x", .text = {"a\0b", 3}};
    struct err e = {0};

    (void)state;
    assert_int_equal(conf_parse(&in, &faults, &c, &e), -EINVAL);
    assert_string_equal(e.text, "x: the file has a NUL byte, it is not text");
    while (big.n <= CONF_MAX_BYTES)
        buf_adds(&big, "# ........................................................\n");
    in.text = buf_view(&big);
    assert_int_equal(conf_parse(&in, &faults, &c, &e), -E2BIG);
    assert_null(c);
    buf_adds(&many, "NodeName=n1");
    for (int i = 0; i < CONF_MAX_PAIRS; i++)
        buf_printf(&many, " k%d=1", i);
    in.text = buf_view(&many);
    assert_int_equal(conf_parse(&in, &faults, &c, &e), 0);
    assert_int_equal(faults.fatal, 1);
    conf_free(c);
}

static void faults_are_counted_past_their_cap(void **state)
{
    AUTO(faults_done) struct faults faults = {0};
    AUTO(buf_done) struct buf text = {0};
    AUTO(buf_done) struct buf out = {0};
    AUTO(conf_free) struct conf *c = NULL;
    struct err e = {0};

    (void)state;
    for (int i = 0; i < 150; i++)
        buf_adds(&text, "rubbish\n");
    c = parse(CONF_SLURM, buf_str(&text), NULL, &faults);
    assert_int_equal(faults.n, FAULTS_MAX);
    assert_int_equal(faults.fatal, 150);
    faults_print(&faults, &out);
    assert_true(ends_with(buf_str(&out), "and 50 more\n"));
    assert_int_equal(faults_error(&faults, &e), -EINVAL);
    assert_string_equal(e.text, "/etc/slurm/slurm.conf:1: cannot read 'rubbish' (and 149 more)");
}

static void each_kind_of_file_has_its_sections(void **state)
{
    static const struct {
        enum conf_kind kind;
        const char *text;
        enum conf_section section;
        size_t pairs;
    } cases[] = {
        {CONF_SLURM, "NodeSet=gpu Feature=gpu", CONF_NODESET, 2},
        {CONF_SLURM, "DownNodes=n1 State=DOWN Reason=x", CONF_DOWN, 3},
        {CONF_SLURM, "FrontendName=f", CONF_FRONTEND, 1},
        {CONF_SLURM, "PowerAction=x Program=/bin/x", CONF_POWER, 2},
        {CONF_CGROUP, "ConstrainCores=yes", CONF_GLOBAL, 1},
        {CONF_GRES, "Name=gpu File=/dev/nvidia[0-3]", CONF_GRES_LINE, 2},
        {CONF_GRES, "NodeName=n[1-2] Name=gpu Count=2", CONF_GRES_LINE, 3},
        {CONF_GRES, "AutoDetect=nvml", CONF_GLOBAL, 1},
        {CONF_TOPOLOGY, "SwitchName=s1 Nodes=n[1-2]", CONF_SWITCH, 2},
        {CONF_TOPOLOGY, "BlockName=b1 Nodes=n[1-2]", CONF_SWITCH, 2},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(faults_done) struct faults faults = {0};
        AUTO(conf_free) struct conf *c = parse(cases[i].kind, cases[i].text, NULL, &faults);
        const struct conf_line *lines;
        size_t n;

        lines = conf_lines(c, &n);
        assert_int_equal(n, 1);
        assert_int_equal(faults.fatal, 0);
        assert_int_equal(lines[0].section, cases[i].section);
        assert_int_equal(lines[0].n, cases[i].pairs);
    }
}

static void kinds_are_told_by_file_name(void **state)
{
    enum conf_kind kind = CONF_SLURM;

    (void)state;
    assert_int_equal(conf_kind_by_name("/etc/slurm/gres.conf", &kind), 0);
    assert_int_equal(kind, CONF_GRES);
    assert_int_equal(conf_kind_by_name("cgroup.conf", &kind), 0);
    assert_int_equal(kind, CONF_CGROUP);
    assert_int_equal(conf_kind_by_name("/etc/slurm/prolog.sh", &kind), -ENOENT);
    assert_string_equal(conf_section_name(CONF_PARTITION), "partition");
}

static void pairs_of_a_line_are_found_without_case(void **state)
{
    AUTO(faults_done) struct faults faults = {0};
    AUTO(conf_free)
    struct conf *c = parse(CONF_SLURM, "PartitionName=p Nodes=a NODES=b", NULL, &faults);
    const struct conf_line *lines;
    size_t n;

    (void)state;
    lines = conf_lines(c, &n);
    assert_string_equal(conf_line_get(&lines[0], "nodes")->value, "b");
    assert_null(conf_line_get(&lines[0], "State"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_read_as_slurm_reads_them),
        cmocka_unit_test(what_slurm_refuses_is_a_fault_with_its_line),
        cmocka_unit_test(includes_stand_in_their_place),
        cmocka_unit_test(includes_end_somewhere),
        cmocka_unit_test(without_a_lookup_an_include_is_a_fault),
        cmocka_unit_test(limits_are_errors),
        cmocka_unit_test(faults_are_counted_past_their_cap),
        cmocka_unit_test(each_kind_of_file_has_its_sections),
        cmocka_unit_test(kinds_are_told_by_file_name),
        cmocka_unit_test(pairs_of_a_line_are_found_without_case),
    };

    return cmocka_run_group_tests_name("conf", tests, NULL, NULL);
}
