/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parse a configuration file and what it includes.
 *
 * One logical line at a time: an Include is followed on the spot (the settings before it decide
 * what "%c", the cluster's name, stands for); a key that opens a section takes all pairs of its
 * line; any other key must be alone.  What cannot be read becomes a fault, and the next line is
 * tried, so that the author gets the whole list.
 *
 * Files come from the caller's look-up and never from the disk.  Depth, number and size of
 * includes are capped: a file that includes itself ends at CONF_MAX_DEPTH.
 */
#include "src/slurm/conf_impl.h"

#include <ctype.h>
#include <strings.h>

#include "src/base/alloc.h"
#include "src/slurm/keys.h"

struct reader {
    const struct conf_input *in;
    struct conf *conf;
    struct faults *faults;
    unsigned depth;
    unsigned files;
    size_t bytes;
    struct err *e;
};

static int file_read_lines(struct reader *r, const char *name, struct str text);

/* Without what isspace() calls blank at both ends: more than str_trim, and what Slurm goes by. */
static struct str trim(struct str s)
{
    while (s.n > 0 && isspace((unsigned char)s.p[0]))
        s = (struct str){s.p + 1, s.n - 1};
    while (s.n > 0 && isspace((unsigned char)s.p[s.n - 1]))
        s.n--;
    return s;
}

static void fault(const struct reader *r, const char *file, unsigned line, const char *what,
                  struct str text)
{
    text = trim(text);
    faults_add(r->faults, FAULT_FATAL, file, line, NULL, "%s '" STR_FMT "%s'", what,
               (int)MIN(text.n, (size_t)120), text.p, text.n > 120 ? "..." : "");
}

/* Value of the last ClusterName so far, in lower case as Slurm has it; owned, or NULL. */
static char *cluster_name(const struct conf *c)
{
    for (size_t i = c->n; i > 0; i--)
        if (strcasecmp(c->lines[i - 1].pairs[0].key, "ClusterName") == 0) {
            char *name = xstrdup(c->lines[i - 1].pairs[0].value);

            for (char *at = name; *at; at++)
                *at = (char)tolower((unsigned char)*at);
            return name;
        }
    return NULL;
}

/* The path of an Include: %c replaced, relative ones put after the including file's directory. */
static char *include_path(const struct reader *r, const char *from, struct str written)
{
    AUTO(free) char *cluster = cluster_name(r->conf);
    AUTO(buf_done) struct buf path = {0};
    const char *slash = strrchr(from, '/');

    if (written.p[0] != '/' && slash)
        buf_add(&path, from, (size_t)(slash + 1 - from));
    for (size_t i = 0; i < written.n; i++) {
        if (written.p[i] == '%' && i + 1 < written.n && written.p[i + 1] == 'c') {
            if (!cluster)
                return NULL;
            buf_adds(&path, cluster);
            i++;
        } else {
            buf_addc(&path, written.p[i]);
        }
    }
    return buf_take(&path);
}

static int include_follow(struct reader *r, const char *file, unsigned line, struct str written)
{
    AUTO(free) char *path = include_path(r, file, written);
    const char *name;
    struct str text;
    struct err e = {0};
    int result;

    if (!path) {
        fault(r, file, line, "ClusterName must stand before the Include of", written);
        return 0;
    }
    if (r->depth == CONF_MAX_DEPTH) {
        faults_add(r->faults, FAULT_FATAL, file, line, "Include",
                   "Include '%s': files include each other more than %d levels deep", path,
                   CONF_MAX_DEPTH);
        return 0;
    }
    if (!r->in->lookup) {
        faults_add(r->faults, FAULT_FATAL, file, line, "Include",
                   "Include '%s': no files can be included here", path);
        return 0;
    }
    result = r->in->lookup(r->in->ctx, path, &text, &e);
    if (result < 0) {
        faults_add(r->faults, FAULT_FATAL, file, line, "Include", "Include '%s': %s", path,
                   e.text[0] ? e.text : strerror(-result));
        return 0;
    }
    name = arena_strdup(&r->conf->arena, path);
    r->depth++;
    result = file_read_lines(r, name, text);
    r->depth--;
    return result;
}

/* 1 if the line is an Include (followed, or a fault), 0 if not, negative past a limit. */
static int include_try(struct reader *r, const char *file, unsigned line, struct str text)
{
    struct str word = {text.p, MIN(text.n, (size_t)7)};
    size_t end = 0;
    int result;

    if (!str_eq_nocase(word, STR("include")) || text.n < 8 || !isspace((unsigned char)text.p[7]))
        return 0;
    text = trim((struct str){text.p + 7, text.n - 7});
    while (end < text.n && !isspace((unsigned char)text.p[end]))
        end++;
    if (end == 0)
        return 0;
    if (end < text.n)
        fault(r, file, line, "cannot read after the name of an Include:",
              (struct str){text.p + end, text.n - end});
    result = include_follow(r, file, line, (struct str){text.p, end});
    return result < 0 ? result : 1;
}

/* What stands in a line after its last pair.  A word without '=' that is no key may belong to the
 * value before. */
static void rest_fault(const struct reader *r, const struct conf_line *line,
                       const struct conf_pair *last, struct str rest)
{
    struct str left = rest;
    struct conf_token token;
    bool pair = conf_lex_pair(&left, &token);
    struct str word = {rest.p, 0};

    while (word.n < rest.n && !isspace((unsigned char)rest.p[word.n]))
        word.n++;

    if (last && line->section == CONF_GLOBAL && pair)
        fault(r, line->file, line->line, "only one setting may stand in a line, here follows",
              rest);
    else if (last && !pair && str_find(word, '=') == word.n &&
             !keys_find(r->conf->kind, line->section, word))
        faults_add(r->faults, FAULT_FATAL, line->file, line->line, last->key,
                   "cannot read '" STR_FMT "%s' after %s; a value with blanks needs quotes",
                   (int)MIN(rest.n, (size_t)120), rest.p, rest.n > 120 ? "..." : "", last->key);
    else
        fault(r, line->file, line->line, "cannot read", rest);
}

/* Copy the pairs of one line into the conf; whatever is left over is a fault. */
static void line_store(struct reader *r, const char *file, unsigned line_no, struct str text)
{
    struct conf_pair pairs[CONF_MAX_PAIRS];
    struct conf *c = r->conf;
    struct conf_line line = {.file = file, .line = line_no};
    struct conf_token token;
    struct str rest = text;

    while (line.n < CONF_MAX_PAIRS && (line.n == 0 || line.section != CONF_GLOBAL) &&
           conf_lex_pair(&rest, &token)) {
        if (line.n == 0)
            line.section = conf_section_of(c->kind, token.key);
        pairs[line.n++] = (struct conf_pair){
            .key = arena_str(&c->arena, token.key),
            .value = arena_str(&c->arena, token.value),
            .op = token.op,
        };
    }
    rest = trim(rest);
    if (rest.n > 0)
        rest_fault(r, &line, line.n > 0 ? &pairs[line.n - 1] : NULL, rest);
    if (line.n == 0)
        return;
    line.pairs = arena_calloc(&c->arena, line.n, sizeof(*line.pairs));
    memcpy(line.pairs, pairs, line.n * sizeof(*pairs));
    array_reserve(&c->lines, &c->cap, c->n + 1, sizeof(*c->lines));
    c->lines[c->n++] = line;
}

static int file_read_lines(struct reader *r, const char *name, struct str text)
{
    AUTO(buf_done) struct buf line = {0};
    unsigned at = 1;
    unsigned taken;
    int result;

    r->bytes += text.n;
    if (r->bytes > CONF_MAX_BYTES)
        return err_set(r->e, -E2BIG, ERR_PERMANENT, "%s: the configuration has more than %zu bytes",
                       name, CONF_MAX_BYTES);
    if (++r->files > CONF_MAX_FILES)
        return err_set(r->e, -E2BIG, ERR_PERMANENT, "%s: more than %d files are included", name,
                       CONF_MAX_FILES);
    if (text.n > 0 && memchr(text.p, '\0', text.n))
        return err_bad(r->e, "%s: the file has a NUL byte, it is not text", name);
    for (; conf_lex_line(&text, &line, &taken); at += taken) {
        result = include_try(r, name, at, buf_view(&line));
        if (result < 0)
            return result;
        if (result == 0)
            line_store(r, name, at, buf_view(&line));
    }
    return 0;
}

int conf_parse(const struct conf_input *in, struct faults *faults, struct conf **ret_conf,
               struct err *e)
{
    AUTO(conf_free) struct conf *conf = xcalloc(1, sizeof(*conf));
    struct reader r = {.in = in, .conf = conf, .faults = faults, .e = e};
    int result;

    conf->kind = in->kind;
    result = file_read_lines(&r, arena_strdup(&conf->arena, in->name), in->text);
    if (result < 0)
        return result;
    *ret_conf = TAKE(conf);
    return 0;
}
