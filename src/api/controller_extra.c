/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Settings of slurm.conf that shape more than slurm.conf, as a Controller's extraConf declares
 * them.
 *
 * They are asked for with every pod that is made, so a text that cannot hold the key is not parsed.
 * Included files do not count: what pods are made of must be known from the object alone.
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

const char *controller_extra(struct arena *a, const struct controller *c, const char *key)
{
    AUTO(faults_done) struct faults faults = {0};
    AUTO(conf_free) struct conf *conf = NULL;
    struct conf_input in = {.kind = CONF_SLURM, .name = "extraConf", .lookup = no_file};
    const struct conf_line *lines;
    const char *value = NULL;
    size_t n;

    if (!c->spec.extra_conf || !strcasestr(c->spec.extra_conf, key))
        return NULL;
    in.text = str_of(c->spec.extra_conf);
    if (conf_parse(&in, &faults, &conf, NULL) < 0)
        return NULL;
    lines = conf_lines(conf, &n);
    for (size_t i = 0; i < n; i++)
        if (lines[i].section == CONF_GLOBAL && strcasecmp(lines[i].pairs[0].key, key) == 0)
            value = lines[i].pairs[0].value;
    return value ? arena_strdup(a, value) : NULL;
}

bool controller_disables_http(const struct controller *c)
{
    AUTO(arena_done) struct arena a = {0};
    const char *list = controller_extra(&a, c, "CommunicationParameters");
    const char *parser = controller_extra(&a, c, "HttpParserType");
    struct str rest = str_of(list ? list : "");
    struct str item;

    while (str_split(&rest, ',', &item))
        if (str_eq_nocase(str_trim(item), STR("disable_http")))
            return true;
    return parser && (strcasecmp(parser, "none") == 0 || ends_with(parser, "/none"));
}
