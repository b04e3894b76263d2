/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of rules in CEL: the language, what is refused, what is beyond, and whole schemas. */
#include "src/json/test/json_text.h"

#include "src/json/cel.h"
#include "src/json/pattern.h"
#include "src/json/schema_openapi.h"
#include "src/json/structural.h"

static const char *printed(struct arena *a, const struct jsn *v)
{
    AUTO(buf_done) struct buf b = {0};

    jsn_print(&b, v);
    return arena_str(a, buf_view(&b));
}

/* The value of an expression on self; "error: ..." and "beyond" otherwise. */
static const char *value_of(struct arena *a, const char *expression, const char *self)
{
    AUTO(pattern_cache_free) struct pattern_cache *patterns = pattern_cache_new();
    struct pattern_budget budget = {PATTERN_BUDGET_STEPS};
    uint64_t steps = 100000;
    const struct jsn *v = NULL;
    const char *error = "";
    struct cel *c;
    struct err e = {0};
    struct cel_input in = {.arena = a,
                           .patterns = patterns,
                           .budget = &budget,
                           .steps = &steps,
                           .self = json_of(a, self)};
    int r = cel_compile(a, expression, &c, &e);

    if (r < 0)
        return arena_printf(a, "%s: %s", r == -ENOTSUP ? "beyond" : "refused", e.text);
    switch (cel_run(c, &in, &v, &error)) {
    case CEL_VALUE:
        return printed(a, v);
    case CEL_FAILED:
        return arena_printf(a, "error: %s", error);
    case CEL_BEYOND:
        break;
    }
    return "beyond";
}

static void run(const char *const (*cases)[2], size_t n, const char *self)
{
    for (size_t i = 0; i < n; i++) {
        AUTO(arena_done) struct arena a = {0};
        const char *got = value_of(&a, cases[i][0], self);

        if (!streq(got, cases[i][1]))
            fail_msg("%s\ngives %s\nnot   %s", cases[i][0], got, cases[i][1]);
    }
}

#define SELF                                                                                       \
    "{'n':3,'s':'abc','r':1.5,'b':true,'l':[1,2,3],'names':['a','b'],'m':{'k':'v','x-y':1},"       \
    "'o':[{'name':'a','port':80},{'name':'b','port':81}],'z':null,'my-field':'d','in':1,'e':[]}"

static void operators_follow_their_precedence(void **state)
{
    static const char *const cases[][2] = {
        {"1 + 2 * 3", "7"},
        {"(1 + 2) * 3", "9"},
        {"7 / 2", "3"},
        {"-7 / 2", "-3"},
        {"7 % 3", "1"},
        {"-self.n", "-3"},
        {"1.5 + 1.5", "3"},
        {"1 < 2 && 2 < 3", "true"},
        {"1 == 1.0", "true"},
        {"!true || true", "true"},
        {"!(true || true)", "false"},
        {"!!self.b", "true"},
        {"self.n == 3 ? 'x' : 'y'", "\"x\""},
        {"self.n != 3 ? 'x' : self.b ? 'y' : 'z'", "\"y\""},
        {"'a' + 'b'", "\"ab\""},
        {"[1] + [2]", "[1,2]"},
        {"'a' < 'b' && 'b' <= 'b'", "true"},
        {"2 in self.l", "true"},
        {"'k' in self.m", "true"},
        {"'q' in self.m", "false"},
        {"!('q' in self.m)", "true"},
        {"{'a': 1}.a", "1"},
        {"[1, 2, 3][1]", "2"},
        {"self.m['x-y']", "1"},
        {"self.l == [1, 2, 3]", "true"},
        {"self.z == null", "true"},
        {"null == 1", "false"},
        {"true // a comment", "true"},
        {"0x1F", "31"},
        {"1e2", "100"},
        {"r'a\\d' == 'a\\\\d'", "true"},
        {"'''a'b''' == \"a'b\"", "true"},
        {"'\\u00fc\\n' == '\xc3\xbc\\x0a'", "true"},
        {".self.n", "3"},
        {"[1, 2,]", "[1,2]"},
    };

    (void)state;
    run(cases, ARRAY_LEN(cases), SELF);
}

