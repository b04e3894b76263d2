/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of field management: a sequence of writes by several managers, step by step. */
#include "src/json/test/json_text.h"

#include "src/json/managed.h"
#include "src/json/managed_entry.h"
#include "src/json/test/widget.h"

/* An object, and what happens to it. */
struct story {
    struct arena a;
    const struct jsn *object; /* NULL: there is none */
    struct managed_request req;
    const char *text; /* of the last failure */
};

static struct story begin(void)
{
    struct story s = {0};

    return s;
}

static struct managed_request *request(struct story *s, const char *manager)
{
    s->req.manager = manager;
    s->req.api_version = "kw.test/v1";
    s->req.schema = widget_schema(&s->a);
    s->req.now_us += 1000000;
    return &s->req;
}

/* An object with this spec, with the identity that all objects here have. */
static struct jsn *widget(struct story *s, const char *spec)
{
    struct jsn *v = json_of(
        &s->a,
        "{'apiVersion':'kw.test/v1','kind':'Widget','metadata':{'name':'w','namespace':'n'}}");

    if (spec)
        jsn_set(&s->a, v, "spec", json_of(&s->a, spec));
    return v;
}

static void update(struct story *s, const char *manager, const char *spec)
{
    s->object = managed_update(&s->a, request(s, manager), s->object, widget(s, spec));
}

static int apply_object(struct story *s, const char *manager, const struct jsn *config, bool force)
{
    AUTO(buf_done) struct buf b = {0};
    struct managed_conflicts conflicts = {0};
    struct err e = {0};
    struct jsn *object;
    int r = managed_apply(&s->a, request(s, manager), s->object, config, force, &object, &conflicts,
                          &e);

    s->text = arena_strdup(&s->a, e.text);
    if (r == -EBUSY) {
        managed_conflict_message(&b, &conflicts);
        s->text = arena_str(&s->a, buf_view(&b));
    }
    if (r == 0)
        s->object = object;
    return r;
}

static int apply(struct story *s, const char *manager, const char *spec, bool force)
{
    return apply_object(s, manager, widget(s, spec), force);
}

/* "manager operation time fields" of each entry. */
static const char *entries(struct story *s)
{
    AUTO(buf_done) struct buf b = {0};

    JSN_FOR_ITEMS (entry, jsn_get(s->object, "metadata.managedFields")) {
        const char *sub = jsn_get_str(entry, "subresource");
        const char *time = jsn_get_str(entry, "time");

        buf_printf(&b, "%s %s%s%s %s %s\n", jsn_get_str(entry, "manager"),
                   jsn_get_str(entry, "operation"), sub ? "/" : "", sub ? sub : "",
                   time ? arena_printf(&s->a, "%.2s", time + 17) : "-",
                   text_of(&s->a, jsn_key(entry, "fieldsV1")));
    }
    return arena_str(&s->a, buf_view(&b));
}

static const char *spec(struct story *s)
{
    const struct jsn *v = jsn_key(s->object, "spec");

    return v ? text_of(&s->a, v) : "";
}

static void updates_take_what_they_change(void **state)
{
    struct story s = begin();

    (void)state;
    update(&s, "A", "{'replicas':1,'name':'x','map':{'k':'1'}}");
    assert_string_equal(entries(&s), "A Update 01 {'f:spec':{'.':{},'f:map':{'.':{},'f:k':{}},"
                                     "'f:name':{},'f:replicas':{}}}\n");
    update(&s, "B", "{'replicas':2,'name':'x','map':{'k':'1'}}");
    assert_string_equal(entries(&s), "A Update 01 {'f:spec':{'.':{},'f:map':{'.':{},'f:k':{}},"
                                     "'f:name':{}}}\n"
                                     "B Update 02 {'f:spec':{'f:replicas':{}}}\n");
    update(&s, "A", "{'replicas':2}");
    assert_string_equal(entries(&s), "A Update 01 {'f:spec':{}}\n"
                                     "B Update 02 {'f:spec':{'f:replicas':{}}}\n");
    update(&s, "C", "{'replicas':2}");
    assert_string_equal(entries(&s), "A Update 01 {'f:spec':{}}\n"
                                     "B Update 02 {'f:spec':{'f:replicas':{}}}\n");
    update(&s, NULL, "{'replicas':3}");
    assert_string_equal(entries(&s), "A Update 01 {'f:spec':{}}\n"
                                     "unknown Update 05 {'f:spec':{'f:replicas':{}}}\n");
    arena_done(&s.a);
}

