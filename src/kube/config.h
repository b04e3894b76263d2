/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kubeconfig files: read, checked and merged by kubectl's rules. */
#pragma once

#include "src/base/map.h"
#include "src/base/secret.h"

#define KUBE_CONFIG_MAX_BYTES ((size_t)4 << 20)

/* Strings are owned; NULL where the file says nothing.  Paths are absolute or relative to the
 * working directory: those in a file are taken relative to its directory. */
struct kube_cluster {
    char *server;
    char *ca_file;
    char *ca_pem; /* wins over ca_file */
    bool insecure;
    char *tls_server_name;
    char *proxy_url;
    char *plugin_config; /* JSON: the extension that credential plugins may ask for */
};

enum kube_interactive {
    KUBE_INTERACTIVE_IF_AVAILABLE,
    KUBE_INTERACTIVE_NEVER,
    KUBE_INTERACTIVE_ALWAYS
};

/* A credential plugin: a program that prints an ExecCredential. */
struct kube_plugin {
    char *api_version; /* "client.authentication.k8s.io/v1" or ".../v1beta1" */
    char *command;
    char **args; /* NULL-terminated, without the command; or NULL */
    char **env;  /* "NAME=value", NULL-terminated; or NULL */
    char *install_hint;
    bool wants_cluster;
    enum kube_interactive interactive;
};

struct kube_user {
    char *cert_file;
    char *cert_pem; /* wins over cert_file */
    char *key_file;
    struct secret key_pem; /* wins over key_file */
    struct secret token;
    char *token_file; /* wins over token, and is read again as it changes */
    char *username;
    struct secret password;
    struct kube_plugin *plugin;
    char *unsupported; /* an authentication method that we lack, by its field's name */
};

struct kube_context {
    char *cluster;
    char *user;
    char *namespace;
};

/* What one file says, or several merged.  {0} is not valid: kube_config_init. */
struct kube_config {
    struct map clusters; /* name -> struct kube_cluster */
    struct map users;    /* name -> struct kube_user */
    struct map contexts; /* name -> struct kube_context */
    char *current_context;
};

void kube_config_init(struct kube_config *c);
void kube_config_done(struct kube_config *c);
DEFINE_AUTO_DONE(struct kube_config, kube_config_done);

void kube_cluster_free(struct kube_cluster *c);
void kube_user_free(struct kube_user *u);
DEFINE_AUTO(struct kube_cluster, kube_cluster_free);
DEFINE_AUTO(struct kube_user, kube_user_free);

/*
 * Add what the text (YAML or JSON) says to `c`.  What is there already wins, entry by entry: a
 * cluster, user or context of a name comes whole from the first file that has it.  `file` is named
 * in errors and gives the directory of relative paths.  On failure `c` is unchanged.
 */
int kube_config_add(struct kube_config *c, const char *file, struct str text,
                    struct err *e) MUST_CHECK;

/* Read a file and add it.  A missing one is -ENOENT. */
int kube_config_add_file(struct kube_config *c, const char *file, struct err *e) MUST_CHECK;

/* As KUBECONFIG: files joined by ':'; empty and missing ones are passed over. */
int kube_config_add_list(struct kube_config *c, const char *list, struct err *e) MUST_CHECK;
