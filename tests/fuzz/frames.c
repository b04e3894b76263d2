/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames of clients.
 *
 * Each connection has its own compression of headers and its own stream numbers, as SPDY wants it.
 * What has gathered is cut at the last frame that was made here; the bytes after it become the
 * content of the next one, and raw bytes of the script stand between frames as they are.
 */
#include "tests/fuzz/frames.h"

#include "src/http/test/client_frame.h"

static const struct spdy_header headers[][3] = {
    {{"streamtype", "error"}},
    {{"streamtype", "stdin"}},
    {{"streamtype", "stdout"}},
    {{"streamtype", "stderr"}},
    {{"streamtype", "resize"}},
    {{"streamtype", "error"}, {"port", "80"}, {"requestid", "0"}},
    {{"streamtype", "data"}, {"port", "80"}, {"requestid", "0"}},
    {{"streamtype", "error"}, {"port", "443"}, {"requestid", "1"}},
    {{"streamtype", "data"}, {"port", "443"}, {"requestid", "1"}},
    {{"streamtype", "data"}, {"port", "1"}, {"requestid", "2"}},
    {{"streamtype", "error"}, {"port", "0"}, {"requestid", "3"}},
    {{"streamtype", "nothing"}, {"port", "x"}, {"requestid", ""}},
};

void frames_done(struct frames *f)
{
    for (size_t i = 0; i < PEERS; i++)
        frames_closed(f, i);
}

void frames_closed(struct frames *f, size_t i)
{
    if (f->begun[i])
        spdy_blocks_done(&f->blocks[i]);
    f->begun[i] = false;
    f->next[i] = 0;
    f->from[i] = 0;
}

static void add_u32(struct buf *b, uint32_t v)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        buf_addc(b, (char)(v >> shift));
}

static void open_stream(struct frames *f, struct peers *p, unsigned char n)
{
    const struct spdy_header *h = headers[n % ARRAY_LEN(headers)];
    AUTO(buf_done) struct buf block = {0};
    size_t count = 0;

    if (!f->begun[p->now])
        spdy_blocks_init(&f->blocks[p->now]);
    f->begun[p->now] = true;
    while (count < 3 && h[count].name)
        count++;
    spdy_block_write(&f->blocks[p->now], h, count, &block);
    add_u32(&p->gathered, 0x80030001);
    add_u32(&p->gathered, (uint32_t)block.n + 10);
    add_u32(&p->gathered, f->next[p->now]++ * 2 + 1);
    add_u32(&p->gathered, 0);
    buf_add(&p->gathered, "\0\0", 2);
    buf_addstr(&p->gathered, buf_view(&block));
}

static void add_data(struct buf *b, unsigned char n, struct str content)
{
    add_u32(b, n % 16U * 2 + 1);
    add_u32(b, (n & 0x80 ? 1U << 24 : 0) | (uint32_t)content.n);
    buf_addstr(b, content);
}

static void add_reset(struct buf *b, unsigned char n, struct str content)
{
    buf_addstr(b, content);
    add_u32(b, 0x80030003);
    add_u32(b, 8);
    add_u32(b, n % 16U * 2 + 1);
    add_u32(b, 5);
}

static void add_message(struct buf *b, unsigned char n, struct str content)
{
    client_frame(b, n, content);
}

/* Everything since the last frame, made into one. */
static void make(struct frames *f, struct peers *p, unsigned char n,
                 void (*add)(struct buf *b, unsigned char n, struct str content))
{
    AUTO(buf_done) struct buf tail = {0};
    size_t from = MIN(f->from[p->now], p->gathered.n);

    buf_add(&tail, buf_str(&p->gathered) + from, p->gathered.n - from);
    p->gathered.n = from;
    add(&p->gathered, n, buf_view(&tail));
}

bool frames_step(struct frames *f, struct peers *p, char step, unsigned char n)
{
    if (f->sends[p->now] != p->sends)
        f->from[p->now] = 0;
    f->sends[p->now] = p->sends;
    if (step == 'Y')
        open_stream(f, p, n);
    else if (step == 'D')
        make(f, p, n, add_data);
    else if (step == 'Z')
        make(f, p, n, add_reset);
    else if (step == 'M')
        make(f, p, n, add_message);
    else
        return false;
    f->from[p->now] = p->gathered.n;
    return true;
}
