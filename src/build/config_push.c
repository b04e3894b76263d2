/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the agent beside slurmctld is handed: the files, as the pod's volume shows them a while
 * later.  Both must be the same set, or the agent would take the one for news of the other.  Keys
 * stay out of it; they come by the volume alone.
 */
#include "src/build/config_files.h"
#include "src/build/controller_config.h"
#include "src/build/labels.h"
#include "src/slurm/keyfiles.h"

#define SCRIPT_MODE 0755

bool build_reverts_drift(const struct build_cluster *c)
{
    return streq(api_annotation(&c->controller->meta, ANNOTATION_DRIFT_POLICY), "Revert");
}

static bool add_user_files(struct arena *a, const struct build_cluster *c, struct jsn *files,
                           struct jsn *modes)
{
    struct api_problems ignored = {.arena = a}; /* told when the configuration was made */
    struct user_files list;

    user_files_read(a, c, &list, &ignored);
    for (size_t i = 0; i < list.n; i++) {
        const struct user_file *f = &list.items[i];

        if (keyfile_is_secret(f->name))
            continue;
        if (!str_utf8_ok(f->text))
            return false;
        jsn_set(a, files, f->name, jsn_str(a, f->text));
        if (f->option)
            jsn_set_int(a, modes, f->name, SCRIPT_MODE);
    }
    return true;
}

struct jsn *build_config_push(struct arena *a, const struct build_cluster *c,
                              const struct build_config *config)
{
    struct jsn *body = jsn_object(a);
    struct jsn *files = jsn_ensure_object(a, body, "files");
    struct jsn *modes = jsn_ensure_object(a, body, "modes");

    for (size_t i = 0; i < config->n; i++)
        jsn_set_str(a, files, config->files[i].name, config->files[i].text);
    if (!add_user_files(a, c, files, modes))
        return NULL;
    jsn_set_str(a, body, "driftPolicy", build_reverts_drift(c) ? "Revert" : "Report");
    if (!c->controller->spec.inplace_reconfigure)
        jsn_set_bool(a, body, "inPlace", false);
    jsn_set_str(a, body, "declared", config->hash);
    return body;
}
