/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of certificates. */
#include "src/base/test/unit.h"

#include "src/http/cert.h"

static void a_server_certificate_covers_its_names(void **state)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "::1", NULL};
    static const char *const more[] = {"localhost", "10.0.0.1", NULL};
    AUTO(cert_pair_done) struct cert_pair ca = {0};
    AUTO(cert_pair_done) struct cert_pair other = {0};
    AUTO(cert_pair_done) struct cert_pair server = {0};
    struct cert_request q = {"api", NULL, names};
    struct err e = {0};

    (void)state;
    assert_int_equal(cert_make_authority("test", &ca, &e), 0);
    assert_int_equal(cert_make_authority("other", &other, &e), 0);
    assert_int_equal(cert_make(&ca, &q, &server, &e), 0);
    assert_true(cert_still_good(server.cert_pem, ca.cert_pem, names));
    assert_true(cert_still_good(server.cert_pem, ca.cert_pem, NULL));
    assert_false(cert_still_good(server.cert_pem, ca.cert_pem, more));
    assert_false(cert_still_good(server.cert_pem, other.cert_pem, names));
    assert_false(cert_still_good("rubbish", ca.cert_pem, NULL));
}

static void a_server_may_sign_for_itself(void **state)
{
    char host[100];
    const char *const names[] = {host, NULL};
    AUTO(cert_pair_done) struct cert_pair own = {0};
    AUTO(cert_pair_done) struct cert_pair other = {0};
    struct err e = {0};

    (void)state;
    (void)snprintf(host, sizeof(host), "%080d.slurm", 7); /* longer than a common name may be */
    host[40] = '.';
    assert_int_equal(cert_make_own(host, &own, &e), 0);
    assert_int_equal(cert_make_own(host, &other, &e), 0);
    assert_true(cert_still_good(own.cert_pem, own.cert_pem, names));
    assert_false(cert_still_good(own.cert_pem, other.cert_pem, names));
    assert_string_not_equal(own.key_pem, other.key_pem);
}

static void a_broken_authority_is_an_error(void **state)
{
    char text[] = "not a certificate";
    struct cert_pair ca = {text, text};
    struct cert_request q = {"x", "y", NULL};
    struct cert_pair made = {0};
    struct err e = {0};

    (void)state;
    assert_true(cert_make(&ca, &q, &made, &e) < 0);
    assert_non_null(strstr(e.text, "cannot read the certificate authority"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_certificate_covers_its_names),
        cmocka_unit_test(a_server_may_sign_for_itself),
        cmocka_unit_test(a_broken_authority_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
