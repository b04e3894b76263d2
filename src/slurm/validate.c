/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Validate a configuration.
 *
 * Why not leave it to Slurm: a bad file ends slurmctld 22.05 and 23.02 at the next reconfigure, and
 * every release at the next start; and its own parser does not see a partition of nodes that do
 * not exist.  So everything that is known to be refused is found here, from the text alone.
 *
 * Three passes: each pair against the key table (this file), settings that must fit together
 * (validate_cluster.c), and objects that name each other (validate_nodes.c and
 * validate_partitions.c).  FATAL is what slurmctld refuses or dies of; a WARNING is taken by it,
 * but not as it was meant.
 */
#include "src/slurm/validate.h"

#include <ctype.h>
#include <stdarg.h>
#include <strings.h>

#include "src/base/alloc.h"
#include "src/slurm/validate_impl.h"

void validate_fault(const struct checker *c, enum fault_level level, const struct conf_line *line,
                    const char *key, const char *fmt, ...)
{
    AUTO(free) char *text = NULL;
    va_list ap;

    va_start(ap, fmt);
    text = xvasprintf(fmt, ap);
    va_end(ap);
    if (c->flawed && (line ? line->section != CONF_GLOBAL : level == FAULT_FATAL))
        *c->flawed = true;
    faults_add(c->faults, level, line ? line->file : NULL, line ? line->line : 0, key, "%s", text);
}

/* Edit distance of two keys without case, at most `most`; more counts as most + 1. */
static unsigned distance(const char *a, const char *b, unsigned most)
{
    unsigned row[48];
    size_t an = strlen(a);
    size_t bn = strlen(b);

    if (bn >= ARRAY_LEN(row) || an > bn + most || bn > an + most)
        return most + 1;
    for (unsigned k = 0; k <= bn; k++)
        row[k] = k;
    for (size_t i = 1; i <= an; i++) {
        unsigned diagonal = row[0];

        row[0] = (unsigned)i;
        for (size_t k = 1; k <= bn; k++) {
            unsigned above = row[k];
            unsigned cost = tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[k - 1]);

            row[k] = MIN(MIN(above, row[k - 1]) + 1, diagonal + cost);
            diagonal = above;
        }
    }
    return row[bn];
}

/* The known key that an unknown one was probably meant to be, or NULL.  Of a short word every
 * letter but one must fit. */
static const char *nearest_key(const struct checker *c, enum conf_section section, const char *name)
{
    size_t n;
    const struct conf_key *keys = keys_of(conf_kind_of(c->m->conf), section, &n);
    const char *best = NULL;
    unsigned least = (unsigned)MIN(strlen(name) / 3 + 1, (size_t)3);

    for (size_t i = 0; i < n; i++) {
        unsigned d = distance(name, keys[i].name, 2);

        if (d < least && keys_in_release(&keys[i], c->ctx->release)) {
            least = d;
            best = keys[i].name;
        }
    }
    return best;
}

static void unknown_key(const struct checker *c, const struct conf_line *line, const char *name)
{
    const char *near = nearest_key(c, line->section, name);
    bool elsewhere = line->section != CONF_GLOBAL &&
                     keys_find(conf_kind_of(c->m->conf), CONF_GLOBAL, str_of(name));

    if (elsewhere)
        validate_fault(c, FAULT_FATAL, line, name, "%s is a key of the cluster, not of a %s", name,
                       conf_section_name(line->section));
    else if (near)
        validate_fault(c, FAULT_FATAL, line, name, "unknown key %s; did you mean %s?", name, near);
    else
        validate_fault(c, FAULT_FATAL, line, name, "unknown key %s", name);
}

/* True if the release takes the key. */
static bool check_key(const struct checker *c, const struct conf_line *line, const char *name,
                      const struct conf_key *key)
{
    AUTO(buf_done) struct buf text = {0};
    uint32_t release = c->ctx->release;
    char series[RELEASE_TEXT_LEN];

    if (!key) {
        unknown_key(c, line, name);
        return false;
    }
    if (release < key->since) {
        release_needs(key->name, key->since, release, &text);
        validate_fault(c, FAULT_FATAL, line, key->name, "%s", buf_str(&text));
        return false;
    }
    if (key->gone && release >= key->gone) {
        release_series_text(MAX(key->gone, RELEASE_OLDEST), series);
        validate_fault(c, FAULT_FATAL, line, key->name,
                       "%s was removed from Slurm; it is an error since %s", key->name, series);
        return false;
    }
    if (key->ignored && release >= key->ignored) {
        release_series_text(MAX(key->ignored, RELEASE_OLDEST), series);
        validate_fault(c, FAULT_WARNING, line, key->name, "%s does nothing since Slurm %s",
                       key->name, series);
        return false;
    }
    return true;
}

static bool is_default_line(const struct conf_line *line)
{
    return (line->section == CONF_NODE || line->section == CONF_PARTITION ||
            line->section == CONF_FRONTEND) &&
           strcasecmp(line->pairs[0].value, "DEFAULT") == 0;
}

