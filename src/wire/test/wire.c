/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of what operator and agent say to each other. */
#include "src/base/test/unit.h"

#include "src/wire/declaration.h"
#include "src/wire/outcome.h"
#include "src/wire/version.h"

static struct jsn *json_of(struct arena *a, const char *text)
{
    struct jsn *v = NULL;

    assert_int_equal(jsn_parse(a, str_of(text), NULL, &v, NULL), 0);
    return v;
}

static void declarations_are_read_or_refused_with_a_sentence(void **state)
{
    static const struct {
        const char *json;
        int r;
        const char *error;
    } rows[] = {
        {"{}", 0, ""},
        {"{'wire':1,'files':{'slurm.conf':'x'},'modes':{},'declared':'d','generation':3}", 0, ""},
        {"{'driftPolicy':'Revert'}", 0, ""},
        {"{'inPlace':false}", 0, ""},
        {"{'inPlace':'no'}", -EINVAL, NULL},
        {"{'wire':2}", -EPROTONOSUPPORT,
         "the operator speaks version 2 of the protocol, and this agent knows version 1 at most: "
         "update the agent"},
        {"{'wire':'1'}", -EPROTONOSUPPORT,
         "wire: the version of the protocol is not a number from 1 on"},
        {"{'wire':0}", -EPROTONOSUPPORT,
         "wire: the version of the protocol is not a number from 1 on"},
        {"{'dryRun':true}", -EINVAL,
         "dryRun: is not known to this agent, and would have no effect"},
        {"{'driftPolicy':'Never'}", -EINVAL, NULL},
        {"{'generation':'3'}", -EINVAL, NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(arena_done) struct arena a = {0};
        char *text = arena_strdup(&a, rows[i].json);
        struct wire_declaration d = {0};
        struct err e = {0};

        for (char *p = text; *p; p++)
            *p = *p == '\'' ? '"' : *p;
        assert_int_equal(wire_declaration_decode(&a, json_of(&a, text), &d, &e), rows[i].r);
        if (rows[i].error)
            assert_string_equal(e.text, rows[i].error);
    }
}

static void a_sealed_declaration_is_read_back(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *body = json_of(&a, "{\"declared\":\"d\",\"driftPolicy\":\"Revert\",\"files\":{}}");
    struct wire_declaration d = {0};
    struct err e = {0};

    (void)state;
    assert_int_equal(wire_declaration_decode(&a, wire_declaration_seal(&a, body, 7), &d, &e), 0);
    assert_string_equal(d.declared, "d");
    assert_int_equal(d.generation, 7);
    assert_int_equal(d.drift_policy, WIRE_DRIFT_REVERT);
}

static void an_outcome_comes_back_as_it_was(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct wire_step step = {.step = "write", .ms = 1.5};
    struct wire_outcome out = {.result = WIRE_REFUSED,
                               .class = "rpc",
                               .declared = "d",
                               .generation = 7,
                               .error = "no",
                               .step = "validate",
                               .steps = {&step, 1}};
    struct wire_outcome in = {0};
    struct err e = {0};

    (void)state;
    wire_problem_add(&a, &out.problems,
                     &(struct wire_problem){.severity = WIRE_WARNING,
                                            .file = "slurm.conf",
                                            .line = 3,
                                            .object = "PartitionName=p",
                                            .key = "MaxTime",
                                            .message = "odd"});
    assert_int_equal(wire_outcome_decode(&a, wire_outcome_encode(&a, &out), &in, &e), 0);
    assert_int_equal(in.result, WIRE_REFUSED);
    assert_string_equal(in.declared, "d");
    assert_int_equal(in.problems.n, 1);
    assert_int_equal(in.problems.items[0].severity, WIRE_WARNING);
    assert_int_equal(in.problems.items[0].line, 3);
    assert_string_equal(in.problems.items[0].object, "PartitionName=p");
    assert_string_equal(in.problems.items[0].key, "MaxTime");
    assert_int_equal(in.steps.n, 1);
}

static void an_outcome_that_is_not_understood_is_refused(void **state)
{
    static const struct {
        const char *json;
        const char *error;
    } rows[] = {
        {"{\"wire\":9}", "the agent speaks version 9 of the protocol, and this operator knows "
                         "version 1 at most: update the operator"},
        {"{\"result\":\"postponed\"}", NULL},
        {"{\"class\":\"reboot\"}", "class: 'reboot' is no class of changes that is known here"},
        {"{\"problems\":[{}]}", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct wire_outcome o = {0};
        struct err e = {0};

        assert_true(wire_outcome_decode(&a, json_of(&a, rows[i].json), &o, &e) < 0);
        if (rows[i].error)
            assert_string_equal(e.text, rows[i].error);
        assert_true(e.text[0]);
    }
}

static void what_an_answer_has_besides_is_ignored(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct wire_outcome o = {0};
    struct err e = {0};

    (void)state;
    assert_int_equal(wire_outcome_decode(
                         &a, json_of(&a, "{\"weather\":\"fine\",\"result\":\"applied\"}"), &o, &e),
                     0);
    assert_int_equal(o.result, WIRE_APPLIED);
}

static void problems_have_one_form(void **state)
{
    static const struct {
        struct wire_problem p;
        const char *text;
    } rows[] = {
        {{.file = "slurm.conf", .line = 3, .message = "no"}, "slurm.conf:3: no"},
        {{.file = "slurm.conf", .message = "no"}, "slurm.conf: no"},
        {{.message = "no"}, "no"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(buf_done) struct buf b = {0};

        wire_problem_print(&rows[i].p, &b);
        assert_string_equal(buf_str(&b), rows[i].text);
    }
}

static void the_object_of_a_line_is_its_first_word(void **state)
{
    static const struct str text = {"A=1\n  PartitionName=p Nodes=n\nword\n", 34};
    AUTO(arena_done) struct arena a = {0};

    (void)state;
    assert_string_equal(wire_problem_object(&a, text, 1), "A=1");
    assert_string_equal(wire_problem_object(&a, text, 2), "PartitionName=p");
    assert_null(wire_problem_object(&a, text, 3));
    assert_null(wire_problem_object(&a, text, 0));
    assert_null(wire_problem_object(&a, text, 99));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(declarations_are_read_or_refused_with_a_sentence),
        cmocka_unit_test(a_sealed_declaration_is_read_back),
        cmocka_unit_test(an_outcome_comes_back_as_it_was),
        cmocka_unit_test(an_outcome_that_is_not_understood_is_refused),
        cmocka_unit_test(what_an_answer_has_besides_is_ignored),
        cmocka_unit_test(problems_have_one_form),
        cmocka_unit_test(the_object_of_a_line_is_its_first_word),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
