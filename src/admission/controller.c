/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Admission of Controllers: the object, the words of slurm.conf in it, what it refers to, what may
 * not change; and a warning where slurmctld is started again for a change.
 */
#include "src/api/controller.h"

#include "src/admission/kinds.h"
#include "src/admission/pods.h"
#include "src/admission/restart.h"
#include "src/api/node_count.h"
#include "src/build/config_extra.h"

static void check_extra(const struct admission_request *in, const struct controller *c,
                        uint32_t release, struct api_problems *p)
{
    struct build_env env = {.release = release, .host_slurm = in->host_slurm};
    struct build_cluster cluster = {.env = &env, .controller = c, .lookup = in->lookup};

    build_check_extra(p->arena, &cluster, release == 0, p);
}

static void check(const struct admission_request *in, struct api_problems *p)
{
    struct controller c;
    struct controller old;
    struct err e = {0};
    uint32_t release;
    bool had;

    if (controller_decode(p->arena, in->object, &c, &e) < 0) {
        admission_add_error(p, &e);
        return;
    }
    release = admission_running(in, controller_release(&c), "spec.slurmctld.image", p);
    controller_check(&c, release, p);
    check_extra(in, &c, release, p);
    controller_check_refs(&c, in->lookup, p);
    pods_check_controller(in, &c, release, p);
    had = in->old && controller_decode(p->arena, in->old, &old, NULL) == 0;
    controller_check_count(&c, had ? &old : NULL, in->lookup, p);
    if (!had)
        return;
    controller_check_update(&c, &old, p);
    if (!c.spec.external)
        restart_warn(p, "spec.extraConf", old.spec.extra_conf, c.spec.extra_conf, release);
}

static void check_metadata(const struct admission_request *in, struct api_problems *p)
{
    struct controller c;

    if (controller_decode(p->arena, in->object, &c, NULL) == 0)
        controller_check_annotations(&c, p);
}

const struct admission_kind admit_controller = {check, check_metadata};
