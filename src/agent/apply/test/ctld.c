/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A slurmctld for tests: partitions, jobs and nodes, as much of them as the agent can see.
 *
 * It behaves as the real one in what matters to the apply machine: it refuses to delete a partition
 * that has jobs; it forgets whatever is not in its files when it reads them; and the jobs of a
 * partition that is missing then are lost.  Losing one is harm, and so are files that would make it
 * lose one at its next start.  Tests look for harm when they end.
 */
#include "src/agent/apply/test/ctld.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "src/agent/candidate.h"
#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/base/hash.h"

#define NODES 9
#define INVALID_PARTITION_NAME 2000
#define INVALID_QOS 2066
#define PARTITION_IN_USE 2075

struct ctld *ctld_new(const char *live, const char *marker)
{
    struct ctld *c =
        mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    assert(c != MAP_FAILED);
    (void)snprintf(c->live, sizeof(c->live), "%s", live);
    (void)snprintf(c->marker, sizeof(c->marker), "%s", marker);
    (void)snprintf(c->release, sizeof(c->release), "22.05.8");
    return c;
}

void ctld_free(struct ctld *c)
{
    (void)munmap(c, sizeof(*c));
}

static void harm_note(struct ctld *c, const char *text, const char *name)
{
    if (!c->harm[0])
        (void)snprintf(c->harm, sizeof(c->harm), "%s: %s", name, text);
}

static struct ctld_partition *find(struct ctld *c, const char *name)
{
    for (size_t i = 0; name && i < c->n; i++)
        if (streq(c->parts[i].name, name))
            return &c->parts[i];
    return NULL;
}

const struct ctld_partition *ctld_find(const struct ctld *c, const char *name)
{
    for (size_t i = 0; i < c->n; i++)
        if (streq(c->parts[i].name, name))
            return &c->parts[i];
    return NULL;
}

static bool has_jobs(const struct ctld *c, const char *partition)
{
    for (size_t i = 0; i < c->n_jobs; i++)
        if (streq(c->jobs[i].partition, partition))
            return true;
    return false;
}

static void config_print(struct ctld_partition *p, const struct jsn *config)
{
    AUTO(buf_done) struct buf text = {0};

    jsn_print(&text, config);
    assert(text.n < sizeof(p->config));
    (void)snprintf(p->config, sizeof(p->config), "%s", buf_str(&text));
}

static struct jsn *config_read(struct arena *a, const struct ctld_partition *p)
{
    struct jsn *config = NULL;
    int r = jsn_parse(a, str_of(p->config), NULL, &config, NULL);

    assert(r == 0);
    return config;
}

/* As the real one tells it: every key that is set, and the nodes by name. */
static struct jsn *config_of(struct arena *a, const struct partition *p)
{
    struct jsn *config = jsn_object(a);
    size_t n;
    const struct conf_key *keys = keys_of(CONF_SLURM, CONF_PARTITION, &n);

    for (size_t i = 0; i < n; i++) {
        AUTO(buf_done) struct buf value = {0};

        partition_value(p, &keys[i], &value);
        if (value.n > 0)
            jsn_set_str(a, config, keys[i].name, buf_str(&value));
    }
    if (streq(p->nodes, "ALL"))
        jsn_set_str(a, config, "Nodes", "n[1-9]");
    return config;
}

static struct ctld_partition *part_add(struct ctld *c, const char *name)
{
    struct ctld_partition *p = &c->parts[c->n++];

    assert(c->n <= CTLD_MAX);
    *p = (struct ctld_partition){0};
    (void)snprintf(p->name, sizeof(p->name), "%s", name);
    return p;
}

static struct candidate *files_read(const struct ctld *c)
{
    AUTO(fileset_done) struct fileset files = {0};
    AUTO(faults_done) struct faults faults = {0};
    struct candidate *candidate = NULL;
    struct err e = {0};

