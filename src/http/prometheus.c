/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Metrics in memory, and the text format that Prometheus scrapes.
 *
 * A metric has a series per combination of label values, found by a map and printed in the order in
 * which they appeared.  Label values may come from outside (paths, names), so their number is
 * capped per metric: what comes later is counted together, under the value "overflow".
 */
#include "src/http/prometheus.h"

#include <math.h>

#include "src/base/alloc.h"
#include "src/base/list.h"
#include "src/base/map.h"

#define MAX_LABELS 8
#define MAX_COLLECTORS 16

enum kind { COUNTER, GAUGE, HISTOGRAM };

struct prometheus_series {
    struct prometheus_metric *metric;
    struct list link;
    char *labels; /* as printed, without braces: a="b",c="d" */
    double value; /* histogram: the sum */
    uint64_t count;
    uint64_t buckets[]; /* histogram: of each bound by itself */
};

struct prometheus_metric {
    struct list link;
    enum kind kind;
    char *name;
    char *help;
    char *label_names[MAX_LABELS];
    size_t n_labels;
    double *bounds;
    size_t n_bounds;
    struct list series;
    struct map by_key;
};

struct prometheus {
    struct list metrics;
    struct {
        loop_defer_fn fn;
        void *arg;
    } collectors[MAX_COLLECTORS];
    size_t n_collectors;
};

const double prometheus_seconds[] = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                     0.25,   0.5,   1,      2.5,   5,    10,    30,   60};
const size_t prometheus_n_seconds = ARRAY_LEN(prometheus_seconds);

struct prometheus *prometheus_new(void)
{
    struct prometheus *p = xcalloc(1, sizeof(*p));

    list_init(&p->metrics);
    return p;
}

static void series_free(struct prometheus_series *s)
{
    list_remove(&s->link);
    free(s->labels);
    free(s);
}

static void metric_free(struct prometheus_metric *m)
{
    LIST_FOR_EACH (s, &m->series, struct prometheus_series, link) {
        series_free(s);
    }
    map_done(&m->by_key);
    for (size_t i = 0; i < m->n_labels; i++)
        free(m->label_names[i]);
    free(m->name);
    free(m->help);
    free(m->bounds);
    list_remove(&m->link);
    free(m);
}

struct prometheus *prometheus_free(struct prometheus *p)
{
    if (!p)
        return NULL;
    LIST_FOR_EACH (m, &p->metrics, struct prometheus_metric, link) {
        metric_free(m);
    }
    free(p);
    return NULL;
}

static bool name_ok(struct str s, bool label)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';

        if (!letter && !(c == ':' && !label) && !(i > 0 && c >= '0' && c <= '9'))
            return false;
    }
    return s.n > 0;
}

static bool name_used(const struct prometheus *p, const char *name)
{
    LIST_FOR_EACH (m, &p->metrics, struct prometheus_metric, link) {
        if (streq(m->name, name))
            return true;
    }
    return false;
}

static struct prometheus_metric *metric_new(struct prometheus *p, enum kind kind, const char *name,
                                            const char *help, const char *labels)
{
    struct prometheus_metric *m = xcalloc(1, sizeof(*m));
    struct str rest = str_of(labels);
    struct str label;

    assert(name_ok(str_of(name), false) && !name_used(p, name));
    m->kind = kind;
    m->name = xstrdup(name);
    m->help = xstrdup(help);
    list_init(&m->series);
    while (str_split(&rest, ',', &label)) {
        assert(name_ok(label, true) && m->n_labels < MAX_LABELS && !str_eqz(label, "le"));
        m->label_names[m->n_labels++] = str_dup(label);
    }
    list_append(&p->metrics, &m->link);
    return m;
}

/* A metric without labels shows from the start. */
static struct prometheus_metric *show(struct prometheus_metric *m)
{
    if (m->n_labels == 0)
        (void)prometheus_series(m, NULL);
    return m;
}

struct prometheus_metric *prometheus_counter(struct prometheus *p, const char *name,
                                             const char *help, const char *labels)
{
    return show(metric_new(p, COUNTER, name, help, labels));
}

struct prometheus_metric *prometheus_gauge(struct prometheus *p, const char *name, const char *help,
                                           const char *labels)
{
    return show(metric_new(p, GAUGE, name, help, labels));
}

struct prometheus_metric *prometheus_histogram(struct prometheus *p, const char *name,
                                               const char *help, const char *labels,
                                               const double *bounds, size_t n_bounds)
{
    struct prometheus_metric *m = metric_new(p, HISTOGRAM, name, help, labels);

    m->bounds = xmemdup(bounds, n_bounds * sizeof(*bounds));
    m->n_bounds = n_bounds;
    for (size_t i = 1; i < n_bounds; i++)
        assert(bounds[i] > bounds[i - 1]);
    return show(m);
}

