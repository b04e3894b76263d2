/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last configuration of each Controller, kept between plans. */
#pragma once

#include "src/base/map.h"
#include "src/build/config_memo.h"

/* {0} is a valid empty set. */
struct memos {
    struct map by_controller; /* "ns/name" */
};

void memos_done(struct memos *m);
/* Of a Controller; made if there is none.  Borrowed until memos_drop or memos_done. */
struct config_memo *memos_get(struct memos *m, const char *ns, const char *controller);
/* The Controller is gone. */
void memos_drop(struct memos *m, const char *ns, const char *controller);