static void what_a_kind_has_anyway_belongs_to_nobody(void **state)
{
    struct story s = begin();

    (void)state;
    s.req.empty = json_of(&s.a, "{'spec':{'nested':{}},'status':{}}");
    update(&s, "A", "{'replicas':1,'nested':{'a':'x'}}");
    assert_string_equal(entries(&s),
                        "A Update 01 {'f:spec':{'f:nested':{'f:a':{}},'f:replicas':{}}}\n");
    arena_done(&s.a);
}

static void appliers_own_what_they_apply(void **state)
{
    struct story s = begin();

    (void)state;
    assert_int_equal(apply(&s, "A", "{'replicas':1,'map':{'a':'1'},'tags':['x']}", false), 0);
    assert_string_equal(entries(&s), "A Apply 01 {'f:spec':{'f:map':{'f:a':{}},'f:replicas':{},"
                                     "'f:tags':{'v:\\'x\\'':{}}}}\n");
    /* Nothing changes: not even the time. */
    assert_int_equal(apply(&s, "A", "{'replicas':1,'map':{'a':'1'},'tags':['x']}", false), 0);
    assert_non_null(strstr(entries(&s), "A Apply 01 "));
    /* The same value: both own it. */
    assert_int_equal(apply(&s, "B", "{'replicas':1,'map':{'b':'2'}}", false), 0);
    assert_string_equal(entries(&s),
                        "A Apply 01 {'f:spec':{'f:map':{'f:a':{}},'f:replicas':{},"
                        "'f:tags':{'v:\\'x\\'':{}}}}\n"
                        "B Apply 03 {'f:spec':{'f:map':{'f:b':{}},'f:replicas':{}}}\n");
    assert_string_equal(spec(&s), "{'replicas':1,'map':{'a':'1','b':'2'},'tags':['x']}");
    /* What A no longer applies goes, unless B has it too. */
    assert_int_equal(apply(&s, "A", "{'map':{'a':'1'}}", false), 0);
    assert_string_equal(spec(&s), "{'replicas':1,'map':{'a':'1','b':'2'}}");
    assert_int_equal(apply(&s, "B", NULL, false), 0);
    assert_string_equal(spec(&s), "{'map':{'a':'1'}}");
    assert_string_equal(entries(&s), "A Apply 04 {'f:spec':{'f:map':{'f:a':{}}}}\n");
    arena_done(&s.a);
}

static void conflicts_name_manager_and_path(void **state)
{
    struct story s = begin();

    (void)state;
    assert_int_equal(apply(&s, "A", "{'replicas':1,'name':'x'}", false), 0);
    update(&s, "B", "{'replicas':2,'name':'x','on':true}");
    assert_int_equal(apply(&s, "A", "{'replicas':3,'name':'x'}", false), -EBUSY);
    assert_string_equal(s.text, "Apply failed with 1 conflict: conflict with \"B\" using "
                                "kw.test/v1: .spec.replicas");
    assert_int_equal(apply(&s, "C", "{'replicas':3,'name':'y','on':false}", false), -EBUSY);
    assert_string_equal(s.text, "Apply failed with 3 conflicts: conflicts with \"A\":\n"
                                "- .spec.name\n"
                                "conflicts with \"B\" using kw.test/v1:\n"
                                "- .spec.on\n- .spec.replicas");
    assert_int_equal(apply(&s, "C", "{'replicas':3,'name':'y','on':false}", true), 0);
    assert_string_equal(spec(&s), "{'replicas':3,'name':'y','on':false}");
    assert_string_equal(entries(&s),
                        "C Apply 05 {'f:spec':{'f:name':{},'f:on':{},'f:replicas':{}}}\n");
    arena_done(&s.a);
}

