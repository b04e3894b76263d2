/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exec and attach: one session, whichever the transport.
 *
 * A session gets ready when its streams exist (SPDY: the client opens each one; WebSocket: they are
 * there from the start), passes input and terminal sizes to its owner, output to the client, and
 * ends with a Status object on the error channel.  kubectl turns that into its own exit code.
 */
#include "src/http/channels_internal.h"

#include <stdio.h>

#include "src/base/alloc.h"

#define STREAMS_TIMEOUT_MS 30000
#define MAX_RESIZE_BYTES 4096
#define MAX_TERMINAL 65535

static void bury(void *arg)
{
    struct channels *ch = arg;

    channels_spdy_done(ch);
    buf_done(&ch->resize);
    free(ch);
}

/* Free at the end of the turn. */
static void channels_retire(struct channels *ch)
{
    ch->over = true;
    ch->timer = loop_source_free(ch->timer);
    loop_defer_free(ch->loop, bury, ch);
}

bool channels_wants(const struct channels *ch, enum channel c)
{
    switch (c) {
    case CHANNEL_STDIN:
        return ch->options.in;
    case CHANNEL_STDOUT:
        return ch->options.out;
    case CHANNEL_STDERR:
        return ch->options.err && !ch->options.tty;
    case CHANNEL_RESIZE:
        return ch->options.tty;
    case CHANNEL_ERROR:
        break;
    }
    return true;
}

void channels_client_gone(struct channels *ch)
{
    if (ch->over)
        return;
    channels_retire(ch);
    ch->options.events.on_close(ch->options.arg);
}

/* Ready is due, or the streams have not come in time. */
static void time_reached(void *arg)
{
    struct channels *ch = arg;

    if (ch->state == CHANNELS_DUE) {
        channels_tell_ready(ch);
        return;
    }
    ch->transport->abandon(ch);
    channels_client_gone(ch);
}

void channels_ready_soon(struct channels *ch)
{
    ch->state = CHANNELS_DUE;
    loop_timer_arm(ch->timer, 0);
}

void channels_tell_ready(struct channels *ch)
{
    ch->state = CHANNELS_READY;
    loop_timer_disarm(ch->timer);
    ch->options.events.on_ready(ch->options.arg);
}

/* The number after "key": in a small JSON object, or 0; Go takes keys in any case. */
static unsigned int number_at(const char *json, const char *key)
{
    const char *at = strcasestr(json, key);
    unsigned int n = 0;

    if (!at)
        return 0;
    at += strlen(key);
    at += strspn(at, " \t:");
    for (; *at >= '0' && *at <= '9'; at++) {
        n = n * 10 + (unsigned int)(*at - '0');
        if (n > MAX_TERMINAL)
            return 0;
    }
    return n;
}

/* Sizes are JSON objects one after the other, cut anywhere; the last whole one counts. */
static void got_resize(struct channels *ch, struct str data)
{
    unsigned int width, height;
    size_t end = 0;

    ch->resize.max = MAX_RESIZE_BYTES;
    buf_addstr(&ch->resize, data);
    for (size_t i = 0; i < ch->resize.n; i++) {
        if (ch->resize.p[i] != '}')
            continue;
        ch->resize.p[i] = '\0';
        width = number_at(ch->resize.p + end, "\"width\"");
        height = number_at(ch->resize.p + end, "\"height\"");
        end = i + 1;
        if (width > 0 && height > 0 && !ch->over)
            ch->options.events.on_resize(ch->options.arg, width, height);
    }
    if (ch->resize.overflow)
        buf_clear(&ch->resize);
    else
        buf_eat(&ch->resize, end);
}

/* May the owner be told of this now? */
static bool may_tell(struct channels *ch)
{
    if (!ch->over && ch->state == CHANNELS_DUE)
        channels_tell_ready(ch); /* what arrives at once must not overtake it */
    return !ch->over && ch->state == CHANNELS_READY;
}

void channels_drained(struct channels *ch)
{
    if (!ch->over && ch->state == CHANNELS_READY)
        ch->options.events.on_drain(ch->options.arg);
}

void channels_got(struct channels *ch, enum channel from, struct str data)
{
    if (data.n == 0 || !channels_wants(ch, from) || !may_tell(ch))
        return;
    if (from == CHANNEL_STDIN && !ch->in_ended)
        ch->options.events.on_stdin(ch->options.arg, data);
    else if (from == CHANNEL_RESIZE)
        got_resize(ch, data);
}

void channels_got_end(struct channels *ch, enum channel from)
{
    if (from != CHANNEL_STDIN || ch->in_ended || !ch->options.in || !may_tell(ch))
        return;
    ch->in_ended = true;
    ch->options.events.on_stdin_end(ch->options.arg);
}

int channels_accept(struct http_exchange *x, const struct channels_options *o,
                    struct channels **ret_channels, int *ret_status, struct err *e)
{
    struct channels *ch = xcalloc(1, sizeof(*ch));
    int r;

    ch->loop = http_exchange_loop(x);
    ch->options = *o;
    ch->timer = loop_add_timer(ch->loop, time_reached, ch);
    loop_timer_arm(ch->timer, STREAMS_TIMEOUT_MS);
    if (websocket_wanted(x))
        r = channels_ws_open(ch, x, ret_status, e);
    else
        r = channels_spdy_open(ch, x, ret_status, e);
    if (r < 0) {
        channels_retire(ch);
        return r;
    }
    *ret_channels = ch;
    return 0;
}

void channels_write(struct channels *ch, enum channel to, struct str data)
{
    if (!ch->over && data.n > 0 && channels_wants(ch, to))
        ch->transport->write(ch, to, data);
}

size_t channels_backlog(const struct channels *ch)
{
    return ch->transport->backlog(ch);
}

void channels_pause(struct channels *ch, bool on)
{
    if (!ch->over)
        ch->transport->pause(ch, on);
}

static void channels_end(struct channels *ch, struct str status_json)
{
    if (ch->over)
        return;
    channels_retire(ch);
    ch->transport->end(ch, status_json);
}

void channels_exit(struct channels *ch, int code)
{
    AUTO(buf_done) struct buf b = {0};

    if (code == 0) {
        channels_end(ch, STR("{\"metadata\":{},\"status\":\"Success\"}"));
        return;
    }
    buf_printf(&b,
               "{\"metadata\":{},\"status\":\"Failure\",\"message\":\"command terminated with "
               "non-zero exit code: exit status %d\",\"reason\":\"NonZeroExitCode\",\"details\":{"
               "\"causes\":[{\"reason\":\"ExitCode\",\"message\":\"%d\"}]}}",
               code, code);
    channels_end(ch, buf_view(&b));
}

static void add_json_text(struct buf *b, const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            buf_printf(b, "\\%c", *text);
        else if ((unsigned char)*text < ' ')
            buf_printf(b, "\\u%04x", *text);
        else
            buf_addc(b, *text);
    }
}

void channels_fail(struct channels *ch, const char *message)
{
    AUTO(buf_done) struct buf b = {0};

    buf_adds(&b, "{\"metadata\":{},\"status\":\"Failure\",\"message\":\"");
    add_json_text(&b, message);
    buf_adds(&b, "\",\"reason\":\"InternalError\",\"details\":{\"causes\":[{\"message\":\"");
    add_json_text(&b, message);
    buf_adds(&b, "\"}]},\"code\":500}");
    channels_end(ch, buf_view(&b));
}
