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
#include "src/slurm/upgrade.h"

static void check_extra(const struct admission_request *in, const struct controller *c,
                        uint32_t release, struct api_problems *p)
{
    struct build_env env = {.release = release, .host_slurm = in->host_slurm};
    struct build_cluster cluster = {.env = &env, .controller = c, .lookup = in->lookup};

    build_check_extra(p->arena, &cluster, release == 0, p);
}

/* The release that its words will be read by.  On this machine the annotation chooses among the
 * Slurms that are installed, and an image chooses nothing. */
static uint32_t release_for(const struct admission_request *in, const struct controller *c,
                            struct api_problems *p)
{
    uint32_t said = 0;

    if (in->host_slurm && controller_release_said(c, &said))
        return said;
    return admission_running(in, controller_release(c), "spec.slurmctld.image", p);
}

/* What runs may be neither of both, so this is no error; who looks sees why nothing will change. */
static void warn_of_step(const struct controller *old, const struct controller *now,
                         struct api_problems *p)
{
    uint32_t was = 0;
    uint32_t is = 0;
    struct err e = {0};

    if (controller_release_said(old, &was) && controller_release_said(now, &is) && was != is &&
        upgrade_check_step(was, is, &e) < 0)
        api_problem_add(p, API_WARNING, "metadata.annotations[" API_RELEASE_ANNOTATION "]",
                        "%s; as long as slurmctld runs that one, nothing is changed", e.text);
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
    release = release_for(in, &c, p);
    controller_check(&c, release, p);
    check_extra(in, &c, release, p);
    controller_check_refs(&c, in->lookup, p);
    pods_check_controller(in, &c, release, p);
    had = in->old && controller_decode(p->arena, in->old, &old, NULL) == 0;
    controller_check_count(&c, had ? &old : NULL, in->lookup, p);
    if (!had)
        return;
    controller_check_update(&c, &old, p);
    warn_of_step(&old, &c, p);
    if (!c.spec.external)
        restart_warn(p, "spec.extraConf", old.spec.extra_conf, c.spec.extra_conf, release);
}

static void check_metadata(const struct admission_request *in, struct api_problems *p)
{
    struct controller c;
    struct controller old;

    if (controller_decode(p->arena, in->object, &c, NULL) < 0)
        return;
    controller_check_annotations(&c, p);
    if (in->old && controller_decode(p->arena, in->old, &old, NULL) == 0)
        warn_of_step(&old, &c, p);
}

const struct admission_kind admit_controller = {check, check_metadata};
