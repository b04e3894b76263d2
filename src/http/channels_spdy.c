/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exec's channels over SPDY/3.1: v4.channel.k8s.io.
 *
 * The client opens one stream per channel, which its header "streamtype" names: error always,
 * stdin, stdout and stderr as asked for, resize with a terminal.  The session is ready when the
 * last of them is there.  The end of input is the end of the stdin stream's half.
 */
#include "src/http/channels_internal.h"

#include "src/base/alloc.h"

static const char *const names[CHANNELS] = {"stdin", "stdout", "stderr", "error", "resize"};

static void spdy_bytes(void *arg, struct str bytes)
{
    struct channels *ch = arg;

    carrier_write(&ch->carrier, bytes);
}

static bool all_there(const struct channels *ch)
{
    for (int i = 0; i < CHANNELS; i++) {
        if (channels_wants(ch, (enum channel)i) && !ch->streams[i])
            return false;
    }
    return true;
}

static void stream_opened(void *arg, struct spdy_stream *s)
{
    const char *type = spdy_stream_header(s, "streamtype");
    struct channels *ch = arg;

    for (int i = 0; i < CHANNELS; i++) {
        if (!streq(type, names[i]) || ch->streams[i] || !channels_wants(ch, (enum channel)i))
            continue;
        ch->streams[i] = s;
        if (ch->state == CHANNELS_OPENING && all_there(ch))
            channels_tell_ready(ch);
        return;
    }
    spdy_stream_reset(s);
}

static enum channel channel_of(const struct channels *ch, const struct spdy_stream *s)
{
    int i = 0;

    while (i < CHANNELS && ch->streams[i] != s)
        i++;
    assert(i < CHANNELS);
    return (enum channel)i;
}

static void stream_data(void *arg, struct spdy_stream *s, struct str data)
{
    channels_got(arg, channel_of(arg, s), data);
}

static void stream_fin(void *arg, struct spdy_stream *s)
{
    channels_got_end(arg, channel_of(arg, s));
}

static void stream_reset(void *arg, struct spdy_stream *s)
{
    struct channels *ch = arg;
    enum channel c = channel_of(ch, s);

    ch->streams[c] = NULL;
    channels_got_end(ch, c);
}

static void carrier_data(void *arg, struct str data)
{
    struct channels *ch = arg;

    if (spdy_feed(ch->spdy, data) == 0 || ch->over)
        return;
    carrier_close(&ch->carrier);
    channels_client_gone(ch);
}

static void carrier_closed(void *arg)
{
    channels_client_gone(arg);
}

static void carrier_drained(void *arg)
{
    channels_drained(arg);
}

static void spdy_write(struct channels *ch, enum channel to, struct str data)
{
    if (ch->streams[to])
        spdy_stream_write(ch->streams[to], data, false);
}

static size_t spdy_backlog(const struct channels *ch)
{
    return carrier_backlog(&ch->carrier);
}

static void spdy_pause(struct channels *ch, bool on)
{
    carrier_pause(&ch->carrier, on);
}

static void spdy_end(struct channels *ch, struct str status_json)
{
    spdy_stop(ch->spdy);
    for (int i = CHANNEL_STDOUT; i <= CHANNEL_STDERR; i++) {
        if (ch->streams[i])
            spdy_stream_write(ch->streams[i], (struct str){0}, true);
    }
    if (ch->streams[CHANNEL_ERROR])
        spdy_stream_write(ch->streams[CHANNEL_ERROR], status_json, true);
    carrier_close(&ch->carrier);
}

static void spdy_abandon(struct channels *ch)
{
    spdy_stop(ch->spdy);
    carrier_close(&ch->carrier);
}

void channels_spdy_done(struct channels *ch)
{
    ch->spdy = spdy_free(ch->spdy);
}

int channels_spdy_open(struct channels *ch, struct http_exchange *x, int *ret_status, struct err *e)
{
    static const struct channels_transport transport = {spdy_write, spdy_backlog, spdy_pause,
                                                        spdy_end, spdy_abandon};
    static const struct spdy_events spdy = {spdy_bytes, stream_opened, stream_data, stream_fin,
                                            stream_reset};
    static const struct carrier_events carrier = {carrier_data, carrier_closed, carrier_drained};

    *ret_status = 400;
    if (!carrier_spdy_wanted(x))
        return err_bad(e, "unable to upgrade: unexpected upgrade header: neither WebSocket nor "
                          "SPDY/3.1 is asked for");
    *ret_status = 403;
    if (!carrier_spdy_offered(x, "v4.channel.k8s.io"))
        return err_bad(e, "none of the offered stream protocols is spoken here: "
                          "v4.channel.k8s.io is");
    ch->transport = &transport;
    ch->spdy = spdy_new(&spdy, ch);
    carrier_open_raw(&ch->carrier, x,
                     "Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\n"
                     "X-Stream-Protocol-Version: v4.channel.k8s.io\r\n",
                     &carrier, ch);
    return 0;
}
