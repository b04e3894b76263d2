/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: a SPDY session of a client.
 *
 * Streams are answered, ended, reset and forgotten as their data says, so that the bytes also steer
 * what the owner does.
 */
#include "src/http/spdy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct owner {
    struct spdy *spdy;
    size_t written;
};

static void sink(void *arg, struct str bytes)
{
    struct owner *o = arg;

    o->written += bytes.n;
}

static void opened(void *arg, struct spdy_stream *s)
{
    const char *type = spdy_stream_header(s, "streamtype");

    (void)arg;
    if (type && *type == 'r')
        spdy_stream_reset(s);
}

static void got(void *arg, struct spdy_stream *s, struct str data)
{
    struct owner *o = arg;

    assert(data.n > 0);
    if (data.p[0] == 'r')
        spdy_stream_reset(s);
    else if (data.p[0] == 's')
        spdy_stop(o->spdy);
    else if (!spdy_stream_arg(s))
        spdy_stream_write(s, data, false);
    if (data.p[0] == 'f' && !spdy_stream_arg(s)) {
        spdy_stream_write(s, (struct str){0}, true);
        spdy_stream_set_arg(s, o); /* ended by us */
    }
}

static void ended(void *arg, struct spdy_stream *s)
{
    (void)arg;
    if (spdy_stream_ended(s))
        spdy_stream_forget(s);
}

static void reset(void *arg, struct spdy_stream *s)
{
    (void)arg;
    spdy_stream_set_arg(s, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct spdy_events events = {sink, opened, got, ended, reset};
    struct owner o = {0};

    o.spdy = spdy_new(&events, &o);
    for (size_t i = 0; i < size; i += 7) {
        if (spdy_feed(o.spdy, (struct str){(const char *)data + i, MIN((size_t)7, size - i)}) != 0)
            break;
    }
    (void)spdy_free(o.spdy);
    return 0;
}
