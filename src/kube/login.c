/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The credential in use.
 *
 * It is put together from three sources: what the kubeconfig holds itself, files that others write
 * again (tokens of service accounts, certificates), and a plugin.  Files, the kubeconfig among
 * them, are followed: read again when they were last read a minute ago, or when the server refuses
 * what they held.  A plugin runs when there is no credential, when the one it gave has expired, or
 * when the server refuses it; everybody who needs a credential meanwhile waits for the same run.
 *
 * A token that the user has of his own goes before the plugin's.
 */
#include "src/kube/login.h"

#include <ctype.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/encode.h"
#include "src/base/file.h"
#include "src/kube/plugin.h"

#define FOLLOW_MS 60000
#define FILE_MAX_BYTES ((size_t)1 << 20)
#define EXPIRY_MARGIN_MS 2000

/* A file that is read again. */
struct followed {
    const char *path; /* NULL: there is none */
    struct secret text;
    int64_t read_at_ms;
    bool read;
};

struct kube_login {
    struct loop *loop;
    const struct kube_target *target; /* what was given, or `fresh` */
    struct kube_target *fresh;        /* read again from its kubeconfig; NULL: not yet */
    int64_t config_read_at_ms;
    struct followed ca;
    struct followed cert;
    struct followed key;
    struct followed token;
    struct kube_plugin_answer given; /* by the plugin */
    bool have_given;
    int64_t expires_ms; /* monotonic; 0: never */
    struct kube_plugin_run *run;
    struct list waits;
    struct secret authorization;
    unsigned int generation;
};

static void set_target(struct kube_login *l, const struct kube_target *t)
{
    l->target = t;
    l->ca.path = t->cluster->ca_pem ? NULL : t->cluster->ca_file;
    l->cert.path = t->user->cert_pem ? NULL : t->user->cert_file;
    l->key.path = secret_empty(&t->user->key_pem) ? t->user->key_file : NULL;
    l->token.path = t->user->token_file;
}

struct kube_login *kube_login_new(struct loop *l, const struct kube_target *t)
{
    struct kube_login *login = xcalloc(1, sizeof(*login));

    login->loop = l;
    login->config_read_at_ms = loop_now_ms(l);
    set_target(login, t);
    login->generation = 1;
    list_init(&login->waits);
    return login;
}

struct kube_login *kube_login_free(struct kube_login *l)
{
    if (!l)
        return NULL;
    LIST_FOR_EACH (w, &l->waits, struct kube_login_wait, link)
        list_remove(&w->link);
    if (l->run)
        kube_plugin_cancel(l->run);
    secret_done(&l->ca.text);
    secret_done(&l->cert.text);
    secret_done(&l->key.text);
    secret_done(&l->token.text);
    secret_done(&l->authorization);
    kube_plugin_answer_done(&l->given);
    kube_target_free(l->fresh);
    free(l);
    return NULL;
}

/* Read it again.  Returns 1 if it has changed, 0 if not, negative only if it was never read. */
static int follow(struct kube_login *l, struct followed *f, const char *what, struct err *e)
{
    AUTO(secret_done) struct secret fresh = {0};
    struct err problem = {0};
    char *text = NULL;
    size_t n = 0;
    bool changed;
    int r;

    r = file_read(f->path, FILE_MAX_BYTES, &text, &n, &problem);
    f->read_at_ms = loop_now_ms(l->loop);
    secret_set(&fresh, str_trim((struct str){text, n}));
    secret_wipe(text);
    if (secret_empty(&fresh) && f->read)
        return 0;
    if (r < 0)
        return err_set(e, r, ERR_RETRY, "%s: %s", what, problem.text);
    if (secret_empty(&fresh))
        return err_set(e, -ENODATA, ERR_RETRY, "%s: '%s' is empty", what, f->path);
    changed = !secret_equal(&fresh, &f->text);
    secret_set(&f->text, str_of(secret_expose(&fresh)));
    f->read = true;
    return changed ? 1 : 0;
}

