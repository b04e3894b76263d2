/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of what the status of a definition says: names, conditions, stored versions. */
#include "src/cluster/apiserver/crd/definition.h"
#include "src/cluster/apiserver/crd/test/crd.h"

#define NOW "2026-01-09T10:00:00Z"

static struct jsn *definition(struct arena *a, const char *plural, const char *kind,
                              const char *more)
{
    struct jsn *crd = json_of(
        a, arena_printf(a,
                        "{'metadata':{'name':'%s.kw.test'},'spec':{'group':'kw.test','names':"
                        "{'plural':'%s','singular':'%s-one','kind':'%s','listKind':'%sList'%s}},"
                        "'status':{'conditions':null,'acceptedNames':{'plural':'','kind':''},"
                        "'storedVersions':['v1']}}",
                        plural, plural, plural, kind, kind, more));

    return crd;
}

/* "NamesAccepted=True/NoConflicts Established=..." */
static const char *conditions(struct arena *a, const struct jsn *crd)
{
    AUTO(buf_done) struct buf b = {0};

    JSN_FOR_ITEMS (c, jsn_get(crd, "status.conditions"))
        buf_printf(&b, "%s%s=%s/%s", c_i ? " " : "", jsn_get_str(c, "type"),
                   jsn_get_str(c, "status"), jsn_get_str(c, "reason"));
    return arena_str(a, buf_view(&b));
}

static void free_names_are_accepted_at_once(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *crd =
        definition(&a, "widgets", "Widget", ",'shortNames':['w'],'categories':['all']");
    struct definition_taken taken = {.others = jsn_array(&a)};
    struct jsn *next = definition_next(&a, crd, &taken, NOW);

    (void)state;
    assert_non_null(next);
    assert_string_equal(
        text_of(&a, jsn_key(next, "status")),
        "{'conditions':[{'type':'NamesAccepted','status':'True','lastTransitionTime':'" NOW
        "','reason':'NoConflicts','message':'no conflicts found'},{'type':'Established','status':"
        "'True','lastTransitionTime':'" NOW "','reason':'InitialNamesAccepted','message':'the "
        "initial names have been accepted'}],'acceptedNames':{'plural':'widgets','kind':'Widget',"
        "'singular':'widgets-one','shortNames':['w'],'listKind':'WidgetList','categories':['all']},"
        "'storedVersions':['v1']}");
    assert_true(definition_served(next));
    assert_false(definition_served(crd));
    assert_string_equal(conditions(&a, crd), ""); /* the old one is as it was */
}

static void what_is_settled_stays(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *crd = definition(&a, "widgets", "Widget", "");
    struct definition_taken taken = {.others = jsn_array(&a)};
    struct jsn *next = definition_next(&a, crd, &taken, NOW);

    (void)state;
    assert_null(definition_next(&a, next, &taken, "2026-01-09T11:00:00Z"));
}

struct clash {
    const char *first_more;
    const char *plural, *kind, *more;
    const char *reason, *message;
};

