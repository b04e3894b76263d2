/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What slurmctld's saved state, its keys and its pod hang on (src/slurm/owned.c).
 *
 * slurmctld ends at once when it is started under another ClusterName than its state has, or on a
 * machine that no SlurmctldHost names; with another StateSaveLocation it has lost its jobs.  No
 * rehearsal can show that: it has a state and an address of its own.  The operator never declares
 * such a change, but a ConfigMap that slurm.conf includes is in the mount before anybody has judged
 * it.
 */
#include "src/agent/bound.h"

#include <strings.h>

#include "src/slurm/owned.h"

/* The line that counts: the last one. */
static const struct conf_line *line_of(const struct candidate *c, const char *key)
{
    const struct conf_line *found = NULL;
    size_t n;
    const struct conf_line *lines = conf_lines(c->conf[CONF_SLURM], &n);

    for (size_t i = 0; i < n; i++)
        if (lines[i].section == CONF_GLOBAL && strcasecmp(lines[i].pairs[0].key, key) == 0)
            found = &lines[i];
    return found;
}

/* slurmctld takes "localhost" for its own name everywhere. */
static bool names_host(const struct candidate *c, const char *host)
{
    size_t n;
    const struct conf_line *lines = conf_lines(c->conf[CONF_SLURM], &n);

    for (size_t i = 0; i < n; i++) {
        const struct conf_pair *p = &lines[i].pairs[0];

        struct str name = {p->value, strcspn(p->value, "(")};

        if (lines[i].section == CONF_GLOBAL && strcasecmp(p->key, "SlurmctldHost") == 0 &&
            (str_eq(name, str_of(host)) || str_eq(name, STR("localhost"))))
            return true;
    }
    return false;
}

/* The value as far as it is bound; NULL if it is not set. */
static const char *bound_part(const struct candidate *c, const struct owned_key *o,
                              struct buf *room)
{
    const char *value = model_setting(candidate_model(c), o->key);
    struct str rest = str_of(value);
    struct str item;

    if (!value || !o->item)
        return value;
    while (str_split(&rest, ',', &item))
        if (item.n >= strlen(o->item) &&
            str_eq_nocase((struct str){item.p, strlen(o->item)}, str_of(o->item))) {
            buf_addstr(room, item);
            return buf_str(room);
        }
    return NULL;
}

static void check_setting(const struct candidate *from, const struct candidate *to,
                          const struct owned_key *o, struct faults *faults)
{
    const char *key = o->key;
    AUTO(buf_done) struct buf old = {0};
    AUTO(buf_done) struct buf new = {0};
    const char *was = bound_part(from, o, &old);
    const char *now = bound_part(to, o, &new);
    const struct conf_line *line = line_of(to, key);

    /* Slurm takes the name of a cluster in lower case */
    if (was == now || streq(was, now) ||
        (streq(key, "ClusterName") && was && now && strcasecmp(was, now) == 0))
        return;
    if (line)
        faults_add(faults, FAULT_FATAL, line->file, line->line, key,
                   "%s is %s and cannot be changed: %s; remove the line", key,
                   was ? was : "not set", o->why);
    else
        faults_add(faults, FAULT_FATAL, NULL, 0, key, "%s is %s and cannot become %s: %s", key,
                   was ? was : "not set", now ? now : "not set", o->why);
}

void bound_check(const struct candidate *from, const struct candidate *to, const char *host,
                 struct faults *faults)
{
    for (const struct owned_key *o = owned_keys; o->key; o++)
        if (o->why)
            check_setting(from, to, o, faults);
    if (names_host(from, host) && !names_host(to, host))
        faults_add(faults, FAULT_FATAL, NULL, 0, "SlurmctldHost",
                   "no SlurmctldHost line names %s, where slurmctld runs", host);
}
