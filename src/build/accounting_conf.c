/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmdbd.conf, in a Secret, since the password of the database is in it.
 *
 * DbdHost is compared with the host's name by slurmdbd at its start: it is the pod's, or, where the
 * pod has the network of its machine, localhost, which every slurmdbd takes for itself.
 *
 * Of a value, Slurm takes what stands between blanks, or between quotes if it begins with one; '#'
 * begins a comment and '\' takes the next character as it is.  So a password may hold everything
 * but a line break, blanks beside quotes, and a quote at its beginning.
 *
 * Options of AuthAltParameters and AuthInfo that extraConf adds are put together with ours in a
 * line at the end, as in slurm.conf: the last line counts.
 */
#include "src/build/accounting.h"

#include "src/base/encode.h"
#include "src/base/hash.h"
#include "src/build/conf_text.h"
#include "src/build/labels.h"
#include "src/build/live_keys.h"
#include "src/slurm/keyfiles.h"

#define JWT_KEY "jwt_key=" SLURM_ETC "/" KEYFILE_JWT

struct api_key_ref build_accounting_password(struct arena *a, const struct accounting *acct)
{
    if (acct->spec.storage)
        return *acct->spec.storage->password_key_ref;
    return (struct api_key_ref){.name = labels_database(a, acct->meta.name),
                                .key = ACCOUNTING_PASSWORD_KEY};
}

/* As a value of slurmdbd.conf. */
static int quote_password(struct arena *a, struct str in, const char **ret, struct err *e)
{
    bool blanks = false;
    AUTO(buf_done) struct buf out = {0};

    for (size_t i = 0; i < in.n; i++) {
        char c = in.p[i];

        if ((unsigned char)c < ' ' && c != '\t')
            return err_bad(e, "has a line break or another control character in it");
        blanks = blanks || c == ' ' || c == '\t';
        if (c == '#' || c == '\\')
            buf_addc(&out, '\\');
        buf_addc(&out, c);
    }
    if (in.n == 0)
        return err_bad(e, "is empty");
    if (in.p[0] == '"' || (blanks && memchr(in.p, '"', in.n)))
        return err_bad(e, "begins with a quote, or has quotes beside blanks, which slurmdbd.conf "
                          "cannot hold");
    *ret = arena_printf(a, blanks ? "\"%s\"" : "%s", buf_str(&out));
    return 0;
}

static struct str without_line_break(struct str password, bool *ret_cut)
{
    size_t n = password.n;

    while (n > 0 && (password.p[n - 1] == '\n' || password.p[n - 1] == '\r'))
        n--;
    *ret_cut = n < password.n;
    return (struct str){password.p, n};
}

static bool has_jwt(const struct build_accounting *b)
{
    return !b->own_keys || accounting_jwt_key(b->acct);
}

static bool has_jwks(const struct build_accounting *b)
{
    return b->acct->spec.jwks_key_ref ||
           (!b->own_keys && b->cluster->controller->spec.jwks_key_ref);
}

static const char *managed_value(const struct build_accounting *b, const char *key)
{
    if (streq(key, "AuthInfo"))
        return build_uses_munge(b->cluster) ? "" : "use_client_ids";
    if (!has_jwt(b))
        return "";
    return has_jwks(b) ? JWT_KEY ",jwks=" SLURM_ETC "/" KEYFILE_JWT_SET : JWT_KEY;
}

static struct str option_key(struct str option)
{
    return (struct str){option.p, str_find(option, '=')};
}

static bool has_option(const char *list, struct str option)
{
    struct str rest = str_of(list);
    struct str item;

    while (str_split(&rest, ',', &item))
        if (str_eq_nocase(option_key(item), option_key(option)))
            return true;
    return false;
}

static void add_merged(struct conf_text *t, const struct build_accounting *b)
{
    static const char *const keys[] = {"AuthAltParameters", "AuthInfo"};
    bool first = true;

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        const char *ours = managed_value(b, keys[i]);
        const char *theirs = accounting_extra(t->arena, b->acct, keys[i]);
        struct str rest = str_of(theirs ? theirs : "");
        const char *value = ours;
        struct str item;

        if (!theirs || !ours[0])
            continue;
        while (str_split(&rest, ',', &item))
            if (item.n && !has_option(ours, item))
                value = arena_printf(t->arena, "%s," STR_FMT, value, STR_ARG(item));
        if (first)
            conf_text_header(t, "MERGED CONFIG");
        first = false;
        conf_text_line(t, "%s=%s", keys[i], value);
    }
}

static void add_plugins(struct conf_text *t, const struct build_accounting *b)
{
    const char *info = managed_value(b, "AuthInfo");

    conf_text_header(t, "PLUGINS & PARAMETERS");
    conf_text_line(t, "AuthType=%s", build_uses_munge(b->cluster) ? "auth/munge" : "auth/slurm");
    if (has_jwt(b)) {
        conf_text_line(t, "AuthAltTypes=auth/jwt");
        conf_text_line(t, "AuthAltParameters=%s", managed_value(b, "AuthAltParameters"));
    }
    if (info[0])
        conf_text_line(t, "AuthInfo=%s", info);
}

