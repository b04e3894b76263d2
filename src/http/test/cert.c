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

static void a_pair_is_held_against_itself(void **state)
{
    AUTO(cert_pair_done) struct cert_pair a = {0};
    AUTO(cert_pair_done) struct cert_pair b = {0};
    char rubbish[] = "rubbish";
    struct err e = {0};

    (void)state;
    assert_int_equal(cert_make_own("a", &a, &e), 0);
    assert_int_equal(cert_make_own("b", &b, &e), 0);
    assert_null(cert_pair_fault(&a));
    assert_string_equal(cert_pair_fault(&(struct cert_pair){a.cert_pem, b.key_pem}),
                        "the key is not the certificate's");
    assert_string_equal(cert_pair_fault(&(struct cert_pair){a.cert_pem, rubbish}),
                        "the key is damaged");
    assert_string_equal(cert_pair_fault(&(struct cert_pair){rubbish, a.key_pem}),
                        "the certificate is damaged");
    assert_string_equal(cert_pair_fault(&(struct cert_pair){a.cert_pem, NULL}),
                        "the key is missing");
}

static void a_renewed_authority_vouches_for_what_the_old_one_signed(void **state)
{
    AUTO(cert_pair_done) struct cert_pair old = {0};
    AUTO(cert_pair_done) struct cert_pair renewed = {0};
    AUTO(cert_pair_done) struct cert_pair before = {0};
    AUTO(cert_pair_done) struct cert_pair after = {0};
    struct cert_request q = {"me", "us", NULL};
    struct err e = {0};

    (void)state;
    assert_int_equal(cert_make_authority("ca", &old, &e), 0);
    assert_int_equal(cert_make(&old, &q, &before, &e), 0);
    assert_int_equal(cert_renew_authority("ca", old.key_pem, &renewed, &e), 0);
    assert_int_equal(cert_make(&renewed, &q, &after, &e), 0);
    assert_true(cert_still_good(before.cert_pem, renewed.cert_pem, NULL));
    assert_true(cert_still_good(after.cert_pem, old.cert_pem, NULL));
    assert_true(cert_renew_authority("ca", "rubbish", &after, &e) < 0);
}

static void a_certificate_is_renewed_when_a_third_of_its_life_is_left(void **state)
{
    AUTO(cert_pair_done) struct cert_pair ca = {0};
    AUTO(cert_pair_done) struct cert_pair short_lived = {0};
    struct cert_request q = {"me", NULL, NULL};
    struct err e = {0};

    (void)state;
    assert_int_equal(cert_lifetime_s(), 3 * 365 * 24 * 3600);
    assert_int_equal(cert_make_authority("ca", &ca, &e), 0);
    assert_int_equal(setenv("SLURMKEEPER_CERT_LIFETIME_S", "3", 1), 0);
    assert_int_equal(cert_make(&ca, &q, &short_lived, &e), 0);
    assert_true(cert_still_good(short_lived.cert_pem, ca.cert_pem, NULL));
    (void)sleep(2);
    assert_false(cert_still_good(short_lived.cert_pem, ca.cert_pem, NULL));
    assert_int_equal(setenv("SLURMKEEPER_CERT_LIFETIME_S", "soon", 1), 0);
    assert_int_equal(cert_lifetime_s(), 3 * 365 * 24 * 3600);
    assert_int_equal(unsetenv("SLURMKEEPER_CERT_LIFETIME_S"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_certificate_covers_its_names),
        cmocka_unit_test(a_server_may_sign_for_itself),
        cmocka_unit_test(a_broken_authority_is_an_error),
        cmocka_unit_test(a_pair_is_held_against_itself),
        cmocka_unit_test(a_renewed_authority_vouches_for_what_the_old_one_signed),
        cmocka_unit_test(a_certificate_is_renewed_when_a_third_of_its_life_is_left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