    if (fileset_read(c->live, &files, &e) < 0 ||
        candidate_new(&files, c->live, RELEASE(22, 5, 8), &faults, &candidate, &e) < 0)
        return NULL;
    return candidate;
}

static void load_one(struct ctld *c, const struct model *m, const struct model_object *o)
{
    AUTO(partition_done) struct partition p = {0};
    AUTO(arena_done) struct arena a = {0};
    struct ctld_partition *to;
    int r;

    partition_init(&p);
    r = model_partition(m, o, &p, NULL);
    assert(r == 0);
    to = part_add(c, o->name);
    to->in_files = true;
    config_print(to, config_of(&a, &p));
}

static bool lacks_qos(const struct ctld *c, const char *key, const char *value)
{
    return c->no_qos[0] && streq(key, "QOS") && streq(value, c->no_qos);
}

/* A file with a QOS that is not known ends newer releases, with words in *ret. */
static bool files_lack_qos(const struct ctld *c, struct err *ret)
{
    AUTO(candidate_free) struct candidate *files = files_read(c);
    const struct model *m = files ? candidate_model(files) : NULL;

    for (size_t i = 0; m && i < m->n_objects; i++)
        if (m->objects[i].section == CONF_PARTITION &&
            lacks_qos(c, "QOS", model_get(&m->objects[i], "QOS")))
            return err_set(ret, -EREMOTEIO, ERR_PERMANENT, "fatal: Partition %s has an invalid qos",
                           m->objects[i].name) < 0;
    return false;
}

static void load(struct ctld *c)
{
    AUTO(candidate_free) struct candidate *files = files_read(c);
    const struct model *m;

    assert(files);
    m = candidate_model(files);
    c->n = 0;
    for (size_t i = 0; i < m->n_objects; i++)
        if (m->objects[i].section == CONF_PARTITION)
            load_one(c, m, &m->objects[i]);
    for (size_t i = 0; i < c->n_jobs; i++)
        if (!find(c, c->jobs[i].partition))
            harm_note(c, "its jobs are lost: slurmctld has read files without it",
                      c->jobs[i].partition);
}

static void words_leave(const struct ctld *c, const char *words)
{
    AUTO(free) char *path = xasprintf("%s.failed", c->marker);
    struct timespec now = {.tv_sec = clock_wall_us() / 1000000};
    struct timespec times[2] = {now, now};
    FILE *f = fopen(path, "we");

    assert(f);
    times[0].tv_nsec = times[1].tv_nsec = clock_wall_us() % 1000000 * 1000;
    (void)fprintf(f, "%s\n", words);
    (void)fflush(f); /* what is written later would have the time of this machine */
    (void)futimens(fileno(f), times);
    (void)fclose(f);
}

void ctld_start(struct ctld *c)
{
    struct err why = {.text = "fatal: it does not like these files"};

    c->starts++;
    if (files_lack_qos(c, &why) || c->mood == CTLD_WONT_START) {
        c->mood = CTLD_READS;
        words_leave(c, why.text);
        return;
    }
    load(c);
    c->up = true;
    c->boot_s = MAX(clock_wall_us() / 1000000, c->boot_s + 1);
}

void ctld_entry_point(struct ctld *c)
{
    if (c->up || c->no_entry_point || access(c->marker, F_OK) < 0 || c->looked++ < c->start_looks)
        return;
    c->looked = 0;
    (void)unlink(c->marker);
    ctld_start(c);
}

void ctld_look(struct ctld *c)
{
    AUTO(candidate_free) struct candidate *files = files_read(c);

    if (!files)
        return;
    for (size_t i = 0; i < c->n; i++) {
        struct ctld_partition *p = &c->parts[i];
        bool there = model_find(candidate_model(files), CONF_PARTITION, p->name) != NULL;

        p->in_files |= there;
        if (p->in_files && !there && has_jobs(c, p->name))
            harm_note(c, "left the files while it has jobs: a start would kill them", p->name);
    }
}

