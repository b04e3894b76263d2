/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of what is made of an Accounting: whole objects and slurmdbd.conf against files. */
#include "src/build/test/clusters.h"

#include "src/build/accounting.h"
#include "src/build/live_keys.h"

#define CONTROLLER                                                                                 \
    "apiVersion: slinky.slurm.net/v1beta1\nkind: Controller\n"                                     \
    "metadata: {name: main, namespace: slurm, uid: u-1}\n"                                         \
    "spec: {accountingRef: {name: acct}, jwksKeyRef: {name: jwks, key: jwks}}\n"
#define ACCOUNTING                                                                                 \
    "---\napiVersion: slinky.slurm.net/v1beta1\nkind: Accounting\n"                                \
    "metadata: {name: acct, namespace: slurm, uid: u-2}\nspec:\n"

static void print(struct buf *b, const struct jsn *object)
{
    if (!object)
        return;
    if (b->n)
        buf_adds(b, "---\n");
    yaml_print(b, object);
}

static const char *file_of(struct arena *a, const struct jsn *secret, const char *name)
{
    return arena_str(a, build_secret_bytes(a, secret, name));
}

/* Every object, and the files of the Secret as they are. */
static const char *all_of(struct arena *a, const struct build_accounting *b)
{
    static const unsigned char random[ACCOUNTING_PASSWORD_RANDOM];
    struct api_problems p = {.arena = a};
    AUTO(buf_done) struct buf out = {0};
    struct jsn *secret = NULL;
    struct err e = {0};
    bool cut;

    assert_int_equal(build_accounting_conf(a, b, STR("pass#word"), &secret, &cut, &e), 0);
    assert_false(cut);
    print(&out, build_accounting_service(a, b));
    print(&out, build_database_secret(a, b, random));
    print(&out, build_database_service(a, b));
    if (!b->acct->spec.storage)
        print(&out, build_database_app(a, b));
    print(&out, build_accounting_app(a, b, "HASH", &p));
    assert_int_equal(p.n, 0);
    buf_printf(&out, "--- slurmdbd.conf\n%s--- probe.conf\n%s", file_of(a, secret, ACCOUNTING_CONF),
               file_of(a, secret, ACCOUNTING_PROBE));
    return arena_strdup(a, buf_str(&out));
}

static void what_is_made_is_kept_to_the_letter(void **state)
{
    static const struct {
        const char *golden;
        uint32_t release;
        const char *yaml;
    } cases[] = {
        {"accounting-own-22.05.yaml", RELEASE(22, 5, 8), CONTROLLER ACCOUNTING "  {}\n"},
        {"accounting-storage-26.05.yaml", RELEASE(26, 5, 5),
         CONTROLLER ACCOUNTING
         "  storageConfig: {host: sql, port: 3307, username: u, passwordKeyRef: {name: p, key: "
         "k}}\n"
         "  extraConf: |\n    PurgeJobAfter=12months\n    AuthInfo=ttl=60,use_client_ids\n"
         "  slurmdbd: {image: 'site/slurmdbd:26.05', resources: {limits: {memory: 1Gi}}}\n"
         "  jwksKeyRef: {name: own-jwks, key: keys, optional: true}\n"
         "  service: {port: 7000, spec: {type: NodePort, externalIPs: [1.2.3.4]}, nodePort: "
         "32500, metadata: {labels: {visible: 'yes'}, annotations: {dns: db}}}\n"
         "  template: {metadata: {labels: {team: a}, annotations: {note: b}}, spec: {hostNetwork: "
         "true}}\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct test_cluster t = {0};
        struct build_accounting b = {.key_stage = "0-rest"};

        cluster_of(&a, &t, cases[i].release, cases[i].yaml);
        b.acct = t.cluster.accounting;
        b.cluster = &t.cluster;
        assert_golden(cases[i].golden, all_of(&a, &b));
    }
}

static void passwords_are_written_so_that_slurm_reads_them(void **state)
{
    static const struct {
        const char *password;
        const char *line; /* NULL: it is refused */
        bool cut;
    } cases[] = {
        {"plain", "\nStoragePass=plain\n", false},
        {"plain\r\n", "\nStoragePass=plain\n", true},
        {"a#b\\c", "\nStoragePass=a\\#b\\\\c\n", false},
        {"two words", "\nStoragePass=\"two words\"\n", false},
        {"it's\"so", "\nStoragePass=it's\"so\n", false},
        {"a \"b\"", NULL, false},
        {"\"a", NULL, false},
        {"a\nStorageHost=evil", NULL, false},
        {"\n", NULL, true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct test_cluster t = {0};
        struct build_accounting b = {0};
        struct jsn *secret = NULL;
        struct err e = {0};
        bool cut = false;

        cluster_of(&a, &t, RELEASE(22, 5, 8), CONTROLLER ACCOUNTING "  {}\n");
        b.acct = t.cluster.accounting;
        b.cluster = &t.cluster;
        assert_int_equal(
            build_accounting_conf(&a, &b, str_of(cases[i].password), &secret, &cut, &e),
            cases[i].line ? 0 : -EINVAL);
        assert_true(cut == cases[i].cut);
        if (cases[i].line)
            assert_non_null(strstr(file_of(&a, secret, ACCOUNTING_CONF), cases[i].line));
    }
}

/* Without a Controller that refers to it: the token's key may be missing, the other one not. */
static void own_keys_are_mounted(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct test_cluster t = {0};
    struct api_problems p = {.arena = &a};
    struct build_accounting b = {.own_keys = true};
    AUTO(buf_done) struct buf out = {0};

    (void)state;
    cluster_of(&a, &t, RELEASE(26, 5, 5),
               CONTROLLER ACCOUNTING "  slurmKeyRef: {name: mine, key: k}\n"
                                     "  jwtKeyRef: {name: tokens, key: t, optional: true}\n");
    b.acct = t.cluster.accounting;
    b.cluster = &t.cluster;
    print(&out, build_accounting_app(&a, &b, "HASH", &p));
    assert_non_null(strstr(buf_str(&out), "secret:\n              name: mine\n"
                                          "              items:\n"
                                          "              - key: k\n"
                                          "                path: slurm.key\n"));
    assert_non_null(strstr(buf_str(&out), "secret:\n              name: tokens\n"
                                          "              items:\n"
                                          "              - key: t\n"
                                          "                path: jwt.key\n"
                                          "              optional: true\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_made_is_kept_to_the_letter),
        cmocka_unit_test(own_keys_are_mounted),
        cmocka_unit_test(passwords_are_written_so_that_slurm_reads_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
