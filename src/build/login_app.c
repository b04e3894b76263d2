/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Deployment of login pods.
 *
 * A pod has one container with sshd, sssd and what makes it a client of Slurm:
 *
 *   auth/slurm   sackd.  It has the key and slurmctld's address, fetches slurm.conf by itself, and
 *                signs for commands, which have no key.
 *
 *   munge        slurmkeeper-munge with the cluster's keys, and slurm.conf by the ConfigMap that
 *                slurmctld's own comes from.  Before 23.11 there is no sackd, and a command without
 *                slurm.conf would have to find slurmctld by DNS each time.
 *
 * Only root reads the key.  What is mounted by subPath never follows its object; so hashes of what
 * sshd and sssd read stand in annotations, and a change makes the pods again, by the strategy.  The
 * cluster's keys and slurm.conf are followed in place, which no session notices.
 *
 * A pod that has to go lets nobody in any more, tells its sessions, and waits for them (leave.sh).
 *
 * spec.initconf stands for images whose sackd is started as the user slurm: an init container gives
 * that user a copy of the key.  Such pods do not see another key, and are made again for one.
 */
#include "src/base/hash.h"
#include "src/build/containers.h"
#include "src/build/labels.h"
#include "src/build/live_keys.h"
#include "src/build/login.h"
#include "src/build/merge.h"
#include "src/build/scripts.h"

#define KEY_MODE 0600
#define CONF_MODE 0644
#define PROGRAM_MODE 0755
/* Beside the wait for sessions: what is left after it ends. */
#define STOP_S 10

struct maker {
    struct arena *a;
    const struct build_cluster *c;
    const struct loginset *l;
    struct api_problems *p;
    bool munge;
    bool copies_key; /* spec.initconf */
};

static struct jsn *file_item(const struct maker *m, const char *key, const char *path, int mode)
{
    return build_tree(m->a, "{'key':'$key','path':'$path','mode':'$mode'}",
                      SLOTS({"key", jsn_string(m->a, key)}, {"path", jsn_string(m->a, path)},
                            {"mode", jsn_int(m->a, mode)}));
}

/* The cluster's key, which is root's alone. */
static struct jsn *key_source(const struct maker *m)
{
    struct jsn *items = jsn_array(m->a);

    for (const char *const *file = build_key_files(m->c); *file; file++)
        jsn_append(m->a, items, file_item(m, *file, *file, KEY_MODE));
    return build_tree(
        m->a, "{'secret':{'name':'$name','items':'$items'}}",
        SLOTS({"name", jsn_string(m->a, labels_keys(m->a, m->c->controller->meta.name))},
              {"items", items}));
}

/* What commands read where no sackd fetches it: slurm.conf, and the files beside it. */
static void add_conf_sources(const struct maker *m, struct jsn *sources)
{
    struct controller_ref_list lists[CONTROLLER_REF_LISTS];

    jsn_append(m->a, sources,
               volume_map_source(m->a, labels_config(m->a, m->c->controller->meta.name)));
    controller_ref_lists(m->c->controller, lists);
    for (size_t i = 0; i < CONTROLLER_REF_LISTS; i++)
        for (size_t k = 0; !lists[i].option && k < lists[i].refs->n; k++)
            jsn_append(m->a, sources, volume_map_source(m->a, lists[i].refs->items[k].name));
}

static struct jsn *etc_volume(const struct maker *m)
{
    struct jsn *sources = jsn_array(m->a);

    if (m->munge)
        add_conf_sources(m, sources);
    jsn_append(m->a, sources, key_source(m));
    return build_tree(
        m->a, "{'name':'$name','projected':{'defaultMode':'$mode','sources':'$sources'}}",
        SLOTS({"name", jsn_string(m->a, m->copies_key ? "slurm-config" : "slurm-etc")},
              {"mode", jsn_int(m->a, m->munge ? CONF_MODE : KEY_MODE)}, {"sources", sources}));
}

static struct jsn *host_key_items(const struct maker *m)
{
    struct jsn *items = jsn_array(m->a);

    for (size_t i = 0; i < LOGIN_KEY_FILES; i++)
        jsn_append(m->a, items,
                   file_item(m, login_key_files[i], login_key_files[i],
                             ends_with(login_key_files[i], ".pub") ? CONF_MODE : KEY_MODE));
    return items;
}

static struct jsn *make_volumes(const struct maker *m)
{
    const struct api_key_ref *sssd = &m->l->spec.sssd_conf_ref;
    struct jsn *memory = build_tree(m->a, "{'medium':'Memory'}", NULL);

