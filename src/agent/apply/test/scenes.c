/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scenes: one change each, from a slurmctld that serves three partitions.
 *
 * Each takes the machine another way: calls alone; a partition that leaves and one that has to stay
 * for its job; a reconfigure; a restart; a partition that leaves together with its nodes; one that
 * is refused while the others are taken.
 */
#include "src/agent/apply/test/scenes.h"

#include <stdio.h>

#include "src/base/alloc.h"

#define OLD "PartitionName=old Nodes=n4\n"
#define FROM STAGE_ALL "PartitionName=debug Nodes=n[1-3]\n" OLD
#define CHANGED                                                                                    \
    "PartitionName=all Nodes=ALL Default=YES MaxTime=60\n"                                         \
    "PartitionName=debug Nodes=n[1-3] State=DRAIN\nPartitionName=new Nodes=n5 MaxTime=5\n"
#define SETTING "SchedulerParameters=bf_interval=43\n"
#define HEAVY "MaxNodeCount=1500\n"

/* debug, and one that is new, have a QOS that is not there; others change beside them. */
#define REFUSED_DEBUG "PartitionName=debug Nodes=n[1-3] State=DRAIN QOS=nope\n"
#define REFUSED_NEW "PartitionName=worse Nodes=n6 QOS=nope\n"
#define BESIDE "PartitionName=all Nodes=ALL Default=YES MaxTime=60\n"
#define AWAY "# slurmctld refuses it: "
#define FORMER                                                                                     \
    "# slurmctld refuses these as declared: they are as they were before.\n"                       \
    "PartitionName=debug Nodes=n[1-3] DisableRootJobs=NO\n"

const struct scene scenes[] = {
    {"a comment", FROM, "# nothing\n" FROM, .files = true},
    {"an edit", FROM, STAGE_ALL "PartitionName=debug Nodes=n[1-4] MaxTime=9\n" OLD},
    {"an edit that only the parser can judge", FROM,
     STAGE_ALL "PartitionName=debug Nodes=n[1-3] MaxTime=1-0\n" OLD},
    {"a new partition", FROM, FROM "PartitionName=more Nodes=n9\n"},
    {"calls", FROM, STAGE_HEAD CHANGED},
    {"calls, and a job in what leaves", FROM, STAGE_HEAD CHANGED, .job = true},
    {"only a partition that leaves", FROM, STAGE_ALL "PartitionName=debug Nodes=n[1-3]\n"},
    {"one more node set", FROM, FROM "NodeSet=gpu Feature=gpu\nPartitionName=gpu Nodes=gpu\n"},
    {"a reconfigure", FROM, SETTING STAGE_HEAD CHANGED},
    {"a reconfigure, and a job in what leaves", FROM, SETTING STAGE_HEAD CHANGED, .job = true},
    {"a restart", FROM, HEAVY STAGE_HEAD CHANGED},
    {"a restart, and a job in what leaves", FROM, HEAVY STAGE_HEAD CHANGED, .job = true},
    {"nodes go with their partition",
     "ClusterName=c\nSlurmctldHost=h\nNodeName=n[1-8] State=CLOUD\nNodeName=n9 State=CLOUD\n"
     "PartitionName=all Nodes=n[1-8] Default=YES\nPartitionName=old Nodes=n9\n",
     "ClusterName=c\nSlurmctldHost=h\nNodeName=n[1-8] State=CLOUD\n"
     "PartitionName=all Nodes=n[1-8] Default=YES MaxTime=60\n"},
    {"two partitions are refused", FROM, STAGE_HEAD BESIDE REFUSED_DEBUG REFUSED_NEW,
     .no_qos = "nope", .lands = FORMER STAGE_HEAD BESIDE AWAY REFUSED_DEBUG AWAY REFUSED_NEW},
};
const size_t n_scenes = ARRAY_LEN(scenes);

struct stage *scene_prepare(const struct scene *c)
{
    struct stage *s = stage_new(c->from);

    if (c->job)
        ctld_job_add(s->ctld, 7, "old", "n4");
    if (c->no_qos)
        (void)snprintf(s->ctld->no_qos, sizeof(s->ctld->no_qos), "%s", c->no_qos);
    return s;
}

struct stage *scene_set(const struct scene *c)
{
    struct stage *s = scene_prepare(c);

    stage_agent_start(s);
    stage_run(s, 5000);
    script_forget(s->script);
    return s;
}

void scene_play_out(struct stage *s, const struct scene *c)
{
    stage_run(s, 60000);
    if (c->job)
        ctld_job_end(s->ctld, 7);
    stage_run(s, 60000);
}

const char *scene_end(const struct scene *c)
{
    return c->lands ? c->lands : c->to;
}

void scene_expect(struct stage *s, const struct scene *c, bool changed, const char *what)
{
    if (s->ctld->harm[0])
        fail_msg("%s, %s: %s", c->name, what, s->ctld->harm);
    if (!stage_is_settled(s, changed ? scene_end(c) : c->from)) {
        AUTO(free) char *conf = stage_conf(s);

        fail_msg("%s, %s: not as %s:\n%s", c->name, what, changed ? "declared" : "before", conf);
    }
}
