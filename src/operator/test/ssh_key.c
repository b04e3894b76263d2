/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of sshd's keys: their form, byte by byte, and that making them can be ended. */
#include "src/base/test/unit.h"

#include "src/base/encode.h"
#include "src/operator/ssh_key.h"

static uint32_t take_u32(struct str *rest)
{
    const unsigned char *p = (const unsigned char *)rest->p;
    uint32_t v;

    assert_true(rest->n >= 4);
    v = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    *rest = (struct str){rest->p + 4, rest->n - 4};
    return v;
}

static struct str take(struct str *rest)
{
    uint32_t n = take_u32(rest);
    struct str text = {rest->p, n};

    assert_true(n <= rest->n);
    *rest = (struct str){rest->p + n, rest->n - n};
    return text;
}

static void decode_lines(struct str text, struct buf *out)
{
    AUTO(buf_done) struct buf joined = {0};
    struct str line;

    while (str_split(&text, '\n', &line))
        if (line.n && line.p[0] != '-')
            buf_addstr(&joined, line);
    assert_int_equal(decode_base64(out, buf_view(&joined)), 0);
}

/* How many fields the private part has between the type and the comment. */
static void check_pair(enum ssh_key_type type, const char *name, int fields)
{
    AUTO(buf_done) struct buf private_key = {0};
    AUTO(buf_done) struct buf public_key = {0};
    AUTO(buf_done) struct buf blob = {0};
    AUTO(buf_done) struct buf bytes = {0};
    struct err e = {0};
    struct str rest, part, line, word, shown;

    if (ssh_key_make(type, NULL, &private_key, &public_key, &e) < 0)
        fail_msg("%s", e.text);
    assert_true(str_starts(buf_view(&private_key), "-----BEGIN OPENSSH PRIVATE KEY-----\n"));
    assert_true(str_ends(buf_view(&private_key), "\n-----END OPENSSH PRIVATE KEY-----\n"));
    decode_lines(buf_view(&private_key), &bytes);
    rest = buf_view(&bytes);
    assert_memory_equal(rest.p, "openssh-key-v1", 15);
    rest = (struct str){rest.p + 15, rest.n - 15};
    assert_true(str_eqz(take(&rest), "none"));
    assert_true(str_eqz(take(&rest), "none"));
    assert_int_equal(take(&rest).n, 0);
    assert_int_equal(take_u32(&rest), 1);
    shown = take(&rest);
    part = take(&rest);
    assert_int_equal(rest.n, 0);
    assert_int_equal(part.n % 8, 0);
    assert_int_equal(take_u32(&part), take_u32(&part));
    assert_true(str_eqz(take(&part), name));
    for (int i = 0; i < fields; i++)
        assert_true(take(&part).n > 0);
    assert_int_equal(take(&part).n, 0);
    for (size_t i = 0; i < part.n; i++)
        assert_int_equal(part.p[i], i + 1);
    /* the public line has the same bytes */
    line = str_trim(buf_view(&public_key));
    assert_true(str_split(&line, ' ', &word) && str_eqz(word, name));
    assert_int_equal(decode_base64(&blob, line), 0);
    assert_true(str_eq(buf_view(&blob), shown));
}

static void pairs_have_the_form_that_openssh_reads(void **state)
{
    (void)state;
    check_pair(SSH_KEY_ED25519, "ssh-ed25519", 2);
    check_pair(SSH_KEY_ECDSA, "ecdsa-sha2-nistp256", 3);
    check_pair(SSH_KEY_RSA, "ssh-rsa", 6);
}

static void a_key_that_nobody_needs_any_more_is_given_up(void **state)
{
    AUTO(buf_done) struct buf private_key = {0};
    AUTO(buf_done) struct buf public_key = {0};
    atomic_bool stop = true;
    struct err e = {0};

    (void)state;
    assert_int_equal(ssh_key_make(SSH_KEY_RSA, &stop, &private_key, &public_key, &e), -ECANCELED);
    assert_int_equal(private_key.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_have_the_form_that_openssh_reads),
        cmocka_unit_test(a_key_that_nobody_needs_any_more_is_given_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
