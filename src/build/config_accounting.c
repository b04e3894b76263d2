/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where slurm.conf finds slurmdbd.
 *
 * An Accounting that is referred to and does not answer yet is not configured: slurmctld would hang
 * for the slurmdbd that it was told to use, or not start.  The lines come when slurmdbd has
 * answered for the first time.  From then on they stay, whether it answers or not, and also when
 * the Accounting is gone: slurmctld goes on without slurmdbd for a while and keeps what it has to
 * tell, while a configuration without accounting would lift every limit that accounting sets.
 *
 * How jobs are measured is said from the start: steps that run keep the old way of it.
 */
#include "src/build/config_impl.h"
#include "src/build/labels.h"

/* The value of a key in the slurm.conf that was written last, or NULL.  In `a`. */
static const char *last_value(struct arena *a, const struct build_cluster *c, const char *key)
{
    const struct controller *ctl = c->controller;
    const struct jsn *map = NULL;
    struct str rest;
    struct str line;

    if (api_lookup_get(c->lookup, "ConfigMap", api_namespace(&ctl->meta),
                       labels_config(a, ctl->meta.name), &map) != API_PRESENT)
        return NULL;
    rest = str_of(jsn_text(jsn_key(jsn_key(map, "data"), "slurm.conf"))
                      ? jsn_text(jsn_key(jsn_key(map, "data"), "slurm.conf"))
                      : "");
    while (str_split(&rest, '\n', &line)) {
        size_t n = strlen(key);

        if (line.n > n && memcmp(line.p, key, n) == 0 && line.p[n] == '=')
            return arena_str(a, str_trim((struct str){line.p + n + 1, line.n - n - 1}));
    }
    return NULL;
}

/* Has the slurmdbd that is declared ever answered?  Of an Accounting out of a file it is assumed.
 */
static bool has_answered(struct arena *a, const struct build_cluster *c)
{
    return !c->accounting->meta.uid || accounting_answers(c->accounting) ||
           streq(last_value(a, c, "AccountingStorageHost"), accounting_host(a, c->accounting));
}

bool config_accounting_find(struct arena *a, const struct build_cluster *c,
                            struct config_accounting *ret)
{
    const struct api_ref *ref = c->controller->spec.accounting_ref;
    const char *port;
    int64_t v;

    *ret = (struct config_accounting){0};
    if (ref && c->accounting && has_answered(a, c)) {
        ret->host = accounting_host(a, c->accounting);
        ret->port = accounting_port(c->accounting);
    } else if (ref) {
        ret->host = last_value(a, c, "AccountingStorageHost");
        port = last_value(a, c, "AccountingStoragePort");
        ret->port = port && str_to_i64(str_of(port), &v) == 0 ? (int32_t)v : ACCOUNTING_PORT;
    }
    return ret->host != NULL;
}

static void add_gather(struct config_work *w, struct conf_text *t)
{
    if (w->c->controller->spec.accounting_ref && !w->c->controller->spec.external &&
        !controller_extra(w->a, w->c->controller, "JobAcctGatherType"))
        conf_text_line(t, "JobAcctGatherType=jobacct_gather/linux");
}

static void tell_absence(struct config_work *w, bool kept)
{
    const struct controller *ctl = w->c->controller;

    api_problem_add(w->p, API_WARNING, "spec.accountingRef.name",
                    "there is no Accounting %s in namespace %s; %s until it is there",
                    ctl->spec.accounting_ref->name, api_namespace(&ctl->meta),
                    kept ? "slurmctld goes on with the slurmdbd that it was told of"
                         : "slurmctld runs without accounting");
}

void config_add_accounting(struct config_work *w, struct conf_text *t)
{
    struct config_accounting at;
    bool found = config_accounting_find(w->a, w->c, &at);

    conf_text_header(t, "ACCOUNTING");
    if (w->c->controller->spec.accounting_ref && !w->c->accounting)
        tell_absence(w, found);
    add_gather(w, t);
    if (!found) {
        conf_text_line(t, "AccountingStorageType=accounting_storage/none");
        return;
    }
    conf_text_line(t, "AccountingStorageType=accounting_storage/slurmdbd");
    conf_text_line(t, "AccountingStorageHost=%s", at.host);
    conf_text_line(t, "AccountingStoragePort=%d", at.port);
}
