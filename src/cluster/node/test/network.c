/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of addresses, names and rules. */
#include "src/cluster/node/test/parse.h"

#include <arpa/inet.h>
#include <stdio.h>

#include "src/base/alloc.h"
#include "src/cluster/node/names/dns_zone.h"
#include "src/cluster/node/network/ipam.h"
#include "src/cluster/node/network/nat_rules.h"
#include "src/cluster/node/runtime/etc_files.h"

static void ranges_are_parsed_strictly(void **state)
{
    static const struct {
        const char *text;
        int r;
    } cases[] = {{"10.131.0.0/16", 0},       {"10.131.0.0", -EINVAL},  {"10.131.0.1/16", -EINVAL},
                 {"10.131.0.0/33", -EINVAL}, {"10.0.0.0/7", -EINVAL},  {"10.1/16", -EINVAL},
                 {"256.0.0.0/8", -EINVAL},   {"10.0.0.0/29", -EINVAL}, {"10.0.0.16/28", 0}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        unsigned int prefix;
        uint32_t base;

        assert_int_equal(ipam_parse(str_of(cases[i].text), &base, &prefix, NULL), cases[i].r);
    }
}

static void addresses_go_round_and_run_out(void **state)
{
    struct ipam p;
    struct err e = {0};
    uint32_t first, address;
    char owner[16];

    (void)state;
    ipam_init(&p, 0x0a000010, 28);
    assert_int_equal(ipam_gateway(&p), 0x0a000011);
    assert_int_equal(ipam_take(&p, "a", NULL, &first, &e), 0);
    assert_int_equal(first, 0x0a000012);
    assert_int_equal(ipam_take(&p, "a", NULL, &address, &e), 0);
    assert_int_equal(address, first);
    ipam_release(&p, "a");
    assert_int_equal(ipam_take(&p, "b", NULL, &address, &e), 0);
    assert_int_equal(address, 0x0a000013);
    for (int i = 0; i < 12; i++) {
        (void)snprintf(owner, sizeof(owner), "o%d", i);
        assert_int_equal(ipam_take(&p, owner, NULL, &address, &e), 0);
    }
    assert_int_equal(address, first);
    assert_int_equal(ipam_take(&p, "z", NULL, &address, &e), -ENOSPC);
    ipam_release(&p, "o3");
    assert_int_equal(ipam_take(&p, "z", NULL, &address, &e), 0);
    assert_int_equal(ipam_restore(&p, "y", address), -EEXIST);
    assert_int_equal(ipam_restore(&p, "y", 0x0b000001), -EEXIST);
    ipam_done(&p);
}

static void a_name_has_its_address(void **state)
{
    struct ipam p;
    struct err e = {0};
    uint32_t first, address;

    (void)state;
    ipam_init(&p, 0x0a830000, 16);
    assert_int_equal(ipam_take(&p, "a", "default/compute-0", &first, &e), 0);
    assert_int_equal(ipam_take(&p, "b", "default/compute-1", &address, &e), 0);
    assert_int_not_equal(address, first);
    /* The last of the name is still there: any other will do. */
    assert_int_equal(ipam_take(&p, "c", "default/compute-0", &address, &e), 0);
    assert_int_equal(address, 0x0a830002);
    ipam_release(&p, "a");
    assert_int_equal(ipam_take(&p, "d", "default/compute-0", &address, &e), 0);
    assert_int_equal(address, first);
    ipam_done(&p);
}

static void overlapping_ranges_are_seen(void **state)
{
    (void)state;
    assert_true(ipam_overlap(0x0a000000, 8, 0x0a830000, 16));
    assert_true(ipam_overlap(0x0a830000, 16, 0x0a000000, 8));
    assert_false(ipam_overlap(0x0a830000, 16, 0x0a840000, 16));
}

