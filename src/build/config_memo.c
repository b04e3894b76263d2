/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last configuration of a cluster, remembered.
 *
 * One edit leads to some five plans for its Controller (the edit itself, then what became of the
 * ConfigMap, of the push, of the status), and to one for each Partition that is not where it should
 * be.  All of them need the same configuration; where there are hundreds of partitions, making and
 * checking it is most of their work.
 *
 * What a configuration follows from: the specs, of which generations tell, the Controller's
 * annotations, the users' files, and of each Partition the line that was good before.  A digest of
 * all that says whether it is the same.  Of one that is not, most lines still are: what was checked
 * last is kept as well, and the check passes over the partitions that stand in it.  Objects without
 * a generation (from files) are not for this.
 */
#include "src/build/config_memo.h"

#include "src/base/alloc.h"
#include "src/base/hash.h"
#include "src/build/config_impl.h"

struct config_memo {
    struct arena arena;
    char key[SHA256_HEX_LEN + 1];   /* of what is kept; "": nothing is */
    char asked[SHA256_HEX_LEN + 1]; /* of the last question; "": too large to tell */
    struct build_config config;
    struct api_problems problems;
    int result;
    struct conf *conf; /* checked and sound; NULL: none */
    struct model *model;
    struct config_lines lines;
};

struct config_memo *config_memo_new(void)
{
    return xcalloc(1, sizeof(struct config_memo));
}

struct config_memo *config_memo_free(struct config_memo *m)
{
    if (!m)
        return NULL;
    arena_done(&m->arena);
    (void)model_free(m->model);
    (void)conf_free(m->conf);
    config_lines_done(&m->lines);
    free(m);
    return NULL;
}

struct config_lines *config_memo_lines(struct config_memo *m)
{
    return &m->lines;
}

const struct model *config_memo_known(const struct config_memo *m)
{
    return m->model;
}

void config_memo_know(struct config_memo *m, struct conf *conf, struct model *model)
{
    (void)model_free(m->model);
    (void)conf_free(m->conf);
    m->conf = conf;
    m->model = model;
}

/* Texts end with a zero, so that two of them do not read like another two. */
static void add_text(struct buf *b, const char *text)
{
    buf_adds(b, text ? text : "");
    buf_addc(b, '\0');
}

static void add_number(struct buf *b, int64_t n)
{
    buf_add(b, &n, sizeof(n));
}

static void add_meta(struct buf *b, const struct api_meta *m)
{
    add_text(b, m->name);
    add_text(b, m->uid);
    add_number(b, m->generation);
    add_number(b, m->deleted_us);
}

static void add_partition(struct buf *b, const struct api_partition *part)
{
    add_meta(b, &part->meta);
    add_text(b, part->status.line);
}

uint64_t config_memo_digest(const struct api_partition *part)
{
    AUTO(buf_done) struct buf b = {0};

    add_partition(&b, part);
    return MAX(hash_str(buf_view(&b)), (uint64_t)1);
}

static void add_files(struct buf *b, const struct build_cluster *c)
{
    AUTO(arena_done) struct arena a = {0};
    struct api_problems ignored = {.arena = &a};
    struct user_files files;

    user_files_read(&a, c, &files, &ignored);
    add_number(b, (int64_t)ignored.errors);
    for (size_t i = 0; i < files.n; i++) {
        add_text(b, files.items[i].name);
        add_text(b, files.items[i].option);
        add_number(b, (int64_t)files.items[i].text.n);
        buf_addstr(b, files.items[i].text);
    }
}

/* One that is gone is known from the configuration that was written last. */
static void add_accounting(struct buf *b, const struct build_cluster *c)
{
    AUTO(arena_done) struct arena a = {0};
    struct config_accounting at;

    if (config_accounting_find(&a, c, &at))
        add_text(b, at.host);
    add_number(b, at.port);
}

static void make_key(const struct build_cluster *c, char ret[SHA256_HEX_LEN + 1])
{
    const struct jsn_map *notes = &c->controller->meta.annotations;
    AUTO(buf_done) struct buf b = {0};

    add_number(&b, build_release(c));
    add_number(&b, c->env->cgroup);
    add_meta(&b, &c->controller->meta);
    for (size_t i = 0; i < notes->n; i++) {
        add_text(&b, notes->items[i].key);
        add_text(&b, notes->items[i].value);
    }
    if (c->accounting)
        add_meta(&b, &c->accounting->meta);
    add_accounting(&b, c);
    add_number(&b, (int64_t)c->n_nodesets);
    for (size_t i = 0; i < c->n_nodesets; i++)
        add_meta(&b, &c->nodesets[i]->meta);
    for (size_t i = 0; i < c->n_partitions; i++) {
        if (c->partitions[i]->digest)
            add_number(&b, (int64_t)c->partitions[i]->digest);
        else
            add_partition(&b, c->partitions[i]);
    }
    add_files(&b, c);
    if (b.overflow)
        ret[0] = '\0';
    else
        hash_sha256_hex(buf_view(&b), ret);
}

static const char *copy_text(struct arena *a, const char *text)
{
    return text ? arena_strdup(a, text) : NULL;
}

static void copy_config(struct arena *a, const struct build_config *from, struct build_config *ret)
{
    struct conf_origin *origins = arena_calloc(a, from->n_origins + 1, sizeof(*origins));

    *ret = *from;
    for (size_t i = 0; i < from->n; i++)
        ret->files[i] = (struct build_file){copy_text(a, from->files[i].name),
                                            copy_text(a, from->files[i].text)};
    ret->hash = copy_text(a, from->hash);
    for (size_t i = 0; i < from->n_origins; i++) {
        origins[i] = from->origins[i];
        origins[i].object = copy_text(a, origins[i].object);
        origins[i].field = copy_text(a, origins[i].field);
    }
    ret->origins = origins;
}

static void add_problems(const struct api_problems *from, struct api_problems *to)
{
    struct arena *a = to->arena;

    arena_reserve(a, &to->items, &to->cap, to->n + from->n, sizeof(*to->items));
    for (size_t i = 0; i < from->n; i++) {
        const struct api_problem *p = &from->items[i];

        to->items[to->n++] =
            (struct api_problem){p->reason, copy_text(a, p->object), copy_text(a, p->field),
                                 copy_text(a, p->value), copy_text(a, p->text)};
    }
    to->errors += from->errors;
}

bool config_memo_find(struct config_memo *m, const struct build_cluster *c, struct arena *a,
                      struct build_config *ret, struct api_problems *p, int *ret_result)
{
    make_key(c, m->asked);
    if (!m->asked[0] || !streq(m->asked, m->key))
        return false;
    copy_config(a, &m->config, ret);
    add_problems(&m->problems, p);
    *ret_result = m->result;
    return true;
}

void config_memo_keep(struct config_memo *m, const struct build_config *config,
                      const struct api_problems *p, int result)
{
    arena_done(&m->arena);
    m->problems = (struct api_problems){.arena = &m->arena};
    copy_config(&m->arena, config, &m->config);
    add_problems(p, &m->problems);
    m->result = result;
    memcpy(m->key, m->asked, sizeof(m->key));
}
