/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of volumes from the API, and of directories that change all at once. */
#include "src/cluster/node/test/parse.h"

#include <stdio.h>
#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/cluster/node/volumes/atomic.h"
#include "src/cluster/node/volumes/hostpath.h"

static const struct jsn *get(void *arg, struct arena *a, const char *plural, const char *ns,
                             const char *name)
{
    (void)arg;
    (void)ns;
    if (streq(plural, "configmaps") && streq(name, "cm"))
        return json_of(a, "{'data':{'b':'2','a':'1'}}");
    if (streq(plural, "secrets") && streq(name, "sec"))
        return json_of(a, "{'data':{'k':'eA=='}}");
    return NULL;
}

static const char *token(void *arg, struct arena *a, const char *audience, int64_t seconds)
{
    return arg ? arena_printf(a, "token:%s:%lld", audience, (long long)seconds) : NULL;
}

/* "a=1(644) b=2(600)", or the error. */
static void build(const char *volume, bool has_token, char *text, size_t size)
{
    AUTO(arena_done) struct arena a = {0};
    static const struct object_source source = {get, NULL};
    static const struct field_context fields = {.pod_ip = "", .host_ip = ""};
    struct payload_context x = {.pod = pod_of(&a, "{'containers':[]}"),
                                .fields = &fields,
                                .source = &source,
                                .token = token,
                                .token_arg = has_token ? &x : NULL};
    struct payload p = {.arena = &a};
    struct err e = {0};
    size_t n = 0;

    text[0] = '\0';
    if (payload_build(&p, &x, json_of(&a, volume), &e) < 0) {
        (void)snprintf(text, size, "%s: %s", e.class == ERR_RETRY ? "retry" : "never", e.text);
        return;
    }
    for (size_t i = 0; i < p.n; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%s=" STR_FMT "(%o)", n ? " " : "",
                              p.files[i].path, STR_ARG(p.files[i].data), p.files[i].mode);
}

