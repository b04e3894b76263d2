/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keys that hold lists of options, of which some are needed: AuthAltParameters, AuthInfo,
 * LaunchParameters (where nodes have sssd), PrologFlags (where a NodeSet has ssh) and
 * SlurmctldParameters.
 *
 * Slurm takes the last line with a key.  Where extraConf sets one of them, a line after it holds
 * the options of both, sorted; an option that is needed cannot be set to something else.  Options
 * keep their case, since some are paths.
 */
#include <strings.h>

#include "src/build/config_impl.h"
#include "src/slurm/keyfiles.h"

#define MAX_OPTIONS 64
#define JWT_KEY "jwt_key=" SLURM_ETC "/" KEYFILE_JWT

/* Who logs in to a node finds himself in his job, for which the job needs a place there from its
 * beginning.  Slurm refuses that without control groups. */
static bool wants_contain(const struct config_work *w)
{
    for (size_t i = 0; i < w->c->n_nodesets; i++)
        if (w->c->nodesets[i]->spec.ssh && w->c->nodesets[i]->spec.ssh->enabled)
            return w->c->env->cgroup != BUILD_CGROUP_NONE;
    return false;
}

/*
 * Where nodes have users from sssd, slurmctld does not know them: it would not find the groups that
 * it sends along with a job, and hold the job for ever.  Nodes look them up by themselves then.
 * With auth/slurm whoever submits the job tells his groups.
 */
static bool has_directory(const struct config_work *w)
{
    for (size_t i = 0; i < w->c->n_nodesets; i++)
        if (build_has_directory(w->c, w->c->nodesets[i]))
            return build_uses_munge(w->c);
    return false;
}

const char *config_managed_value(const struct config_work *w, const char *key)
{
    if (streq(key, "AuthAltParameters"))
        return w->c->controller->spec.jwks_key_ref ? JWT_KEY ",jwks=" SLURM_ETC "/" KEYFILE_JWT_SET
                                                   : JWT_KEY;
    if (streq(key, "AuthInfo"))
        return build_uses_munge(w->c) ? "" : "use_client_ids";
    if (streq(key, "LaunchParameters"))
        return has_directory(w) ? "disable_send_gids" : "";
    if (streq(key, "PrologFlags"))
        return wants_contain(w) ? "contain" : "";
    return build_has(w->c, PROFILE_RECONFIG_ON_RESTART) ? "enable_configless,reconfig_on_restart"
                                                        : "enable_configless";
}

struct options {
    struct str items[MAX_OPTIONS];
    size_t n;
};

static struct str option_key(struct str option)
{
    return (struct str){option.p, str_find(option, '=')};
}

static void add_options(struct options *o, const char *value)
{
    struct str rest = str_of(value);
    struct str item;

    while (str_split(&rest, ',', &item)) {
        bool known = false;

        item = str_trim(item);
        for (size_t i = 0; i < o->n; i++)
            known = known || str_eq_nocase(option_key(o->items[i]), option_key(item));
        if (item.n && !known && o->n < MAX_OPTIONS)
            o->items[o->n++] = item;
    }
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* The value that extraConf sets last, or NULL. */
static const char *extra_value(const struct config_work *w, const char *key)
{
    const char *value = NULL;
    size_t n = 0;
    const struct conf_line *lines = conf_lines(w->extra, &n);

    for (size_t i = 0; i < n; i++)
        if (lines[i].section == CONF_GLOBAL && strcasecmp(lines[i].pairs[0].key, key) == 0)
            value = lines[i].pairs[0].value;
    return value;
}

static void add_key(struct config_work *w, struct conf_text *t, const char *key, bool *first)
{
    const char *ours = config_managed_value(w, key);
    const char *theirs = extra_value(w, key);
    AUTO(buf_done) struct buf line = {0};
    struct options o = {0};

    if (!theirs || !ours[0])
        return;
    add_options(&o, ours);
    add_options(&o, theirs);
    qsort(o.items, o.n, sizeof(o.items[0]), by_text);
    for (size_t i = 0; i < o.n; i++) {
        if (i)
            buf_addc(&line, ',');
        buf_addstr(&line, o.items[i]);
    }
    if (*first)
        conf_text_header(t, "MERGED CONFIG");
    *first = false;
    conf_text_line(t, "%s=%s", key, buf_str(&line));
}

void config_add_merged(struct config_work *w, struct conf_text *t)
{
    static const char *const keys[] = {"AuthAltParameters", "AuthInfo", "LaunchParameters",
                                       "PrologFlags", "SlurmctldParameters"};
    bool first = true;

    for (size_t i = 0; w->extra && i < ARRAY_LEN(keys); i++)
        add_key(w, t, keys[i], &first);
}
