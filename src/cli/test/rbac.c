/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of `slurmkeeper rbac`: the file in deploy, and whom it gives what. */
#include "src/cli/test/run.h"

#include "src/base/file.h"
#include "src/json/yaml.h"
#include "src/operator/rights.h"

static struct jsn *objects_of(struct arena *a, const char *text)
{
    struct jsn *v = NULL;
    struct err e = {0};

    if (yaml_parse_all(a, str_of(text), NULL, &v, &e) < 0)
        fail_msg("%s", e.text);
    return v;
}

/* Both are kept as printed. */
static void is_kept(const char *args, const char *path)
{
    AUTO(run_done) struct run r = run_of(args);
    AUTO(free) char *kept = NULL;
    struct err e = {0};
    size_t n;

    if (file_read(path, (size_t)1 << 20, &kept, &n, &e) < 0)
        fail_msg("%s; print it with: make rbac", e.text);
    if (!streq(kept, r.out))
        fail_msg("%s is not what `slurmkeeper %s` prints; run: make rbac", path, args);
}

static void the_files_in_deploy_are_what_is_printed(void **state)
{
    (void)state;
    is_kept("rbac", SOURCE_ROOT "/deploy/rbac/operator.yaml");
    is_kept("rbac --namespace slurm --watch slurm", SOURCE_ROOT "/deploy/namespaced/rbac.yaml");
}

/* Nothing of the whole cluster is asked for, nor anything in a namespace that was not named. */
static void with_watch_every_right_is_in_a_namespace(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(run_done) struct run r = run_of("rbac --namespace here --watch a --watch b");
    struct jsn *all = objects_of(&a, r.out);

    (void)state;
    assert_int_equal(jsn_len(all), 7);
    JSN_FOR_ITEMS (o, all) {
        const char *ns = jsn_get_str(o, "metadata.namespace");

        assert_non_null(ns);
        assert_true(streq(ns, "here") || streq(ns, "a") || streq(ns, "b"));
        JSN_FOR_ITEMS (rule, jsn_key(o, "rules"))
            assert_string_not_equal(jsn_text(jsn_item(jsn_key(rule, "resources"), 0)), "nodes");
        JSN_FOR_ITEMS (rule, jsn_key(o, "rules"))
            assert_string_not_equal(jsn_text(jsn_item(jsn_key(rule, "resources"), 0)),
                                    "validatingwebhookconfigurations");
    }
}

static void bindings_give_roles_to_the_account(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(run_done) struct run r = run_of("rbac --namespace here");
    struct jsn *all = objects_of(&a, r.out);
    const char *name = jsn_get_str(jsn_item(all, 0), "metadata.name");
    size_t bindings = 0;

    (void)state;
    assert_int_equal(jsn_len(all), 5);
    assert_string_equal(jsn_get_str(jsn_item(all, 0), "metadata.namespace"), "here");
    JSN_FOR_ITEMS (o, all) {
        const struct jsn *subject = jsn_item(jsn_key(o, "subjects"), 0);

        assert_string_equal(jsn_get_str(o, "metadata.name"), name);
        if (!ends_with(jsn_get_str(o, "kind"), "Binding"))
            continue;
        bindings++;
        assert_string_equal(jsn_get_str(subject, "kind"), "ServiceAccount");
        assert_string_equal(jsn_get_str(subject, "namespace"), "here");
        assert_true(starts_with(jsn_get_str(o, "kind"), jsn_get_str(o, "roleRef.kind")));
    }
    assert_int_equal(bindings, 2);
}

static void every_right_is_in_one_of_the_roles(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(run_done) struct run r = run_of("rbac");
    const struct right *list;
    size_t n = rights_list(&a, &list);
    size_t rules = 0;

    (void)state;
    JSN_FOR_ITEMS (o, objects_of(&a, r.out))
        rules += jsn_len(jsn_key(o, "rules"));
    assert_int_equal(rules, n);
}

static void a_namespace_that_cannot_be_is_refused(void **state)
{
    AUTO(run_done) struct run r = run_of("rbac -n Upper");

    (void)state;
    assert_int_equal(r.status, 2);
    assert_string_equal(r.out, "");
    assert_non_null(strstr(r.err, "'Upper' cannot be a namespace"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_files_in_deploy_are_what_is_printed),
        cmocka_unit_test(with_watch_every_right_is_in_a_namespace),
        cmocka_unit_test(bindings_give_roles_to_the_account),
        cmocka_unit_test(every_right_is_in_one_of_the_roles),
        cmocka_unit_test(a_namespace_that_cannot_be_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
