/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of paths, queries and media types. */
#include "src/base/test/unit.h"

#include "src/base/alloc.h"
#include "src/http/media.h"
#include "src/http/url.h"

static void paths_are_cut_then_decoded(void **state)
{
    static const struct {
        const char *raw;
        const char *joined; /* NULL: refused */
        bool slash;
    } table[] = {
        {"/", "", false},
        {"/api/v1/namespaces/a/pods/b", "api|v1|namespaces|a|pods|b", false},
        {"/apis/", "apis", true},
        {"/a%20b/c%C3%A9", "a b|c\xc3\xa9", false},
        {"/a+b", "a+b", false},
        {"", NULL, false},
        {"api", NULL, false},
        {"//", NULL, false},
        {"/a//b", NULL, false},
        {"/a/b//", NULL, false},
        {"/../etc", NULL, false},
        {"/a/./b", NULL, false},
        {"/a/%2e%2E/b", NULL, false},
        {"/a%2fb", NULL, false},
        {"/a%00b", NULL, false},
        {"/a%zz", NULL, false},
        {"/a%2", NULL, false},
        {"/a%ff", NULL, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        AUTO(url_path_done) struct url_path p = {0};
        AUTO(buf_done) struct buf b = {0};
        struct err e = {0};
        int r = url_path_parse(table[i].raw, &p, &e);

        if (!table[i].joined) {
            assert_int_equal(r, -EINVAL);
            assert_true(strlen(e.text) > 0);
            continue;
        }
        assert_int_equal(r, 0);
        for (size_t k = 0; k < p.n; k++)
            buf_printf(&b, "%s%s", k ? "|" : "", p.segments[k]);
        assert_string_equal(buf_str(&b), table[i].joined);
        assert_int_equal(p.trailing_slash, table[i].slash);
    }
}

static void a_path_of_too_many_segments_is_refused(void **state)
{
    AUTO(buf_done) struct buf b = {0};
    struct url_path p = {0};
    struct err e = {0};

    (void)state;
    for (int i = 0; i < URL_MAX_SEGMENTS + 1; i++)
        buf_adds(&b, "/x");
    assert_int_equal(url_path_parse(buf_str(&b), &p, &e), -EINVAL);
    assert_string_equal(e.text, "the path has more than 32 segments");
}

static void queries_keep_order_and_repetition(void **state)
{
    static const struct {
        const char *raw;
        const char *joined; /* NULL: refused */
    } table[] = {
        {"", ""},
        {"watch=true&resourceVersion=12", "watch=true|resourceVersion=12"},
        {"command=sh&command=-c&command=echo+a%26b", "command=sh|command=-c|command=echo a&b"},
        {"a", "a="},
        {"a=&=b&&c", "a=|=b|c="},
        {"labelSelector=a%3Db%2Cc%21%3Dd", "labelSelector=a=b,c!=d"},
        {"a=b=c", "a=b=c"},
        {"a=%", NULL},
        {"a%0=x", NULL},
        {"a=%00", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        AUTO(url_query_done) struct url_query q = {0};
        AUTO(buf_done) struct buf b = {0};
        struct err e = {0};
        int r = url_query_parse(table[i].raw, &q, &e);

        if (!table[i].joined) {
            assert_int_equal(r, -EINVAL);
            continue;
        }
        assert_int_equal(r, 0);
        for (size_t k = 0; k < q.n; k++)
            buf_printf(&b, "%s%s=%s", k ? "|" : "", q.params[k].key, q.params[k].value);
        assert_string_equal(buf_str(&b), table[i].joined);
    }
}

static void query_values_are_found_and_read(void **state)
{
    AUTO(url_query_done) struct url_query q = {0};
    struct err e = {0};
    int64_t n = 0;

    (void)state;
    assert_int_equal(url_query_parse("a=1&b=x&a=2&w=true&f=0&F=False&py=True&n=-5&m=5x&z=", &q, &e),
                     0);
    assert_string_equal(url_query_get(&q, "a"), "1");
    assert_string_equal(url_query_get_at(&q, "a", 1), "2");
    assert_null(url_query_get_at(&q, "a", 2));
    assert_null(url_query_get(&q, "c"));
    assert_true(url_query_bool(&q, "w"));
    assert_true(url_query_bool(&q, "z"));
    assert_true(url_query_bool(&q, "py"));
    assert_false(url_query_bool(&q, "f"));
    assert_false(url_query_bool(&q, "F"));
    assert_false(url_query_bool(&q, "none"));
    assert_int_equal(url_query_i64(&q, "n", 7, &n, &e), 0);
    assert_int_equal(n, -5);
    assert_int_equal(url_query_i64(&q, "z", 7, &n, &e), 0);
    assert_int_equal(n, 7);
    assert_int_equal(url_query_i64(&q, "m", 7, &n, &e), -EINVAL);
}

static void accepted_types_stand_best_first(void **state)
{
    static const struct {
        const char *header;
        const char *joined; /* texts with q */
    } table[] = {
        {NULL, "*/*@1000"},
        {"  ", "*/*@1000"},
        {"application/json", "application/json@1000"},
        {"text/plain;q=0.5, application/json", "application/json@1000|text/plain@500"},
        {"a/b;q=0.25,c/d;q=1.0,e/f;q=0.251,g/h", "c/d@1000|g/h@1000|e/f@251|a/b@250"},
        {"a/b;q=0, c/d", "c/d@1000"},
        {"nonsense, /x, a/, */x, a/b c", ""},
        {"a/b;q=2, a/c;q=0.1234, a/d;q=x, a/e;q=1.001", ""},
        {"a/b;x=\"1,2;3\";q=0.1;ext=1, c/d", "c/d@1000|a/b;x=\"1,2;3\"@100"},
        {"application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
         "application/com.github.proto-openapi.spec.v2@v1.0+protobuf@1000"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        AUTO(buf_done) struct buf b = {0};
        struct media_accept a;

        assert_int_equal(media_accept_parse(table[i].header, &a), 0);
        for (size_t k = 0; k < a.n; k++)
            buf_printf(&b, "%s" STR_FMT "@%u", k ? "|" : "", STR_ARG(a.ranges[k].text),
                       a.ranges[k].q);
        assert_string_equal(buf_str(&b), table[i].joined);
    }
}

static void what_kubectl_accepts_is_understood(void **state)
{
    static const char header[] =
        "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;"
        "g=meta.k8s.io,application/json";
    struct media_accept a;

    (void)state;
    assert_int_equal(media_accept_parse(header, &a), 0);
    assert_int_equal(a.n, 3);
    assert_true(str_eqz(media_param(&a.ranges[0], "as"), "Table"));
    assert_true(str_eqz(media_param(&a.ranges[0], "V"), "v1"));
    assert_true(str_eqz(media_param(&a.ranges[1], "v"), "v1beta1"));
    assert_null(media_param(&a.ranges[2], "as").p);
    assert_true(media_range_is(&a.ranges[2], "application/json"));
    assert_true(media_range_covers(&a.ranges[2], "application/json"));
    assert_false(media_range_covers(&a.ranges[2], "application/yaml"));
}

static void stars_cover_but_are_not(void **state)
{
    struct media_accept a;

    (void)state;
    assert_int_equal(media_accept_parse("application/*, */*", &a), 0);
    assert_true(media_range_covers(&a.ranges[0], "application/json"));
    assert_false(media_range_covers(&a.ranges[0], "text/plain"));
    assert_false(media_range_is(&a.ranges[0], "application/json"));
    assert_true(media_range_covers(&a.ranges[1], "text/plain"));
}

static void too_many_types_are_refused(void **state)
{
    AUTO(buf_done) struct buf b = {0};
    struct media_accept a;

    (void)state;
    for (int i = 0; i < MEDIA_MAX_RANGES + 1; i++)
        buf_adds(&b, "a/b,");
    assert_int_equal(media_accept_parse(buf_str(&b), &a), -EINVAL);
}

static void a_content_type_is_one_type(void **state)
{
    struct media_range r;

    (void)state;
    assert_int_equal(media_type_parse(STR("application/apply-patch+yaml; charset=utf-8"), &r), 0);
    assert_true(media_range_is(&r, "application/apply-patch+yaml"));
    assert_true(str_eqz(media_param(&r, "charset"), "utf-8"));
    assert_int_equal(media_type_parse(STR("Application/JSON"), &r), 0);
    assert_true(media_range_is(&r, "application/json"));
    assert_int_equal(media_type_parse(STR(""), &r), -EINVAL);
    assert_int_equal(media_type_parse(STR("json"), &r), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_cut_then_decoded),
        cmocka_unit_test(a_path_of_too_many_segments_is_refused),
        cmocka_unit_test(queries_keep_order_and_repetition),
        cmocka_unit_test(query_values_are_found_and_read),
        cmocka_unit_test(accepted_types_stand_best_first),
        cmocka_unit_test(what_kubectl_accepts_is_understood),
        cmocka_unit_test(stars_cover_but_are_not),
        cmocka_unit_test(too_many_types_are_refused),
        cmocka_unit_test(a_content_type_is_one_type),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
