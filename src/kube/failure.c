/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Refusals of an API server.
 *
 * A kube-apiserver refuses with a Status object, whose code and reason say what is wrong.  What
 * stands before it (a load balancer, a proxy, an overloaded front) may answer with anything; then
 * the HTTP status alone decides, and the beginning of the body is shown if it is text.
 */
#include "src/kube/failure.h"

#include <ctype.h>
#include <stdio.h>

#define SHOWN_BYTES 120

static const struct {
    int code;
    const char *reason; /* NULL: any */
    int num;
    enum err_class class;
    const char *text; /* where the server gives no message */
} table[] = {
    {400, NULL, -EINVAL, ERR_PERMANENT, "the request is malformed"},
    {401, NULL, -EACCES, ERR_PERMANENT, "the credentials are not accepted"},
    {403, NULL, -EPERM, ERR_PERMANENT, "not allowed"},
    {404, NULL, -ENOENT, ERR_PERMANENT, "not found"},
    {405, NULL, -ENOTSUP, ERR_PERMANENT, "this cannot be done with this resource"},
    {408, NULL, -ETIMEDOUT, ERR_RETRY, "the server waited in vain for the request"},
    {409, "AlreadyExists", -EEXIST, ERR_CONFLICT, "already exists"},
    {409, NULL, -ESTALE, ERR_CONFLICT, "changed by somebody else meanwhile"},
    {410, NULL, -EIDRM, ERR_CONFLICT, "the version asked for is gone"},
    {413, NULL, -EMSGSIZE, ERR_PERMANENT, "the request is too large"},
    {429, NULL, -EBUSY, ERR_RETRY, "too many requests"},
    {500, NULL, -EREMOTEIO, ERR_RETRY, "the server has an internal error"},
    {502, NULL, -EREMOTEIO, ERR_RETRY, "the server behind the gateway is broken"},
    {503, NULL, -EBUSY, ERR_RETRY, "the server is unavailable"},
    {504, NULL, -ETIMEDOUT, ERR_RETRY, "the server did not finish in time"},
};

static void classify(struct kube_failure *f, const char **ret_text)
{
    f->err.num = f->code >= 500 ? -EREMOTEIO : -EINVAL;
    f->err.class = f->code >= 500 ? ERR_RETRY : ERR_PERMANENT;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        if (table[i].code != f->code || (table[i].reason && !streq(table[i].reason, f->reason)))
            continue;
        f->err.num = table[i].num;
        f->err.class = table[i].class;
        *ret_text = table[i].text;
        return;
    }
}

static void fill(struct kube_failure *f, const char *what, const char *message)
{
    const char *text = NULL;

    classify(f, &text);
    if (message && *message)
        (void)err_set(&f->err, f->err.num, f->err.class, "%s: %.400s", what, message);
    else if (text)
        (void)err_set(&f->err, f->err.num, f->err.class, "%s: %s (HTTP %d)", what, text, f->code);
    else
        (void)err_set(&f->err, f->err.num, f->err.class, "%s: the server answered HTTP %d", what,
                      f->code);
}

void kube_failure_from_status(struct kube_failure *f, const char *what, const struct jsn *status)
{
    const char *reason = jsn_get_str(status, "reason");
    int64_t seconds = jsn_get_int(status, "details.retryAfterSeconds", 0);

    *f = (struct kube_failure){.code = (int)jsn_get_int(status, "code", 500)};
    if (f->code < 400 || f->code > 599)
        f->code = 500;
    (void)snprintf(f->reason, sizeof(f->reason), "%.47s", reason ? reason : "");
    f->retry_after_ms = (int)(MIN(MAX(seconds, (int64_t)0), (int64_t)3600) * 1000);
    fill(f, what, jsn_get_str(status, "message"));
}

/* The beginning of a text that is no Status; NULL if people cannot read it. */
static const char *shown(struct str body, char room[SHOWN_BYTES + 1])
{
    size_t n = 0;

    body = str_trim(body);
    if (body.n > 0 && *body.p == '<')
        return NULL;
    for (; n < body.n && n < SHOWN_BYTES; n++) {
        unsigned char c = (unsigned char)body.p[n];

        if (c >= 0x7f || (!isprint(c) && !isspace(c)))
            return NULL;
        room[n] = (char)(isspace(c) ? ' ' : c);
    }
    room[n] = '\0';
    return room;
}

void kube_failure_from_answer(struct kube_failure *f, const char *what, int code, struct str body)
{
    AUTO(arena_done) struct arena a = {0};
    char room[SHOWN_BYTES + 1];
    struct jsn *status = NULL;

    if (jsn_parse(&a, body, NULL, &status, NULL) == 0 &&
        streq(jsn_get_str(status, "kind"), "Status")) {
        kube_failure_from_status(f, what, status);
        if (f->code != code) {
            f->code = code;
            fill(f, what, jsn_get_str(status, "message"));
        }
        return;
    }
    *f = (struct kube_failure){.code = code};
    fill(f, what, shown(body, room));
}