static int say_no(struct arena *a, struct jsn *answer, const char *kind, int code, int r,
                  const char *text, struct err *e)
{
    struct jsn *error = jsn_object(a);

    jsn_set_str(a, error, "kind", kind);
    jsn_set_int(a, error, "code", code);
    jsn_set_str(a, error, "text", text);
    jsn_set_bool(a, answer, "ok", false);
    jsn_set(a, answer, "error", error);
    return err_set(e, r, r == -EHOSTDOWN || r == -EBUSY ? ERR_RETRY : ERR_PERMANENT, "%s", text);
}

static void default_move(struct ctld *c, const struct ctld_partition *to)
{
    for (size_t i = 0; i < c->n; i++) {
        AUTO(arena_done) struct arena a = {0};
        struct jsn *config = config_read(&a, &c->parts[i]);

        if (&c->parts[i] == to)
            continue;
        jsn_set_str(&a, config, "Default", "NO");
        config_print(&c->parts[i], config);
    }
}

/* As the real one: settings before one that is refused are taken.  False: one was refused. */
static bool settings_take(struct ctld *c, struct ctld_partition *p, const struct jsn *set,
                          bool half)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *config = config_read(&a, p);
    bool becomes_default = false;
    bool refused = false;

    JSN_FOR_MEMBERS (m, set) {
        const char *value = jsn_text(m->value);

        refused = lacks_qos(c, m->key.p, value);
        if (refused)
            break;

        if (value[0])
            jsn_set_str(&a, config, m->key.p, value);
        else
            (void)jsn_del(config, m->key.p);
        becomes_default |= streq(m->key.p, "Default") && streq(value, "YES");
        if (half)
            break;
    }
    config_print(p, config);
    if (becomes_default)
        default_move(c, p);
    return !refused;
}

/* What a partition is that was made with its name alone. */
static struct ctld_partition *part_create(struct ctld *c, const char *name)
{
    AUTO(partition_done) struct partition empty = {0};
    AUTO(arena_done) struct arena a = {0};
    struct ctld_partition *p = part_add(c, name);

    partition_init(&empty);
    empty.min_nodes = 1;
    config_print(p, config_of(&a, &empty));
    return p;
}

static int change_partition(struct ctld *c, struct arena *a, const struct jsn *q, bool half,
                            struct jsn *answer, struct err *e)
{
    bool create = streq(jsn_get_str(q, "call"), "partition-create");
    const char *name = jsn_get_str(q, "name");
    struct ctld_partition *p = find(c, name);

    if (create == (p != NULL))
        return say_no(a, answer, "refused", INVALID_PARTITION_NAME, -EREMOTEIO,
                      create ? "it is there already" : "there is no such partition", e);
    if (create)
        p = part_create(c, name);
    ctld_look(c);
    if (!p->in_files)
        harm_note(c, "was made while its files do not have it: a start would lose it", name);
    if (settings_take(c, p, jsn_key(q, "set"), half))
        return 0;
    return say_no(a, answer, "refused", INVALID_QOS, -EREMOTEIO, "Invalid qos specification", e);
}

static int delete_partition(struct ctld *c, struct arena *a, const struct jsn *q,
                            struct jsn *answer, struct err *e)
{
    const char *name = jsn_get_str(q, "name");
    struct ctld_partition *p = find(c, name);

    if (!p)
        return say_no(a, answer, "refused", INVALID_PARTITION_NAME, -EREMOTEIO,
                      "there is no such partition", e);
    if (has_jobs(c, name))
        return say_no(a, answer, "busy", PARTITION_IN_USE, -EBUSY, "the partition has jobs", e);
    memmove(p, p + 1, (size_t)(&c->parts[--c->n] - p) * sizeof(*p));
    return 0;
}

