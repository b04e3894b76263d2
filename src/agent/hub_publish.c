/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What watchers get: rows, sections, versions.
 *
 * A node's row also tells its jobs and a partition's how many there are, so both are made again
 * when the jobs change; a row whose text is the same afterwards stays as old as it was.  The
 * version counts publications in which anything was new.
 */
#include "src/agent/hub_impl.h"
#include "src/base/alloc.h"
#include "src/slurm/profile.h"
#include "src/wire/state.h"
#include "src/wire/version.h"

static const char *const list_names[HUB_N_TABLES] = {
    [HUB_NODES] = "nodes",
    [HUB_PARTITIONS] = "partitions",
    [HUB_RESERVATIONS] = "reservations",
};
static const char *const section_names[HUB_N_SECTIONS] = {
    [HUB_SLURMCTLD] = "slurmctld",
    [HUB_COUNTS] = "jobs",
    [HUB_DRIFT] = "drift",
    [HUB_CONFIG] = "config",
};

struct hub_watcher {
    struct list link; /* in hub->watchers */
    struct hub *hub;
    loop_defer_fn fn;
    void *arg;
};

/* The item, and what we know of it besides: one object. */
static void row_print(struct buf *out, const struct jsn *item, const struct jsn *more)
{
    size_t end;

    buf_clear(out);
    jsn_print(out, item);
    assert(out->n > 0 && out->p[out->n - 1] == '}');
    end = out->n - 1;
    jsn_print(out, more);
    assert(out->p[end + 1] == '{' && out->n > end + 3);
    out->p[end] = ',';
    memmove(out->p + end + 1, out->p + end + 2, out->n - end - 1);
    out->n--;
}

static void node_row(const struct hub *h, const struct jsn *item, const char *name, struct buf *out)
{
    const struct jobs_group *g = jobs_of_node(&h->jobs, name);
    AUTO(arena_done) struct arena a = {0};
    struct jsn *ids = jsn_array(&a);
    struct wire_node_jobs more = {.jobs = ids, .busy_until = g ? MAX(g->busy_until, 0) : 0};

    for (size_t i = 0; g && i < g->n; i++)
        jsn_append(&a, ids, jsn_int(&a, g->ids[i]));
    row_print(out, item, fields_encode(&a, wire_node_jobs_fields, &more));
}

static void partition_row(const struct hub *h, const struct jsn *item, const char *name,
                          struct buf *out)
{
    const struct jobs_group *g = jobs_of_partition(&h->jobs, name);
    AUTO(arena_done) struct arena a = {0};
    struct wire_job_counts more = {g ? g->pending : 0, g ? g->running : 0};

    row_print(out, item, fields_encode(&a, wire_job_counts_fields, &more));
}

static bool rows_fill(struct hub *h, enum hub_table table, uint64_t version)
{
    struct hub_list *l = &h->lists[table];
    AUTO(buf_done) struct buf text = {0};
    bool changed = false;

    if (!l->changed || !l->items)
        return false;
    l->changed = false;
    table_begin(&l->rows);
    JSN_FOR_ITEMS (item, l->items) {
        const char *name = jsn_get_str(item, "name");

        if (!name)
            continue;
        if (table == HUB_NODES) {
            node_row(h, item, name, &text);
        } else if (table == HUB_PARTITIONS) {
            partition_row(h, item, name, &text);
        } else {
            buf_clear(&text);
            jsn_print(&text, item);
        }
        changed |= table_put(&l->rows, str_of(name), buf_view(&text), version);
    }
    changed |= table_end(&l->rows, version);
    return changed;
}

static void section_encode(struct hub *h, enum hub_section section, const struct jsn_field *table,
                           const void *value)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf text = {0};

    jsn_print(&text, fields_encode(&a, table, value));
    (void)hub_section_put(h, section, buf_view(&text));
}

static void own_sections(struct hub *h)
{
    struct wire_job_counts counts = {h->jobs.pending, h->jobs.running};
    char release[RELEASE_TEXT_LEN] = "";
    struct wire_slurmctld slurmctld = {
        .up = hub_complete(h), /* up means that the lists are its, too */
        .release = release,
        .boot_time = h->boot_time,
        .controllers = h->controllers,
        .error = h->why[0] ? h->why : NULL,
        .keys = h->key_stage[0] ? h->key_stage : NULL,
    };

    if (h->release)
        release_text(h->release, release);
    section_encode(h, HUB_SLURMCTLD, wire_slurmctld_fields, &slurmctld);
    section_encode(h, HUB_COUNTS, wire_job_counts_fields, &counts);
}

