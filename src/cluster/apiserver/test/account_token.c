/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the tokens of service accounts. */
#include "src/json/test/json_text.h"

#include <openssl/hmac.h>

#include "src/base/encode.h"
#include "src/cluster/apiserver/account_token.h"

static const struct token_key key = {{1, 2, 3}};
static const struct token_key other = {{1, 2, 4}};

/* Signed with the key, whatever the claims are. */
static struct str forge(struct arena *a, const char *claims)
{
    AUTO(buf_done) struct buf b = {0};
    unsigned char mac[EVP_MAX_MD_SIZE];
    unsigned int n = 0;

    encode_base64url(&b, STR("{\"alg\":\"HS256\",\"typ\":\"JWT\"}"));
    buf_addc(&b, '.');
    encode_base64url(&b, str_of(swap_quotes(a, claims, '\'', '"')));
    assert_non_null(HMAC(EVP_sha256(), key.bytes, sizeof(key.bytes),
                         (const unsigned char *)buf_str(&b), b.n, mac, &n));
    buf_addc(&b, '.');
    encode_base64url(&b, (struct str){(char *)mac, n});
    return str_of(arena_str(a, buf_view(&b)));
}

static struct account_token sample(struct arena *a)
{
    return (struct account_token){.ns = "n",
                                  .account = "robot",
                                  .uid = "u1",
                                  .id = "id",
                                  .audiences = json_of(a, "['x','y']"),
                                  .issued_s = 10,
                                  .expires_s = 20,
                                  .bound_kind = "pod",
                                  .bound_name = "p",
                                  .bound_uid = "u2",
                                  .node_name = "m",
                                  .node_uid = "u3"};
}

static void a_signed_token_is_read_again(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct account_token t = sample(&a);
    struct account_token got;

    (void)state;
    assert_int_equal(account_token_read(&key, &a, str_of(account_token_sign(&key, &a, &t)), &got),
                     0);
    assert_string_equal(got.ns, "n");
    assert_string_equal(got.account, "robot");
    assert_string_equal(got.uid, "u1");
    assert_string_equal(got.bound_kind, "pod");
    assert_string_equal(got.bound_name, "p");
    assert_string_equal(got.bound_uid, "u2");
    assert_string_equal(got.node_name, "m");
    assert_int_equal(got.expires_s, 20);
    assert_string_equal(text_of(&a, got.audiences), "['x','y']");
}

static void another_key_or_a_changed_byte_is_refused(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct account_token t = sample(&a);
    char *token = account_token_sign(&key, &a, &t);
    struct account_token got;
    size_t n = strlen(token);

    (void)state;
    assert_int_equal(account_token_read(&other, &a, str_of(token), &got), -EACCES);
    for (size_t i = 0; i < n; i++) {
        char was = token[i];

        token[i] = was == 'A' ? 'B' : 'A';
        assert_int_equal(account_token_read(&key, &a, str_of(token), &got), -EACCES);
        token[i] = was;
    }
    for (size_t i = 0; i < n; i++)
        assert_int_equal(account_token_read(&key, &a, (struct str){token, i}, &got), -EACCES);
}

static void claims_that_tell_too_little_are_refused(void **state)
{
#define ISS "'iss':'" ACCOUNT_TOKEN_ISSUER "',"
#define ACCOUNT "'namespace':'n','serviceaccount':{'name':'a','uid':'u'}"
    static const struct {
        const char *claims;
        int want;
    } cases[] = {
        {"{" ISS "'exp':20,'kubernetes.io':{" ACCOUNT "}}", 0},
        /* As they were before tokens were bound. */
        {"{" ISS "'exp':20,'sub':'system:serviceaccount:n:a','uid':'u'}", -EACCES},
        {"{" ISS "'kubernetes.io':{" ACCOUNT "}}", -EACCES},
        {"{" ISS "'kubernetes.io':{" ACCOUNT ",'secret':{'name':'s','uid':'v'}}}", 0},
        {"{" ISS "'kubernetes.io':{" ACCOUNT ",'pod':{'name':'s','uid':'v'}}}", -EACCES},
        {"{" ISS "'exp':20,'kubernetes.io':{" ACCOUNT ",'pod':{'name':'s'}}}", -EACCES},
        {"{" ISS "'exp':20,'kubernetes.io':{" ACCOUNT ",'pod':{'name':'s','uid':''}}}", -EACCES},
        {"{" ISS "'exp':20,'kubernetes.io':{'namespace':'n','serviceaccount':{'name':'a'}}}",
         -EACCES},
        {"{'iss':'me','exp':20,'kubernetes.io':{" ACCOUNT "}}", -EACCES},
        {"[]", -EACCES},
        {"3", -EACCES},
        {"", -EACCES},
    };
    AUTO(arena_done) struct arena a = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct account_token got;

        if (account_token_read(&key, &a, forge(&a, cases[i].claims), &got) != cases[i].want)
            fail_msg("%s", cases[i].claims);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_signed_token_is_read_again),
        cmocka_unit_test(another_key_or_a_changed_byte_is_refused),
        cmocka_unit_test(claims_that_tell_too_little_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