static bool same_text(const char *a, const char *b)
{
    return streq(a ? a : "", b ? b : "");
}

static bool same_credentials(const struct kube_target *a, const struct kube_target *b)
{
    const struct kube_user *u = a->user;
    const struct kube_user *v = b->user;

    return same_text(a->cluster->ca_pem, b->cluster->ca_pem) &&
           same_text(u->cert_pem, v->cert_pem) && secret_equal(&u->key_pem, &v->key_pem) &&
           secret_equal(&u->token, &v->token);
}

/*
 * The kubeconfig itself holds certificates, and its owner renews them.  One that cannot be read
 * now, or says something else than a user's credentials, changes nothing.
 */
static bool follow_config(struct kube_login *l, bool now)
{
    AUTO(kube_target_free) struct kube_target *t = NULL;
    struct kube_wish w = {.kubeconfig = l->target->kubeconfig, .context = l->target->context};
    struct err e = {0};

    if (!w.kubeconfig || (!now && loop_now_ms(l->loop) - l->config_read_at_ms < FOLLOW_MS))
        return false;
    l->config_read_at_ms = loop_now_ms(l->loop);
    if (kube_target_find(&w, &t, &e) < 0 || same_credentials(t, l->target))
        return false;
    set_target(l, t);
    kube_target_free(l->fresh);
    l->fresh = TAKE(t);
    return true;
}

/* All files that are due.  Returns 1 if any has changed. */
static int follow_all(struct kube_login *l, bool now, struct err *e)
{
    const struct {
        struct followed *file;
        const char *what;
    } files[] = {
        {&l->ca, "certificate-authority"},
        {&l->cert, "client-certificate"},
        {&l->key, "client-key"},
        {&l->token, "tokenFile"},
    };
    int changed = follow_config(l, now) ? 1 : 0;

    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        struct followed *f = files[i].file;
        int r;

        if (!f->path || (f->read && !now && loop_now_ms(l->loop) - f->read_at_ms < FOLLOW_MS))
            continue;
        r = follow(l, f, files[i].what, e);
        if (r < 0)
            return err_wrap(e, r, "%s", l->target->origin);
        changed |= r;
    }
    if (changed)
        l->generation++;
    return changed;
}

static const struct secret *bearer(const struct kube_login *l)
{
    const struct kube_user *u = l->target->user;

    if (l->token.path)
        return &l->token.text;
    if (!secret_empty(&u->token))
        return &u->token;
    return &l->given.token;
}

static int check_header(const struct secret *s, struct err *e)
{
    for (const char *p = secret_expose(s); *p; p++) {
        if (iscntrl((unsigned char)*p))
            return err_bad(e, "the token holds a control character");
    }
    return 0;
}

static int write_authorization(struct kube_login *l, struct err *e)
{
    const struct kube_user *u = l->target->user;
    AUTO(buf_done) struct buf line = {0};
    int r;

    secret_done(&l->authorization);
    if (u->username) {
        char *pair = xasprintf("%s:%s", u->username, secret_expose(&u->password));

        buf_adds(&line, "Authorization: Basic ");
        encode_base64(&line, str_of(pair));
        secret_wipe(pair);
    } else if (!secret_empty(bearer(l))) {
        r = check_header(bearer(l), e);
        if (r < 0)
            return err_wrap(e, r, "%s", l->target->origin);
        buf_adds(&line, "Authorization: Bearer ");
        buf_adds(&line, secret_expose(bearer(l)));
    } else {
        return 0;
    }
    secret_set(&l->authorization, buf_view(&line));
    secret_wipe(buf_take(&line));
    return 0;
}

static const char *text_of(const char *own, const struct followed *f)
{
    if (own)
        return own;
    return f->path ? secret_expose(&f->text) : NULL;
}