static void errors_are_values(void **state)
{
    static const char *const cases[][2] = {
        {"self.none", "error: no such key: none"},
        {"self.m.none == 1", "error: no such key: none"},
        {"self.l[5]", "error: index out of bounds: 5"},
        {"self.m['q']", "error: no such key: q"},
        {"1 / 0", "error: division by zero"},
        {"1 % 0", "error: modulus by zero"},
        {"9223372036854775807 + 1", "error: integer overflow"},
        {"self.n + 'a'", "error: no such overload"},
        {"self.n && true", "error: no such overload"},
        {"self.n < 'a'", "error: no such overload"},
        {"self.none == 1 || true", "true"},
        {"true || self.none == 1", "true"},
        {"self.none == 1 && false", "false"},
        {"self.none == 1 || false", "error: no such key: none"},
        {"[1, 0].exists(x, 1 / x == 1)", "true"},
        {"[0, 1].all(x, 1 / x == 2)", "false"},
        {"[0].all(x, 1 / x == 1)", "error: division by zero"},
        {"int('x')", "error: type conversion error from 'string' to 'int'"},
        {"'a'.matches('(')", "error: error parsing regexp: missing closing ): `(`"},
    };

    (void)state;
    run(cases, ARRAY_LEN(cases), SELF);
}

static void macros_and_functions_work(void **state)
{
    static const char *const cases[][2] = {
        {"has(self.n)", "true"},
        {"has(self.none)", "false"},
        {"has(self.m.k) && !has(self.m.q)", "true"},
        {"has(self.z)", "true"},
        {"self.l.all(x, x > 0)", "true"},
        {"self.l.exists(x, x > 2)", "true"},
        {"self.l.exists_one(x, x > 1)", "false"},
        {"self.l.filter(x, x > 1)", "[2,3]"},
        {"self.l.map(x, x * 2)", "[2,4,6]"},
        {"self.l.map(x, x > 1, x * 2)", "[4,6]"},
        {"self.m.all(k, k.size() > 0)", "true"},
        {"self.o.all(p, p.port >= 80 && p.name in self.names)", "true"},
        {"self.o.all(p, self.o.exists_one(q, q.name == p.name))", "true"},
        {"self.e.all(x, false)", "true"},
        {"size(self.l) == 3 && self.s.size() == 3", "true"},
        {"size('\xc3\xbc\xc3\xbc')", "2"},
        {"size(self.m)", "2"},
        {"self.s.startsWith('ab') && self.s.endsWith('bc') && self.s.contains('b')", "true"},
        {"self.s.matches('^[a-c]+$')", "true"},
        {"matches(self.s, 'x')", "false"},
        {"int('12') + int(1.9)", "13"},
        {"string(self.n) + string(true) + string(0.5)", "\"3true0.5\""},
        {"double('1.5') == self.r", "true"},
        {"type(self.n) == int && type(self.s) == string", "true"},
        {"'aBc'.lowerAscii() + 'aBc'.upperAscii()", "\"abcABC\""},
        {"' a '.trim()", "\"a\""},
        {"'hello'.substring(1) + 'hello'.substring(1, 3)", "\"elloel\""},
        {"'hello'.charAt(4)", "\"o\""},
        {"'hello'.indexOf('l')", "2"},
        {"[1,2].indexOf(2)", "1"},
        {"'a.b.c'.split('.')", "[\"a\",\"b\",\"c\"]"},
        {"['a','b'].join('-') + ['a','b'].join()", "\"a-bab\""},
        {"'aXbX'.replace('X', '--')", "\"a--b--\""},
        {"self.l.min() + self.l.max() + self.l.sum()", "10"},
        {"self.l.isSorted() && !['b','a'].isSorted()", "true"},
        {"self.my__dash__field", "\"d\""},
        {"self.__in__", "1"},
    };

    (void)state;
    run(cases, ARRAY_LEN(cases), SELF);
}

