/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of the life of definitions, on a real store and registry, without HTTP. */
#include "src/cluster/apiserver/crd/controller.h"
#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/cluster/apiserver/crd/definition.h"
#include "src/cluster/apiserver/crd/test/crd.h"
#include "src/cluster/apiserver/object.h"
#include "src/cluster/apiserver/write.h"

struct fixture {
    struct apiserver s;
    char dir[32];
    char *db;
};

static void on_commit(void *arg, const struct store_event *ev)
{
    struct apiserver *s = arg;

    crd_controller_event(s->crds, ev);
}

static void start(struct fixture *f)
{
    struct err e = {0};

    if (loop_new(&f->s.loop, &e) < 0 ||
        store_open(&(struct store_options){.path = f->db}, &f->s.store, &e) < 0 ||
        registry_new(&f->s.registry, &e) < 0)
        fail_msg("%s", e.text);
    f->s.crds = crd_controller_new(&f->s);
    store_on_commit(f->s.store, on_commit, &f->s);
    if (crd_controller_start(f->s.crds, &e) < 0)
        fail_msg("%s", e.text);
}

static void stop(struct fixture *f)
{
    f->s.crds = crd_controller_free(f->s.crds);
    f->s.store = store_free(f->s.store);
    f->s.registry = registry_free(f->s.registry);
    f->s.loop = loop_free(f->s.loop);
}

static int setup(void **state)
{
    struct fixture *f = xcalloc(1, sizeof(*f));

    (void)snprintf(f->dir, sizeof(f->dir), "/tmp/crd-test-XXXXXX");
    if (!mkdtemp(f->dir))
        return -1;
    f->db = xasprintf("%s/api.db", f->dir);
    start(f);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    struct err e = {0};

    int r;

    stop(f);
    r = file_remove_tree(f->dir, &e);
    free(f->db);
    free(f);
    return r;
}

static void commit(struct fixture *f)
{
    struct err e = {0};

    if (store_commit(f->s.store, &e) < 0)
        fail_msg("%s", e.text);
}

/* Let the controller work until it has nothing to do at once. */
static void settle(struct fixture *f)
{
    commit(f);
    for (int i = 0; i < 8; i++) {
        (void)loop_turn(f->s.loop, 1);
        commit(f);
    }
}

static const struct resource *definitions(struct fixture *f)
{
    return registry_find(f->s.registry, STR("apiextensions.k8s.io"), STR("v1"),
                         STR("customresourcedefinitions"));
}

static const struct resource *widgets(struct fixture *f, const char *version)
{
    return registry_find(f->s.registry, STR("kw.test"), str_of(version), STR("widgets"));
}

/* A cluster-wide definition; `more` is added to its names. */
static const char *definition(struct arena *a, const char *plural, const char *kind,
                              const char *more, const char *spec)
{
    return arena_printf(a,
                        "{'metadata':{'name':'%s.kw.test'},'spec':{'group':'kw.test','scope':"
                        "'Cluster','names':{'plural':'%s','kind':'%s'%s},'versions':[{'name':'v1',"
                        "'served':true,'storage':true,'subresources':{'status':{}},'schema':{"
                        "'openAPIV3Schema':{'type':'object','properties':{'spec':{'type':'object',"
                        "'properties':%s},'status':{'type':'object'}}}}}]}}",
                        plural, plural, kind, more, spec);
}

/* Answers the message of the refusal, or "". */
static const char *create(struct fixture *f, const struct resource *res, struct arena *keep,
                          const char *text)
{
    AUTO(call_done_inner) struct api_call c;

    call_init_inner(&c, &f->s, res);
    if (write_create(&c, json_of(&c.arena, text)) == 0)
        return "";
    return arena_strdup(keep, jsn_get_str(c.failure, "message"));
}

static struct jsn *get(struct fixture *f, const struct resource *res, struct arena *keep,
                       const char *name)
{
    AUTO(call_done_inner) struct api_call c;
    struct jsn *o;

    call_init_inner(&c, &f->s, res);
    return object_find(&c, "", name, &o) == 0 ? jsn_clone(keep, o) : NULL;
}

static void change(struct fixture *f, const struct resource *res, const char *name,
                   const char *path, const char *value)
{
    AUTO(call_done_inner) struct api_call c;
    struct write_update how = {.unconditional = true};
    struct jsn *old, *o;

    call_init_inner(&c, &f->s, res);
    assert_int_equal(object_find(&c, "", name, &old), 0);
    o = jsn_clone(&c.arena, old);
    jsn_set_path(&c.arena, o, path, json_of(&c.arena, value));
    if (write_update(&c, old, o, &how) < 0)
        fail_msg("%s", jsn_get_str(c.failure, "message"));
}

