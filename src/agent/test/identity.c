/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the agent's certificate and token, as their files change. */
#include "src/base/test/unit.h"

#include "src/agent/identity.h"
#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/http/cert.h"

static char dir[] = "/tmp/sk-identity-XXXXXX";

static void put(const char *name, const char *text)
{
    AUTO(free) char *path = xasprintf("%s/%s", dir, name);
    struct err e = {0};

    assert_int_equal(file_write(path, str_of(text), 0600, &e), 0);
}

static void put_pair(const char *host)
{
    AUTO(cert_pair_done) struct cert_pair p = {0};
    struct err e = {0};

    assert_int_equal(cert_make_own(host, &p, &e), 0);
    put("tls.key", p.key_pem);
    put("tls.crt", p.cert_pem);
}

static bool admits(const struct identity *i, const char *token)
{
    AUTO(secret_done) struct secret given = {0};

    secret_set(&given, str_of(token));
    return !secret_empty(&given) && (secret_equal(&given, identity_token(i)) ||
                                     secret_equal(&given, identity_next_token(i)));
}

static void a_renewed_certificate_is_taken_in_place(void **state)
{
    AUTO(loop_free) struct loop *l = NULL;
    AUTO(identity_free) struct identity *i = NULL;
    AUTO(cert_pair_done) struct cert_pair other = {0};
    struct http_tls *tls;
    struct err e = {0};

    (void)state;
    assert_int_equal(loop_new(&l, &e), 0);
    put_pair("a");
    put("token", "secret\n");
    assert_int_equal(identity_new(l, dir, &i, &e), 0);
    tls = identity_tls(i);
    assert_true(admits(i, "secret"));
    assert_false(admits(i, ""));
    assert_false(identity_look(i));
    put_pair("b");
    assert_true(identity_look(i));
    assert_false(identity_look(i));
    assert_ptr_equal(identity_tls(i), tls);
    put("token", "another");
    assert_true(identity_look(i));
    assert_true(admits(i, "another"));
    assert_false(admits(i, "secret"));
    /* one is announced, and comes into use without a moment in which nobody is let in */
    put("next.token", "third\n");
    assert_false(admits(i, "third"));
    assert_true(identity_look(i));
    assert_true(admits(i, "another") && admits(i, "third"));
    /* Half of a change: the key of one pair, the certificate of another. */
    assert_int_equal(cert_make_own("c", &other, &e), 0);
    put("tls.crt", other.cert_pem);
    assert_false(identity_look(i));
    put("tls.key", other.key_pem);
    assert_true(identity_look(i));
    put("token", "\n");
    assert_false(identity_look(i));
    assert_true(admits(i, "another"));
    i = identity_free(i); /* before the loop that its timer is in */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_renewed_certificate_is_taken_in_place)};
    int failed;

    assert_non_null(mkdtemp(dir));
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    (void)!file_remove_tree(dir, NULL);
    return failed;
}