static int reconfigure(struct ctld *c, struct arena *a, struct jsn *answer, struct err *e)
{
    struct err why = {.text = "it does not like these files"};

    if (files_lack_qos(c, &why) || c->mood == CTLD_REFUSES) {
        c->mood = CTLD_READS;
        return say_no(a, answer, "refused", 1, -EREMOTEIO, why.text, e);
    }
    if (c->mood == CTLD_DIES || c->mood == CTLD_DIES_TWICE) {
        c->mood = c->mood == CTLD_DIES ? CTLD_READS : CTLD_DIES;
        c->up = false;
        return say_no(a, answer, "down", 0, -EHOSTDOWN, "it left before it answered", e);
    }
    c->reconfigures++;
    load(c);
    return 0;
}

static void items_partitions(const struct ctld *c, struct arena *a, struct jsn *items)
{
    for (size_t i = 0; i < c->n; i++) {
        struct jsn *item = jsn_object(a);
        struct jsn *config = config_read(a, &c->parts[i]);
        const char *nodes = jsn_get_str(config, "Nodes");

        jsn_set_str(a, item, "name", c->parts[i].name);
        jsn_set(a, item, "config", config);
        /* nodes have numbers, node sets have not; these are empty */
        if (nodes && !strpbrk(nodes, "0123456789")) {
            jsn_set_str(a, item, "nodesets", nodes);
            (void)jsn_del(config, "Nodes");
        }
        jsn_append(a, items, item);
    }
}

static void node_add(const struct ctld *c, struct arena *a, struct jsn *items, const char *name,
                     const char *state)
{
    struct jsn *item = jsn_object(a);

    jsn_set_str(a, item, "name", name);
    jsn_set_str(a, item, "state", state);
    jsn_set_int(a, item, "slurmdStartTime", c->slurmd_start_s);
    jsn_append(a, items, item);
}

static void items_nodes(const struct ctld *c, struct arena *a, struct jsn *items)
{
    for (int i = 1; i <= NODES; i++)
        node_add(c, a, items, arena_printf(a, "n%d", i), "IDLE+CLOUD");
    for (size_t i = 0; i < c->n_dynamic; i++)
        node_add(c, a, items, c->dynamic[i], "IDLE+DYNAMIC_NORM");
}

static void items_jobs(const struct ctld *c, struct arena *a, struct jsn *items)
{
    for (size_t i = 0; i < c->n_jobs; i++) {
        struct jsn *item = jsn_object(a);

        jsn_set_int(a, item, "id", c->jobs[i].id);
        jsn_set_str(a, item, "partition", c->jobs[i].partition);
        jsn_set_str(a, item, "state", c->jobs[i].running ? "RUNNING" : "PENDING");
        jsn_set_str(a, item, "nodes", c->jobs[i].nodes);
        jsn_append(a, items, item);
    }
}

static void ping(struct ctld *c, struct arena *a, struct jsn *answer)
{
    c->pings++;
    jsn_set_bool(a, answer, "up", c->up);
    if (c->up) {
        jsn_set_str(a, answer, "release", c->release);
        jsn_set_int(a, answer, "bootTime", c->boot_s);
    }
    jsn_set_int(a, answer, "libslurm", (int64_t)RELEASE(22, 5, 8));
}

/* Stands for the time of the last change: another one for each text, and after each start. */
static int64_t stamp(const struct ctld *c, const struct jsn *items)
{
    AUTO(buf_done) struct buf text = {0};

    jsn_print(&text, items);
    return (int64_t)(hash_stable64(buf_view(&text)) % 1000000) + c->boot_s * 1000000;
}

static int items_fill(const struct ctld *c, struct arena *a, const char *call, struct jsn *items)
{
    if (streq(call, "partitions"))
        items_partitions(c, a, items);
    else if (streq(call, "nodes"))
        items_nodes(c, a, items);
    else if (streq(call, "jobs"))
        items_jobs(c, a, items);
    else
        return streq(call, "reservations") ? 0 : -ENOSYS;
    return 0;
}

