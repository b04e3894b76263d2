/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers and errors of calls.
 *
 * libslurm tells an error by a number: Slurm's own from 1000 on, errno's below.  What the agent
 * needs to know is what to do about it, so each number gets a kind: the controller is not there
 * (wait), we may not (somebody must change a right), not now (try again), or no (change the
 * request).  The number goes along for those who look closer, the text for people.
 */
#include "src/agent/worker/call.h"

#include <stdarg.h>

#include "src/agent/worker/names.h"
#include "src/agent/worker/release.h"
#include "src/slurm/line_text.h"

/* Where groups of codes begin; their members come and go with the releases. */
enum { CODE_SLURM = 1000, CODE_SOCKET = 5000, CODE_AUTH = 6000, CODE_DATABASE = 7000 };

static bool code_among(int code, const int *codes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (codes[i] == code)
            return true;
    return false;
}

/* The second is what is left of the words of a slurmctld that takes ours for HTTP (25.11 and on).
 */
bool call_code_mismatch(int code)
{
    static const int codes[] = {SLURM_PROTOCOL_VERSION_ERROR, SLURM_PROTOCOL_INSANE_MSG_LENGTH};

    return code_among(code, codes, ARRAY_LEN(codes));
}

const char *call_code_kind(int code)
{
    static const int down[] = {
        SLURM_COMMUNICATIONS_CONNECTION_ERROR,     SLURM_COMMUNICATIONS_SEND_ERROR,
        SLURM_COMMUNICATIONS_RECEIVE_ERROR,        SLURM_COMMUNICATIONS_SHUTDOWN_ERROR,
        SLURM_COMMUNICATIONS_MISSING_SOCKET_ERROR, SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR,
        SLURMCTLD_COMMUNICATIONS_SEND_ERROR,       SLURMCTLD_COMMUNICATIONS_RECEIVE_ERROR,
        SLURMCTLD_COMMUNICATIONS_SHUTDOWN_ERROR,
    };
    /* The system's codes that slurmctld may answer with; all others are of the way there. */
    static const int answers[] = {EINVAL, ENOENT, EEXIST, EBUSY, ENOTSUP};
    static const int denied[] = {
        ESLURM_ACCESS_DENIED,
        ESLURM_USER_ID_MISSING,
        SLURM_PROTOCOL_AUTHENTICATION_ERROR,
        EACCES,
        EPERM,
    };
    static const int busy[] = {
        RELEASE_CODE_BACKOFF,
        ESLURM_IN_STANDBY_MODE,
        ESLURM_TRANSITION_STATE_NO_UPDATE,
        ESLURM_NODES_BUSY,
        ESLURM_PARTITION_IN_USE,
        ESLURM_RESERVATION_BUSY,
        ESLURM_REBOOT_IN_PROGRESS,
        EAGAIN,
    };

    if (call_code_mismatch(code) || code_among(code, down, ARRAY_LEN(down)) ||
        (code >= CODE_SOCKET && code < CODE_AUTH))
        return "down";
    if (code_among(code, denied, ARRAY_LEN(denied)) || (code >= CODE_AUTH && code < CODE_DATABASE))
        return "denied";
    if (code_among(code, busy, ARRAY_LEN(busy)))
        return "busy";
    if (code > 0 && code < CODE_SLURM && !code_among(code, answers, ARRAY_LEN(answers)))
        return "down";
    return "refused";
}

static int error_put(struct worker_call *c, const char *kind, int code, const char *text)
{
    struct jsn *error = jsn_object(c->arena);

    if (streq(kind, "down"))
        names_forget();
    jsn_set_str(c->arena, error, "kind", kind);
    jsn_set_int(c->arena, error, "code", code);
    jsn_set_str(c->arena, error, "text", text);
    jsn_set_bool(c->arena, c->answer, "ok", false);
    jsn_set(c->arena, c->answer, "error", error);
    return -1;
}

int call_refused(struct worker_call *c, int code, const char *fmt, ...)
{
    AUTO(buf_done) struct buf text = {0};
    va_list ap;

    va_start(ap, fmt);
    buf_vprintf(&text, fmt, ap);
    va_end(ap);
    buf_printf(&text, ": %s", slurm_strerror(code));
    return error_put(c, call_code_kind(code), code, buf_str(&text));
}

int call_invalid(struct worker_call *c, const char *fmt, ...)
{
    AUTO(buf_done) struct buf text = {0};
    va_list ap;

    va_start(ap, fmt);
    buf_vprintf(&text, fmt, ap);
    va_end(ap);
    return error_put(c, "invalid", EINVAL, buf_str(&text));
}

int call_failed(struct worker_call *c, const char *kind, const char *text)
{
    return error_put(c, kind, 0, text);
}

const char *call_need(struct worker_call *c, const char *key)
{
    const char *text = jsn_text(jsn_key(c->request, key));

    if (text && text[0])
        return text;
    (void)call_invalid(c, "'%s' is missing", key);
    return NULL;
}

char *call_text(struct worker_call *c, const char *key)
{
    const char *text = jsn_text(jsn_key(c->request, key));

    return text ? arena_strdup(c->arena, text) : NULL;
}

int call_check_texts(struct worker_call *c)
{
    JSN_FOR_MEMBERS (m, c->request) {
        bool note = str_eqz(m->key, "reason") || str_eqz(m->key, "comment");
        const char *fault = NULL;

        if (jsn_is(m->value, JSN_STRING))
            fault = note ? line_text_reason_fault(m->value->s) : line_text_fault(m->value->s);
        if (fault)
            return call_invalid(c, "'%s' %s", m->key.p, fault);
    }
    return 0;
}

const char *call_said(const char *text)
{
    return text && text[0] ? text : NULL;
}

int64_t call_time(time_t when)
{
    return when > 0 && when != (time_t)NO_VAL && when != (time_t)INFINITE ? when : 0;
}

void call_put_text(struct worker_call *c, struct jsn *object, const char *key, const char *text)
{
    if (text && text[0])
        jsn_set_str(c->arena, object, key, text);
}

void call_put_time(struct worker_call *c, struct jsn *object, const char *key, time_t when)
{
    if (call_time(when) > 0)
        jsn_set_int(c->arena, object, key, when);
}

time_t call_since(const struct worker_call *c)
{
    return (time_t)jsn_get_int(c->request, "since", 0);
}

int call_unchanged(struct worker_call *c)
{
    jsn_set_bool(c->arena, c->answer, "unchanged", true);
    return 0;
}

struct jsn *call_items(struct worker_call *c, time_t when)
{
    struct jsn *items = jsn_array(c->arena);

    jsn_set_int(c->arena, c->answer, "time", when);
    jsn_set(c->arena, c->answer, "items", items);
    return items;
}

bool call_wants(const struct worker_call *c, const char *name)
{
    const struct jsn *only = jsn_key(c->request, "only");

    if (!only)
        return true;
    JSN_FOR_ITEMS (item, only)
        if (streq(jsn_text(item), name))
            return true;
    return false;
}
