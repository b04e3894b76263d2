/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the metrics registry and its text format. */
#include "src/base/test/unit.h"

#include <math.h>

#include "src/base/alloc.h"
#include "src/http/prometheus.h"

static void expect_print(struct prometheus *p, const char *text)
{
    AUTO(buf_done) struct buf b = {0};

    prometheus_print(p, &b);
    assert_string_equal(buf_str(&b), text);
}

static void counters_and_gauges_print_in_order(void **state)
{
    AUTO(prometheus_free) struct prometheus *p = prometheus_new();
    struct prometheus_metric *requests =
        prometheus_counter(p, "requests_total", "All.", "verb,code");
    struct prometheus_metric *depth = prometheus_gauge(p, "depth", "Queue\nand \\.", NULL);

    (void)state;
    prometheus_add(prometheus_series(requests, PROMETHEUS_LABELS("get", "200")), 1);
    prometheus_add(prometheus_series(requests, PROMETHEUS_LABELS("put", "409")), 2);
    prometheus_add(prometheus_series(requests, PROMETHEUS_LABELS("get", "200")), 1);
    prometheus_set(prometheus_series(depth, NULL), 7);
    prometheus_add(prometheus_series(depth, NULL), -7.5);
    expect_print(p, "# HELP requests_total All.\n# TYPE requests_total counter\n"
                    "requests_total{verb=\"get\",code=\"200\"} 2\n"
                    "requests_total{verb=\"put\",code=\"409\"} 2\n"
                    "# HELP depth Queue\\nand \\\\.\n# TYPE depth gauge\ndepth -0.5\n");
}

static void a_metric_without_labels_shows_from_the_start(void **state)
{
    AUTO(prometheus_free) struct prometheus *p = prometheus_new();

    (void)state;
    (void)prometheus_counter(p, "a_total", "A.", NULL);
    (void)prometheus_counter(p, "b_total", "B.", "x");
    expect_print(p, "# HELP a_total A.\n# TYPE a_total counter\na_total 0\n"
                    "# HELP b_total B.\n# TYPE b_total counter\n");
}

static void histograms_count_into_cumulative_buckets(void **state)
{
    static const double bounds[] = {0.1, 1};
    AUTO(prometheus_free) struct prometheus *p = prometheus_new();
    struct prometheus_metric *h = prometheus_histogram(p, "t", "T.", "op", bounds, 2);
    struct prometheus_series *s = prometheus_series(h, PROMETHEUS_LABELS("x"));
    struct prometheus_metric *bare = prometheus_histogram(p, "u", "U.", NULL, bounds, 1);

    (void)state;
    prometheus_observe(s, 0.1);
    prometheus_observe(s, 0.5);
    prometheus_observe(s, 99);
    prometheus_observe(prometheus_series(bare, NULL), 1);
    expect_print(p, "# HELP t T.\n# TYPE t histogram\n"
                    "t_bucket{op=\"x\",le=\"0.1\"} 1\nt_bucket{op=\"x\",le=\"1\"} 2\n"
                    "t_bucket{op=\"x\",le=\"+Inf\"} 3\nt_sum{op=\"x\"} 99.6\nt_count{op=\"x\"} 3\n"
                    "# HELP u U.\n# TYPE u histogram\n"
                    "u_bucket{le=\"0.1\"} 0\nu_bucket{le=\"+Inf\"} 1\nu_sum 1\nu_count 1\n");
}

static void numbers_read_back_as_they_were(void **state)
{
    static const struct {
        double v;
        const char *text;
    } table[] = {
        {0, "g 0\n"},
        {1e15, "g 1e+15\n"},
        {123456789012, "g 123456789012\n"},
        {0.1, "g 0.1\n"},
        {1.0 / 3, "g 0.3333333333333333\n"},
        {-INFINITY, "g -Inf\n"},
        {NAN, "g NaN\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        AUTO(prometheus_free) struct prometheus *p = prometheus_new();
        AUTO(buf_done) struct buf b = {0};
        struct prometheus_metric *g = prometheus_gauge(p, "g", "G.", NULL);

        prometheus_set(prometheus_series(g, NULL), table[i].v);
        prometheus_print(p, &b);
        assert_string_equal(strstr(buf_str(&b), "gauge\n") + 6, table[i].text);
    }
}

static void label_values_are_escaped(void **state)
{
    AUTO(prometheus_free) struct prometheus *p = prometheus_new();
    struct prometheus_metric *g = prometheus_gauge(p, "g", "G.", "path");

    (void)state;
    prometheus_set(prometheus_series(g, PROMETHEUS_LABELS("a\"b\\c\nd")), 1);
    expect_print(p, "# HELP g G.\n# TYPE g gauge\ng{path=\"a\\\"b\\\\c\\nd\"} 1\n");
}

static void values_that_run_together_are_told_apart(void **state)
{
    AUTO(prometheus_free) struct prometheus *p = prometheus_new();
    struct prometheus_metric *g = prometheus_gauge(p, "g", "G.", "a,b");

    (void)state;
    assert_ptr_not_equal(prometheus_series(g, PROMETHEUS_LABELS("x", "yz")),
                         prometheus_series(g, PROMETHEUS_LABELS("xy", "z")));
    assert_ptr_equal(prometheus_series(g, PROMETHEUS_LABELS("x", "yz")),
                     prometheus_series(g, PROMETHEUS_LABELS("x", "yz")));
}

static void too_many_series_share_one(void **state)
{
    AUTO(prometheus_free) struct prometheus *p = prometheus_new();
    struct prometheus_metric *c = prometheus_counter(p, "c", "C.", "path");
    AUTO(buf_done) struct buf b = {0};

    (void)state;
    for (int i = 0; i < PROMETHEUS_MAX_SERIES + 10; i++) {
        AUTO(free) char *path = xasprintf("/%d", i);

        prometheus_add(prometheus_series(c, PROMETHEUS_LABELS(path)), 1);
    }
    prometheus_print(p, &b);
    assert_non_null(strstr(buf_str(&b), "c{path=\"overflow\"} 10\n"));
}

static void read_gauge(void *arg)
{
    prometheus_set(arg, 42);
}

static void gauges_can_be_read_at_print_time(void **state)
{
    AUTO(prometheus_free) struct prometheus *p = prometheus_new();
    struct prometheus_metric *g = prometheus_gauge(p, "g", "G.", NULL);

    (void)state;
    prometheus_on_print(p, read_gauge, prometheus_series(g, NULL));
    expect_print(p, "# HELP g G.\n# TYPE g gauge\ng 42\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_and_gauges_print_in_order),
        cmocka_unit_test(a_metric_without_labels_shows_from_the_start),
        cmocka_unit_test(histograms_count_into_cumulative_buckets),
        cmocka_unit_test(numbers_read_back_as_they_were),
        cmocka_unit_test(label_values_are_escaped),
        cmocka_unit_test(values_that_run_together_are_told_apart),
        cmocka_unit_test(too_many_series_share_one),
        cmocka_unit_test(gauges_can_be_read_at_print_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
