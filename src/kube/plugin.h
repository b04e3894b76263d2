/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Credential plugins: a program is run, and prints an ExecCredential. */
#pragma once

#include "src/kube/config.h"
#include "src/loop/loop.h"

#define KUBE_PLUGIN_MAX_BYTES ((size_t)1 << 20)
#define KUBE_PLUGIN_TIMEOUT_MS 60000

/* What a plugin gave.  {0} is a valid empty one. */
struct kube_plugin_answer {
    struct secret token;
    char *cert_pem;
    struct secret key_pem;
    int64_t expires_wall_us; /* 0: it did not say */
};
void kube_plugin_answer_done(struct kube_plugin_answer *a);
DEFINE_AUTO_DONE(struct kube_plugin_answer, kube_plugin_answer_done);

/* Read what a plugin printed: an ExecCredential of that apiVersion with a token, or a certificate
 * and its key, or all of them. */
int kube_plugin_parse(struct str text, const char *api_version, struct kube_plugin_answer *ret,
                      struct err *e) MUST_CHECK;

/* What the plugin finds in KUBERNETES_EXEC_INFO.  Owned. */
char *kube_plugin_info(const struct kube_plugin *p, const struct kube_cluster *c,
                       const char *ca_pem);

/* The end of a run, called exactly once, never inside kube_plugin_run; one of the two is NULL.  The
 * answer may be emptied by taking from it. */
typedef void (*kube_plugin_fn)(void *arg, struct kube_plugin_answer *a, const struct err *e);

/*
 * Start the program: standard input is empty, `info` is in its environment beside ours and the
 * plugin's own.  Killed after KUBE_PLUGIN_TIMEOUT_MS.  The handle ends with fn or with
 * kube_plugin_cancel, which kills the program.  `p` is borrowed until then.
 */
struct kube_plugin_run;
struct kube_plugin_run *kube_plugin_run(struct loop *l, const struct kube_plugin *p,
                                        const char *info, kube_plugin_fn fn, void *arg);
void kube_plugin_cancel(struct kube_plugin_run *r);
