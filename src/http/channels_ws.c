/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exec's channels over WebSocket: v5.channel.k8s.io and v4.channel.k8s.io.
 *
 * The first byte of each message names the channel.  v5 adds the message "255, channel": the sender
 * closes that channel, which is how the end of input is told.  Clients may send text messages; ours
 * are binary.
 */
#include "src/http/channels_internal.h"

#define CLOSE_CHANNEL 255

static void message(void *arg, enum frame_opcode opcode, struct str data)
{
    struct channels *ch = arg;
    unsigned char channel;

    (void)opcode;
    if (data.n == 0)
        return;
    channel = (unsigned char)data.p[0];
    if (channel == CLOSE_CHANNEL && ch->v5) {
        if (data.n >= 2 && data.p[1] == CHANNEL_STDIN)
            channels_got_end(ch, CHANNEL_STDIN);
    } else if (channel < CHANNELS) {
        channels_got(ch, (enum channel)channel, (struct str){data.p + 1, data.n - 1});
    }
}

static void closed(void *arg, int code)
{
    struct channels *ch = arg;

    (void)code;
    ch->ws = NULL;
    channels_client_gone(ch);
}

static void drained(void *arg)
{
    channels_drained(arg);
}

static void ws_write(struct channels *ch, enum channel to, struct str data)
{
    char head = (char)to;

    websocket_send(ch->ws, FRAME_BINARY, (struct str){&head, 1}, data);
}

static size_t ws_backlog(const struct channels *ch)
{
    return websocket_backlog(ch->ws);
}

static void ws_pause(struct channels *ch, bool on)
{
    websocket_pause(ch->ws, on);
}

static void ws_end(struct channels *ch, struct str status_json)
{
    ws_write(ch, CHANNEL_ERROR, status_json);
    websocket_close(TAKE(ch->ws), FRAME_NORMAL, NULL);
}

static void ws_abandon(struct channels *ch)
{
    websocket_close(TAKE(ch->ws), FRAME_GOING_AWAY, NULL);
}

int channels_ws_open(struct channels *ch, struct http_exchange *x, int *ret_status, struct err *e)
{
    static const struct channels_transport transport = {ws_write, ws_backlog, ws_pause, ws_end,
                                                        ws_abandon};
    static const char *const protocols[] = {"v5.channel.k8s.io", "v4.channel.k8s.io", NULL};
    struct websocket_options o = {
        .protocols = protocols, .events = {message, closed, drained}, .arg = ch};
    bool v5 = streq(websocket_choose(x, protocols), protocols[0]);
    int r;

    r = websocket_accept(x, &o, &ch->ws, ret_status, e);
    if (r < 0)
        return r;
    ch->v5 = v5;
    ch->transport = &transport;
    channels_ready_soon(ch);
    return 0;
}