static int tell(const struct ctld *c, struct arena *a, const struct jsn *request,
                struct jsn *answer)
{
    const char *call = jsn_get_str(request, "call");
    int64_t since = jsn_get_int(request, "since", 0);
    struct jsn *items = jsn_array(a);
    int r = items_fill(c, a, call, items);

    if (r == 0 && since == stamp(c, items)) {
        jsn_set_bool(a, answer, "unchanged", true);
        return 0;
    }
    jsn_set_int(a, answer, "time", stamp(c, items));
    jsn_set(a, answer, "items", items);
    if (since > 0 && streq(call, "partitions"))
        jsn_set_int(a, answer, "bootTime", c->boot_s);
    return r;
}

int ctld_call(struct ctld *c, struct arena *a, const struct jsn *request, bool half,
              struct jsn **ret_answer, struct err *e)
{
    const char *call = jsn_get_str(request, "call");
    struct jsn *answer = jsn_object(a);
    int r = 0;

    ctld_look(c);
    *ret_answer = answer;
    jsn_set_bool(a, answer, "ok", true);
    if (streq(call, "parse"))
        return 0;
    if (streq(call, "ping")) {
        ping(c, a, answer);
        return 0;
    }
    if (!c->up)
        return say_no(a, answer, "down", 0, -EHOSTDOWN, "slurmctld is not there", e);
    if (streq(call, "partition-create") || streq(call, "partition-update"))
        r = change_partition(c, a, request, half, answer, e);
    else if (streq(call, "partition-delete"))
        r = delete_partition(c, a, request, answer, e);
    else if (streq(call, "reconfigure"))
        r = reconfigure(c, a, answer, e);
    else if (streq(call, "shutdown"))
        c->up = false;
    else if (streq(call, "under-way"))
        jsn_set_int(a, answer, "messages", c->messages > 0 ? c->messages-- : 0);
    else
        r = tell(c, a, request, answer);
    assert(r != -ENOSYS);
    return r;
}

void ctld_make_by_hand(struct ctld *c, const char *name, const char *nodes)
{
    (void)part_create(c, name);
    ctld_set_by_hand(c, name, "Nodes", nodes);
}

void ctld_delete_by_hand(struct ctld *c, const char *name)
{
    struct ctld_partition *p = find(c, name);

    memmove(p, p + 1, (size_t)(&c->parts[--c->n] - p) * sizeof(*p));
}

void ctld_set_by_hand(struct ctld *c, const char *name, const char *key, const char *value)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *set = jsn_object(&a);

    jsn_set_str(&a, set, key, value);
    (void)settings_take(c, find(c, name), set, false);
}

void ctld_job_add(struct ctld *c, int id, const char *partition, const char *nodes)
{
    struct ctld_job *j = &c->jobs[c->n_jobs++];

    assert(c->n_jobs <= CTLD_MAX);
    *j = (struct ctld_job){.id = id, .running = nodes != NULL};
    (void)snprintf(j->partition, sizeof(j->partition), "%s", partition);
    (void)snprintf(j->nodes, sizeof(j->nodes), "%s", nodes ? nodes : "");
}

void ctld_job_end(struct ctld *c, int id)
{
    for (size_t i = 0; i < c->n_jobs; i++)
        if (c->jobs[i].id == id)
            c->jobs[i] = c->jobs[--c->n_jobs];
}

const char *ctld_value(struct arena *a, const struct ctld *c, const char *name, const char *key)
{
    const struct ctld_partition *p = ctld_find(c, name);

    return p ? jsn_get_str(config_read(a, p), key) : NULL;
}

void ctld_print(const struct ctld *c, const char *key, struct buf *out)
{
    for (size_t i = 0; i < c->n; i++) {
        AUTO(arena_done) struct arena a = {0};
        const char *value = ctld_value(&a, c, c->parts[i].name, key);

        buf_printf(out, "%s%s=%s", i > 0 ? " " : "", c->parts[i].name, value ? value : "");
    }
}
