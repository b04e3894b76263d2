/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a login pod mounts, and the Service that leads to it.
 *
 * Texts and names are Slinky's to the letter, so that logins that are taken over are not made
 * again.  Beside them there is a `journalctl` that shows sssd's log: in a pod nothing keeps a
 * journal, and all the world's advice on sssd begins with it.
 */
#include "src/base/encode.h"
#include "src/build/conf_text.h"
#include "src/build/labels.h"
#include "src/build/login.h"
#include "src/build/scripts.h"
#include "src/json/patch_merge.h"

const char *const login_key_files[LOGIN_KEY_FILES] = {
    "ssh_host_ecdsa_key",       "ssh_host_ecdsa_key.pub", "ssh_host_ed25519_key",
    "ssh_host_ed25519_key.pub", "ssh_host_rsa_key",       "ssh_host_rsa_key.pub",
};

const char *login_keys_name(struct arena *a, const struct loginset *l)
{
    return arena_printf(a, "%s-ssh-host-keys", l->meta.name);
}

const char *login_config_name(struct arena *a, const struct loginset *l)
{
    return arena_printf(a, "%s-ssh-config", l->meta.name);
}

/* Metadata of an object of that name, with labels and annotations of the user's below ours. */
static struct jsn *make_meta(struct arena *a, const struct loginset *l, const char *name,
                             const struct api_labels *user)
{
    struct jsn *labels = user ? build_map(a, &user->labels) : jsn_object(a);
    struct jsn *annotations = user ? build_map(a, &user->annotations) : NULL;

    JSN_FOR_MEMBERS (own, labels_all(a, APP_LOGIN, l->meta.name))
        jsn_set_member(a, labels, own->key, own->value);
    return labels_meta(a, name, api_namespace(&l->meta), labels, annotations,
                       labels_owner(a, "LoginSet", &l->meta, true));
}

struct jsn *build_login_keys(struct arena *a, const struct loginset *l,
                             const struct build_host_keys *keys)
{
    struct jsn *data = jsn_object(a);

    for (size_t i = 0; i < LOGIN_KEY_FILES; i++) {
        AUTO(buf_done) struct buf text = {0};

        encode_base64(&text, str_of(keys->texts[i]));
        jsn_set(a, data, login_key_files[i], jsn_str(a, buf_view(&text)));
    }
    return build_tree(
        a,
        "{'apiVersion':'v1','kind':'Secret','type':'Opaque','immutable':true,"
        "'metadata':'$meta','data':'$data'}",
        SLOTS({"meta", make_meta(a, l, login_keys_name(a, l), NULL)}, {"data", data}));
}

struct jsn *build_login_config(struct arena *a, const struct loginset *l)
{
    AUTO(conf_text_done) struct conf_text sshd = {.arena = a};
    AUTO(conf_text_done) struct conf_text keys = {.arena = a};
    const struct loginset_spec *s = &l->spec;

    conf_text_header(&sshd, "GENERAL");
    conf_text_line(&sshd, "Include /etc/ssh/sshd_config.d/*.conf");
    conf_text_line(&sshd, "UsePAM yes");
    conf_text_line(&sshd, "X11Forwarding yes");
    conf_text_line(&sshd, "Subsystem sftp internal-sftp");
    conf_text_header(&sshd, "EXTRA CONFIG");
    conf_text_line(&sshd, "%s", s->extra_sshd_config ? s->extra_sshd_config : "");
    conf_text_header(&keys, "SLINKY");
    conf_text_line(&keys, "%s", s->root_keys ? s->root_keys : "");
    return build_tree(a,
                      "{'apiVersion':'v1','kind':'ConfigMap','metadata':'$meta',"
                      "'data':{'authorized_keys':'$keys','journalctl':'$journal',"
                      "'sshd_config':'$sshd'}}",
                      SLOTS({"meta", make_meta(a, l, login_config_name(a, l), NULL)},
                            {"keys", jsn_str(a, buf_view(&keys.text))},
                            {"journal", jsn_string(a, script_journalctl)},
                            {"sshd", jsn_str(a, buf_view(&sshd.text))}));
}

static struct jsn *make_ports(struct arena *a, const struct api_service *user)
{
    struct jsn *ports = jsn_array(a);

    JSN_FOR_ITEMS (p, jsn_get(user->spec, "ports"))
        if (!streq(jsn_get_str(p, "name"), "login"))
            jsn_append(a, ports, p);
    jsn_append(a, ports,
               build_tree(a,
                          "{'name':'login','protocol':'TCP','port':'$port','nodePort':'$node',"
                          "'targetPort':'login'}",
                          SLOTS({"port", jsn_int(a, user->port ? user->port : LOGIN_PORT)},
                                {"node", user->node_port ? jsn_int(a, user->node_port) : NULL})));
    return ports;
}

struct jsn *build_login_service(struct arena *a, const struct loginset *l)
{
    const struct api_service *user = &l->spec.service;
    struct jsn *spec = jsn_object(a);

    if (user->spec)
        spec = patch_merge(a, spec, user->spec);
    jsn_set(a, spec, "ports", make_ports(a, user));
    jsn_set(a, spec, "selector", labels_selector(a, APP_LOGIN, l->meta.name));
    (void)jsn_del(spec, "externalIPs");
    return build_tree(
        a, "{'apiVersion':'v1','kind':'Service','metadata':'$meta','spec':'$spec'}",
        SLOTS({"meta", make_meta(a, l, l->meta.name, &user->metadata)}, {"spec", spec}));
}
