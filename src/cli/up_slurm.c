/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Another Slurm for a cluster that runs: `slurmkeeper up --slurm PREFIX`, or `up` where the one in
 * its prefix is another release by now (apt has upgraded it).
 *
 * The prefix is made known to the node, every Controller is annotated with its release, and what
 * follows is the operator's: slurmctld first, then the nodes as they become free.  Here it is
 * waited for.  Until the end the machine's own commands are those of the old Slurm, which the new
 * slurmctld serves; then the cluster's choice is the new one.  Whatever ends the waiting, the
 * upgrade goes on; the same command waits on.
 */
#include <limits.h>

#include "src/api/controller.h"
#include "src/base/alloc.h"
#include "src/cli/trouble.h"
#include "src/cli/up.h"
#include "src/local/host.h"
#include "src/local/slurms.h"
#include "src/slurm/profile.h"

static bool is_other(const struct choices *kept, uint32_t runs, const struct install *i)
{
    return !streq(kept->slurm, i->prefix) || (runs && runs != i->release);
}

int up_slurm_find(struct up *u, const struct choices *kept, const char *named, struct err *e)
{
    struct install_wish wish = {.named = named, .kept = kept->slurm};
    AUTO(install_done) struct install found = {0};
    AUTO(free) char *program = realpath("/proc/self/exe", NULL);
    uint32_t runs = 0;
    int r;

    if (!kept->slurm || !layout_has_pods(&u->layout))
        return 0;
    r = install_find(&wish, &found, e);
    if (kept->release)
        (void)!release_parse(str_of(kept->release), &runs, NULL);
    if (r < 0 || !is_other(kept, runs, &found))
        return r;
    u->next = found;
    found = (struct install){0};
    if (runs)
        r = install_check_step(runs, u->next.release, e);
    if (r == 0 && !kept->no_agent) {
        r = host_find_agent(program, &u->next, e);
        r = MIN(r, 0);
    }
    return r;
}

static int annotate(struct up *u, const struct jsn *controller, struct err *e)
{
    struct jsn *patch = jsn_object(&u->arena);
    struct jsn *annotations = jsn_object(&u->arena);
    char release[RELEASE_TEXT_LEN];
    struct kube_request r = {.verb = KUBE_PATCH_MERGE,
                             .resource = resource_controllers,
                             .namespace = jsn_get_str(controller, "metadata.namespace"),
                             .name = jsn_get_str(controller, "metadata.name"),
                             .body = patch};

    release_text(u->next.release, release);
    jsn_set_member(&u->arena, annotations, STR(API_RELEASE_ANNOTATION),
                   jsn_string(&u->arena, release));
    jsn_set_path(&u->arena, patch, "metadata.annotations", annotations);
    return ask_call(u->ask, &r, &u->arena, NULL, e);
}

int up_slurm_declare(struct up *u, struct err *e)
{
    struct jsn *items;
    int r = slurms_note(u->layout.state, &u->next, e);

    if (r == 0)
        r = ask_list(u->ask, &u->arena, &resource_controllers, NULL, &items, e);
    if (r < 0)
        return r;
    JSN_FOR_ITEMS (c, items)
        if (r == 0 && !jsn_get_bool(c, "spec.external", false))
            r = annotate(u, c, e);
    return r;
}

/* The condition of a Controller that speaks of this release; NULL: it does not yet. */
static const struct jsn *condition_of(const struct jsn *controller, const char *release)
{
    JSN_FOR_ITEMS (c, jsn_get(controller, "status.conditions")) {
        const char *message = jsn_get_str(c, "message");

        if (streq(jsn_get_str(c, "type"), "SlurmRelease") && message && strstr(message, release))
            return c;
    }
    return NULL;
}

int up_slurm_look(struct up *u, bool *ret_done, const char **ret_note, struct err *e)
{
    char release[RELEASE_TEXT_LEN];
    struct jsn *items;
    int r = ask_list(u->ask, &u->arena, &resource_controllers, NULL, &items, e);

    if (r < 0)
        return r;
    *ret_done = true;
    release_text(u->next.release, release);
    JSN_FOR_ITEMS (o, items) {
        const struct jsn *c = condition_of(o, release);
        const char *reason = c ? jsn_get_str(c, "reason") : NULL;

        if (jsn_get_bool(o, "spec.external", false))
            continue;
        if (streq(reason, "StepNotAllowed") || streq(reason, "ConfigNotReady"))
            return err_set(e, -EINVAL, ERR_PERMANENT, "Controller %s/%s: %s",
                           jsn_get_str(o, "metadata.namespace"), jsn_get_str(o, "metadata.name"),
                           jsn_get_str(c, "message"));
        if (streq(reason, "Current"))
            continue;
        *ret_done = false;
        *ret_note = c ? jsn_get_str(c, "message") : "slurmctld is to be told";
    }
    return 0;
}

/* From now on the machine's commands are the new ones, and so is what is started without a word of
 * its release. */
int up_slurm_keep(struct up *u, struct err *e)
{
    AUTO(choices_done) struct choices kept = {0};
    char release[RELEASE_TEXT_LEN];
    int r = choices_read(&u->layout, &kept, e);

    if (r < 0)
        return r;
    release_text(u->next.release, release);
    free(kept.slurm);
    free(kept.release);
    kept.slurm = xstrdup(u->next.prefix);
    kept.release = xstrdup(release);
    r = choices_write(&u->layout, &kept, e);
    return r < 0 ? r : layout_put_slurm(&u->layout, u->next.prefix, e);
}
