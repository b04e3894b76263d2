/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of sets of fields. */
#include "src/json/test/json_text.h"

#include "src/json/fieldset.h"

static struct fieldset *set_of(struct arena *a, const char *text)
{
    struct fieldset *s;

    assert_int_equal(fieldset_from_jsn(a, json_of(a, text), &s, NULL), 0);
    return s;
}

static const char *set_text(struct arena *a, const struct fieldset *s)
{
    return text_of(a, fieldset_to_jsn(a, s));
}

static void sets_print_in_their_order(void **state)
{
    static const char *const cases[][2] = {
        {"{}", "{}"},
        {"{'f:b':{},'f:a':{}}", "{'f:a':{},'f:b':{}}"},
        {"{'f:a':{'.':{},'f:x':{}}}", "{'f:a':{'.':{},'f:x':{}}}"},
        {"{'f:a':{'f:x':{},'.':{}}}", "{'f:a':{'.':{},'f:x':{}}}"},
        {"{'f:a':{'.':{}}}", "{'f:a':{}}"},
        {"{'i:2':{},'v:true':{},'v:1':{},'v:2.5':{},'f:z':{},'i:10':{}}",
         "{'f:z':{},'v:1':{},'v:2.5':{},'v:true':{},'i:2':{},'i:10':{}}"},
        {"{'x:future':{},'f:a':{}}", "{'f:a':{}}"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};

        assert_string_equal(set_text(&a, set_of(&a, cases[i][0])), cases[i][1]);
    }
}

static void keys_are_sorted_inside(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *fields = jsn_object(&a);
    struct fieldset *s;

    (void)state;
    jsn_set(&a, fields, "k:{\"protocol\":\"TCP\",\"port\":80}", jsn_object(&a));
    jsn_set(&a, fields, "k:{\"port\":8,\"protocol\":\"UDP\"}", jsn_object(&a));
    jsn_set(&a, fields, "v:\"x\"", jsn_object(&a));
    assert_int_equal(fieldset_from_jsn(&a, fields, &s, NULL), 0);
    fields = fieldset_to_jsn(&a, s);
    assert_string_equal(fields->o.members[0].key.p, "k:{\"port\":8,\"protocol\":\"UDP\"}");
    assert_string_equal(fields->o.members[1].key.p, "k:{\"port\":80,\"protocol\":\"TCP\"}");
    assert_string_equal(fields->o.members[2].key.p, "v:\"x\"");
}