static void what_is_no_cel_is_refused(void **state)
{
    static const char *const cases[][2] = {
        {"1 +",
         "refused: ERROR: <input>:1:4: Syntax error: mismatched input '<EOF>'\n | 1 +\n | ...^"},
        {"self.", "refused: ERROR: <input>:1:6: Syntax error: mismatched input '<EOF>'\n | self.\n"
                  " | .....^"},
        {"self..n", "refused: ERROR: <input>:1:6: Syntax error: extraneous input '.'\n | self..n\n"
                    " | .....^"},
        {"(1", "refused: ERROR: <input>:1:3: Syntax error: mismatched input '<EOF>' expecting ')'\n"
               " | (1\n | ..^"},
        {"1 2", "refused: ERROR: <input>:1:3: Syntax error: extraneous input '2'\n | 1 2\n | ..^"},
        {"other == 1", "refused: ERROR: <input>:1:1: undeclared reference to 'other' (in container "
                       "'')\n | other == 1\n | ^"},
        {"self.l.all(x, y)", "refused: ERROR: <input>:1:15: undeclared reference to 'y' (in "
                             "container '')\n | self.l.all(x, y)\n | ..............^"},
        {"has(self)", "refused: ERROR: <input>:1:5: invalid argument to has() macro\n | has(self)\n"
                      " | ....^"},
        {"self.l.all(1, true)", "refused: ERROR: <input>:1:12: argument must be a simple name\n | "
                                "self.l.all(1, true)\n | ...........^"},
        {"'open", "refused: ERROR: <input>:1:1: Syntax error: token recognition error\n | 'open\n |"
                  " ^"},
        {"true\n&& x", "refused: ERROR: <input>:2:4: undeclared reference to 'x' (in container '')"
                       "\n | && x\n | ...^"},
    };

    (void)state;
    run(cases, ARRAY_LEN(cases), SELF);
}

static void what_is_not_known_here_is_told(void **state)
{
    static const char *const cases[][2] = {
        {"quantity(self.s).isInteger()", "beyond: the function quantity() with 1 arguments"},
        {"self.s.foo(1)", "beyond: the function foo() with 1 arguments"},
        {"1u == 1u", "beyond: unsigned numbers"},
        {"b'a' == b'a'", "beyond: bytes"},
        {"self.?n.orValue(1) == 1", "beyond: optional fields"},
        {"Foo{a: 1} == null", "beyond: message construction"},
        {"{1: 2}", "beyond"},
    };

    (void)state;
    run(cases, ARRAY_LEN(cases), SELF);
}

static void endless_rules_end(void **state)
{
    AUTO(arena_done) struct arena a = {0}, b = {0};
    AUTO(buf_done) struct buf deep = {0};
    struct jsn *list = jsn_array(&b);

    (void)state;
    for (int i = 0; i < 400; i++)
        jsn_append(&b, list, jsn_int(&b, i));
    assert_string_equal(
        value_of(&a, "self.all(x, self.all(y, self.all(z, true)))", printed(&b, list)),
        "error: cost limit exceeded");
    for (int i = 0; i < 3000; i++)
        buf_addc(&deep, '(');
    assert_string_equal(value_of(&a, buf_str(&deep), "1"), "beyond: a rule that nests this deep");
    buf_clear(&deep);
    buf_addc(&deep, '1');
    for (int i = 0; i < 3000; i++)
        buf_adds(&deep, "+1");
    assert_string_equal(value_of(&a, buf_str(&deep), "1"), "beyond: a rule of this size");
}