/* A cluster of two web pods, one not ready, and a controller with a subdomain. */
static struct directory make_directory(void)
{
    static const char *const pods[] = {
        "{'metadata':{'name':'w1','namespace':'ns','labels':{'app':'w'}},'spec':{'containers':["
        "{'ports':[{'name':'http','containerPort':8080,'hostPort':80}]}]},'status':{'podIP':"
        "'10.131.0.2','phase':'Running','conditions':[{'type':'Ready','status':'True'}]}}",
        "{'metadata':{'name':'w2','namespace':'ns','labels':{'app':'w'}},'spec':{'containers':["
        "{'ports':[{'name':'http','containerPort':8081}]}]},'status':{'podIP':'10.131.0.3',"
        "'conditions':[{'type':'Ready','status':'False'}]}}",
        "{'metadata':{'name':'c-0','namespace':'ns','labels':{'app':'c'}},'spec':{'hostname':"
        "'ctl','subdomain':'hl'},'status':{'podIP':'10.131.0.4','conditions':[{'type':'Ready',"
        "'status':'True'}]}}",
        ("{'metadata':{'name':'old','namespace':'ns','labels':{'app':'w'}},'status':{'podIP':"
         "'10.131.0.5','phase':'Succeeded'}}"),
    };
    static const char *const services[] = {
        "{'metadata':{'name':'web','namespace':'ns'},'spec':{'clusterIP':'10.96.0.7','selector':"
        "{'app':'w'},'ports':[{'name':'http','port':80,'targetPort':'http','nodePort':30080}]}}",
        "{'metadata':{'name':'hl','namespace':'ns'},'spec':{'clusterIP':'None','selector':{'app':"
        "'c'},'ports':[{'name':'main','port':6817}]}}",
        "{'metadata':{'name':'ext','namespace':'ns'},'spec':{'type':'ExternalName',"
        "'externalName':'db.example.org'}}",
        "{'metadata':{'name':'none','namespace':'ns'},'spec':{'clusterIP':'10.96.0.8','selector':"
        "{'app':'zzz'},'ports':[{'port':1}]}}",
        "{'metadata':{'name':'manual','namespace':'ns'},'spec':{'clusterIP':'10.96.0.9','ports':[{"
        "'port':5,'protocol':'UDP'}]}}",
    };
    struct directory d = {0};

    for (size_t i = 0; i < ARRAY_LEN(pods); i++)
        directory_add_pod(&d, json_of(&d.arena, pods[i]));
    for (size_t i = 0; i < ARRAY_LEN(services); i++)
        directory_add_service(&d, json_of(&d.arena, services[i]));
    directory_add_endpoints(
        &d, json_of(&d.arena, "{'metadata':{'name':'manual','namespace':'ns'},'subsets':[{"
                              "'addresses':[{'ip':'192.0.2.9'}],'ports':[{'port':55}]}]}"));
    return d;
}

/* A query on the wire. */
static size_t make_query(const char *name, uint16_t type, unsigned char *out)
{
    static const unsigned char head[12] = {0xab, 0xcd, 0x01, 0, 0, 1};
    struct str rest = str_of(name), label;
    size_t n = sizeof(head);

    memcpy(out, head, sizeof(head));
    while (rest.n && str_split(&rest, '.', &label)) {
        out[n++] = (unsigned char)label.n;
        memcpy(out + n, label.p, label.n);
        n += label.n;
    }
    out[n++] = 0;
    out[n++] = (unsigned char)(type >> 8);
    out[n++] = (unsigned char)type;
    out[n++] = 0;
    out[n++] = 1;
    return n;
}

/* What the zone says: addresses joined by commas, "nothing", "unknown", "elsewhere", or a count. */
static void ask(const struct dns_zone *z, const char *name, uint16_t type, char text[128])
{
    unsigned char message[300];
    struct str m = {(char *)message, make_query(name, type, message)};
    struct dns_question q;
    struct dns_answer a;
    static const char *const words[] = {"", "nothing", "unknown", "elsewhere"};
    enum dns_found f;
    size_t n = 0;

    assert_int_equal(dns_question_parse(m, &q), 0);
    assert_int_equal(q.type, type);
    dns_answer_begin(&a, m, &q);
    f = dns_zone_answer(z, &q, &a);
    (void)snprintf(text, 128, "%s", words[f]);
    for (size_t i = 0; f == DNS_ANSWERED && i < a.n && type == DNS_A; i++) {
        const unsigned char *u = (const unsigned char *)a.buf.p + q.end + i * 16 + 12;

        n += (size_t)snprintf(text + n, 128 - n, "%s%u.%u.%u.%u", n ? "," : "", u[0], u[1], u[2],
                              u[3]);
    }
    if (f == DNS_ANSWERED && type != DNS_A)
        (void)snprintf(text, 128, "%u records", a.n);
    buf_done(&a.buf);
}