static void broken_sets_are_refused(void **state)
{
    static const char *const cases[][2] = {
        {"{'a':{}}", "parsing key as path element: key must be 2 characters long: \"a\""},
        {"{'fa':{}}", "parsing key as path element: missing colon: fa"},
        {"{'i:x':{}}", "parsing key as path element: no index: i:x"},
        {"{'k:1':{}}", "parsing key as path element: \"k:1\" has no object after k:"},
        {"{'v:{':{}}", "parsing key as path element: \"v:{\": line 1 column 2: expected a key in "
                       "double quotes"},
        {"{'f:a':1}", "a set of fields is made of objects, not of integer"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct fieldset *s;
        struct err e = {0};

        assert_int_equal(fieldset_from_jsn(&a, json_of(&a, cases[i][0]), &s, &e), -EINVAL);
        assert_string_equal(e.text, cases[i][1]);
    }
}

static void sets_combine(void **state)
{
    static const struct {
        const char *x, *y, *all, *both, *only, *below;
    } cases[] = {
        {"{}", "{}", "{}", "{}", "{}", "{}"},
        {"{'f:a':{},'f:b':{}}", "{'f:b':{},'f:c':{}}", "{'f:a':{},'f:b':{},'f:c':{}}", "{'f:b':{}}",
         "{'f:a':{}}", "{'f:a':{}}"},
        {"{'f:a':{'.':{},'f:x':{}}}", "{'f:a':{}}", "{'f:a':{'.':{},'f:x':{}}}", "{'f:a':{}}",
         "{'f:a':{'f:x':{}}}", "{}"},
        {"{'f:a':{'f:x':{},'f:y':{}}}", "{'f:a':{'f:x':{}}}", "{'f:a':{'f:x':{},'f:y':{}}}",
         "{'f:a':{'f:x':{}}}", "{'f:a':{'f:y':{}}}", "{'f:a':{'f:y':{}}}"},
        {"{'f:a':{'f:x':{'f:z':{}}},'f:b':{}}", "{'f:a':{'f:x':{}}}",
         "{'f:a':{'f:x':{'.':{},'f:z':{}}},'f:b':{}}", "{}", "{'f:a':{'f:x':{'f:z':{}}},'f:b':{}}",
         "{'f:b':{}}"},
        {"{'v:1':{},'v:2':{}}", "{'v:2.0':{}}", "{'v:1':{},'v:2':{}}", "{'v:2':{}}", "{'v:1':{}}",
         "{'v:1':{}}"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct fieldset *x = set_of(&a, cases[i].x);
        struct fieldset *y = set_of(&a, cases[i].y);

        assert_string_equal(set_text(&a, fieldset_union(&a, x, y)), cases[i].all);
        assert_string_equal(set_text(&a, fieldset_intersection(&a, x, y)), cases[i].both);
        assert_string_equal(set_text(&a, fieldset_difference(&a, x, y)), cases[i].only);
        assert_string_equal(set_text(&a, fieldset_difference_below(&a, x, y)), cases[i].below);
        assert_true(fieldset_equal(x, set_of(&a, cases[i].x)));
        assert_int_equal(fieldset_equal(x, y), streq(cases[i].x, cases[i].y));
    }
}

static void count(void *context, const struct fieldset_path *path)
{
    struct buf *b = context;

    fieldset_path_print(b, path);
    buf_addc(b, ' ');
}

static void paths_are_found_and_printed(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf b = {0};
    struct fieldset *s = fieldset_of(&a, "spec.replicas", "spec", "metadata.name", NULL);
    struct fieldset_path spec = {.element = {.field = STR("spec")}};
    struct fieldset_path replicas = {.up = &spec, .element = {.field = STR("replicas")}};
    struct fieldset_path other = {.up = &replicas, .element = {.field = STR("x")}};
    struct fieldset_path key = {
        .up = &spec,
        .element = {.kind = FIELDSET_KEY, .value = json_of(&a, "{'port':80,'protocol':'TCP'}")}};
    struct fieldset_path value = {.up = &key,
                                  .element = {.kind = FIELDSET_VALUE, .value = json_of(&a, "'x'")}};
    struct fieldset_path index = {.up = &value, .element = {.kind = FIELDSET_INDEX, .index = 3}};

    (void)state;
    assert_true(fieldset_has(s, &spec));
    assert_true(fieldset_has(s, &replicas));
    assert_false(fieldset_has(s, &other));
    assert_false(fieldset_has(s, NULL));
    assert_false(fieldset_has(NULL, &spec));
    fieldset_each(s, count, &b);
    assert_string_equal(buf_str(&b), ".spec .metadata.name .spec.replicas ");
    buf_clear(&b);
    fieldset_path_print(&b, &index);
    assert_string_equal(buf_str(&b), ".spec[port=80,protocol=\"TCP\"][=\"x\"][3]");
}

static void random_sets_obey_the_laws(void **state)
{
    unsigned int seed = 7;

    (void)state;
    for (int round = 0; round < 300; round++) {
        AUTO(arena_done) struct arena a = {0};
        struct fieldset *sets[2];
        struct fieldset *both;
        struct fieldset *x_only;
        struct fieldset *y_only;

        for (int k = 0; k < 2; k++) {
            sets[k] = arena_calloc(&a, 1, sizeof(struct fieldset));
            for (int i = 0; i < 8; i++) {
                struct fieldset_path path[3] = {0};
                int depth = rand_r(&seed) % 3;

                for (int d = 0; d <= depth; d++) {
                    path[d].up = d ? &path[d - 1] : NULL;
                    path[d].element.field = str_of(arena_printf(&a, "%c", 'a' + rand_r(&seed) % 3));
                }
                fieldset_insert(&a, sets[k], &path[depth]);
            }
        }
        both = fieldset_intersection(&a, sets[0], sets[1]);
        x_only = fieldset_difference(&a, sets[0], sets[1]);
        y_only = fieldset_difference(&a, sets[1], sets[0]);
        assert_true(fieldset_equal(fieldset_union(&a, fieldset_union(&a, x_only, y_only), both),
                                   fieldset_union(&a, sets[0], sets[1])));
        assert_true(fieldset_empty(fieldset_intersection(&a, x_only, sets[1])));
        assert_true(fieldset_equal(fieldset_union(&a, x_only, both), sets[0]));
        assert_true(fieldset_equal(set_of(&a, set_text(&a, sets[0])), sets[0]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_print_in_their_order),   cmocka_unit_test(keys_are_sorted_inside),
        cmocka_unit_test(broken_sets_are_refused),     cmocka_unit_test(sets_combine),
        cmocka_unit_test(paths_are_found_and_printed), cmocka_unit_test(random_sets_obey_the_laws),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