static int assemble(struct kube_login *l, struct kube_credential *ret, struct err *e)
{
    const struct kube_cluster *c = l->target->cluster;
    const struct kube_user *u = l->target->user;
    const char *own_key = secret_empty(&u->key_pem) ? NULL : secret_expose(&u->key_pem);
    int r;

    r = write_authorization(l, e);
    if (r < 0)
        return r;
    *ret = (struct kube_credential){
        .authorization = secret_empty(&l->authorization) ? NULL : secret_expose(&l->authorization),
        .generation = l->generation,
        .tls = {.ca_pem = text_of(c->ca_pem, &l->ca),
                .cert_pem = text_of(u->cert_pem, &l->cert),
                .key_pem = text_of(own_key, &l->key),
                .insecure = c->insecure,
                .server_name = c->tls_server_name},
    };
    if (l->given.cert_pem) {
        ret->tls.cert_pem = l->given.cert_pem;
        ret->tls.key_pem = secret_expose(&l->given.key_pem);
    }
    return 0;
}

/* Does who we are hang on the plugin? */
static bool needs_plugin(const struct kube_login *l)
{
    const struct kube_user *u = l->target->user;

    return u->plugin && !u->username && !l->token.path && secret_empty(&u->token);
}

static bool plugin_due(const struct kube_login *l)
{
    return !l->have_given || (l->expires_ms && loop_now_ms(l->loop) >= l->expires_ms);
}

static void take_given(struct kube_login *l, struct kube_plugin_answer *a)
{
    kube_plugin_answer_done(&l->given);
    l->given = *a;
    *a = (struct kube_plugin_answer){0};
    l->have_given = true;
    l->generation++;
    l->expires_ms = 0;
    if (l->given.expires_wall_us) {
        int64_t left_ms = (l->given.expires_wall_us - clock_wall_us()) / 1000;

        l->expires_ms = loop_now_ms(l->loop) + MAX(left_ms - EXPIRY_MARGIN_MS, (int64_t)0);
    }
}

static void plugin_ended(void *arg, struct kube_plugin_answer *a, const struct err *e)
{
    struct kube_login *l = arg;
    struct kube_credential c;
    struct list told;
    struct err problem = {0};

    l->run = NULL;
    if (a) {
        take_given(l, a);
        if (assemble(l, &c, &problem) < 0)
            e = &problem;
    }
    list_init(&told);
    LIST_FOR_EACH (w, &l->waits, struct kube_login_wait, link) {
        list_remove(&w->link);
        list_append(&told, &w->link);
    }
    while (!list_empty(&told)) {
        struct kube_login_wait *w = LIST_ENTRY(told.next, struct kube_login_wait, link);

        list_remove(&w->link);
        w->fn(w->arg, e ? NULL : &c, e);
    }
}

static void run_plugin(struct kube_login *l)
{
    const struct kube_target *t = l->target;
    AUTO(free) char *info = NULL;

    if (l->run)
        return;
    info = kube_plugin_info(t->user->plugin, t->cluster, text_of(t->cluster->ca_pem, &l->ca));
    l->run = kube_plugin_run(l->loop, t->user->plugin, info, plugin_ended, l);
}

int kube_login_get(struct kube_login *l, struct kube_login_wait *w,
                   struct kube_credential *ret_credential, struct err *e)
{
    int r = follow_all(l, false, e);

    if (r < 0)
        return r;
    if (needs_plugin(l) && plugin_due(l)) {
        run_plugin(l);
        list_append(&l->waits, &w->link);
        return 1;
    }
    return assemble(l, ret_credential, e);
}

void kube_login_forget(struct kube_login_wait *w)
{
    list_remove(&w->link);
}

bool kube_login_refused(struct kube_login *l, unsigned int generation)
{
    struct err e = {0};

    if (generation != l->generation)
        return true;
    if (needs_plugin(l)) {
        l->have_given = false;
        return true;
    }
    return follow_all(l, true, &e) > 0;
}
