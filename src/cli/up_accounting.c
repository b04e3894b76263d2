/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmkeeper up --accounting: every Controller here reports to a slurmdbd.
 *
 * A Controller that names no Accounting gets one of its own name, with a database of its own.  In
 * manifests this is added before they are applied, so that slurmctld has it from its start; what
 * the API server has already is patched.  What is named already is left as it is.
 */
#include <unistd.h>

#include "src/api/accounting.h"
#include "src/api/kinds.h"
#include "src/base/clock.h"
#include "src/base/which.h"
#include "src/cli/trouble.h"
#include "src/cli/up.h"

#define COMMAND_MS 8000

/* Debian's packages, by a program of each. */
static const struct {
    const char *program;
    const char *package;
} needed[] = {{"slurmdbd", "slurmdbd"}, {"mariadbd", "mariadb-server"}};

int up_accounting_check(const char *slurm_prefix, struct err *e)
{
    for (size_t i = 0; i < ARRAY_LEN(needed); i++) {
        AUTO(buf_done) struct buf path = {0};
        AUTO(free) char *found = NULL;

        buf_printf(&path, "%s/sbin:%s", slurm_prefix, getenv("PATH") ? getenv("PATH") : "");
        found = which_program(needed[i].program, buf_str(&path));
        if (!found)
            return err_set(e, -ENOENT, ERR_PERMANENT,
                           "--accounting needs %s, which is not installed here: install the Debian "
                           "package %s",
                           needed[i].program, needed[i].package);
    }
    return 0;
}

static bool lacks_accounting(const struct jsn *object)
{
    const char *name = jsn_get_str(object, "spec.accountingRef.name");

    return streq(jsn_get_str(object, "kind"), api_kind_controller.kind) &&
           !jsn_get_bool(object, "spec.external", false) && !(name && name[0]);
}

static int apply_accounting(struct up *u, const struct jsn *controller, struct err *e)
{
    struct jsn *object = jsn_object(&u->arena);
    struct jsn *meta = jsn_ensure_object(&u->arena, object, "metadata");
    const char *ns = jsn_get_str(controller, "metadata.namespace");

    jsn_set_str(&u->arena, object, "apiVersion", API_GROUP_VERSION);
    jsn_set_str(&u->arena, object, "kind", api_kind_accounting.kind);
    jsn_set_str(&u->arena, meta, "name", jsn_get_str(controller, "metadata.name"));
    if (ns)
        jsn_set_str(&u->arena, meta, "namespace", ns);
    (void)jsn_ensure_object(&u->arena, object, "spec");
    return ask_apply(u->ask, &u->arena, object, NULL, e);
}

int up_accounting_add(struct up *u, const struct jsn **object, struct err *e)
{
    struct jsn *copy;
    struct jsn *spec;
    int r;

    if (!u->accounting || !lacks_accounting(*object))
        return 0;
    r = apply_accounting(u, *object, e);
    if (r < 0)
        return r;
    copy = jsn_clone(&u->arena, *object);
    spec = jsn_ensure_object(&u->arena, copy, "spec");
    jsn_set_str(&u->arena, jsn_ensure_object(&u->arena, spec, "accountingRef"), "name",
                jsn_get_str(*object, "metadata.name"));
    *object = copy;
    return 0;
}

static int patch_controller(struct up *u, const struct jsn *controller, struct err *e)
{
    struct jsn *patch = jsn_object(&u->arena);
    struct jsn *spec = jsn_ensure_object(&u->arena, patch, "spec");
    const char *name = jsn_get_str(controller, "metadata.name");
    struct kube_request request = {.verb = KUBE_PATCH_MERGE,
                                   .resource = resource_controllers,
                                   .namespace = jsn_get_str(controller, "metadata.namespace"),
                                   .name = name,
                                   .body = patch};

    jsn_set_str(&u->arena, jsn_ensure_object(&u->arena, spec, "accountingRef"), "name", name);
    return ask_call(u->ask, &request, &u->arena, NULL, e);
}

int up_accounting_patch(struct up *u, struct err *e)
{
    struct jsn *items;
    int r = ask_list(u->ask, &u->arena, &resource_controllers, NULL, &items, e);

    JSN_FOR_ITEMS (item, items) {
        jsn_set_str(&u->arena, item, "kind", api_kind_controller.kind);
        if (r < 0 || !lacks_accounting(item))
            continue;
        r = apply_accounting(u, item, e);
        if (r == 0)
            r = patch_controller(u, item, e);
    }
    return r;
}

/* Does slurmdbd know the cluster by where its slurmctld is?  It is told so when slurmctld has
 * registered there. */
static bool is_registered(const struct reach_client *c, struct err *e)
{
    static const char *const argv[] = {"sacctmgr",           "-n", "-P", "show", "cluster",
                                       "format=controlport", NULL};
    AUTO(free) char *text = NULL;

    return reach_command(c, argv, COMMAND_MS, &text, e) == 0 && strstr(text, "6817");
}

/* What is known of those that are not ready, for the note. */
static const char *first_trouble(struct up *u)
{
    static const struct kube_resource what = {API_GROUP, API_VERSION, "accountings"};
    struct jsn *items = NULL;

    if (ask_list(u->ask, &u->arena, &what, NULL, &items, NULL) < 0)
        return "";
    JSN_FOR_ITEMS (item, items)
        JSN_FOR_ITEMS (c, jsn_get(item, "status.conditions"))
            if (streq(jsn_get_str(c, "type"), "Ready") && !streq(jsn_get_str(c, "status"), "True"))
                return jsn_get_str(c, "message");
    return "slurmctld has not registered there yet";
}

int up_wait_accounting(struct up *u, struct err *e)
{
    const char *why;

    do {
        AUTO(reach_clients_done) struct reach_clients clients = {0};
        size_t n = 0;

        reach_list(&u->layout, &clients);
        for (size_t i = 0; i < clients.n; i++)
            n += is_registered(&clients.items[i], NULL);
        if (clients.n && n == clients.n)
            return 0;
        why = first_trouble(u);
        steps_note(&u->steps, "%s", why);
        (void)usleep(200000);
    } while (clock_mono_ms() < u->deadline_ms);
    return err_set(e, -ETIMEDOUT, ERR_RETRY, "accounting does not work: %s", why);
}