static void list_items_have_owners(void **state)
{
    struct story s = begin();

    (void)state;
    assert_int_equal(apply(&s, "A", "{'ports':[{'port':80,'name':'web'}]}", false), 0);
    assert_int_equal(apply(&s, "B", "{'ports':[{'port':443,'name':'tls'},{'port':80}]}", false), 0);
    assert_string_equal(spec(&s), "{'ports':[{'port':443,'name':'tls'},{'port':80,'name':'web'}]}");
    assert_string_equal(
        entries(&s),
        "A Apply 01 {'f:spec':{'f:ports':{'k:{\\'port\\':80,\\'protocol\\':\\'TCP\\'}':"
        "{'.':{},'f:name':{},'f:port':{}}}}}\n"
        "B Apply 02 {'f:spec':{'f:ports':{'k:{\\'port\\':80,\\'protocol\\':\\'TCP\\'}':"
        "{'.':{},'f:port':{}},'k:{\\'port\\':443,\\'protocol\\':\\'TCP\\'}':"
        "{'.':{},'f:name':{},'f:port':{}}}}}\n");
    assert_int_equal(apply(&s, "A", "{}", false), 0);
    assert_string_equal(spec(&s), "{'ports':[{'port':443,'name':'tls'},{'port':80}]}");
    assert_int_equal(apply(&s, "B", "{}", false), 0);
    assert_string_equal(entries(&s), "A Apply 03 {'f:spec':{}}\nB Apply 04 {'f:spec':{}}\n");
    arena_done(&s.a);
}

static void managed_fields_can_be_cleared_and_come_back(void **state)
{
    struct story s = begin();
    struct jsn *cleared;

    (void)state;
    update(&s, "A", "{'replicas':1}");
    cleared = widget(&s, "{'replicas':1}");
    jsn_set_path(&s.a, cleared, "metadata.managedFields", json_of(&s.a, "[{}]"));
    s.object = managed_update(&s.a, request(&s, "B"), s.object, cleared);
    assert_string_equal(entries(&s), "");
    assert_null(jsn_get(s.object, "metadata.managedFields"));
    update(&s, "B", "{'replicas':2}");
    assert_string_equal(entries(&s), "");
    assert_int_equal(apply(&s, "C", "{'replicas':2,'name':'x'}", false), 0);
    assert_string_equal(entries(&s), "C Apply 04 {'f:spec':{'f:name':{},'f:replicas':{}}}\n"
                                     "before-first-apply Update 04 "
                                     "{'f:spec':{'.':{},'f:replicas':{}}}\n");
    arena_done(&s.a);
}

static void clients_may_rewrite_managed_fields(void **state)
{
    struct story s = begin();
    struct jsn *object;

    (void)state;
    update(&s, "A", "{'replicas':1}");
    object = widget(&s, "{'replicas':1}");
    jsn_set_path(&s.a, object, "metadata.managedFields",
                 json_of(&s.a,
                         "[{'manager':'Z','operation':'Apply','apiVersion':'kw.test/v1',"
                         "'fieldsType':'FieldsV1','fieldsV1':{'f:spec':{'f:replicas':{}}}}]"));
    s.object = managed_update(&s.a, request(&s, "B"), s.object, object);
    assert_string_equal(entries(&s), "Z Apply - {'f:spec':{'f:replicas':{}}}\n");
    /* Not through a subresource, and not with nonsense. */
    jsn_set_path(&s.a, object, "metadata.managedFields", json_of(&s.a, "[]"));
    s.req.subresource = "status";
    s.object = managed_update(&s.a, request(&s, "B"), s.object, object);
    assert_string_equal(entries(&s), "Z Apply - {'f:spec':{'f:replicas':{}}}\n");
    s.req.subresource = NULL;
    jsn_set_path(&s.a, object, "metadata.managedFields", json_of(&s.a, "[{'operation':'Eat'}]"));
    s.object = managed_update(&s.a, request(&s, "B"), s.object, object);
    assert_string_equal(entries(&s), "Z Apply - {'f:spec':{'f:replicas':{}}}\n");
    arena_done(&s.a);
}

static void subresources_keep_to_their_part(void **state)
{
    struct story s = begin();
    struct jsn *object;

    (void)state;
    update(&s, "A", "{'replicas':1}");
    object = widget(&s, "{'replicas':9}");
    jsn_set_path(&s.a, object, "status.phase", jsn_string(&s.a, "Ready"));
    s.req.subresource = "status";
    s.req.reset = fieldset_of(&s.a, "spec", NULL);
    s.object = managed_update(&s.a, request(&s, "A"), s.object, object);
    assert_string_equal(entries(&s), "A Update 01 {'f:spec':{'.':{},'f:replicas':{}}}\n"
                                     "A Update/status 02 {'f:status':{'.':{},'f:phase':{}}}\n");
    s.req.subresource = NULL;
    s.req.reset = fieldset_of(&s.a, "status", NULL);
    object = widget(&s, "{'replicas':9}");
    jsn_set_path(&s.a, object, "status.phase", jsn_string(&s.a, "Ready"));
    assert_int_equal(apply_object(&s, "B", object, false), 0);
    assert_non_null(strstr(entries(&s), "B Apply 03 {'f:spec':{'f:replicas':{}}}\n"));
    arena_done(&s.a);
}

