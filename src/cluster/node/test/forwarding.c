/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the switch for forwarding: tables of what happens to it, in a directory. */
#include "src/base/test/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/cluster/node/network/forwarding.h"

struct scene {
    char dir[32];
    struct forwarding f;
};

static char *path_in(const struct scene *s, const char *name)
{
    return xasprintf("%s/%s", s->dir, name);
}

static void put(const struct scene *s, const char *value)
{
    assert_int_equal(file_write(s->f.setting, str_of(value), 0644, NULL), 0);
}

static void bridge_make(const struct scene *s, const char *name)
{
    AUTO(free) char *path = xasprintf("%s/%s/bridge", s->f.interfaces, name);

    assert_int_equal(file_make_dirs(path, 0755, NULL), 0);
}

static void bridge_drop(const struct scene *s, const char *name)
{
    AUTO(free) char *path = xasprintf("%s/%s", s->f.interfaces, name);

    assert_int_equal(file_remove_tree(path, NULL), 0);
}

/*
 * Words: "+a" a cluster's bridge comes, "-a" it goes, "!a" it vanishes untold, "*x" a bridge of
 * others comes, "0" and "1" others turn it, "=0" and "=1" what it must be now.
 */
static void play(const struct scene *s, struct str word)
{
    AUTO(free) char *name = strndup(word.p + 1, word.n - 1);
    AUTO(free) char *text = NULL;
    size_t n;

    switch (word.p[0]) {
    case '+':
        bridge_make(s, name);
        forwarding_begin(&s->f, name);
        break;
    case '-':
        bridge_drop(s, name);
        forwarding_end(&s->f, name);
        break;
    case '!':
        bridge_drop(s, name);
        break;
    case '*':
        bridge_make(s, name);
        break;
    case '=':
        assert_int_equal(file_read(s->f.setting, 16, &text, &n, NULL), 0);
        if (text[0] != name[0])
            fail_msg("it is %s", text);
        break;
    default:
        put(s, word.p[0] == '0' ? "0\n" : "1\n");
    }
}

static void run(const char *story)
{
    struct scene s = {.dir = "/tmp/forwarding-XXXXXX"};
    AUTO(free) char *setting = NULL;
    AUTO(free) char *record = NULL;
    AUTO(free) char *interfaces = NULL;
    struct str rest = str_of(story);
    struct str word;

    assert_non_null(mkdtemp(s.dir));
    setting = path_in(&s, "ip_forward");
    record = path_in(&s, "record");
    interfaces = path_in(&s, "net");
    s.f = (struct forwarding){.setting = setting, .record = record, .interfaces = interfaces};
    assert_int_equal(file_make_dirs(interfaces, 0755, NULL), 0);
    while (str_split(&rest, ' ', &word))
        play(&s, word);
    assert_int_equal(file_remove_tree(s.dir, NULL), 0);
}

static void it_is_left_as_it_was_found(void **state)
{
    static const char *const stories[] = {
        "0 +a =1 -a =0",
        "1 +a =1 -a =1",
        "0 +a +a =1 -a =0",
        /* a second cluster needs it on, whoever of the two goes first */
        "0 +a +b -a =1 -b =0",
        "0 +a +b -b =1 -a =0",
        /* and again */
        "0 +a -a =0 +b =1 -b =0",
        /* a bridge that went without a word does not count */
        "0 +a +b !a -b =0",
        /* what is not ours stays, twice down too */
        "1 +a -a -a =1",
        "0 +a -a =0 1 -a =1",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(stories); i++)
        run(stories[i]);
}

static void what_others_do_meanwhile_stays(void **state)
{
    static const char *const stories[] = {
        "0 +a 0 =0 -a =0",
        "0 +a 0 +b =1 -a =1 -b =0",
        /* others have a network since then: they may need it */
        "0 +a *docker0 -a =1",
        /* one that did without it before does so again */
        "0 *virbr0 +a -a =0",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(stories); i++)
        run(stories[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_left_as_it_was_found),
        cmocka_unit_test(what_others_do_meanwhile_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
