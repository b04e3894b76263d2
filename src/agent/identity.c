/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's certificate and the token that it asks for.
 *
 * The operator makes them and puts them into a Secret, which is mounted here.  It renews the
 * certificate before it expires, and the mounted files change; for a while it trusts both, the old
 * and the new one.  With each certificate the token that was announced in next.token comes into
 * use, so that it is known here before anybody uses it.  The files are looked at once a minute.
 * Files that are half written, or that do not belong together, change nothing: the next look sees
 * them whole.
 */
#include "src/agent/identity.h"

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/base/log.h"

#define LOOK_MS 60000
#define FILE_MAX_BYTES ((size_t)64 << 10)

struct identity {
    char *dir;
    char *cert;
    struct secret token;
    struct secret next; /* empty: none is announced */
    struct http_tls *tls;
    struct loop_source *timer;
};

static int file_text(const char *dir, const char *name, char **ret, struct err *e)
{
    AUTO(free) char *path = xasprintf("%s/%s", dir, name);
    size_t n;

    return file_read(path, FILE_MAX_BYTES, ret, &n, e);
}

struct texts {
    char *cert;
    char *key;
    char *token;
    char *next; /* NULL: the file is not there */
};

static void texts_done(struct texts *t)
{
    free(t->cert);
    secret_wipe(t->key);
    secret_wipe(t->token);
    secret_wipe(t->next);
}
DEFINE_AUTO_DONE(struct texts, texts_done);

static int read_all(const char *dir, struct texts *t, struct err *e)
{
    int r = file_text(dir, "tls.crt", &t->cert, e);

    if (r == 0)
        r = file_text(dir, "tls.key", &t->key, e);
    if (r == 0)
        r = file_text(dir, "token", &t->token, e);
    if (r == 0 && str_trim(str_of(t->token)).n == 0)
        r = err_bad(e, "'%s/token' is empty", dir);
    if (r == 0)
        (void)file_text(dir, "next.token", &t->next, NULL);
    return r;
}

static void keep(struct identity *i, struct texts *t)
{
    free(i->cert);
    i->cert = TAKE(t->cert);
    secret_set(&i->token, str_trim(str_of(t->token)));
    secret_set(&i->next, str_trim(str_of(t->next)));
}

static bool is_same(const struct identity *i, const struct texts *t)
{
    AUTO(secret_done) struct secret token = {0};
    AUTO(secret_done) struct secret next = {0};

    secret_set(&token, str_trim(str_of(t->token)));
    secret_set(&next, str_trim(str_of(t->next)));
    return streq(t->cert, i->cert) && secret_equal(&token, &i->token) &&
           secret_equal(&next, &i->next);
}

bool identity_look(struct identity *i)
{
    AUTO(texts_done) struct texts t = {0};
    struct err e = {0};
    int r = read_all(i->dir, &t, &e);

    if (r == 0 && is_same(i, &t))
        return false;
    if (r == 0)
        r = http_tls_renew(i->tls, t.cert, t.key, NULL, &e);
    if (r < 0) {
        log_warn("the certificate stays as it is: %s", e.text);
        return false;
    }
    keep(i, &t);
    log_info("the certificate or the token is another one now");
    return true;
}

static void on_look(void *arg)
{
    struct identity *i = arg;

    (void)identity_look(i);
    loop_timer_arm(i->timer, LOOK_MS);
}

int identity_new(struct loop *l, const char *dir, struct identity **ret, struct err *e)
{
    AUTO(identity_free) struct identity *i = xcalloc(1, sizeof(*i));
    AUTO(texts_done) struct texts t = {0};
    int r = read_all(dir, &t, e);

    if (r == 0)
        r = http_tls_new(t.cert, t.key, NULL, &i->tls, e);
    if (r < 0)
        return r;
    i->dir = xstrdup(dir);
    keep(i, &t);
    i->timer = loop_add_timer(l, on_look, i);
    loop_timer_arm(i->timer, LOOK_MS);
    *ret = TAKE(i);
    return 0;
}

struct identity *identity_free(struct identity *i)
{
    if (!i)
        return NULL;
    (void)loop_source_free(i->timer);
    (void)http_tls_free(i->tls);
    secret_done(&i->token);
    secret_done(&i->next);
    free(i->cert);
    free(i->dir);
    free(i);
    return NULL;
}

struct http_tls *identity_tls(struct identity *i)
{
    return i->tls;
}

const struct secret *identity_token(const struct identity *i)
{
    return &i->token;
}

const struct secret *identity_next_token(const struct identity *i)
{
    return &i->next;
}
