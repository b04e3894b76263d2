/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of types in CEL: what can never work is refused in kube-apiserver's words, and nothing
 * else is. */
#include "src/json/test/json_text.h"

#include "src/json/cel.h"

static const char SCHEMA[] =
    "{'type':'object','properties':{'a':{'type':'integer'},'r':{'type':'number'},"
    "'s':{'type':'string'},'b':{'type':'boolean'},'l':{'type':'array','items':{'type':'string'}},"
    "'m':{'type':'object','additionalProperties':{'type':'string'}},"
    "'o':{'type':'object','properties':{'x':{'type':'integer'}}},"
    "'os':{'type':'array','items':{'type':'object','properties':{'n':{'type':'string'}}}},"
    "'q':{'x-kubernetes-int-or-string':true},'any':{'x-kubernetes-preserve-unknown-fields':true},"
    "'t':{'type':'string','format':'date-time'},'d':{'type':'string','format':'duration'},"
    "'x-y':{'type':'string'},'in':{'type':'integer'},"
    "'e':{'type':'object','x-kubernetes-embedded-resource':true}}}";

/* What a rule is refused for, without its place in the text; "" if it is not. */
static const char *refusal(struct arena *a, const char *rule, bool root)
{
    bool is_bool = false;
    struct cel *c;
    struct err e = {0};
    char *end;

    if (cel_compile(a, rule, &c, &e) < 0)
        fail_msg("%s: %s", rule, e.text);
    if (cel_check(a, c, json_of(a, SCHEMA), root, &is_bool, &e) == 0)
        return is_bool ? "" : "no bool";
    end = strchr(e.text, '\n');
    return arena_str(a, (struct str){e.text, end ? (size_t)(end - e.text) : strlen(e.text)});
}

static void what_can_never_work_is_refused(void **state)
{
    static const char *const cases[][2] = {
        {"self.a == 'x'", "ERROR: <input>:1:8: found no matching overload for '_==_' applied to "
                          "'(int, string)'"},
        {"self.zzz == 1", "ERROR: <input>:1:5: undefined field 'zzz'"},
        {"has(self.qq)", "ERROR: <input>:1:4: undefined field 'qq'"},
        {"self.o.y == 1", "ERROR: <input>:1:7: undefined field 'y'"},
        {"self.any == 1", "ERROR: <input>:1:5: undefined field 'any'"},
        {"self.a", "no bool"},
        {"self.a.startsWith('x')", "ERROR: <input>:1:18: found no matching overload for "
                                   "'startsWith' applied to 'int.(string)'"},
        {"size(self.a) > 1",
         "ERROR: <input>:1:5: found no matching overload for 'size' applied to '(int)'"},
        {"self.a + self.s == 1",
         "ERROR: <input>:1:8: found no matching overload for '_+_' applied to '(int, string)'"},
        {"1 in self.l", "ERROR: <input>:1:3: found no matching overload for '@in' applied to "
                        "'(int, list(string))'"},
        {"self.m['k'] == 5",
         "ERROR: <input>:1:13: found no matching overload for '_==_' applied to '(string, int)'"},
        {"self.l['k'] == 'x'", "ERROR: <input>:1:7: found no matching overload for '_[_]' applied "
                               "to '(list(string), string)'"},
        {"self.a > 1 ? 'x' : 3", "ERROR: <input>:1:12: found no matching overload for '_?_:_' "
                                 "applied to '(bool, string, int)'"},
        {"!self.a", "ERROR: <input>:1:1: found no matching overload for '!_' applied to '(int)'"},
        {"self.a && self.b",
         "ERROR: <input>:1:8: found no matching overload for '_&&_' applied to '(int, bool)'"},
        {"self.os.all(o, o.n == 1)",
         "ERROR: <input>:1:20: found no matching overload for '_==_' applied to '(string, int)'"},
        {"self.os.exists(o, o.zz == 'x')", "ERROR: <input>:1:20: undefined field 'zz'"},
        {"self.a.all(x, true)",
         "ERROR: <input>:1:5: expression of type 'int' cannot be range of a comprehension (must be "
         "list, map, or dynamic)"},
        {"self.r == 1", "ERROR: <input>:1:8: found no matching overload for '_==_' applied to "
                        "'(double, int)'"},
        {"self.s.split(',') == ['a'] && self.s.split(',')[0] > 1",
         "ERROR: <input>:1:52: found no matching overload for '_>_' applied to '(string, int)'"},
        {"self.s.x == 1", "ERROR: <input>:1:7: type 'string' does not support field selection"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        const char *got = refusal(&a, cases[i][0], false);

        if (!streq(got, cases[i][1]))
            fail_msg("%s\ngives %s\nnot   %s", cases[i][0], got, cases[i][1]);
    }
}

static void what_may_work_is_not(void **state)
{
    static const char *const rules[] = {
        "self.a > 1 && self.s.size() < 5",
        "self.a > 1.5", /* numbers of both kinds may be compared */
        "self.r == 1.0",
        "self.q == 1 || self.q == 'x'",
        "self.t - self.t > self.d && self.t + self.d > self.t && self.d - self.d == self.d",
        "self.m.k == 'x' && 'k' in self.m && self.m.all(k, k != '')",
        "self.x__dash__y == 'z' && has(self.__in__)",
        "self.l.map(x, size(x)).sum() > 3",
        "self.l.filter(x, x == 'y').size() == 1 && self.l + ['z'] == self.l",
        "self.os.exists_one(o, has(o.n) && o.n.matches('^a'))",
        "oldSelf.a == self.a",
        "self.o == oldSelf.o",
        "type(self.a) == int",
        "(self.b ? self.a : 3) == 3",
        "self.l.max() == 'z' && [1, 2].min() == 1 && self.l.isSorted()",
        "dyn(self.a) == 'x'",
        "self.t == oldSelf.t && self.d == oldSelf.d",
        "self.e.kind == 'Pod' && self.e.metadata.name == 'x'",
        "string(self.a) == '3' && int(self.s) == 3",
        "-self.a < 3",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        AUTO(arena_done) struct arena a = {0};
        const char *got = refusal(&a, rules[i], false);

        if (!streq(got, ""))
            fail_msg("%s\ngives %s", rules[i], got);
    }
}

static void a_whole_object_has_a_name(void **state)
{
    AUTO(arena_done) struct arena a = {0};

    (void)state;
    assert_string_equal(refusal(&a, "self.metadata.name == 'x' && self.kind == 'K'", true), "");
    assert_string_equal(refusal(&a, "self.metadata.name == 'x'", false),
                        "ERROR: <input>:1:5: undefined field 'metadata'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_can_never_work_is_refused),
        cmocka_unit_test(what_may_work_is_not),
        cmocka_unit_test(a_whole_object_has_a_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
