/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of bringing one object to what it should be. */
#include "src/base/test/unit.h"

#include "src/json/patch_merge.h"
#include "src/plan/sync.h"

#define META(more) "\"metadata\":{\"name\":\"c\",\"namespace\":\"n\"" more "}"
#define OWNED                                                                                      \
    ",\"ownerReferences\":[{\"kind\":\"Controller\",\"name\":\"o\",\"uid\":\"U\",\"controller\":"  \
    "true}]"
#define WANT                                                                                       \
    "{\"kind\":\"ConfigMap\"," META(OWNED ",\"labels\":{\"l\":\"1\"}") ",\"data\":{\"k\":\"v\"}}"

static struct jsn *parse(struct arena *a, const char *text)
{
    struct jsn *v = NULL;
    struct err e = {0};

    assert_int_equal(jsn_parse(a, str_of(text), NULL, &v, &e), 0);
    return v;
}

/* Carry the single action out, as a server would. */
static struct jsn *carried_out(struct arena *a, const struct jsn *observed,
                               const struct actions *list)
{
    assert_int_equal(list->n, 1);
    if (list->items[0].verb == ACTION_CREATE)
        return jsn_clone(a, list->items[0].body);
    assert_int_equal(list->items[0].verb, ACTION_PATCH);
    return patch_merge(a, observed, list->items[0].body);
}

static size_t count_actions(struct arena *a, const struct jsn *observed, const struct jsn *desired)
{
    struct actions list = {.arena = a};

    (void)sync_object(&list, observed, desired);
    return list.n;
}

static void what_was_made_is_left_alone(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct actions list = {.arena = &a};
    struct jsn *want = parse(&a, WANT);
    struct jsn *made;

    (void)state;
    assert_true(sync_object(&list, NULL, want));
    assert_string_equal(list.items[0].text, "Created ConfigMap c");
    made = carried_out(&a, NULL, &list);
    assert_int_equal(count_actions(&a, made, want), 0);
    /* What the server adds is nobody's fault. */
    jsn_set_path(&a, made, "metadata.uid", jsn_string(&a, "X"));
    jsn_set_path(&a, made, "metadata.labels.other", jsn_string(&a, "2"));
    assert_int_equal(count_actions(&a, made, want), 0);
}

static void changes_and_drift_are_mended_exactly(void **state)
{
    static const struct {
        const char *path;
        const char *value;
    } drifts[] = {{"data.k", "w"}, {"metadata.labels.l", "2"}};
    AUTO(arena_done) struct arena a = {0};
    struct actions first = {.arena = &a};
    struct jsn *want = parse(&a, WANT);

    (void)state;
    (void)sync_object(&first, NULL, want);
    for (size_t i = 0; i < ARRAY_LEN(drifts); i++) {
        struct jsn *made = carried_out(&a, NULL, &first);
        struct actions list = {.arena = &a};

        jsn_set_path(&a, made, drifts[i].path, jsn_string(&a, drifts[i].value));
        (void)sync_object(&list, made, want);
        made = carried_out(&a, made, &list);
        assert_int_equal(count_actions(&a, made, want), 0);
    }
}

static void what_is_no_longer_wanted_goes(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct actions first = {.arena = &a};
    struct actions second = {.arena = &a};
    struct jsn *want = parse(&a, WANT);
    struct jsn *made;

    (void)state;
    jsn_set_path(&a, want, "data.old", jsn_string(&a, "x"));
    (void)sync_object(&first, NULL, want);
    made = carried_out(&a, NULL, &first);
    want = parse(&a, WANT);
    (void)sync_object(&second, made, want);
    made = carried_out(&a, made, &second);
    assert_null(jsn_get(made, "data.old"));
    assert_string_equal(jsn_get_str(made, "data.k"), "v");
}

static void others_objects_are_not_touched(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct actions list = {.arena = &a};
    const char *theirs =
        "{" META(",\"ownerReferences\":[{\"uid\":\"V\",\"controller\":true}]") ",\"data\":{}}";

    (void)state;
    assert_false(sync_object(&list, parse(&a, theirs), parse(&a, WANT)));
    assert_int_equal(list.n, 1);
    assert_int_equal(list.items[0].verb, ACTION_EVENT);
    assert_true(list.items[0].warning);
    assert_string_equal(list.items[0].reason, "ConflictingController");
    assert_string_equal(list.items[0].text, "ConfigMap c is controlled by another object and is "
                                            "left alone; rename one of both");
}

static void the_dying_and_the_immutable_stay(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    const char *dying = "{" META(",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"") "}";
    struct jsn *fixed = parse(&a, WANT);

    (void)state;
    assert_int_equal(count_actions(&a, parse(&a, dying), parse(&a, WANT)), 0);
    jsn_set_bool(&a, fixed, "immutable", true);
    jsn_set_path(&a, fixed, "data.k", jsn_string(&a, "other"));
    jsn_set_path(&a, fixed, "metadata.annotations", parse(&a, "{\"" SYNC_APPLIED "\":\"0\"}"));
    {
        struct actions list = {.arena = &a};

        (void)sync_object(&list, fixed, parse(&a, WANT));
        assert_int_equal(list.n, 1);
        assert_null(jsn_get(list.items[0].body, "data"));
    }
}

static void only_our_own_is_deleted(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct actions list = {.arena = &a};

    (void)state;
    sync_absent(&list, "ConfigMap", parse(&a, WANT), "V");
    sync_absent(&list, "ConfigMap", NULL, "U");
    assert_int_equal(list.n, 0);
    sync_absent(&list, "ConfigMap", parse(&a, WANT), "U");
    assert_int_equal(list.n, 1);
    assert_int_equal(list.items[0].verb, ACTION_DELETE);
    assert_string_equal(list.items[0].namespace, "n");
    assert_string_equal(list.items[0].name, "c");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_made_is_left_alone),
        cmocka_unit_test(changes_and_drift_are_mended_exactly),
        cmocka_unit_test(what_is_no_longer_wanted_goes),
        cmocka_unit_test(others_objects_are_not_touched),
        cmocka_unit_test(the_dying_and_the_immutable_stay),
        cmocka_unit_test(only_our_own_is_deleted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
