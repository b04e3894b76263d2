/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Slurm settings inside of a NodeSet: node parameters for slurmd --conf.  Those of its
 * partition are checked where all partitions are (partition_conf.c).
 *
 * Which keys there are depends on the Slurm release.  Where that is not known yet (release 0), a
 * text is fine if any known release takes it; the error is then the newest one's.
 */
#include <strings.h>

#include "src/api/nodeset.h"
#include "src/slurm/keys.h"
#include "src/slurm/profile.h"

static int check_pair(const struct conf_pair *pair, uint32_t release, struct err *e)
{
    static const char *const ours[] = {"NodeName", "NodeHostname", "NodeAddr", "Port"};
    const struct conf_key *key = keys_find(CONF_SLURM, CONF_NODE, str_of(pair->key));
    struct err why = {0};

    if (!key)
        return err_bad(e, "unknown key %s", pair->key);
    for (size_t i = 0; i < ARRAY_LEN(ours); i++)
        if (strcasecmp(key->name, ours[i]) == 0)
            return err_bad(e, "%s is set by the operator", key->name);
    if (!keys_in_release(key, release)) {
        AUTO(buf_done) struct buf needs = {0};

        release_needs(key->name, key->since, release, &needs);
        return err_bad(e, "%s", buf_str(&needs));
    }
    if (value_check(key->type, release, str_of(pair->value), &why) == -EINVAL)
        return err_bad(e, "%s: '%.200s' %s", key->name, pair->value, why.text);
    return 0;
}

/* One line, whatever white space stands between the pairs. */
static void join_line(struct str text, struct buf *out)
{
    for (size_t i = 0; i < text.n; i++)
        buf_addc(out, strchr("\n\r\t", text.p[i]) ? ' ' : text.p[i]);
}

static int check_for_release(const struct conf *conf, uint32_t release, struct err *e)
{
    size_t n;
    const struct conf_line *lines = conf_lines(conf, &n);

    for (size_t i = 1; n > 0 && i < lines[0].n; i++) {
        int r = check_pair(&lines[0].pairs[i], release, e);

        if (r < 0)
            return r;
    }
    return 0;
}

/* Slurm's parser passes over words without '=' in some places; here they are never meant. */
static int check_words(struct str text, struct err *e)
{
    struct str word;

    while (str_split(&text, ' ', &word)) {
        struct str value;

        if (word.n == 0)
            continue;
        if (str_find(word, '=') == word.n || word.p[0] == '=')
            return err_bad(e, "'" STR_FMT "' is not of the form Key=Value", STR_ARG(word));
        value = (struct str){word.p + str_find(word, '=') + 1, word.n - str_find(word, '=') - 1};
        if (value.n && (value.p[0] == '"' || value.p[0] == '\'') &&
            (value.n == 1 || value.p[value.n - 1] != value.p[0]))
            while (str_split(&text, ' ', &word) &&
                   (word.n == 0 || word.p[word.n - 1] != value.p[0]))
                ;
    }
    return 0;
}

int nodeset_conf_check(struct str text, uint32_t release, struct err *e)
{
    AUTO(faults_done) struct faults faults = {0};
    AUTO(conf_free) struct conf *conf = NULL;
    AUTO(buf_done) struct buf line = {0};
    struct conf_input in = {.kind = CONF_SLURM, .name = "extraConf"};
    struct err newest = {0};
    int r;

    buf_adds(&line, "NodeName=x ");
    join_line(text, &line);
    r = check_words((struct str){buf_str(&line) + 11, line.n - 11}, e);
    if (r < 0)
        return r;
    in.text = buf_view(&line);
    r = conf_parse(&in, &faults, &conf, e);
    if (r < 0)
        return r;
    if (faults.fatal)
        return err_bad(e, "%s", faults.n ? faults.list[0].text : "cannot be read");
    if (release)
        return check_for_release(conf, release, e);
    for (const uint32_t *series = profile_series; *series; series++) {
        r = check_for_release(conf, *series, series == profile_series ? &newest : NULL);
        if (r == 0)
            return 0;
    }
    return err_bad(e, "%s", newest.text);
}