static void names_mean_what_kubernetes_says(void **state)
{
    static const struct {
        const char *name;
        uint16_t type;
        const char *answer;
    } cases[] = {
        {"web.ns.svc.cluster.local", DNS_A, "10.96.0.7"},
        {"WEB.ns.svc.CLUSTER.local", DNS_A, "10.96.0.7"},
        {"web.ns.svc.cluster.local", DNS_AAAA, "nothing"},
        {"web.other.svc.cluster.local", DNS_A, "unknown"},
        {"hl.ns.svc.cluster.local", DNS_A, "10.131.0.4"},
        {"ctl.hl.ns.svc.cluster.local", DNS_A, "10.131.0.4"},
        {"ctl.web.ns.svc.cluster.local", DNS_A, "unknown"},
        {"w2.ns.svc.cluster.local", DNS_A, "10.131.0.3"},
        {"old.ns.svc.cluster.local", DNS_A, "unknown"},
        {"_main._tcp.hl.ns.svc.cluster.local", DNS_SRV, "1 records"},
        {"_http._tcp.web.ns.svc.cluster.local", DNS_SRV, "1 records"},
        {"_none._tcp.web.ns.svc.cluster.local", DNS_SRV, "unknown"},
        {"ext.ns.svc.cluster.local", DNS_CNAME, "1 records"},
        {"10-131-0-9.ns.pod.cluster.local", DNS_A, "10.131.0.9"},
        {"x.ns.pod.cluster.local", DNS_A, "unknown"},
        {"4.0.131.10.in-addr.arpa", DNS_PTR, "1 records"},
        {"99.0.131.10.in-addr.arpa", DNS_PTR, "unknown"},
        {"1.2.0.192.in-addr.arpa", DNS_PTR, "elsewhere"},
        {"cluster.local", DNS_A, "nothing"},
        {"svc.cluster.local", DNS_A, "nothing"},
        {"a.b.c.d.ns.svc.cluster.local", DNS_A, "unknown"},
        {"example.org", DNS_A, "elsewhere"},
        {"Desk.example.org", DNS_A, "10.131.0.1"},
        {"desk", DNS_A, "10.131.0.1"},
        {"desk", DNS_SRV, "nothing"},
        {"desk2", DNS_A, "elsewhere"},
        {"notcluster.local", DNS_A, "elsewhere"},
    };
    struct directory d = make_directory();
    struct dns_zone z = {.directory = &d,
                         .domain = CLUSTER_DOMAIN,
                         .base = 0x0a830000,
                         .prefix = 16,
                         .machine = "desk.example.org",
                         .machine_address = 0x0a830001};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char text[128];

        ask(&z, cases[i].name, cases[i].type, text);
        if (!streq(text, cases[i].answer))
            fail_msg("%s: '%s' instead of '%s'", cases[i].name, text, cases[i].answer);
    }
    directory_done(&d);
}

static void where_addresses_lead_nowhere_names_lead_to_ready_pods(void **state)
{
    struct directory d = make_directory();
    struct dns_zone z = {.directory = &d, .domain = CLUSTER_DOMAIN, .prefix = 16, .direct = true};
    char text[128];

    (void)state;
    ask(&z, "web.ns.svc.cluster.local", DNS_A, text);
    assert_string_equal(text, "10.131.0.2");
    ask(&z, "none.ns.svc.cluster.local", DNS_A, text);
    assert_string_equal(text, "nothing");
    directory_done(&d);
}

static void broken_questions_are_refused(void **state)
{
    unsigned char m[300];
    size_t n = make_query("a.b", DNS_A, m);
    struct dns_question q;

    (void)state;
    for (size_t cut = 0; cut < n; cut++)
        assert_int_equal(dns_question_parse((struct str){(char *)m, cut}, &q),
                         cut < 12 ? -EBADMSG : -EINVAL);
    m[2] |= 0x80; /* an answer */
    assert_int_equal(dns_question_parse((struct str){(char *)m, n}, &q), -EBADMSG);
    m[2] = 1;
    m[12] = 0xc0; /* a pointer in a question */
    assert_int_equal(dns_question_parse((struct str){(char *)m, n}, &q), -EINVAL);
    m[12] = 1;
    m[5] = 2; /* two questions */
    assert_int_equal(dns_question_parse((struct str){(char *)m, n}, &q), -EINVAL);
}