static void old_updates_are_merged(void **state)
{
    struct story s = begin();

    (void)state;
    update(&s, "m00", "{'map':{'k00':'1'}}");
    for (int i = 1; i < 14; i++) {
        struct jsn *next = managed_update(&s.a, &s.req, s.object, s.object);

        next = jsn_clone(&s.a, next);
        jsn_set_path(&s.a, next, arena_printf(&s.a, "spec.map.k%02d", i), jsn_string(&s.a, "1"));
        s.object =
            managed_update(&s.a, request(&s, arena_printf(&s.a, "m%02d", i)), s.object, next);
    }
    assert_int_equal(jsn_len(jsn_get(s.object, "metadata.managedFields")), 10);
    assert_int_equal(strncmp(entries(&s),
                             "ancient-changes Update 05 {'f:spec':{'.':{},'f:map':{'.':{},"
                             "'f:k00':{},'f:k01':{},'f:k02':{},'f:k03':{},'f:k04':{}}}}\n"
                             "m05 Update 06 {'f:spec':{'f:map':{'f:k05':{}}}}\n",
                             150),
                     0);
    arena_done(&s.a);
}

static void bad_configurations_are_refused(void **state)
{
    struct story s = begin();
    struct jsn *config = widget(&s, "{'bogus':1}");

    (void)state;
    assert_int_equal(apply_object(&s, "A", config, false), -EINVAL);
    assert_string_equal(s.text, "failed to create typed patch object (n/w; kw.test/v1, "
                                "Kind=Widget): .spec.bogus: field not declared in schema");
    jsn_set_str(&s.a, config, "apiVersion", "v2");
    assert_int_equal(apply_object(&s, "A", config, false), -EBADMSG);
    assert_string_equal(s.text, "Incorrect version specified in apply patch. Specified patch "
                                "version: v2, expected: kw.test/v1");
    config = widget(&s, NULL);
    jsn_set_path(&s.a, config, "metadata.managedFields", jsn_array(&s.a));
    assert_int_equal(apply_object(&s, "A", config, false), -EBADMSG);
    assert_string_equal(s.text, "metadata.managedFields must be nil");
    arena_done(&s.a);
}

static void kubectl_takes_over_from_its_annotation(void **state)
{
    static const char key[] = "kubectl.kubernetes.io/last-applied-configuration";
    struct story s = begin();
    struct jsn *object = widget(&s, "{'replicas':1,'name':'x'}");
    struct jsn *notes;

    (void)state;
    notes = jsn_ensure_object(&s.a, jsn_key(object, "metadata"), "annotations");
    jsn_set_str(&s.a, notes, key,
                "{\"apiVersion\":\"kw.test/v1\",\"kind\":\"Widget\",\"metadata\":{\"name\":\"w\"},"
                "\"spec\":{\"replicas\":1,\"name\":\"other\"}}\n");
    s.object = managed_update(&s.a, request(&s, "kubectl-client-side-apply"), NULL, object);
    /* replicas is as the annotation says; name is not, so somebody else has changed it. */
    assert_int_equal(apply(&s, "kubectl", "{'replicas':2,'name':'y'}", false), -EBUSY);
    assert_string_equal(s.text, "Apply failed with 1 conflict: conflict with "
                                "\"kubectl-client-side-apply\" using kw.test/v1: .spec.name");
    assert_int_equal(apply(&s, "kubectl", "{'replicas':2}", false), 0);
    assert_string_equal(spec(&s), "{'replicas':2,'name':'x'}");
    assert_string_equal(jsn_text(jsn_key(jsn_get(s.object, "metadata.annotations"), key)),
                        "{\"apiVersion\":\"kw.test/v1\",\"kind\":\"Widget\",\"metadata\":{\"name\":"
                        "\"w\",\"namespace\":\"n\"},\"spec\":{\"replicas\":2}}\n");
    /* Others get no such favour. */
    assert_int_equal(apply(&s, "B", "{'replicas':3}", false), -EBUSY);
    arena_done(&s.a);
}

/* Only v1 and v2 are served, and they look alike. */
static const struct jsn *convert(const void *context, struct arena *a, const struct jsn *object,
                                 const char *api_version, const struct schema **ret_schema)
{
    struct jsn *copy = jsn_clone(a, object);

    (void)ret_schema;
    (void)context;
    if (!streq(api_version, "kw.test/v1") && !streq(api_version, "kw.test/v2"))
        return NULL;
    jsn_set_str(a, copy, "apiVersion", api_version);
    return copy;
}