static void each_kind_gives_its_files(void **state)
{
    static const char *const cases[][2] = {
        {"{'configMap':{'name':'cm'}}", "a=1(644) b=2(644)"},
        {"{'configMap':{'name':'cm','defaultMode':256,'items':[{'key':'a','path':'x/y'},"
         "{'key':'b','path':'b','mode':511}]}}",
         "x/y=1(400) b=2(777)"},
        {"{'configMap':{'name':'no'}}", "retry: configmap \"no\" not found"},
        {"{'configMap':{'name':'no','optional':true}}", ""},
        {"{'configMap':{'name':'cm','items':[{'key':'z','path':'z'}]}}",
         "retry: references non-existent config key: z"},
        {"{'configMap':{'name':'cm','optional':true,'items':[{'key':'z','path':'z'}]}}", ""},
        {"{'configMap':{'name':'cm','items':[{'key':'a','path':'../z'}]}}",
         "never: '../z' is not a path inside a volume"},
        {"{'configMap':{'name':'cm','items':[{'key':'a','path':'a/../../z'}]}}",
         "never: 'a/../../z' is not a path inside a volume"},
        {"{'configMap':{'name':'cm','items':[{'key':'a','path':'/z'}]}}",
         "never: '/z' is not a path inside a volume"},
        {"{'secret':{'secretName':'sec','defaultMode':384}}", "k=x(600)"},
        {"{'downwardAPI':{'items':[{'path':'n','fieldRef':{'fieldPath':'metadata.name'}}]}}",
         "n=p(644)"},
        {"{'projected':{'defaultMode':288,'sources':[{'configMap':{'name':'cm'}},"
         "{'secret':{'name':'sec','items':[{'key':'k','path':'a'}]}},"
         "{'serviceAccountToken':{'path':'t','audience':'aud','expirationSeconds':900}}]}}",
         "a=x(440) b=2(440) t=token:aud:900(440)"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char text[512];

        build(cases[i][0], true, text, sizeof(text));
        assert_string_equal(text, cases[i][1]);
    }
}

static void a_token_that_is_on_its_way_is_waited_for(void **state)
{
    char text[512];

    (void)state;
    build("{'projected':{'sources':[{'serviceAccountToken':{'path':'t'}}]}}", false, text,
          sizeof(text));
    assert_string_equal(text, "retry: the service account token is not there yet");
}

static void a_volume_knows_whom_it_uses(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    const struct jsn *cm = json_of(&a, "{'configMap':{'name':'x'}}");
    const struct jsn *many = json_of(&a, "{'projected':{'sources':[{'secret':{'name':'x'}}]}}");

    (void)state;
    assert_true(payload_uses(cm, "configmaps", "x"));
    assert_false(payload_uses(cm, "secrets", "x"));
    assert_false(payload_uses(cm, "configmaps", "y"));
    assert_true(payload_uses(many, "secrets", "x"));
    assert_false(payload_is(json_of(&a, "{'emptyDir':{}}")));
}

static char *temp_dir(void)
{
    char *path = xstrdup("/tmp/node-volumes-XXXXXX");

    assert_non_null(mkdtemp(path));
    return path;
}

static void write_files(const char *dir, bool expect_change, const struct payload_file *files,
                        size_t n)
{
    AUTO(arena_done) struct arena a = {0};
    struct payload p = {.arena = &a, .n = n};
    struct err e = {0};
    bool changed = false;

    p.files = arena_calloc(&a, n + 1, sizeof(*p.files));
    memcpy(p.files, files, n * sizeof(*files));
    assert_int_equal(atomic_write(dir, &p, -1, &changed, &e), 0);
    assert_int_equal(changed, expect_change);
}

static void assert_file(const char *dir, const char *name, const char *content)
{
    AUTO(free) char *path = xasprintf("%s/%s", dir, name);
    AUTO(free) char *text = NULL;
    struct stat st;
    size_t n;

    if (!content) {
        assert_int_equal(lstat(path, &st), -1);
        return;
    }
    assert_int_equal(file_read(path, 1000, &text, &n, NULL), 0);
    assert_string_equal(text, content);
}

static void files_change_all_at_once_and_old_ones_go(void **state)
{
    AUTO(free) char *dir = temp_dir();
    AUTO(free) char *sub = xasprintf("%s/v", dir);
    AUTO(free) char *data = xasprintf("%s/v/..data", dir);
    const struct payload_file first[] = {{"a", STR("1"), 0644}, {"d/x", STR("2"), 0600}};
    const struct payload_file second[] = {{"a", STR("3"), 0644}, {"b", STR("4"), 0644}};
    char before[256] = "", after[256] = "";

    (void)state;
    write_files(sub, true, first, 2);
    assert_file(sub, "a", "1");
    assert_file(sub, "d/x", "2");
    write_files(sub, false, first, 2);
    assert_true(readlink(data, before, sizeof(before) - 1) > 0);
    write_files(sub, true, second, 2);
    assert_true(readlink(data, after, sizeof(after) - 1) > 0);
    assert_string_not_equal(before, after);
    assert_file(sub, "a", "3");
    assert_file(sub, "b", "4");
    assert_file(sub, "d", NULL);
    assert_file(sub, before, NULL);
    write_files(sub, true, NULL, 0);
    assert_file(sub, "a", NULL);
    assert_int_equal(file_remove_tree(dir, NULL), 0);
}

static void host_paths_are_made_or_checked_by_type(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(free) char *dir = temp_dir();
    const struct {
        const char *name;
        const char *type;
        int r;
    } cases[] = {
        {"/new", "DirectoryOrCreate", 0}, {"/new", "Directory", 0}, {"/new", "File", -EINVAL},
        {"/f/g", "FileOrCreate", 0},      {"/f/g", "File", 0},      {"/f/g", "Socket", -EINVAL},
        {"/none", "Directory", -ENOENT},  {"/none", "", 0},         {"/../x", "", -EINVAL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *text =
            arena_printf(&a, "{'path':'%s%s','type':'%s'}", dir, cases[i].name, cases[i].type);

        assert_int_equal(hostpath_check(json_of(&a, text), NULL, NULL), cases[i].r);
    }
    assert_int_equal(file_remove_tree(dir, NULL), 0);
}

static void in_a_share_nothing_is_made_outside(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    char dir[] = "/tmp/sk-in-share-XXXXXX";
    char *shares[] = {NULL, NULL};
    static const struct {
        const char *name;
        const char *type;
        int r;
    } cases[] = {
        {"/new/deep", "", 0},        {"/new/file", "FileOrCreate", 0},
        {"/top", "FileOrCreate", 0}, {"/inside/x", "DirectoryOrCreate", 0},
        {"/out/x", "", -EINVAL},     {"/out/x", "FileOrCreate", -EINVAL},
        {"/out/x/y", "", -EINVAL},   {"/dangling", "FileOrCreate", -EINVAL},
    };

    (void)state;
    assert_non_null(mkdtemp(dir));
    shares[0] = arena_printf(&a, "%s/share", dir);
    assert_int_equal(file_make_dirs(arena_printf(&a, "%s/real", shares[0]), 0755, NULL), 0);
    assert_int_equal(file_make_dirs(arena_printf(&a, "%s/outside", dir), 0755, NULL), 0);
    assert_int_equal(symlink("real", arena_printf(&a, "%s/inside", shares[0])), 0);
    assert_int_equal(symlink("../outside", arena_printf(&a, "%s/out", shares[0])), 0);
    assert_int_equal(symlink("../outside/f", arena_printf(&a, "%s/dangling", shares[0])), 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *path = arena_printf(&a, "%s%s", shares[0], cases[i].name);
        const char *text = arena_printf(&a, "{'path':'%s','type':'%s'}", path, cases[i].type);

        assert_int_equal(hostpath_check(json_of(&a, text), shares, NULL), cases[i].r);
        assert_int_equal(file_exists(path), cases[i].r == 0);
    }
    assert_int_equal(file_dir_count(arena_printf(&a, "%s/outside", dir)), 0);
    assert_int_equal(file_remove_tree(dir, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_gives_its_files),
        cmocka_unit_test(a_token_that_is_on_its_way_is_waited_for),
        cmocka_unit_test(a_volume_knows_whom_it_uses),
        cmocka_unit_test(files_change_all_at_once_and_old_ones_go),
        cmocka_unit_test(host_paths_are_made_or_checked_by_type),
        cmocka_unit_test(in_a_share_nothing_is_made_outside),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