static void a_long_answer_is_cut_over_udp(void **state)
{
    unsigned char message[300];
    struct str m = {(char *)message, make_query("a.b", DNS_A, message)};
    struct dns_question q;

    (void)state;
    assert_int_equal(dns_question_parse(m, &q), 0);
    for (int udp = 0; udp < 2; udp++) {
        struct dns_answer a;

        dns_answer_begin(&a, m, &q);
        for (uint32_t i = 0; i < 100; i++)
            dns_answer_a(&a, i, 5);
        dns_answer_end(&a, DNS_OK, NULL, udp);
        assert_int_equal((a.buf.p[2] & 2) != 0, udp);
        assert_int_equal(a.buf.n > 512, !udp);
        buf_done(&a.buf);
    }
}

static void rules_lead_to_ready_backends_alone(void **state)
{
    struct directory d = make_directory();
    struct nat_place place = {"tab", "br0", "10.131.0.0/16", "10.96.0.0/16", false};
    AUTO(buf_done) struct buf b = {0};
    static const char *const wanted[] = {
        "table ip tab {}\ndelete table ip tab\n",
        "chain s0_0 { meta l4proto tcp dnat to 10.131.0.2:8080; }",
        "ip daddr 10.96.0.7 tcp dport 80 goto s0\n",
        "fib daddr type local tcp dport 30080 goto s0\n",
        "fib daddr type local tcp dport 80 dnat to 10.131.0.2:8080\n",
        "ip daddr 10.96.0.8 tcp dport 1 reject with tcp reset\n",
        "meta l4proto udp dnat to 192.0.2.9:55;",
        "ip saddr 10.131.0.0/16 oifname != \"br0\" masquerade",
    };

    (void)state;
    nat_rules_print(&b, &d, &place);
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
        if (!strstr(buf_str(&b), wanted[i]))
            fail_msg("'%s' is missing in: %s", wanted[i], buf_str(&b));
    assert_null(strstr(buf_str(&b), "10.131.0.3:8081"));
    directory_done(&d);
}

static void what_is_meant_for_the_cluster_does_not_leave_the_machine(void **state)
{
    struct directory d = {0};
    struct nat_place place = {"tab", "br0", "10.131.0.0/16", "10.96.0.0/16", false};
    AUTO(buf_done) struct buf b = {0};

    (void)state;
    nat_rules_print(&b, &d, &place);
    assert_non_null(strstr(buf_str(&b),
                           "  ip daddr 10.96.0.0/16 meta l4proto tcp reject with tcp reset\n"
                           "  ip daddr 10.96.0.0/16 reject\n"));
    assert_non_null(strstr(buf_str(&b), "  iifname \"br0\" jump fence\n"));
    assert_non_null(strstr(buf_str(&b), "hook output priority 0; jump fence; }"));
    assert_non_null(
        strstr(buf_str(&b), "ip daddr 10.131.0.0/16 oifname != { \"br0\", \"lo\" } drop\n"));
    place.services_elsewhere = true;
    buf_clear(&b);
    nat_rules_print(&b, &d, &place);
    assert_null(strstr(buf_str(&b), "hook output priority 0; jump fence; }"));
    assert_non_null(strstr(buf_str(&b), "  iifname \"br0\" jump fence\n"));
    directory_done(&d);
}

static void what_comes_from_outside_is_dropped_unless_it_is_an_answer_or_a_port(void **state)
{
    struct directory d = {0};
    struct nat_place place = {"tab", "sk-a", "10.131.0.0/16", "10.96.0.0/16", false};
    AUTO(buf_done) struct buf b = {0};

    (void)state;
    nat_rules_print(&b, &d, &place);
    assert_non_null(strstr(buf_str(&b), " chain outside {\n"
                                        "  ct state established,related return\n"
                                        "  ct status dnat return\n"
                                        "  drop\n }\n"));
    for (int i = 0; i < 2; i++) {
        const char *hook = i ? "input" : "forward";
        AUTO(free)
        char *rule = xasprintf(" chain outside_%s { type filter hook %s priority 0;\n"
                               "  iifname != \"lo\" iifname != \"sk-*\" ip daddr 10.131.0.0/16 "
                               "jump outside\n",
                               hook, hook);

        assert_non_null(strstr(buf_str(&b), rule));
    }
    directory_done(&d);
}