    return build_tree(
        m->a,
        "['$etc','$copy','$sackd',"
        "{'name':'ssh-host-keys','projected':{'defaultMode':'$mode','sources':[{'secret':{"
        "'name':'$keys','items':'$key_items'}}]}},"
        "{'name':'ssh-config','projected':{'defaultMode':'$mode','sources':[{'configMap':{"
        "'name':'$config','items':['$sshd','$root','$journal']}}]}},"
        "{'name':'sssd-conf','projected':{'defaultMode':'$mode','sources':[{'secret':{"
        "'name':'$sssd','items':['$sssd_item'],'optional':'$optional'}}]}}]",
        SLOTS({"etc", etc_volume(m)},
              {"copy", m->copies_key ? build_tree(m->a, "{'name':'slurm-etc','emptyDir':'$m'}",
                                                  SLOTS({"m", memory}))
                                     : NULL},
              {"sackd", m->munge ? NULL
                                 : build_tree(m->a, "{'name':'sackd-dir','emptyDir':'$m'}",
                                              SLOTS({"m", memory}))},
              {"mode", jsn_int(m->a, KEY_MODE)},
              {"keys", jsn_string(m->a, login_keys_name(m->a, m->l))},
              {"key_items", host_key_items(m)},
              {"config", jsn_string(m->a, login_config_name(m->a, m->l))},
              {"sshd", file_item(m, "sshd_config", "sshd_config", KEY_MODE)},
              {"root", file_item(m, "authorized_keys", "authorized_keys", KEY_MODE)},
              {"journal", file_item(m, "journalctl", "journalctl", PROGRAM_MODE)},
              {"sssd", jsn_string(m->a, sssd->name ? sssd->name : "")},
              {"sssd_item", file_item(m, sssd->key, "sssd.conf", KEY_MODE)},
              {"optional", sssd->optional ? jsn_bool(m->a, true) : NULL}));
}

static void add_mount(const struct maker *m, struct jsn *mounts, const char *volume,
                      const char *dir, const char *file)
{
    jsn_append(m->a, mounts,
               build_tree(m->a,
                          "{'name':'$name','mountPath':'$path','subPath':'$file','readOnly':true}",
                          SLOTS({"name", jsn_string(m->a, volume)},
                                {"path", jsn_stringf(m->a, "%s/%s", dir, file)},
                                {"file", jsn_string(m->a, file)})));
}

static struct jsn *make_mounts(const struct maker *m)
{
    struct jsn *mounts = build_tree(
        m->a, "[{'name':'slurm-etc','mountPath':'/etc/slurm','readOnly':true},'$sackd']",
        SLOTS({"sackd", m->munge ? NULL
                                 : build_tree(m->a, "{'name':'sackd-dir','mountPath':'/run/slurm'}",
                                              NULL)}));

    for (size_t i = 0; i < LOGIN_KEY_FILES; i++)
        add_mount(m, mounts, "ssh-host-keys", "/etc/ssh", login_key_files[i]);
    add_mount(m, mounts, "ssh-config", "/etc/ssh", "sshd_config");
    add_mount(m, mounts, "ssh-config", "/root/.ssh", "authorized_keys");
    add_mount(m, mounts, "ssh-config", "/usr/sbin", "journalctl"); /* before /usr/bin in PATH */
    add_mount(m, mounts, "sssd-conf", "/etc/sssd", "sssd.conf");
    return mounts;
}

/* The container's port may be another one, if the user names it like ours. */
static int64_t login_port(const struct maker *m)
{
    JSN_FOR_ITEMS (p, jsn_get(m->l->spec.login, "ports"))
        if (streq(jsn_get_str(p, "name"), "login"))
            return jsn_get_int(p, "containerPort", LOGIN_PORT);
    return LOGIN_PORT;
}

static struct jsn *make_env(const struct maker *m)
{
    return m->munge ? NULL
                    : build_tree(m->a, "[{'name':'SACKD_OPTIONS','value':'$options'}]",
                                 SLOTS({"options", jsn_stringf(m->a, "--conf-server %s:%d",
                                                               build_slurmctld_host(m->a, m->c),
                                                               build_slurmctld_port(m->c))}));
}

static struct jsn *ready_command(const struct maker *m)
{
    static const char sackd[] = "['test','-S','/run/slurm/sack.socket']";
    static const char munge[] = "['test','-S','/run/munge/munge.socket.2','-a','-s',"
                                "'/run/sshd.pid']";

