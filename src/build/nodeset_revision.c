/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ControllerRevisions of NodeSets.
 *
 * A pod is up to date if it carries the hash of the present revision.  What is in it: template,
 * slurmd, logfile, ssh, extraConf, ordinalPadding, oversubscribeNode.  What is not: replicas,
 * partition, strategy, and whatever else does not show in a pod.  The text has sorted keys and
 * escapes as Go's JSON has them, the hash is Kubernetes' (FNV-1 in letters that spell no words), so
 * that equal specs have equal hashes for ever.
 */
#include "src/build/nodeset_revision.h"

#include <stdio.h>

#include "src/base/encode.h"
#include "src/build/labels.h"
#include "src/build/node_line.h"

/* Go writes these inside of strings as \u00XX. */
static void print_string(struct buf *b, struct str s)
{
    AUTO(buf_done) struct buf plain = {0};

    jsn_print_string(&plain, s);
    for (size_t i = 0; i < plain.n; i++) {
        if (strchr("<>&", plain.p[i]))
            buf_printf(b, "\\u%04x", (unsigned)plain.p[i]);
        else
            buf_addc(b, plain.p[i]);
    }
}

static int by_key(const void *a, const void *b)
{
    return str_cmp((*(const struct jsn_member *const *)a)->key,
                   (*(const struct jsn_member *const *)b)->key);
}

static void print_sorted(struct arena *a, struct buf *b, const struct jsn *v);

static void print_object(struct arena *a, struct buf *b, const struct jsn *v)
{
    const struct jsn_member **sorted = arena_calloc(a, jsn_len(v) + 1, sizeof(*sorted));
    size_t n = 0;

    JSN_FOR_MEMBERS (m, v)
        sorted[n++] = m;
    qsort(sorted, n, sizeof(*sorted), by_key);
    buf_addc(b, '{');
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_addc(b, ',');
        print_string(b, sorted[i]->key);
        buf_addc(b, ':');
        print_sorted(a, b, sorted[i]->value);
    }
    buf_addc(b, '}');
}

static void print_sorted(struct arena *a, struct buf *b, const struct jsn *v)
{
    bool first = true;

    if (v->type == JSN_OBJECT) {
        print_object(a, b, v);
    } else if (v->type == JSN_STRING) {
        print_string(b, v->s);
    } else if (v->type == JSN_ARRAY) {
        buf_addc(b, '[');
        JSN_FOR_ITEMS (item, v) {
            if (!first)
                buf_addc(b, ',');
            first = false;
            print_sorted(a, b, item);
        }
        buf_addc(b, ']');
    } else {
        jsn_print(b, v);
    }
}

/* A copy that replaces what it is put over, when a revision is applied as a patch. */
static struct jsn *replacing(struct arena *a, const struct jsn *v)
{
    struct jsn *copy = v ? jsn_clone(a, v) : jsn_object(a);

    jsn_set_str(a, copy, "$patch", "replace");
    return copy;
}

static struct jsn *make_template(struct arena *a, const struct api_template *t)
{
    struct jsn *v = jsn_object(a);

    if (t->metadata.labels.n)
        jsn_set_path(a, v, "metadata.labels", build_map(a, &t->metadata.labels));
    if (t->metadata.annotations.n)
        jsn_set_path(a, v, "metadata.annotations", build_map(a, &t->metadata.annotations));
    if (t->spec)
        jsn_set(a, v, "spec", jsn_clone(a, t->spec));
    return replacing(a, v);
}

static struct jsn *make_ssh(struct arena *a, const struct nodeset_ssh *ssh)
{
    if (!ssh)
        return NULL;
    return build_tree(
        a,
        "{'enabled':'$enabled','extraSshdConfig':'$extra','sssdConfRef':{'name':'$name','key':"
        "'$key'}}",
        SLOTS({"enabled", jsn_bool(a, ssh->enabled)},
              {"extra", ssh->extra_sshd_config ? jsn_string(a, ssh->extra_sshd_config) : NULL},
              {"name", ssh->sssd_conf_ref.name ? jsn_string(a, ssh->sssd_conf_ref.name) : NULL},
              {"key", ssh->sssd_conf_ref.key ? jsn_string(a, ssh->sssd_conf_ref.key) : NULL}));
}