void hub_set_key_stage(struct hub *h, struct str stage)
{
    size_t n = MIN(stage.n, (size_t)HUB_KEY_STAGE_MAX);

    memcpy(h->key_stage, stage.p, n);
    h->key_stage[n] = '\0';
}

bool hub_section_put(struct hub *h, enum hub_section section, struct str text)
{
    if (str_eq(buf_view(&h->sections[section]), text))
        return false;
    buf_clear(&h->sections[section]);
    buf_addstr(&h->sections[section], text);
    h->newer = true;
    return true;
}

/* Who is told may watch again at once, and is not told twice. */
static void tell(struct hub *h)
{
    for (size_t n = h->n_watchers; n > 0 && !list_empty(&h->watchers); n--) {
        struct hub_watcher *w = LIST_ENTRY(h->watchers.next, struct hub_watcher, link);
        loop_defer_fn fn = w->fn;
        void *arg = w->arg;

        (void)hub_watcher_free(w);
        fn(arg);
    }
}

void hub_publish(struct hub *h)
{
    bool changed = false;

    own_sections(h);
    for (unsigned i = 0; i < HUB_N_TABLES; i++)
        if (list_names[i])
            changed |= rows_fill(h, (enum hub_table)i, h->version + 1);
    if (!changed && !h->newer)
        return;
    h->newer = false;
    h->version++;
    tell(h);
}

/* The number after the dash, or 0 for a version that says nothing here. */
static uint64_t version_of(const struct hub *h, const char *since)
{
    size_t n = strlen(h->boot);
    uint64_t version;

    if (!since || strncmp(since, h->boot, n) != 0 || since[n] != '-' ||
        str_to_u64(str_of(since + n + 1), &version) < 0 || version > h->version)
        return 0;
    for (unsigned i = 0; i < HUB_N_TABLES; i++)
        if (list_names[i] && !table_has_since(&h->lists[i].rows, version))
            return 0;
    return version;
}

bool hub_is_newer(const struct hub *h, const char *since)
{
    return version_of(h, since) < h->version;
}

void hub_print(const struct hub *h, const char *since, struct buf *out)
{
    uint64_t from = version_of(h, since);

    buf_printf(out, "{\"" WIRE_KEY "\":%d,\"version\":\"%s-%llu\",\"full\":%s", WIRE_VERSION,
               h->boot, (unsigned long long)h->version, from == 0 ? "true" : "false");
    for (unsigned i = 0; i < HUB_N_SECTIONS; i++) {
        const struct buf *text = &h->sections[i];

        buf_printf(out, ",\"%s\":%s", section_names[i],
                   text->n > 0      ? buf_str(text)
                   : i == HUB_DRIFT ? "[]"
                                    : "{}");
    }
    for (unsigned i = 0; i < HUB_N_TABLES; i++) {
        if (!list_names[i])
            continue;
        buf_addc(out, ',');
        table_print(&h->lists[i].rows, list_names[i], from, out);
    }
    buf_adds(out, ",\"removed\":{");
    for (unsigned i = 0, n = 0; i < HUB_N_TABLES; i++) {
        if (!list_names[i])
            continue;
        buf_adds(out, n++ > 0 ? "," : "");
        table_print_gone(&h->lists[i].rows, list_names[i], from == 0 ? UINT64_MAX : from, out);
    }
    buf_adds(out, "}}");
}

struct hub_watcher *hub_watch(struct hub *h, loop_defer_fn fn, void *arg)
{
    struct hub_watcher *w = xcalloc(1, sizeof(*w));

    *w = (struct hub_watcher){.hub = h, .fn = fn, .arg = arg};
    list_append(&h->watchers, &w->link);
    h->n_watchers++;
    return w;
}

struct hub_watcher *hub_watcher_free(struct hub_watcher *w)
{
    if (!w)
        return NULL;
    list_remove(&w->link);
    w->hub->n_watchers--;
    free(w);
    return NULL;
}

size_t hub_watchers(const struct hub *h)
{
    return h->n_watchers;
}
