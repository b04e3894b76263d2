/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /etc/hosts, /etc/hostname and /etc/resolv.conf of a pod; the texts are pure. */
#pragma once

#include "src/cluster/node/pods/pod_spec.h"

#define CLUSTER_DOMAIN "cluster.local"

void etc_hosts(struct buf *b, const struct pod_spec *p, const char *ip);

/* `host` is the machine's own resolv.conf; `server` answers for the cluster. */
void etc_resolv(struct buf *b, const struct pod_spec *p, const char *server, struct str host);

/* Write all three into DIR/etc. */
int etc_files_write(const char *dir, const struct pod_spec *p, const char *ip, const char *server,
                    struct err *e) MUST_CHECK;