static void delete_one(struct fixture *f, const struct resource *res, const char *name)
{
    AUTO(call_done_inner) struct api_call c;
    struct delete_options o = {.grace_s = -1};
    struct jsn *object, *answer;

    call_init_inner(&c, &f->s, res);
    assert_int_equal(object_find(&c, "", name, &object), 0);
    assert_int_equal(write_delete(&c, object, &o, &answer), 0);
}

static void a_definition_is_served_once_it_is_committed(void **state)
{
    struct fixture *f = *state;
    AUTO(arena_done) struct arena a = {0};
    struct jsn *crd;

    assert_string_equal(
        create(f, definitions(f), &a, definition(&a, "widgets", "Widget", "", "{}")), "");
    crd = get(f, definitions(f), &a, "widgets.kw.test");
    assert_string_equal(text_of(&a, jsn_key(crd, "status")),
                        "{'conditions':null,'acceptedNames':{'plural':'','kind':''},"
                        "'storedVersions':['v1']}");
    assert_null(widgets(f, "v1"));
    settle(f);
    assert_non_null(widgets(f, "v1"));
    crd = get(f, definitions(f), &a, "widgets.kw.test");
    assert_true(definition_is(crd, "Established"));
    assert_int_equal(jsn_get_int(crd, "metadata.generation", 0), 1);
}

static void a_restart_serves_what_was_served(void **state)
{
    struct fixture *f = *state;
    AUTO(arena_done) struct arena a = {0};

    (void)create(f, definitions(f), &a, definition(&a, "widgets", "Widget", "", "{}"));
    commit(f); /* the names are not settled yet */
    stop(f);
    start(f);
    assert_null(widgets(f, "v1"));
    settle(f);
    assert_non_null(widgets(f, "v1"));
    stop(f);
    start(f);
    assert_non_null(widgets(f, "v1")); /* at once */
}

static void objects_follow_the_schema_as_it_changes(void **state)
{
    struct fixture *f = *state;
    AUTO(arena_done) struct arena a = {0};
    const struct resource *before;
    struct jsn *o;

    (void)create(
        f, definitions(f), &a,
        definition(&a, "widgets", "Widget", "", "{'a':{'type':'string'},'b':{'type':'string'}}"));
    settle(f);
    before = resource_ref(widgets(f, "v1"));
    assert_string_equal(
        create(f, before, &a, "{'metadata':{'name':'x'},'spec':{'a':'1','b':'2'},'status':{}}"),
        "");
    commit(f);
    change(
        f, definitions(f), "widgets.kw.test", "spec.versions",
        "[{'name':'v1','served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object',"
        "'properties':{'spec':{'type':'object','properties':{'a':{'type':'string'},'c':{'type':"
        "'integer','default':7}}}}}}}]");
    settle(f);
    assert_ptr_not_equal(widgets(f, "v1"), before);
    o = get(f, widgets(f, "v1"), &a, "x");
    assert_string_equal(text_of(&a, jsn_key(o, "spec")), "{'a':'1','c':7}");
    /* Who began with the old one goes on with it. */
    assert_string_equal(before->kind, "Widget");
    o = get(f, before, &a, "x");
    assert_string_equal(text_of(&a, jsn_key(o, "spec")), "{'a':'1','b':'2'}");
    (void)resource_unref(before);
}

static void a_name_in_use_is_taken_over_when_it_is_free(void **state)
{
    struct fixture *f = *state;
    AUTO(arena_done) struct arena a = {0};
    struct jsn *crd;

    (void)create(f, definitions(f), &a, definition(&a, "widgets", "Widget", "", "{}"));
    settle(f);
    (void)create(f, definitions(f), &a, definition(&a, "gadgets", "Widget", "", "{}"));
    settle(f);
    crd = get(f, definitions(f), &a, "gadgets.kw.test");
    assert_false(definition_is(crd, "NamesAccepted"));
    assert_null(registry_find(f->s.registry, STR("kw.test"), STR("v1"), STR("gadgets")));
    delete_one(f, definitions(f), "widgets.kw.test");
    settle(f);
    assert_null(widgets(f, "v1"));
    crd = get(f, definitions(f), &a, "gadgets.kw.test");
    assert_true(definition_is(crd, "Established"));
    assert_non_null(registry_find(f->s.registry, STR("kw.test"), STR("v1"), STR("gadgets")));
}