/* Rules in a schema: {spec: x}, the value and the value before. */
static const struct {
    const char *schema, *value, *old, *faults;
} rule_cases[] = {
    {"{'type':'integer','x-kubernetes-validations':[{'rule':'self == oldSelf','message':'immut is "
     "immutable'}]}",
     "1", "2", "spec: Invalid value: 1: immut is immutable"},
    {"{'type':'integer','x-kubernetes-validations':[{'rule':'self == oldSelf'}]}", "1", NULL, ""},
    {"{'type':'integer','x-kubernetes-validations':[{'rule':' self > 0 '}]}", "0", NULL,
     "spec: Invalid value: 0: failed rule: self > 0"},
    {"{'type':'object','x-kubernetes-validations':[{'rule':'self.a > self.b'}],'properties':{'a':{"
     "'type':'integer'},'b':{'type':'integer'}}}",
     "{'a':1}", NULL,
     "spec: Invalid value: \"object\": no such key: b evaluating rule: self.a > self.b"},
    {"{'type':'object','x-kubernetes-validations':[{'rule':'self.p + 1 > 0'}],'properties':{'p':{"
     "'x-kubernetes-int-or-string':true}}}",
     "{'p':'x'}", NULL,
     "spec: Invalid value: \"object\": 'no such overload': call arguments did not match a "
     "supported "
     "operator, function or macro signature for rule: self.p + 1 > 0"},
    {"{'type':'object','x-kubernetes-validations':[{'rule':'self.a < self.b','message':'a before "
     "b',"
     "'fieldPath':'.a','reason':'FieldValueForbidden'}],'properties':{'a':{'type':'integer'},'b':{"
     "'type':'integer'}}}",
     "{'a':2,'b':1}", NULL, "spec.a: Forbidden: a before b"},
    {"{'type':'integer','x-kubernetes-validations':[{'rule':'self < 5','messageExpression':"
     "'\\\"got \\\" + string(self)','message':'no'}]}",
     "7", NULL, "spec: Invalid value: 7: got 7"},
    {"{'type':'integer','x-kubernetes-validations':[{'rule':'self < 5','messageExpression':"
     "'quantity(self)','message':'no'}]}",
     "7", NULL, "spec: Invalid value: 7: no"},
    {"{'type':'array','items':{'type':'string','x-kubernetes-validations':[{'rule':'self != "
     "\\\"x\\\"'}"
     "]}}",
     "['a','x']", NULL, "spec[1]: Invalid value: \"x\": failed rule: self != \"x\""},
    {"{'type':'object','additionalProperties':{'type':'integer','x-kubernetes-validations':[{'rule'"
     ":"
     "'self >= oldSelf'}]}}",
     "{'k':1,'n':0}", "{'k':2}", "spec[k]: Invalid value: 1: failed rule: self >= oldSelf"},
    {"{'type':'array','x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['name'],'items':"
     "{"
     "'type':'object','properties':{'name':{'type':'string'},'v':{'type':'integer',"
     "'x-kubernetes-validations':[{'rule':'self == oldSelf'}]}}}}",
     "[{'name':'b','v':1},{'name':'a','v':5}]", "[{'name':'a','v':1},{'name':'b','v':1}]",
     "spec[1].v: Invalid value: 5: failed rule: self == oldSelf"},
    {"{'type':'array','x-kubernetes-list-type':'set','items':{'type':'string'},"
     "'x-kubernetes-validations':[{'rule':'self == oldSelf'}]}",
     "['b','a']", "['a','b']", ""},
    {"{'type':'string','nullable':true,'x-kubernetes-validations':[{'rule':'false'}]}", "null",
     NULL, ""},
    {"{'type':'string','format':'date-time','x-kubernetes-validations':[{'rule':'self == "
     "oldSelf'}]}",
     "'2020-01-01T00:00:00Z'", "'2021-01-01T00:00:00Z'",
     "spec: Invalid value: \"2020-01-01T00:00:00Z\": failed rule: self == oldSelf"},
    {"{'type':'string','format':'date-time','x-kubernetes-validations':[{'rule':'self < "
     "oldSelf'}]}",
     "'2020-01-01T00:00:00Z'", "'2021-01-01T00:00:00Z'", ""}, /* beyond */
    {"{'type':'number','x-kubernetes-validations':[{'rule':'self / 2.0 == 1.5'}]}", "3", NULL, ""},
    {"{'type':'string','x-kubernetes-validations':[{'rule':'quantity(self).isInteger()'}]}", "'x'",
     NULL, ""}, /* beyond */
};

static void rules_of_a_schema_are_run(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rule_cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        AUTO(pattern_cache_free) struct pattern_cache *patterns = pattern_cache_new();
        AUTO(buf_done) struct buf b = {0};
        struct schema_faults f = {.arena = &a};
        struct schema *s = NULL;
        struct err e = {0};
        struct jsn *schema =
            json_of(&a, arena_printf(&a, "{'type':'object','properties':{'spec':%s}}",
                                     rule_cases[i].schema));
        struct jsn *v = json_of(&a, arena_printf(&a, "{'spec':%s}", rule_cases[i].value));
        struct jsn *old = NULL;

        if (rule_cases[i].old)
            old = json_of(&a, arena_printf(&a, "{'spec':%s}", rule_cases[i].old));
        if (schema_from_openapi(&a, schema, &s, &e) < 0)
            fail_msg("%s", e.text);
        assert_true(s->has_rules);
        schema_validate_rules(&(struct structural){.patterns = patterns}, s, v, old, &f);
        for (size_t k = 0; k < f.n; k++)
            buf_printf(&b, "%s%s: %s", k ? " | " : "", f.items[k].field, f.items[k].text);
        if (!streq(buf_str(&b), rule_cases[i].faults))
            fail_msg("%s\ngives %s\nnot   %s", rule_cases[i].schema, buf_str(&b),
                     rule_cases[i].faults);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_follow_their_precedence),
        cmocka_unit_test(errors_are_values),
        cmocka_unit_test(macros_and_functions_work),
        cmocka_unit_test(what_is_no_cel_is_refused),
        cmocka_unit_test(what_is_not_known_here_is_told),
        cmocka_unit_test(endless_rules_end),
        cmocka_unit_test(rules_of_a_schema_are_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
