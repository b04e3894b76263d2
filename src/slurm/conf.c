/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Configuration files as lines.
 *
 * This layer knows how lines look and which keys open a line of several pairs; it does not know
 * what keys mean (keys.c) nor how lines make objects (model.c).  Lines keep the file and number
 * where they start, also through includes, so that every later fault can name its place.
 *
 * Printing gives text that parses to the same lines: one line each, quotes where a value has
 * blanks, backslashes before '#' and '\'.
 */
#include "src/slurm/conf_impl.h"

#include <ctype.h>
#include <strings.h>

#include "src/base/alloc.h"

/* Keys that open a line of their own kind. */
static const struct {
    const char *key;
    enum conf_kind kind;
    enum conf_section section;
} openers[] = {
    {"NodeName", CONF_SLURM, CONF_NODE},           {"NodeSet", CONF_SLURM, CONF_NODESET},
    {"PartitionName", CONF_SLURM, CONF_PARTITION}, {"DownNodes", CONF_SLURM, CONF_DOWN},
    {"FrontendName", CONF_SLURM, CONF_FRONTEND},   {"PowerAction", CONF_SLURM, CONF_POWER},
    {"Name", CONF_GRES, CONF_GRES_LINE},           {"NodeName", CONF_GRES, CONF_GRES_LINE},
    {"SwitchName", CONF_TOPOLOGY, CONF_SWITCH},    {"BlockName", CONF_TOPOLOGY, CONF_SWITCH},
    {"RingName", CONF_TOPOLOGY, CONF_SWITCH},
};

static const char *const section_names[] = {
    [CONF_GLOBAL] = "cluster",      [CONF_NODE] = "node",      [CONF_NODESET] = "node set",
    [CONF_PARTITION] = "partition", [CONF_DOWN] = "down node", [CONF_FRONTEND] = "front end",
    [CONF_POWER] = "power action",  [CONF_GRES_LINE] = "gres", [CONF_SWITCH] = "topology unit",
};
_Static_assert(ARRAY_LEN(section_names) == CONF_N_SECTIONS, "a section has no name");

static const char *const kind_names[] = {
    [CONF_SLURM] = "slurm.conf",
    [CONF_CGROUP] = "cgroup.conf",
    [CONF_GRES] = "gres.conf",
    [CONF_TOPOLOGY] = "topology.conf",
};
_Static_assert(ARRAY_LEN(kind_names) == CONF_N_KINDS, "a kind of file has no name");

enum conf_section conf_section_of(enum conf_kind kind, struct str key)
{
    for (size_t i = 0; i < ARRAY_LEN(openers); i++)
        if (openers[i].kind == kind && str_eq_nocase(key, str_of(openers[i].key)))
            return openers[i].section;
    return CONF_GLOBAL;
}

const char *conf_section_name(enum conf_section section)
{
    assert(section < CONF_N_SECTIONS);
    return section_names[section];
}

int conf_kind_by_name(const char *path, enum conf_kind *ret_kind)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;

    for (unsigned i = 0; i < CONF_N_KINDS; i++)
        if (streq(base, kind_names[i])) {
            *ret_kind = (enum conf_kind)i;
            return 0;
        }
    return -ENOENT;
}

struct conf *conf_free(struct conf *c)
{
    if (!c)
        return NULL;
    free(c->lines);
    arena_done(&c->arena);
    free(c);
    return NULL;
}

enum conf_kind conf_kind_of(const struct conf *c)
{
    return c->kind;
}

const struct conf_line *conf_lines(const struct conf *c, size_t *ret_n)
{
    *ret_n = c->n;
    return c->lines;
}

const struct conf_pair *conf_line_get(const struct conf_line *line, const char *key)
{
    for (size_t i = line->n; i > 0; i--)
        if (strcasecmp(line->pairs[i - 1].key, key) == 0)
            return &line->pairs[i - 1];
    return NULL;
}

/* Quotes are needed for blanks and for nothing; and so that quotes of the value are not taken. */
static bool needs_quotes(const char *value)
{
    if (!value[0])
        return true;
    for (const char *c = value; *c; c++)
        if (isspace((unsigned char)*c))
            return true;
    return false;
}

void conf_pair_print(const char *key, const char *value, struct buf *out)
{
    bool quotes;

    value = value ? value : "";
    quotes = needs_quotes(value);
    buf_printf(out, "%s=%s", key, quotes ? "\"" : "");
    for (const char *c = value; *c; c++) {
        if (*c == '#' || *c == '\\')
            buf_addc(out, '\\');
        buf_addc(out, *c);
    }
    if (quotes)
        buf_addc(out, '"');
}

void conf_line_print(const struct conf_line *line, struct buf *out)
{
    for (size_t i = 0; i < line->n; i++) {
        if (i > 0)
            buf_addc(out, ' ');
        conf_pair_print(line->pairs[i].key, line->pairs[i].value, out);
    }
}

void conf_print(const struct conf *c, struct buf *out)
{
    for (size_t i = 0; i < c->n; i++) {
        conf_line_print(&c->lines[i], out);
        buf_addc(out, '\n');
    }
}
