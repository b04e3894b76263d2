/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is made from a LoginSet: host keys, sshd's configuration, a Service, a Deployment. */
#pragma once

#include "src/api/loginset.h"
#include "src/build/cluster.h"

/* sshd's host keys as files: "ssh_host_rsa_key", "ssh_host_rsa_key.pub" and so on. */
#define LOGIN_KEY_FILES 6
extern const char *const login_key_files[LOGIN_KEY_FILES]; /* sorted by name */
struct build_host_keys {
    const char *texts[LOGIN_KEY_FILES]; /* in that order */
};

/* Names of what is made; in `a`.  Service and Deployment are called like the LoginSet. */
const char *login_keys_name(struct arena *a, const struct loginset *l);
const char *login_config_name(struct arena *a, const struct loginset *l);

/* Secret <name>-ssh-host-keys, which cannot be changed once it is there. */
struct jsn *build_login_keys(struct arena *a, const struct loginset *l,
                             const struct build_host_keys *keys);
/* ConfigMap <name>-ssh-config: sshd_config and root's authorized_keys. */
struct jsn *build_login_config(struct arena *a, const struct loginset *l);
struct jsn *build_login_service(struct arena *a, const struct loginset *l);

/* The Deployment.  Its pods are made again when a hash of what sshd and sssd read is another one.
 */
struct jsn *build_login_app(struct arena *a, const struct build_cluster *c,
                            const struct loginset *l, struct api_problems *p);

/* Is sssd.conf there, as its reference says, or need it not be? */
bool login_has_sssd_conf(const struct build_cluster *c, const struct loginset *l);