static void add_storage(struct conf_text *t, const struct build_accounting *b, const char *password)
{
    const struct accounting_storage *s = b->acct->spec.storage;

    conf_text_header(t, "STORAGE");
    conf_text_line(t, "StorageType=accounting_storage/mysql");
    conf_text_line(t, "StorageHost=%s",
                   s ? s->host : labels_database(t->arena, b->acct->meta.name));
    conf_text_line(t, "StoragePort=%d", s ? s->port : ACCOUNTING_DATABASE_PORT);
    if (!s)
        conf_text_line(t, "StorageUser=" ACCOUNTING_DATABASE_USER);
    else if (s->username && s->username[0])
        conf_text_line(t, "StorageUser=%s", s->username);
    conf_text_line(t, "StorageLoc=%s", s ? s->database : ACCOUNTING_DATABASE);
    conf_text_line(t, "StoragePass=%s", password);
}

static struct jsn *make_conf(struct arena *a, const struct build_accounting *b,
                             const char *password)
{
    AUTO(conf_text_done) struct conf_text t = {.arena = a};
    const char *name = labels_accounting(a, b->acct->meta.name);
    bool host_net = jsn_get_bool(b->acct->spec.template.spec, "hostNetwork", false);
    AUTO(buf_done) struct buf encoded = {0};

    conf_text_header(&t, "GENERAL");
    conf_text_line(&t, "DbdHost=%s", host_net ? "localhost" : arena_printf(a, "%s-0", name));
    conf_text_line(&t, "DbdPort=%d", ACCOUNTING_PORT);
    conf_text_line(&t, "SlurmUser=slurm");
    add_plugins(&t, b);
    add_storage(&t, b, password);
    conf_text_header(&t, "LOGGING");
    conf_text_line(&t, "LogFile=/dev/null");
    if (b->acct->spec.extra_conf && b->acct->spec.extra_conf[0]) {
        conf_text_header(&t, "EXTRA CONFIG");
        conf_text_block(&t, b->acct->spec.extra_conf);
    }
    add_merged(&t, b);
    encode_base64(&encoded, buf_view(&t.text));
    return jsn_str(a, buf_view(&encoded));
}

/* As whom slurmdbd's pod asks slurmdbd whether it serves: a client of its own. */
static struct jsn *make_probe(struct arena *a, const struct build_accounting *b)
{
    AUTO(conf_text_done) struct conf_text t = {.arena = a};
    const char *info = managed_value(b, "AuthInfo");
    AUTO(buf_done) struct buf encoded = {0};

    conf_text_line(&t, "ClusterName=probe");
    conf_text_line(&t, "SlurmctldHost=localhost");
    conf_text_line(&t, "AuthType=%s", build_uses_munge(b->cluster) ? "auth/munge" : "auth/slurm");
    if (info[0])
        conf_text_line(&t, "AuthInfo=%s", info);
    conf_text_line(&t, "AccountingStorageType=accounting_storage/slurmdbd");
    conf_text_line(&t, "AccountingStorageHost=localhost");
    conf_text_line(&t, "AccountingStoragePort=%d", ACCOUNTING_PORT);
    encode_base64(&encoded, buf_view(&t.text));
    return jsn_str(a, buf_view(&encoded));
}

int build_accounting_conf(struct arena *a, const struct build_accounting *b, struct str password,
                          struct jsn **ret, bool *ret_cut, struct err *e)
{
    const struct api_meta *m = &b->acct->meta;
    const char *quoted = NULL;
    int r = quote_password(a, without_line_break(password, ret_cut), &quoted, e);
    struct jsn *data = jsn_object(a);

    if (r < 0)
        return r;
    jsn_set(a, data, ACCOUNTING_CONF, make_conf(a, b, quoted));
    jsn_set(a, data, ACCOUNTING_PROBE, make_probe(a, b));
    *ret = build_tree(
        a, "{'apiVersion':'v1','kind':'Secret','type':'Opaque','metadata':'$meta','data':'$data'}",
        SLOTS({"meta", labels_meta(a, labels_accounting(a, m->name), api_namespace(m),
                                   labels_all(a, APP_ACCOUNTING, m->name), NULL,
                                   labels_owner(a, "Accounting", m, true))},
              {"data", data}));
    return 0;
}

const char *build_accounting_hash(struct arena *a, const struct jsn *secret)
{
    struct str text = build_secret_bytes(a, secret, ACCOUNTING_CONF);
    char *hex = arena_alloc(a, SHA256_HEX_LEN + 1);

    hash_sha256_hex(text, hex);
    return hex;
}