static void several_backends_are_chosen_at_random_or_by_client(void **state)
{
    struct directory d = {0};
    struct nat_place place = {"tab", "br0", "10.131.0.0/16", "10.96.0.0/16", false};
    AUTO(buf_done) struct buf b = {0};

    (void)state;
    for (int i = 2; i < 4; i++)
        directory_add_pod(
            &d, json_of(&d.arena,
                        arena_printf(&d.arena,
                                     "{'metadata':{'name':'p%d','namespace':'n','labels':{'a':"
                                     "'b'}},'status':{'podIP':'10.131.0.%d'}}",
                                     i, i)));
    directory_add_service(
        &d, json_of(&d.arena, "{'metadata':{'name':'s','namespace':'n'},'spec':{'clusterIP':"
                              "'10.96.0.1','publishNotReadyAddresses':true,'selector':{'a':'b'},"
                              "'ports':[{'port':80}]}}"));
    nat_rules_print(&b, &d, &place);
    assert_non_null(
        strstr(buf_str(&b), "numgen random mod 2 vmap { 0 : goto s0_0, 1 : goto s0_1 }"));
    d.services[0].sticky = true;
    buf_clear(&b);
    nat_rules_print(&b, &d, &place);
    assert_non_null(strstr(buf_str(&b), "jhash ip saddr mod 2 vmap"));
    directory_done(&d);
}

static void files_of_names_follow_the_pods_policy(void **state)
{
    static const char host[] = "# x\nsearch corp.example\nnameserver 192.0.2.53\noptions edns0\n";
    static const char *const cases[][2] = {
        {"{}", "search ns.svc.cluster.local svc.cluster.local cluster.local corp.example\n"
               "nameserver 10.131.0.1\noptions ndots:5\n"},
        {"{'dnsPolicy':'Default'}", "search corp.example\nnameserver 192.0.2.53\noptions edns0\n"},
        {"{'hostNetwork':true,'dnsPolicy':'ClusterFirst'}",
         "search corp.example\nnameserver 192.0.2.53\noptions edns0\n"},
        {"{'dnsPolicy':'None','dnsConfig':{'nameservers':['192.0.2.1'],'searches':['a','b'],"
         "'options':[{'name':'ndots','value':'2'},{'name':'use-vc'}]}}",
         "search a b\nnameserver 192.0.2.1\noptions ndots:2 use-vc\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        AUTO(buf_done) struct buf b = {0};

        etc_resolv(&b, pod_of(&a, cases[i][0]), "10.131.0.1", str_of(host));
        assert_string_equal(buf_str(&b), cases[i][1]);
    }
}

static void hosts_name_the_pod_and_its_aliases(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf b = {0};

    (void)state;
    etc_hosts(&b,
              pod_of(&a, "{'hostname':'h','subdomain':'s','hostAliases':[{'ip':'192.0.2.1',"
                         "'hostnames':['x','y']}]}"),
              "10.131.0.2");
    assert_non_null(strstr(buf_str(&b), "\n10.131.0.2\th.s.ns.svc.cluster.local\th\n"));
    assert_non_null(strstr(buf_str(&b), "\n192.0.2.1\tx\ty\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_parsed_strictly),
        cmocka_unit_test(addresses_go_round_and_run_out),
        cmocka_unit_test(a_name_has_its_address),
        cmocka_unit_test(overlapping_ranges_are_seen),
        cmocka_unit_test(names_mean_what_kubernetes_says),
        cmocka_unit_test(where_addresses_lead_nowhere_names_lead_to_ready_pods),
        cmocka_unit_test(broken_questions_are_refused),
        cmocka_unit_test(a_long_answer_is_cut_over_udp),
        cmocka_unit_test(rules_lead_to_ready_backends_alone),
        cmocka_unit_test(what_is_meant_for_the_cluster_does_not_leave_the_machine),
        cmocka_unit_test(what_comes_from_outside_is_dropped_unless_it_is_an_answer_or_a_port),
        cmocka_unit_test(several_backends_are_chosen_at_random_or_by_client),
        cmocka_unit_test(files_of_names_follow_the_pods_policy),
        cmocka_unit_test(hosts_name_the_pod_and_its_aliases),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
