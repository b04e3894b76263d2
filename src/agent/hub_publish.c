/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What watchers get: rows, sections, versions.
 *
 * A node's row also tells its jobs and a partition's how many there are, so both are made anew when
 * the jobs change; a row whose text is the same afterwards stays as old as it was.  The version
 * counts publications in which anything was new.
 */
#include "src/agent/hub_impl.h"
#include "src/base/alloc.h"
#include "src/slurm/profile.h"
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

/* The item's text without its last brace: more members follow. */
static void item_open(struct buf *out, const struct jsn *item)
{
    buf_clear(out);
    jsn_print(out, item);
    assert(out->n > 0 && out->p[out->n - 1] == '}');
    out->p[--out->n] = '\0';
}

static void node_row(const struct hub *h, const struct jsn *item, const char *name, struct buf *out)
{
    const struct jobs_group *g = jobs_of_node(&h->jobs, name);

    item_open(out, item);
    buf_adds(out, ",\"jobs\":[");
    for (size_t i = 0; g && i < g->n; i++)
        buf_printf(out, "%s%lld", i > 0 ? "," : "", (long long)g->ids[i]);
    buf_adds(out, "]");
    if (g && g->busy_until > 0)
        buf_printf(out, ",\"busyUntil\":%lld", (long long)g->busy_until);
    buf_addc(out, '}');
}

static void partition_row(const struct hub *h, const struct jsn *item, const char *name,
                          struct buf *out)
{
    const struct jobs_group *g = jobs_of_partition(&h->jobs, name);

    item_open(out, item);
    buf_printf(out, ",\"pending\":%u,\"running\":%u}", g ? g->pending : 0, g ? g->running : 0);
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

static void own_sections(struct hub *h)
{
    AUTO(buf_done) struct buf text = {0};
    char release[RELEASE_TEXT_LEN] = "";

    if (h->release)
        release_text(h->release, release);
    /* up means that the lists below are its, too */
    buf_printf(&text, "{\"up\":%s,\"release\":\"%s\",\"bootTime\":%lld,\"controllers\":%s",
               hub_complete(h) ? "true" : "false", release, (long long)h->boot_time,
               h->controllers.n > 0 ? buf_str(&h->controllers) : "[]");
    if (h->why[0]) {
        buf_adds(&text, ",\"error\":");
        jsn_print_string(&text, str_of(h->why));
    }
    buf_addc(&text, '}');
    (void)hub_section_put(h, HUB_SLURMCTLD, buf_view(&text));
    buf_clear(&text);
    buf_printf(&text, "{\"pending\":%u,\"running\":%u}", h->jobs.pending, h->jobs.running);
    (void)hub_section_put(h, HUB_COUNTS, buf_view(&text));
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

/* The number behind the dash, or 0 for a version that says nothing here. */
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