static void short_names_can_change_later(void **state)
{
    struct fixture *f = *state;
    AUTO(arena_done) struct arena a = {0};

    (void)create(f, definitions(f), &a,
                 definition(&a, "widgets", "Widget", ",'shortNames':['w']", "{}"));
    settle(f);
    assert_string_equal(widgets(f, "v1")->short_names[0], "w");
    change(f, definitions(f), "widgets.kw.test", "spec.names.shortNames", "['wd']");
    settle(f);
    assert_string_equal(widgets(f, "v1")->short_names[0], "wd");
}

static void objects_go_before_their_definition(void **state)
{
    struct fixture *f = *state;
    AUTO(arena_done) struct arena a = {0};
    struct jsn *crd;

    (void)create(f, definitions(f), &a, definition(&a, "widgets", "Widget", "", "{}"));
    settle(f);
    (void)create(f, widgets(f, "v1"), &a, "{'metadata':{'name':'x'}}");
    (void)create(f, widgets(f, "v1"), &a,
                 "{'metadata':{'name':'held','finalizers':['kw.test/hold']}}");
    delete_one(f, definitions(f), "widgets.kw.test");
    crd = get(f, definitions(f), &a, "widgets.kw.test");
    assert_string_equal(jsn_get_str(definition_condition(crd, "Terminating"), "reason"),
                        "InstanceDeletionPending");
    settle(f);
    crd = get(f, definitions(f), &a, "widgets.kw.test");
    assert_string_equal(jsn_get_str(definition_condition(crd, "Terminating"), "reason"),
                        "InstanceDeletionInProgress");
    assert_null(get(f, widgets(f, "v1"), &a, "x"));
    assert_non_null(get(f, widgets(f, "v1"), &a, "held"));
    assert_true(crd_controller_ending(f->s.crds, widgets(f, "v1")));
    assert_string_equal(
        create(f, widgets(f, "v1"), &a, "{'metadata':{'name':'y'}}"),
        "widgets.kw.test \"y\" is forbidden: create not allowed while custom resource "
        "definition is terminating");
    stop(f);
    start(f); /* it does not forget */
    change(f, widgets(f, "v1"), "held", "metadata.finalizers", "[]");
    settle(f);
    assert_null(get(f, definitions(f), &a, "widgets.kw.test"));
    assert_null(widgets(f, "v1"));
}

static void many_objects_go_in_several_turns(void **state)
{
    struct fixture *f = *state;
    AUTO(arena_done) struct arena a = {0};

    (void)create(f, definitions(f), &a, definition(&a, "widgets", "Widget", "", "{}"));
    settle(f);
    for (int i = 0; i < 600; i++)
        assert_string_equal(
            create(f, widgets(f, "v1"), &a, arena_printf(&a, "{'metadata':{'name':'x%d'}}", i)),
            "");
    delete_one(f, definitions(f), "widgets.kw.test");
    settle(f);
    assert_null(get(f, definitions(f), &a, "widgets.kw.test"));
}

static void a_deleted_definition_can_come_back(void **state)
{
    struct fixture *f = *state;
    AUTO(arena_done) struct arena a = {0};

    for (int i = 0; i < 3; i++) {
        assert_string_equal(
            create(f, definitions(f), &a, definition(&a, "widgets", "Widget", "", "{}")), "");
        settle(f);
        assert_string_equal(create(f, widgets(f, "v1"), &a, "{'metadata':{'name':'x'}}"), "");
        delete_one(f, definitions(f), "widgets.kw.test");
        settle(f);
        assert_null(widgets(f, "v1"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_definition_is_served_once_it_is_committed, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_restart_serves_what_was_served, setup, teardown),
        cmocka_unit_test_setup_teardown(objects_follow_the_schema_as_it_changes, setup, teardown),
        cmocka_unit_test_setup_teardown(a_name_in_use_is_taken_over_when_it_is_free, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(short_names_can_change_later, setup, teardown),
        cmocka_unit_test_setup_teardown(objects_go_before_their_definition, setup, teardown),
        cmocka_unit_test_setup_teardown(many_objects_go_in_several_turns, setup, teardown),
        cmocka_unit_test_setup_teardown(a_deleted_definition_can_come_back, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