/* True if all plugins of a value are Slurm's own or installed. */
static bool plugins_installed(const struct checker *c, const struct conf_key *key,
                              const char *value)
{
    struct str rest = str_of(value);
    struct str item;

    while (str_split(&rest, ',', &item)) {
        struct str class = {key->type.choices, str_find(str_of(key->type.choices), '/')};
        bool bare = str_find(item, '/') == item.n;
        AUTO(free)
        char *full = xasprintf("%.*s%s" STR_FMT, bare ? (int)class.n : 0, class.p, bare ? "/" : "",
                               STR_ARG(item));

        if (value_check(key->type, c->ctx->release, item, NULL) < 0 &&
            !c->ctx->plugin_installed(c->ctx->arg, full))
            return false;
    }
    return true;
}

static void check_value(const struct checker *c, const struct conf_line *line,
                        const struct conf_pair *pair, const struct conf_key *key)
{
    bool secret = key->flags & KEY_SECRET;
    struct err why = {0};
    int r = value_check(key->type, c->ctx->release, str_of(pair->value), &why);
    enum fault_level level;

    if (r == 0)
        return;
    level = key->flags & KEY_LENIENT ? FAULT_WARNING : FAULT_FATAL;
    if (r == -ENOTSUP && !c->ctx->plugin_installed)
        level = FAULT_WARNING;
    else if (r == -ENOTSUP && plugins_installed(c, key, pair->value))
        return;
    validate_fault(c, level, line, key->name, "%s: '%.200s' %s", key->name,
                   secret ? "..." : pair->value, why.text);
}

static void check_pair(const struct checker *c, const struct conf_line *line, size_t at)
{
    const struct conf_pair *pair = &line->pairs[at];
    const struct conf_key *key =
        keys_find(conf_kind_of(c->m->conf), line->section, str_of(pair->key));

    if (!check_key(c, line, pair->key, key))
        return;
    if (pair->op != '=')
        validate_fault(c, FAULT_WARNING, line, key->name, "%s%c= means %s= in a file", key->name,
                       pair->op, key->name);
    if (at > 0 && conf_line_get(line, pair->key) != pair)
        validate_fault(c, FAULT_WARNING, line, key->name,
                       "%s stands twice in the line, the last one counts", key->name);
    if (is_default_line(line)) {
        if (at == 0)
            return;
        if (key->flags & KEY_NOT_IN_DEFAULT)
            validate_fault(c, FAULT_FATAL, line, key->name, "%s cannot stand in a DEFAULT line",
                           key->name);
        else if (key->flags & KEY_OWN_ONLY)
            validate_fault(c, FAULT_WARNING, line, key->name,
                           "%s of a DEFAULT line is not inherited", key->name);
    }
    check_value(c, line, pair, key);
}

static void check_pairs(const struct checker *c)
{
    size_t n;
    const struct conf_line *lines = conf_lines(c->m->conf, &n);

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < lines[i].n && !validate_is_known(c, &lines[i]); k++)
            check_pair(c, &lines[i], k);
}

bool validate_model(const struct model *m, const struct validate_context *ctx,
                    struct faults *faults)
{
    AUTO(free) bool *known = validate_known_lines(m, ctx);
    bool flawed = false;
    struct checker c = {.ctx = ctx, .m = m, .faults = faults, .known = known, .flawed = &flawed};

    check_pairs(&c);
    if (conf_kind_of(m->conf) != CONF_SLURM)
        return true;
    check_cluster(&c);
    if (!known) /* else all lines of nodes are the same, and had no fault */
        check_nodes(&c);
    check_partitions(&c);
    return !flawed;
}

void validate_conf(const struct conf *conf, const struct validate_context *ctx,
                   struct faults *faults)
{
    AUTO(model_free) struct model *m = model_new(conf, ctx->release);

    (void)validate_model(m, ctx, faults);
}

int validate_partition_config(const char *name, struct str config, uint32_t release, struct err *e)
{
    AUTO(faults_done) struct faults faults = {0};
    AUTO(buf_done) struct buf text = {0};
    AUTO(conf_free) struct conf *conf = NULL;
    AUTO(model_free) struct model *m = NULL;
    AUTO(partition_done) struct partition p;
    struct validate_context ctx = {.release = release};
    struct conf_input in = {.kind = CONF_SLURM, .name = name};
    struct checker c = {.ctx = &ctx, .faults = &faults};
    const struct conf_line *lines;
    size_t n;
    int r;

    partition_init(&p);
    if (memchr(config.n ? config.p : "", '\n', config.n))
        return err_bad(e, "%s: the settings of a partition must stand in one line", name);
    buf_adds(&text, "PartitionName=x Nodes=x ");
    buf_addstr(&text, config);
    in.text = buf_view(&text);
    r = conf_parse(&in, &faults, &conf, e);
    if (r < 0)
        return r;
    m = model_new(conf, release);
    c.m = m;
    check_pairs(&c);
    lines = conf_lines(conf, &n);
    for (size_t i = 2; n > 0 && i < lines[0].n; i++)
        if (strcasecmp(lines[0].pairs[i].key, "PartitionName") == 0 ||
            strcasecmp(lines[0].pairs[i].key, "Nodes") == 0)
            validate_fault(&c, FAULT_FATAL, &lines[0], lines[0].pairs[i].key, "%s is set already",
                           lines[0].pairs[i].key);
    for (size_t i = 0; i < faults.n; i++)
        if (faults.list[i].level == FAULT_FATAL)
            return err_bad(e, "%s: %s", name, faults.list[i].text);
    return 0;
}
