/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Make a conf and a model out of a text, for the tests. */
#pragma once

#include "src/base/test/unit.h"
#include "src/slurm/model.h"

struct made {
    struct faults faults;
    struct conf *conf;
    struct model *model;
};

static inline UNUSED struct made make(enum conf_kind kind, const char *text, uint32_t release)
{
    struct made m = {0};
    struct conf_input in = {.kind = kind, .name = "slurm.conf", .text = str_of(text)};
    struct err e = {0};

    assert_int_equal(conf_parse(&in, &m.faults, &m.conf, &e), 0);
    m.model = model_new(m.conf, release);
    return m;
}

static inline UNUSED void made_done(struct made *m)
{
    model_free(m->model);
    conf_free(m->conf);
    faults_done(&m->faults);
}
DEFINE_AUTO_DONE(struct made, made_done);
