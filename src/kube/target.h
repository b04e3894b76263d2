/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which API server to talk to, and as whom: from a kubeconfig or from inside a cluster. */
#pragma once

#include "src/kube/config.h"

#define KUBE_POD_DIR "/var/run/secrets/kubernetes.io/serviceaccount"

struct kube_target {
    char *origin; /* for people: "context 'lab' of kubeconfig '/home/a/.kube/config'" */
    char *namespace;
    char *kubeconfig; /* the one file that it comes from, to be read again; NULL: several or none */
    char *context;    /* the context of it that was wished for; NULL: the current one */
    bool in_pod;      /* found as that of the pod that we run in */
    struct kube_cluster *cluster; /* the server has a scheme and no slash at its end */
    struct kube_user *user;       /* never NULL; an empty one is anonymous */
};

/* All may be NULL. */
struct kube_wish {
    const char *kubeconfig; /* this file alone, and it must be there */
    const char *context;    /* instead of current-context */
    const char *namespace;  /* instead of the context's */
    const char *pod_dir;    /* instead of KUBE_POD_DIR */
};

/*
 * Find the server.  In this order, the first that is there: the wish's kubeconfig, KUBECONFIG, the
 * cluster that we run in (KUBERNETES_SERVICE_HOST), ~/.kube/config.  Nothing is connected to and no
 * file but the configuration is read.
 */
int kube_target_find(const struct kube_wish *w, struct kube_target **ret_target,
                     struct err *e) MUST_CHECK;
struct kube_target *kube_target_free(struct kube_target *t);
DEFINE_AUTO(struct kube_target, kube_target_free);

/* From a configuration, which loses the entries used.  `origin` names it in errors. */
int kube_target_select(struct kube_config *c, const char *origin, const struct kube_wish *w,
                       struct kube_target **ret_target, struct err *e) MUST_CHECK;

/* From inside a pod: host and port of the environment, token, ca.crt and namespace of pod_dir. */
int kube_target_in_cluster(const struct kube_wish *w, struct kube_target **ret_target,
                           struct err *e) MUST_CHECK;