static void add_escaped(struct buf *b, const char *text, bool quotes)
{
    for (; *text; text++) {
        if (*text == '\\' || (*text == '"' && quotes))
            buf_printf(b, "\\%c", *text);
        else if (*text == '\n')
            buf_adds(b, "\\n");
        else
            buf_addc(b, *text);
    }
}

static char *labels_text(const struct prometheus_metric *m, const char *const *values)
{
    AUTO(buf_done) struct buf b = {0};

    for (size_t i = 0; i < m->n_labels; i++) {
        buf_printf(&b, "%s%s=\"", i ? "," : "", m->label_names[i]);
        add_escaped(&b, values ? values[i] : "overflow", true);
        buf_addc(&b, '"');
    }
    return buf_take(&b);
}

/* The map's key of these label values; values NULL: of the overflow. */
static void make_key(const struct prometheus_metric *m, const char *const *values, struct buf *b)
{
    for (size_t i = 0; i < m->n_labels; i++) {
        buf_adds(b, values ? values[i] : "\xfe");
        buf_addc(b, '\xff'); /* in no UTF-8 text */
    }
}

struct prometheus_series *prometheus_series(struct prometheus_metric *m, const char *const *values)
{
    AUTO(buf_done) struct buf key = {0};
    struct prometheus_series *s;

    make_key(m, values, &key);
    s = map_get(&m->by_key, buf_view(&key));
    if (s)
        return s;
    if (m->by_key.n >= PROMETHEUS_MAX_SERIES && values && m->n_labels > 0)
        return prometheus_series(m, NULL);
    s = xcalloc(1, sizeof(*s) + (m->n_bounds + 1) * sizeof(*s->buckets));
    s->metric = m;
    s->labels = labels_text(m, values);
    (void)map_put(&m->by_key, buf_view(&key), s);
    list_append(&m->series, &s->link);
    return s;
}

void prometheus_add(struct prometheus_series *s, double v)
{
    assert(s->metric->kind == GAUGE || (s->metric->kind == COUNTER && v >= 0));
    s->value += v;
}

void prometheus_set(struct prometheus_series *s, double v)
{
    assert(s->metric->kind == GAUGE);
    s->value = v;
}

void prometheus_observe(struct prometheus_series *s, double v)
{
    const struct prometheus_metric *m = s->metric;
    size_t i = 0;

    assert(m->kind == HISTOGRAM);
    while (i < m->n_bounds && v > m->bounds[i])
        i++;
    s->buckets[i]++;
    s->count++;
    s->value += v;
}

void prometheus_on_print(struct prometheus *p, loop_defer_fn fn, void *arg)
{
    assert(p->n_collectors < MAX_COLLECTORS);
    p->collectors[p->n_collectors].fn = fn;
    p->collectors[p->n_collectors++].arg = arg;
}

/* The shortest text that reads back as the same number. */
static void add_number(struct buf *b, double v)
{
    char text[40];

    if (isnan(v) || isinf(v)) {
        buf_adds(b, isnan(v) ? "NaN" : v > 0 ? "+Inf" : "-Inf");
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof(text), "%.*g", digits, v);
        if (strtod(text, NULL) == v)
            break;
    }
    buf_adds(b, text);
}

static void print_line(struct buf *b, const struct prometheus_series *s, const char *suffix,
                       double v)
{
    buf_printf(b, "%s%s", s->metric->name, suffix);
    if (*s->labels)
        buf_printf(b, "{%s}", s->labels);
    buf_addc(b, ' ');
    add_number(b, v);
    buf_addc(b, '\n');
}

static void print_buckets(struct buf *b, const struct prometheus_series *s)
{
    const struct prometheus_metric *m = s->metric;
    uint64_t total = 0;

    for (size_t i = 0; i <= m->n_bounds; i++) {
        total += s->buckets[i];
        buf_printf(b, "%s_bucket{%s%sle=\"", m->name, s->labels, *s->labels ? "," : "");
        add_number(b, i < m->n_bounds ? m->bounds[i] : (double)INFINITY);
        buf_printf(b, "\"} %llu\n", (unsigned long long)total);
    }
    print_line(b, s, "_sum", s->value);
    print_line(b, s, "_count", (double)s->count);
}

void prometheus_print(struct prometheus *p, struct buf *into)
{
    static const char *const kinds[] = {"counter", "gauge", "histogram"};

    for (size_t i = 0; i < p->n_collectors; i++)
        p->collectors[i].fn(p->collectors[i].arg);
    LIST_FOR_EACH (m, &p->metrics, struct prometheus_metric, link) {
        buf_printf(into, "# HELP %s ", m->name);
        add_escaped(into, m->help, false);
        buf_printf(into, "\n# TYPE %s %s\n", m->name, kinds[m->kind]);
        LIST_FOR_EACH (s, &m->series, struct prometheus_series, link) {
            if (m->kind == HISTOGRAM)
                print_buckets(into, s);
            else
                print_line(into, s, "", s->value);
        }
    }
}
