/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ConfigMaps that carry configuration: <name>-config for slurmctld (nodes ask slurmctld for
 * theirs), and, where Slurm cannot hand out scripts (before 24.05), <name>-prolog and <name>-epilog
 * for the nodes.
 */
#include "src/build/config_files.h"
#include "src/build/controller_config.h"
#include "src/build/labels.h"

static struct jsn *make_map(struct arena *a, const struct build_cluster *c, const char *name,
                            const struct jsn *data)
{
    const struct api_meta *m = &c->controller->meta;
    struct jsn *meta =
        labels_meta(a, name, api_namespace(m), labels_all(a, APP_CONTROLLER, m->name), NULL,
                    labels_owner(a, "Controller", m, true));

    return build_tree(a, "{'apiVersion':'v1','kind':'ConfigMap','metadata':'$meta','data':'$data'}",
                      SLOTS({"meta", meta}, {"data", data}));
}

struct jsn *build_config_map(struct arena *a, const struct build_cluster *c,
                             const struct build_config *config)
{
    struct jsn *data = jsn_object(a);

    for (size_t i = 0; i < config->n; i++)
        jsn_set_str(a, data, config->files[i].name, config->files[i].text);
    return make_map(a, c, labels_config(a, c->controller->meta.name), data);
}

const char *build_script_map_name(struct arena *a, const struct build_cluster *c,
                                  const char *option)
{
    return arena_printf(a, "%s-%s", c->controller->meta.name,
                        streq(option, "Prolog") ? "prolog" : "epilog");
}

/* Files come and go before slurmd knows of it, and a job whose prolog is nowhere fails and takes
 * its node out of service: so there is always a script, if only one that does nothing. */
#define NO_SCRIPT "00-nothing"

struct jsn *build_script_map(struct arena *a, const struct build_cluster *c, const char *option)
{
    struct api_problems ignored = {.arena = a};
    struct jsn *data = jsn_object(a);
    struct user_files files;

    if (build_has(c, PROFILE_PROLOG_REPEATS))
        return NULL;
    user_files_read(a, c, &files, &ignored);
    for (size_t i = 0; i < files.n; i++)
        if (streq(files.items[i].option, option))
            jsn_set(a, data, files.items[i].name, jsn_str(a, files.items[i].text));
    if (jsn_len(data) == 0)
        jsn_set_str(a, data, NO_SCRIPT, "#!/bin/sh\n");
    return make_map(a, c, build_script_map_name(a, c, option), data);
}