const char *revision_data(struct arena *a, const struct nodeset *ns, const char *release)
{
    const struct nodeset_spec *s = &ns->spec;
    AUTO(buf_done) struct buf b = {0};
    struct jsn *v = build_tree(
        a,
        "{'spec':{'template':'$template','slurmd':'$slurmd','logfile':'$logfile','ssh':'$ssh',"
        "'extraConf':'$extra','ordinalPadding':'$padding','oversubscribeNode':'$over'},"
        "'slurmRelease':'$release'}",
        SLOTS({"template", make_template(a, &s->template)}, {"slurmd", replacing(a, s->slurmd)},
              {"logfile", replacing(a, s->logfile)}, {"ssh", make_ssh(a, s->ssh)},
              {"extra", s->extra_conf ? jsn_string(a, s->extra_conf) : NULL},
              {"padding", jsn_int(a, s->ordinal_padding)},
              {"over", jsn_bool(a, s->oversubscribe_node)},
              {"release", release ? jsn_string(a, release) : NULL}));

    print_sorted(a, &b, v);
    return arena_strdup(a, buf_str(&b));
}

/* Settings that only a new record can have. */
static const char *lasting_settings(struct arena *a, const struct jsn *data, bool topology)
{
    struct node_line line;

    node_line_read(a, "", jsn_get_str(data, "spec.extraConf"), &line);
    return node_line_lasting(a, &line, topology);
}

bool revision_same_pods(struct arena *a, const struct jsn *x, const struct jsn *y, bool topology)
{
    const struct jsn *both[] = {x, y};
    AUTO(buf_done) struct buf text = {0};
    AUTO(buf_done) struct buf other = {0};

    for (size_t i = 0; i < ARRAY_LEN(both); i++) {
        struct jsn *copy = jsn_clone(a, both[i]);

        jsn_set_path(a, copy, "spec.extraConf",
                     jsn_string(a, lasting_settings(a, both[i], topology)));
        print_sorted(a, i ? &other : &text, copy);
    }
    return str_eq(buf_view(&text), buf_view(&other));
}

const char *revision_registration(struct arena *a, const struct jsn *data, bool topology)
{
    const struct jsn *slurmd = jsn_get(data, "spec.slurmd");
    const struct jsn *pod = jsn_get(data, "spec.template.spec");

    return arena_printf(a, "%s cpu=%lld memory=%lld", lasting_settings(a, data, topology),
                        (long long)node_limit(slurmd, pod, "cpu"),
                        (long long)node_limit(slurmd, pod, "memory"));
}

static uint32_t fnv1(uint32_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash * 16777619U) ^ (unsigned char)*text;
    return hash;
}

void revision_hash(const char *data, int32_t collisions, char ret_hash[REVISION_HASH_LEN])
{
    char number[REVISION_HASH_LEN + 1];
    uint32_t hash = fnv1(2166136261U, data);

    (void)snprintf(number, sizeof(number), "%d", collisions);
    hash = fnv1(hash, number);
    (void)snprintf(ret_hash, REVISION_HASH_LEN, "%u", hash);
    encode_letters(ret_hash, strlen(ret_hash));
}

struct jsn *build_revision(struct arena *a, const struct nodeset *ns, const char *data,
                           const char *hash, int64_t number)
{
    struct jsn *labels = build_map(a, &ns->spec.template.metadata.labels);
    struct jsn *value;

    if (jsn_parse(a, str_of(data), NULL, &value, NULL) < 0)
        abort(); /* it is ours */
    JSN_FOR_MEMBERS (own, labels_all(a, APP_WORKER, ns->meta.name))
        jsn_set_member(a, labels, own->key, own->value);
    jsn_set_str(a, labels, LABEL_HASH, hash);
    return build_tree(a,
                      "{'apiVersion':'apps/v1','kind':'ControllerRevision','metadata':'$meta',"
                      "'revision':'$number','data':'$data'}",
                      SLOTS({"meta", labels_meta(a, arena_printf(a, "%s-%s", ns->meta.name, hash),
                                                 api_namespace(&ns->meta), labels, NULL,
                                                 labels_owner(a, "NodeSet", &ns->meta, true))},
                            {"number", jsn_int(a, number)}, {"data", value}));
}