static void versions_are_converted_or_forgotten(void **state)
{
    struct story s = begin();
    struct jsn *object = widget(&s, "{'replicas':1,'name':'x','on':true}");

    (void)state;
    s.req.convert = convert;
    jsn_set_path(
        &s.a, object, "metadata.managedFields",
        json_of(&s.a,
                "[{'manager':'old','operation':'Update','apiVersion':'kw.test/v0','fieldsType':"
                "'FieldsV1','fieldsV1':{'f:spec':{'f:on':{}}}},"
                "{'manager':'A','operation':'Apply','apiVersion':'kw.test/v2','fieldsType':"
                "'FieldsV1','fieldsV1':{'f:spec':{'f:replicas':{},'f:name':{}}}}]"));
    s.object = object;
    update(&s, "B", "{'replicas':2,'name':'x','on':true}");
    assert_string_equal(entries(&s), "A Apply - {'f:spec':{'f:name':{}}}\n"
                                     "B Update 01 {'f:spec':{'f:replicas':{}}}\n");
    assert_int_equal(apply(&s, "A", "{'on':true}", false), 0);
    assert_string_equal(spec(&s), "{'replicas':2,'on':true}");
    assert_string_equal(jsn_get_str(s.object, "apiVersion"), "kw.test/v1");
    arena_done(&s.a);
}

static void fields_too_deep_to_be_read_are_not_recorded(void **state)
{
    struct story s = begin();
    struct jsn *deep = jsn_object(&s.a);
    struct jsn *object = widget(&s, "{}");

    (void)state;
    for (int i = 0; i < 509; i++) {
        struct jsn *outer = jsn_object(&s.a);

        jsn_set(&s.a, outer, "x", deep);
        deep = outer;
    }
    jsn_set_path(&s.a, object, "spec.free", deep);
    s.object = managed_update(&s.a, request(&s, "A"), NULL, object);
    assert_null(jsn_get(s.object, "metadata.managedFields"));
    assert_int_equal(apply_object(&s, "A", object, false), 0);
    assert_null(jsn_get(s.object, "metadata.managedFields"));
    assert_false(jsn_deeper_than(s.object, JSN_MAX_DEPTH));
    arena_done(&s.a);
}

static void entries_are_checked(void **state)
{
    static const char *const cases[][2] = {
        {"[{'operation':'Eat'}]", "operation must be `Apply` or `Update`"},
        {"[{'operation':'Apply'}]", "apiVersion must not be empty"},
        {"[{'operation':'Apply','apiVersion':'v1'}]",
         "missing fieldsType in managed fields entry 0"},
        {"[{'operation':'Apply','apiVersion':'v1','fieldsType':'V9'}]",
         "invalid fieldsType \"V9\" in managed fields entry 0"},
        {"[{'operation':'Apply','apiVersion':'v1','fieldsType':'FieldsV1','fieldsV1':{'q':{}}}]",
         "error decoding set of managed fields entry 0: parsing key as path element: key must be 2 "
         "characters long: \"q\""},
        {"[{'operation':'Update','apiVersion':'v1','fieldsType':'FieldsV1'}]", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct managed_entries entries;
        struct err e = {0};

        assert_int_equal(managed_decode(&a, json_of(&a, cases[i][0]), &entries, &e),
                         cases[i][1][0] ? -EINVAL : 0);
        assert_string_equal(e.text, cases[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(updates_take_what_they_change),
        cmocka_unit_test(what_a_kind_has_anyway_belongs_to_nobody),
        cmocka_unit_test(appliers_own_what_they_apply),
        cmocka_unit_test(conflicts_name_manager_and_path),
        cmocka_unit_test(list_items_have_owners),
        cmocka_unit_test(managed_fields_can_be_cleared_and_come_back),
        cmocka_unit_test(clients_may_rewrite_managed_fields),
        cmocka_unit_test(subresources_keep_to_their_part),
        cmocka_unit_test(old_updates_are_merged),
        cmocka_unit_test(bad_configurations_are_refused),
        cmocka_unit_test(kubectl_takes_over_from_its_annotation),
        cmocka_unit_test(versions_are_converted_or_forgotten),
        cmocka_unit_test(fields_too_deep_to_be_read_are_not_recorded),
        cmocka_unit_test(entries_are_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