    return build_tree(m->a, m->munge ? munge : sackd, NULL);
}

/* sessions are waited for by preStop; the pod's own limit has to leave it the time. */
static int64_t grace_s(const struct maker *m)
{
    int64_t said = jsn_get_int(m->l->spec.template.spec, "terminationGracePeriodSeconds", -1);

    return said < 0 ? loginset_grace_s(m->l) : MAX(said - STOP_S, (int64_t)0);
}

static const char *main_image(const struct maker *m)
{
    const char *image = jsn_get_str(m->l->spec.login, "image");

    return image ? image : build_default_image(m->a, m->c, "login");
}

static struct jsn *make_login(const struct maker *m)
{
    struct jsn *base = build_tree(
        m->a,
        "{'name':'login','image':'$image','env':'$env',"
        "'ports':[{'name':'login','containerPort':'$port','protocol':'TCP'}],"
        "'startupProbe':{'exec':{'command':'$ready'},'timeoutSeconds':10,'periodSeconds':1,"
        "'failureThreshold':600},"
        "'readinessProbe':{'exec':{'command':'$ready'},'timeoutSeconds':10},"
        "'lifecycle':{'preStop':{'exec':{'command':['bash','-c','$leave','leave','$grace']}}},"
        "'resources':{},'volumeMounts':'$mounts'}",
        SLOTS({"image", jsn_string(m->a, main_image(m))}, {"env", make_env(m)},
              {"port", jsn_int(m->a, login_port(m))}, {"ready", ready_command(m)},
              {"leave", jsn_string(m->a, script_leave)},
              {"grace", jsn_stringf(m->a, "%lld", (long long)grace_s(m))},
              {"mounts", make_mounts(m)}));

    return merge_container(m->a, base, m->l->spec.login, "spec.login", m->p);
}

static struct jsn *make_initconf(const struct maker *m)
{
    struct jsn *base = build_tree(
        m->a,
        "{'name':'initconf','image':'$image','env':[{'name':'SLURM_USER','value':'slurm'}],"
        "'command':['sh','-c','$script','initconf','$uid','$gid'],'resources':{},"
        "'volumeMounts':[{'name':'slurm-etc','mountPath':'/mnt/etc/slurm'},"
        "{'name':'slurm-config','mountPath':'/mnt/slurm','readOnly':true}]}",
        SLOTS({"image", jsn_string(m->a, main_image(m))},
              {"script", jsn_string(m->a, script_initconf)},
              {"uid", jsn_stringf(m->a, "%lld", (long long)build_slurm_uid(m->c))},
              {"gid", jsn_stringf(m->a, "%lld", (long long)build_slurm_gid(m->c))}));
    struct jsn *list = jsn_array(m->a);

    jsn_append(m->a, list, merge_container(m->a, base, m->l->spec.initconf, "spec.initconf", m->p));
    return list;
}

/* Workers are found by their short names, also where the user has search domains of his own. */
static void put_back_search(const struct maker *m, struct jsn *spec)
{
    struct jsn *dns = jsn_ensure_object(m->a, spec, "dnsConfig");
    const char *domain = build_search_domain(m->a, m->c);

    if (!jsn_is(jsn_key(dns, "searches"), JSN_ARRAY))
        jsn_set(m->a, dns, "searches", jsn_array(m->a));
    if (!build_has_string(jsn_key(dns, "searches"), domain))
        jsn_append(m->a, jsn_key(dns, "searches"), jsn_string(m->a, domain));
}

static struct jsn *make_pod_spec(const struct maker *m)
{
    struct jsn *base =
        build_tree(m->a,
                   "{'automountServiceAccountToken':false,'enableServiceLinks':false,"
                   "'dnsConfig':{'searches':['$search']},'terminationGracePeriodSeconds':'$grace',"
                   "'initContainers':'$init','containers':['$login'],'volumes':'$volumes'}",
                   SLOTS({"search", jsn_string(m->a, build_search_domain(m->a, m->c))},
                         {"grace", jsn_int(m->a, grace_s(m) + STOP_S)},
                         {"init", m->copies_key ? make_initconf(m) : NULL},
                         {"login", make_login(m)}, {"volumes", make_volumes(m)}));

    base = merge_pod_spec(m->a, base, m->l->spec.template.spec, "spec.template.spec", m->p);
    put_back_search(m, base);
    return base;
}

