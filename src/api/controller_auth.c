/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Authentication, as a Controller declares it.
 *
 * A release that has auth/slurm takes munge, too.  Which of the two is said in Slurm's own words,
 * AuthType in extraConf; CredType follows from it.  Keys come from the Secret of slurmKeyRef: one
 * key, or, where the key's name ends with .jwks, a set of them for rotation.
 */
#include <strings.h>

#include "src/api/controller.h"
#include "src/slurm/conf.h"

static int no_file(void *ctx, const char *path, struct str *ret_text, struct err *e)
{
    (void)ctx;
    (void)path;
    (void)e;
    *ret_text = STR("");
    return 0;
}

static enum controller_auth by_name(const char *type)
{
    if (strcasecmp(type, "auth/munge") == 0)
        return CONTROLLER_AUTH_MUNGE;
    return strcasecmp(type, "auth/slurm") == 0 ? CONTROLLER_AUTH_SLURM : CONTROLLER_AUTH_DEFAULT;
}

/* Asked for each pod: a text that cannot say it is not parsed. */
enum controller_auth controller_auth(const struct controller *c)
{
    AUTO(faults_done) struct faults faults = {0};
    AUTO(conf_free) struct conf *conf = NULL;
    struct conf_input in = {.kind = CONF_SLURM, .name = "extraConf", .lookup = no_file};
    enum controller_auth auth = CONTROLLER_AUTH_DEFAULT;
    const struct conf_line *lines;
    size_t n;

    if (!c->spec.extra_conf || !strcasestr(c->spec.extra_conf, "AuthType"))
        return CONTROLLER_AUTH_DEFAULT;
    in.text = str_of(c->spec.extra_conf);
    if (conf_parse(&in, &faults, &conf, NULL) < 0)
        return CONTROLLER_AUTH_DEFAULT;
    lines = conf_lines(conf, &n);
    for (size_t i = 0; i < n; i++)
        if (lines[i].section == CONF_GLOBAL && strcasecmp(lines[i].pairs[0].key, "AuthType") == 0)
            auth = by_name(lines[i].pairs[0].value);
    return auth;
}

bool controller_has_key_set(const struct controller *c)
{
    const struct api_key_ref *ref = c->spec.slurm_key_ref;

    return ref && ref->name && ref->name[0] && ref->key && ends_with(ref->key, ".jwks");
}
