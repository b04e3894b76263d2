/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of hosts: asked for once, used for a while, forgotten when they do not lead anywhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>

#include "src/agent/worker/names.h"
#include "src/base/alloc.h"

static int asked;
static int fails;
static const char *address = "10.0.0.1";
static int64_t now_ms;

static int resolve(const char *node, const char *service, const struct addrinfo *hints,
                   struct addrinfo **ret)
{
    struct sockaddr_in *to = xcalloc(1, sizeof(*to));
    struct addrinfo *a;

    asked++;
    (void)node;
    (void)service;
    if (fails) {
        free(to);
        return fails;
    }
    a = xcalloc(1, sizeof(*a));
    *a = *hints;
    to->sin_family = AF_INET;
    assert_int_equal(inet_pton(AF_INET, address, &to->sin_addr), 1);
    a->ai_addr = (struct sockaddr *)to;
    a->ai_addrlen = sizeof(*to);
    a->ai_canonname = xstrdup("a.name");
    *ret = a;
    return 0;
}

static void release(struct addrinfo *a)
{
    free(a->ai_canonname);
    free(a->ai_addr);
    free(a);
}

static int64_t clock_now(void)
{
    return now_ms;
}

static int set_up(void **state)
{
    static const struct names_source source = {resolve, release, clock_now};

    (void)state;
    names_use(&source);
    names_forget();
    asked = fails = 0;
    address = "10.0.0.1";
    now_ms = 1000;
    return 0;
}

static int look(const char *node, const char *want)
{
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int r = names_find(node, "6817", &hints, &found);
    char text[INET_ADDRSTRLEN];
    struct sockaddr_in to;

    if (r != 0)
        return r;
    memcpy(&to, found->ai_addr, sizeof(to));
    assert_string_equal(inet_ntop(AF_INET, &to.sin_addr, text, sizeof(text)), want);
    assert_string_equal(found->ai_canonname, "a.name");
    names_free(found);
    return 0;
}

static void a_name_is_asked_for_once(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++)
        assert_int_equal(look("a", "10.0.0.1"), 0);
    assert_int_equal(asked, 1);
    assert_int_equal(look("b", "10.0.0.1"), 0);
    assert_int_equal(asked, 2);
}

static void an_answer_is_not_used_for_long(void **state)
{
    (void)state;
    assert_int_equal(look("a", "10.0.0.1"), 0);
    address = "10.0.0.2";
    now_ms += 9999;
    assert_int_equal(look("a", "10.0.0.1"), 0);
    now_ms += 1;
    assert_int_equal(look("a", "10.0.0.2"), 0);
    assert_int_equal(asked, 2);
}

static void an_idle_process_keeps_them_new(void **state)
{
    (void)state;
    assert_int_equal(names_idle_ms(), -1);
    assert_int_equal(look("a", "10.0.0.1"), 0);
    assert_int_equal(names_idle_ms(), 5000);
    names_refresh(); /* too early: nobody is asked */
    assert_int_equal(asked, 1);
    now_ms += 5000;
    assert_int_equal(names_idle_ms(), 0);
    address = "10.0.0.2";
    names_refresh();
    assert_int_equal(asked, 2);
    now_ms += 9000;
    assert_int_equal(look("a", "10.0.0.2"), 0);
    assert_int_equal(asked, 2);
}

static void what_is_not_found_any_more_is_forgotten(void **state)
{
    (void)state;
    assert_int_equal(look("a", "10.0.0.1"), 0);
    now_ms += 5000;
    fails = EAI_NONAME;
    names_refresh();
    assert_int_equal(names_idle_ms(), -1);
    assert_int_equal(look("a", NULL), EAI_NONAME);
    fails = 0; /* a failure is not remembered */
    assert_int_equal(look("a", "10.0.0.1"), 0);
}

static void a_call_that_did_not_get_through_asks_again(void **state)
{
    (void)state;
    assert_int_equal(look("a", "10.0.0.1"), 0);
    address = "10.0.0.2";
    names_forget();
    assert_int_equal(look("a", "10.0.0.2"), 0);
}

static void so_many_names_and_no_more_are_kept(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        AUTO(free) char *name = xasprintf("n%d", i);

        now_ms++;
        assert_int_equal(look(name, "10.0.0.1"), 0);
    }
    assert_int_equal(asked, 100);
    assert_int_equal(look("n99", "10.0.0.1"), 0);
    assert_int_equal(asked, 100);
    assert_int_equal(look("n0", "10.0.0.1"), 0);
    assert_int_equal(asked, 101);
    names_forget();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_name_is_asked_for_once, set_up),
        cmocka_unit_test_setup(an_answer_is_not_used_for_long, set_up),
        cmocka_unit_test_setup(an_idle_process_keeps_them_new, set_up),
        cmocka_unit_test_setup(what_is_not_found_any_more_is_forgotten, set_up),
        cmocka_unit_test_setup(a_call_that_did_not_get_through_asks_again, set_up),
        cmocka_unit_test_setup(so_many_names_and_no_more_are_kept, set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