/* Of some keys of a Secret, in their order; one that is not there hashes as nothing. */
static const char *hash_of(const struct maker *m, const char *name, const char *const *keys,
                           size_t n)
{
    const struct jsn *object = NULL;
    AUTO(buf_done) struct buf text = {0};
    char *hex = arena_alloc(m->a, SHA256_HEX_LEN + 1);

    (void)api_lookup_get(m->c->lookup, "Secret", api_namespace(&m->l->meta), name, &object);
    for (size_t i = 0; i < n; i++) {
        struct str value = build_secret_bytes(m->a, object, keys[i]);

        buf_add(&text, value.p, value.n);
    }
    hash_sha256_hex(buf_view(&text), hex);
    return hex;
}

static const char *text_hash(const struct maker *m, const struct jsn *map, const char *key)
{
    const char *text = jsn_text(jsn_key(jsn_key(map, "data"), key));
    char *hex = arena_alloc(m->a, SHA256_HEX_LEN + 1);

    hash_sha256_hex(str_of(text), hex);
    return hex;
}

static struct jsn *make_annotations(const struct maker *m)
{
    const struct api_key_ref *sssd = &m->l->spec.sssd_conf_ref;
    const struct jsn *config = build_login_config(m->a, m->l);
    struct jsn *notes = jsn_object(m->a);

    labels_add_annotations(m->a, notes, &m->l->meta.annotations);
    build_add_map(m->a, notes, &m->l->spec.template.metadata.annotations);
    jsn_set_str(m->a, notes, ANNOTATION_DEFAULT_CONTAINER, "login");
    jsn_set_str(m->a, notes, API_GROUP "/ssh-host-keys-hash",
                hash_of(m, login_keys_name(m->a, m->l), login_key_files, LOGIN_KEY_FILES));
    jsn_set_str(m->a, notes, API_GROUP "/sshd-conf-hash", text_hash(m, config, "sshd_config"));
    jsn_set_str(m->a, notes, API_GROUP "/sssd-conf-hash",
                hash_of(m, sssd->name ? sssd->name : "", &sssd->key, 1));
    if (m->l->spec.root_keys)
        jsn_set_str(m->a, notes, API_OWN_GROUP "/root-keys-hash",
                    text_hash(m, config, "authorized_keys"));
    if (m->copies_key)
        jsn_set_str(
            m->a, notes, ANNOTATION_SLURM_KEY_HASH,
            hash_of(m, labels_keys(m->a, m->c->controller->meta.name), build_key_files(m->c), 1));
    return notes;
}

static struct jsn *make_labels(const struct maker *m)
{
    struct jsn *labels = build_map(m->a, &m->l->spec.template.metadata.labels);

    /* ours last: the Service and the Deployment find the pods by them */
    JSN_FOR_MEMBERS (own, labels_all(m->a, APP_LOGIN, m->l->meta.name))
        jsn_set_member(m->a, labels, own->key, own->value);
    return labels;
}

bool login_has_sssd_conf(const struct build_cluster *c, const struct loginset *l)
{
    const struct api_key_ref *ref = &l->spec.sssd_conf_ref;
    const struct jsn *secret = NULL;

    if (ref->optional)
        return true;
    (void)api_lookup_get(c->lookup, "Secret", api_namespace(&l->meta), ref->name, &secret);
    return jsn_is(jsn_member(jsn_key(secret, "data"), str_of(ref->key)), JSN_STRING);
}

struct jsn *build_login_app(struct arena *a, const struct build_cluster *c,
                            const struct loginset *l, struct api_problems *p)
{
    bool munge = build_uses_munge(c);
    struct maker m = {a, c, l, p, munge, l->spec.initconf && !munge};

    return build_tree(
        a,
        "{'apiVersion':'apps/v1','kind':'Deployment','metadata':'$meta','spec':{"
        "'replicas':'$replicas','revisionHistoryLimit':0,'strategy':'$strategy',"
        "'selector':{'matchLabels':'$selector'},"
        "'template':{'metadata':{'labels':'$labels','annotations':'$notes'},'spec':'$pod'}}}",
        SLOTS({"meta", labels_meta(a, l->meta.name, api_namespace(&l->meta),
                                   labels_all(a, APP_LOGIN, l->meta.name), NULL,
                                   labels_owner(a, "LoginSet", &l->meta, true))},
              {"replicas", jsn_int(a, l->spec.replicas)}, {"strategy", l->spec.strategy},
              {"selector", labels_selector(a, APP_LOGIN, l->meta.name)},
              {"labels", make_labels(&m)}, {"notes", make_annotations(&m)},
              {"pod", make_pod_spec(&m)}));
}
