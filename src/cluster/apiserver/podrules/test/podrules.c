/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the rules of pods outside of a server. */
#include "src/base/test/unit.h"

#include "src/cluster/apiserver/podrules/podrules.h"
#include "src/json/yaml.h"

struct heard {
    struct arena *a;
    struct buf text;
};

static void hear(void *arg, enum podrules_fault fault, const char *field, const char *text)
{
    struct heard *h = arg;

    buf_printf(&h->text, "%d %s: %s\n", (int)fault, field, text);
}

static void check(const char *type_or_pod, const char *yaml, const char *want)
{
    AUTO(arena_done) struct arena a = {0};
    struct heard h = {.a = &a};
    struct err e = {0};
    struct jsn *v;

    if (yaml_parse(&a, str_of(yaml), NULL, &v, &e) < 0)
        fail_msg("%s: %s", yaml, e.text);
    if (streq(type_or_pod, "pod"))
        podrules_pod(&a, v, hear, &h);
    else
        podrules_types(&a,
                       streq(type_or_pod, "claim")     ? PODRULES_CLAIM_SPEC
                       : streq(type_or_pod, "service") ? PODRULES_SERVICE_SPEC
                                                       : PODRULES_CONTAINER,
                       v, hear, &h);
    assert_string_equal(buf_str(&h.text), want);
    buf_done(&h.text);
}

static void pieces_are_held_against_their_types(void **state)
{
    (void)state;
    check("container", "{image: x, args: [], env: null, tty: true}", "");
    check("container", "{image: 5}", "1 image: must be of type string, and is of type number\n");
    check("container", "[1]",
          "1 : json: cannot unmarshal array into Go value of type v1.Container\n");
    check("container", "{bogus: 1, empty: {}, none: null, list: []}",
          "0 bogus: there is no such field\n");
    check("claim", "{accessModes: ReadWriteOnce}",
          "1 accessModes: must be of type []v1.PersistentVolumeAccessMode, and is of type "
          "string\n");
    check("service", "{ports: [{port: http}]}",
          "1 ports.port: must be of type int32, and is of type string\n");
}

static void a_pod_is_completed_and_checked(void **state)
{
    (void)state;
    check("pod", "{containers: [{name: a, image: x}]}", "");
    check("pod", "{}", "2 spec.containers: Required value\n");
    check("pod", "{containers: [{name: a, image: x}, {name: a, image: x}]}",
          "2 spec.containers[1].name: Duplicate value: \"a\"\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_held_against_their_types),
        cmocka_unit_test(a_pod_is_completed_and_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
