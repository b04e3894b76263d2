/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of whom probes and hooks turn to, and with which words. */
#include "src/cluster/node/test/parse.h"

#include "src/cluster/node/pods/handler_request.h"

#define SPEC                                                                                       \
    "{'containers':[{'name':'c','ports':[{'name':'web','containerPort':8080},{'name':'dns',"       \
    "'containerPort':53}]}]}"

static void ports_are_numbers_or_names(void **state)
{
    static const struct {
        const char *port;
        uint16_t number; /* 0: there is none */
    } cases[] = {
        {"80", 80},       {"0", 0},       {"65535", 65535}, {"65536", 0},  {"-1", 0},
        {"'8081'", 8081}, {"'70000'", 0}, {"'web'", 8080},  {"'dns'", 53}, {"'other'", 0},
        {"''", 0},        {"null", 0},    {"true", 0},
    };
    AUTO(arena_done) struct arena a = {0};
    const struct ctr_spec *c = &pod_of(&a, SPEC)->ctrs[0];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(handler_port(c, json_of(&a, cases[i].port)), cases[i].number);
    assert_int_equal(handler_port(c, NULL), 0);
}

static const char *request(struct arena *a, const char *action)
{
    AUTO(buf_done) struct buf b = {0};
    struct handler_request r;
    struct err e = {0};

    if (handler_request_of(a, &pod_of(a, SPEC)->ctrs[0], json_of(a, action), "10.1.0.5", &r, &e) <
        0)
        return arena_strdup(a, e.text);
    buf_adds(&b, r.url);
    for (const char *const *h = r.headers; *h; h++)
        buf_printf(&b, " | %s", *h);
    return arena_strdup(a, buf_str(&b));
}

static void requests_are_made_as_the_pod_says(void **state)
{
#define OURS " | User-Agent: kube-probe/slurmkeeper"
    static const char *const cases[][2] = {
        {"{'port':80}", "http://10.1.0.5:80/" OURS},
        {"{'port':'web','path':'/healthz?x=1'}", "http://10.1.0.5:8080/healthz?x=1" OURS},
        {"{'port':80,'path':'healthz'}", "http://10.1.0.5:80/healthz" OURS},
        {"{'port':443,'scheme':'HTTPS','path':''}", "https://10.1.0.5:443/" OURS},
        {"{'port':80,'host':'example.org'}", "http://example.org:80/" OURS},
        {"{'port':80,'host':''}", "http://10.1.0.5:80/" OURS},
        {"{'port':80,'httpHeaders':[{'name':'X','value':'1'},{'name':'Y'}]}",
         "http://10.1.0.5:80/ | X: 1 | Y: " OURS},
        {"{'port':80,'httpHeaders':[{'name':'user-agent','value':'me'}]}",
         "http://10.1.0.5:80/ | user-agent: me"},
        {"{'port':'nobody'}", "there is no such port"},
        {"{}", "there is no such port"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};

        assert_string_equal(request(&a, cases[i][0]), cases[i][1]);
    }
}

static void redirections_count_as_well(void **state)
{
    static const struct {
        int status;
        bool ok;
    } cases[] = {{199, false}, {200, true},  {204, true}, {302, true},
                 {399, true},  {400, false}, {503, false}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(handler_status_ok(cases[i].status), cases[i].ok);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ports_are_numbers_or_names),
        cmocka_unit_test(requests_are_made_as_the_pod_says),
        cmocka_unit_test(redirections_count_as_well),
    };

    return cmocka_run_group_tests_name("handler_request", tests, NULL, NULL);
}
