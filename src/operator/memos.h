/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is worth remembering of each Controller between two plans. */
#pragma once

#include "src/base/map.h"
#include "src/build/config_memo.h"
#include "src/kube/cache.h"

/* {0} is a valid empty set. */
struct memos {
    struct map by_controller; /* the last configuration, by "ns/name" */
    struct map written;       /* the lines of partitions in a ConfigMap, by "ns/name" */
    struct map certs;         /* certificates that were found good, by "ns/name" */
};

void memos_done(struct memos *m);
/* Of a Controller; made if there is none.  Borrowed until memos_drop or memos_done. */
struct config_memo *memos_get(struct memos *m, const char *ns, const char *controller);
/* As cert_still_good of the certificate of its agent, which signs for itself.  One that was found
 * good is not read again for a minute. */
bool memos_cert_good(struct memos *m, const char *ns, const char *controller, const char *cert_pem,
                     int64_t now_ms);
/*
 * The line of a partition in the slurm.conf of a Controller's ConfigMap (NULL: there is none); NULL
 * if it has none.  Each version of the ConfigMap is read once.  Borrowed until the next call.
 */
const char *memos_written(struct memos *m, const char *controller, const struct kube_object *map,
                          const char *partition);
/* The Controller is gone. */
void memos_drop(struct memos *m, const char *ns, const char *controller);