static void names_in_use_are_refused_one_by_one(void **state)
{
    static const struct clash cases[] = {
        {"", "gadgets", "Widget", ",'listKind':'GadgetList'", "KindConflict",
         "\"Widget\" is already in use"},
        {"", "gadgets", "Gadget", ",'listKind':'WidgetList'", "ListKindConflict",
         "\"WidgetList\" is already in use"},
        {"", "gadgets", "Gadget", ",'singular':'widgets'", "SingularConflict",
         "\"widgets\" is already in use"},
        {",'shortNames':['g','w']", "gadgets", "Gadget", ",'shortNames':['x','g']",
         "ShortNamesConflict", "\"g\" is already in use"},
        {",'shortNames':['g','w']", "gadgets", "Gadget", ",'shortNames':['w','g']",
         "ShortNamesConflict", "[\"w\" is already in use, \"g\" is already in use]"},
        {",'shortNames':['gadgets']", "gadgets", "Gadget", "", "PluralConflict",
         "\"gadgets\" is already in use"},
        {"", "gadgets", "WidgetList", "", "KindConflict", "\"WidgetList\" is already in use"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct jsn *first = definition(&a, "widgets", "Widget", cases[i].first_more);
        struct jsn *second = definition(&a, cases[i].plural, cases[i].kind, cases[i].more);
        struct definition_taken taken = {.others = jsn_array(&a)};
        struct jsn *both = jsn_array(&a), *c;

        first = definition_next(&a, first, &taken, NOW);
        jsn_append(&a, both, first);
        jsn_append(&a, both, second);
        taken.others = both;
        second = definition_next(&a, second, &taken, NOW);
        assert_non_null(second);
        c = definition_condition(second, "NamesAccepted");
        assert_string_equal(jsn_get_str(c, "status"), "False");
        assert_string_equal(jsn_get_str(c, "reason"), cases[i].reason);
        assert_string_equal(jsn_get_str(c, "message"), cases[i].message);
        c = definition_condition(second, "Established");
        assert_string_equal(jsn_get_str(c, "status"), "False");
        assert_string_equal(jsn_get_str(c, "reason"), "NotAccepted");
        assert_string_equal(jsn_get_str(c, "message"), "not all names are accepted");
        assert_false(definition_served(second));
        /* Once the other is gone the names are free. */
        taken.others = jsn_array(&a);
        second = definition_next(&a, second, &taken, NOW);
        assert_string_equal(conditions(&a, second),
                            "NamesAccepted=True/NoConflicts Established=True/InitialNamesAccepted");
    }
}

static void other_groups_do_not_matter(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *first = definition(&a, "widgets", "Widget", "");
    struct jsn *second = definition(&a, "gadgets", "Widget", "");
    struct definition_taken taken = {.others = jsn_array(&a)};
    struct jsn *others = jsn_array(&a);

    (void)state;
    first = definition_next(&a, first, &taken, NOW);
    jsn_set_path(&a, first, "spec.group", jsn_string(&a, "other.test"));
    jsn_append(&a, others, first);
    taken.others = others;
    second = definition_next(&a, second, &taken, NOW);
    assert_true(definition_is(second, "NamesAccepted"));
}

static void built_in_names_cannot_be_taken(void **state)
{
    static const char *const resources[] = {"widgets", NULL}, *const kinds[] = {"Widget", NULL};
    AUTO(arena_done) struct arena a = {0};
    struct jsn *crd = definition(&a, "widgets", "Widget", "");
    struct definition_taken taken = {jsn_array(&a), resources, kinds};
    struct jsn *next = definition_next(&a, crd, &taken, NOW);

    (void)state;
    assert_string_equal(conditions(&a, next),
                        "NamesAccepted=False/KindConflict Established=False/NotAccepted");
}

static void an_established_definition_stays_so(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *one = definition(&a, "widgets", "Widget", "");
    struct jsn *two = definition(&a, "gadgets", "Gadget", ",'shortNames':['x']");
    struct definition_taken taken = {.others = jsn_array(&a)};
    struct jsn *others = jsn_array(&a);

    (void)state;
    one = definition_next(&a, one, &taken, NOW);
    two = definition_next(&a, two, &taken, NOW);
    jsn_append(&a, others, two);
    taken.others = others;
    jsn_set_path(&a, one, "spec.names.shortNames", json_of(&a, "['x']"));
    jsn_set_path(&a, one, "spec.names.categories", json_of(&a, "['all']"));
    one = definition_next(&a, one, &taken, "2026-01-09T11:00:00Z");
    assert_string_equal(conditions(&a, one),
                        "NamesAccepted=False/ShortNamesConflict Established=True/"
                        "InitialNamesAccepted");
    assert_string_equal(
        jsn_get_str(definition_condition(one, "NamesAccepted"), "lastTransitionTime"),
        "2026-01-09T11:00:00Z");
    assert_string_equal(jsn_get_str(definition_condition(one, "Established"), "lastTransitionTime"),
                        NOW);
    assert_null(jsn_get(one, "status.acceptedNames.shortNames"));
    assert_string_equal(text_of(&a, jsn_get(one, "status.acceptedNames.categories")), "['all']");
    assert_true(definition_served(one));
}

static void approval_shows_as_a_condition(void **state)
{
    static const char *const cases[][2] = {
        {"https://example.org/pull/1",
         "KubernetesAPIApprovalPolicyConformant=True/ApprovedAnnotation"},
        {"unapproved, a test", "KubernetesAPIApprovalPolicyConformant=False/UnapprovedAnnotation"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct jsn *crd = definition(&a, "widgets", "Widget", "");
        struct definition_taken taken = {.others = jsn_array(&a)};
        struct jsn *annotations = jsn_object(&a);

        jsn_set_str(&a, annotations, "api-approved.kubernetes.io", cases[i][0]);
        jsn_set_path(&a, crd, "metadata.annotations", annotations);
        jsn_set_path(&a, crd, "spec.group", jsn_string(&a, "kw.k8s.io"));
        assert_non_null(strstr(conditions(&a, definition_next(&a, crd, &taken, NOW)), cases[i][1]));
    }
}

static void the_stored_version_is_noted_once(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *crd =
        json_of(&a, "{'spec':{'versions':[{'name':'v1'},{'name':'v2','storage':true}]},"
                    "'status':{'storedVersions':['v1']}}");

    (void)state;
    definition_note_stored(&a, crd);
    definition_note_stored(&a, crd);
    assert_string_equal(text_of(&a, jsn_get(crd, "status.storedVersions")), "['v1','v2']");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_names_are_accepted_at_once),
        cmocka_unit_test(what_is_settled_stays),
        cmocka_unit_test(names_in_use_are_refused_one_by_one),
        cmocka_unit_test(other_groups_do_not_matter),
        cmocka_unit_test(built_in_names_cannot_be_taken),
        cmocka_unit_test(an_established_definition_stays_so),
        cmocka_unit_test(approval_shows_as_a_condition),
        cmocka_unit_test(the_stored_version_is_noted_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
