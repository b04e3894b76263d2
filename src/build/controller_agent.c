/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmkeeper-agent in slurmctld's pod.
 *
 * Two containers.  `config-seed` runs first and fills the live files (/etc/slurm) if there are
 * none, with what slurmctld last served with (/mnt/state) or else with what is declared
 * (/mnt/slurm). `reconfigure` then looks after them for as long as the pod lives: it takes
 * configurations from the operator on port 6821 and from the mounted files, and is the only one
 * that writes to /etc/slurm.  A file beside slurmctld's socket (/run/slurmctld) asks its start
 * script for a restart.
 *
 * It has the name and the settings of the sidecar that it takes the place of, but for the image:
 * spec.reconfigure.image is a Slurm's, which Slinky's chart always sets, and has no agent in it.
 */
#include "src/build/controller_agent.h"

#include "src/build/labels.h"
#include "src/build/merge.h"

#define KEY_MODE 0400

/* In memory: a pod that loses it loses its containers, too, and is seeded again; and what is
 * written before each change is not worth a disk's time. */
struct jsn *agent_live_volume(struct arena *a, const struct build_cluster *c)
{
    if (!build_has_agent(c))
        return NULL;
    return build_tree(a, "{'name':'" AGENT_LIVE_VOLUME "','emptyDir':{'medium':'Memory'}}", NULL);
}

struct jsn *agent_key_volume(struct arena *a, const struct build_cluster *c)
{
    if (!build_has_agent(c))
        return NULL;
    return build_tree(a,
                      "{'name':'agent-keys','secret':{'secretName':'$name','defaultMode':'$mode'}}",
                      SLOTS({"name", jsn_string(a, labels_agent(a, c->controller->meta.name))},
                            {"mode", jsn_int(a, KEY_MODE)}));
}

static const char *agent_image(struct arena *a, const struct build_cluster *c)
{
    const char *own = api_annotation(&c->controller->meta, API_AGENT_IMAGE_ANNOTATION);

    return own && own[0] ? own : build_default_image(a, c, "agent");
}

/* What the user wants of the container, without the image. */
static struct jsn *settings(struct arena *a, const struct build_cluster *c)
{
    const struct jsn *user = c->controller->spec.reconfigure;
    struct jsn *copy = user ? jsn_clone(a, user) : NULL;

    jsn_del(copy, "image");
    return copy;
}

struct jsn *agent_container(struct arena *a, const struct build_cluster *c, const struct jsn *munge,
                            struct api_problems *p)
{
    struct jsn *base = build_tree(
        a,
        "{'name':'reconfigure','image':'$image','command':['slurmkeeper-agent','run'],"
        "'ports':[{'name':'agent','containerPort':'$port','protocol':'TCP'}],'resources':{},"
        "'restartPolicy':'$restart',"
        "'volumeMounts':[{'name':'slurm-etc','mountPath':'/mnt/slurm','readOnly':true},"
        "{'name':'" AGENT_LIVE_VOLUME "','mountPath':'/etc/slurm'},"
        "{'name':'agent-keys','mountPath':'/etc/slurmkeeper-agent','readOnly':true},"
        "{'name':'statesave','mountPath':'/mnt/state'},"
        "{'name':'slurm-authsocket','mountPath':'/run/slurmctld'},'$munge']}",
        SLOTS({"image", jsn_string(a, agent_image(a, c))}, {"port", jsn_int(a, AGENT_PORT)},
              {"restart", c->env->no_sidecars ? NULL : jsn_string(a, "Always")}, {"munge", munge}));

    return merge_container(a, base, settings(a, c), "spec.reconfigure", p);
}

struct jsn *agent_init_containers(struct arena *a, const struct build_cluster *c)
{
    struct api_problems ignored = {.arena = a}; /* told of the other container */
    struct jsn *agent = agent_container(a, c, NULL, &ignored);

    return build_tree(
        a,
        "[{'name':'config-seed','image':'$image','imagePullPolicy':'$pull',"
        "'command':['slurmkeeper-agent','seed'],'resources':{},"
        "'volumeMounts':[{'name':'slurm-etc','mountPath':'/mnt/slurm','readOnly':true},"
        "{'name':'statesave','mountPath':'/mnt/state'},"
        "{'name':'" AGENT_LIVE_VOLUME "','mountPath':'/etc/slurm'}]}]",
        SLOTS({"image", jsn_string(a, jsn_get_str(agent, "image"))},
              {"pull", jsn_get(agent, "imagePullPolicy")}));
}
