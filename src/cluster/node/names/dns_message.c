/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DNS on the wire (RFC 1035, RFC 6891), as little of it as an authoritative answer needs.
 *
 * One question a message, no compression in questions; answers point back to the question's name.
 */
#include "src/cluster/node/names/dns_message.h"

#define HEADER 12
#define FLAG_ANSWER 0x8000
#define FLAG_AUTHORITATIVE 0x0400
#define FLAG_CUT 0x0200
#define FLAG_RECURSION_WANTED 0x0100
#define FLAG_RECURSION_DONE 0x0080
#define NAME_POINTER 0xc00c /* to the question's name */
#define CLASS_IN 1
#define NEGATIVE_TTL 5

static uint16_t get16(struct str m, size_t at)
{
    const unsigned char *u = (const unsigned char *)m.p + at;

    return (uint16_t)(u[0] << 8 | u[1]);
}

static void put16(struct buf *b, unsigned int v)
{
    buf_addc(b, (char)(v >> 8));
    buf_addc(b, (char)v);
}

static void put32(struct buf *b, uint32_t v)
{
    put16(b, v >> 16);
    put16(b, v & 0xffff);
}

static void set16(struct buf *b, size_t at, unsigned int v)
{
    b->p[at] = (char)(v >> 8);
    b->p[at + 1] = (char)v;
}

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static int read_name(struct str m, size_t *at, char name[DNS_MAX_NAME + 1])
{
    size_t n = 0;

    for (;;) {
        size_t label;

        if (*at >= m.n)
            return -EINVAL;
        label = (unsigned char)m.p[(*at)++];
        if (label == 0)
            break;
        if (label > 63 || *at + label > m.n || n + label + 1 > DNS_MAX_NAME)
            return -EINVAL;
        if (n)
            name[n++] = '.';
        for (size_t i = 0; i < label; i++)
            name[n++] = lower(m.p[(*at)++]);
    }
    name[n] = '\0';
    return memchr(name, 0, n) ? -EINVAL : 0;
}

/* An OPT record after the question tells how much the client takes. */
static void read_opt(struct str m, struct dns_question *q)
{
    size_t at = q->end;

    q->max_answer = 512;
    if (get16(m, 6) || get16(m, 8) || get16(m, 10) != 1 || at + 11 > m.n || m.p[at] != 0 ||
        get16(m, at + 1) != DNS_OPT)
        return;
    q->has_opt = true;
    q->max_answer = MAX(512, MIN(get16(m, at + 3), DNS_MAX_UDP));
}

int dns_question_parse(struct str m, struct dns_question *ret)
{
    struct dns_question q = {0};
    size_t at = HEADER;

    if (m.n < HEADER || get16(m, 2) & FLAG_ANSWER)
        return -EBADMSG;
    q.id = get16(m, 0);
    q.recursion_wanted = get16(m, 2) & FLAG_RECURSION_WANTED;
    *ret = q;
    ret->end = HEADER;
    ret->max_answer = 512;
    if (get16(m, 4) != 1 || read_name(m, &at, q.name) < 0 || at + 4 > m.n)
        return -EINVAL;
    q.type = get16(m, at);
    q.end = at + 4;
    read_opt(m, &q);
    *ret = q;
    return get16(m, at + 2) == CLASS_IN ? 0 : -EINVAL;
}

void dns_answer_begin(struct dns_answer *a, struct str message, const struct dns_question *q)
{
    *a = (struct dns_answer){.question = message, .q = q};
    buf_init(&a->buf, 65535);
    buf_add(&a->buf, message.p, q->end);
}

static void begin_record(struct dns_answer *a, unsigned int type, uint32_t ttl)
{
    put16(&a->buf, NAME_POINTER);
    put16(&a->buf, type);
    put16(&a->buf, CLASS_IN);
    put32(&a->buf, ttl);
    a->n++;
}

static void put_name(struct buf *b, const char *name)
{
    struct str rest = str_of(name), label;

    while (rest.n && str_split(&rest, '.', &label)) {
        if (label.n == 0 || label.n > 63)
            continue;
        buf_addc(b, (char)label.n);
        buf_addstr(b, label);
    }
    buf_addc(b, '\0');
}

void dns_answer_a(struct dns_answer *a, uint32_t address, uint32_t ttl)
{
    begin_record(a, DNS_A, ttl);
    put16(&a->buf, 4);
    put32(&a->buf, address);
}

void dns_answer_name(struct dns_answer *a, enum dns_type type, const char *name, uint32_t ttl)
{
    size_t at;

    begin_record(a, type, ttl);
    at = a->buf.n;
    put16(&a->buf, 0);
    put_name(&a->buf, name);
    set16(&a->buf, at, (unsigned int)(a->buf.n - at - 2));
}

void dns_answer_srv(struct dns_answer *a, uint16_t port, const char *name, uint32_t ttl)
{
    size_t at;

    begin_record(a, DNS_SRV, ttl);
    at = a->buf.n;
    put16(&a->buf, 0);
    put16(&a->buf, 0);
    put16(&a->buf, 100);
    put16(&a->buf, port);
    put_name(&a->buf, name);
    set16(&a->buf, at, (unsigned int)(a->buf.n - at - 2));
}

static void put_soa(struct buf *b, const char *zone)
{
    size_t at;

    put_name(b, zone);
    put16(b, DNS_SOA);
    put16(b, CLASS_IN);
    put32(b, NEGATIVE_TTL);
    at = b->n;
    put16(b, 0);
    put_name(b, zone);
    put_name(b, zone);
    put32(b, 1);
    put32(b, 7200);
    put32(b, 1800);
    put32(b, 86400);
    put32(b, NEGATIVE_TTL);
    set16(b, at, (unsigned int)(b->n - at - 2));
}

static void put_opt(struct buf *b)
{
    buf_addc(b, '\0');
    put16(b, DNS_OPT);
    put16(b, DNS_MAX_UDP);
    put32(b, 0);
    put16(b, 0);
}

void dns_answer_end(struct dns_answer *a, enum dns_code code, const char *zone, bool udp)
{
    const struct dns_question *q = a->q;
    unsigned int flags = FLAG_ANSWER | FLAG_AUTHORITATIVE | FLAG_RECURSION_DONE | code;
    bool negative = a->n == 0 && zone && q->end > HEADER;

    if (q->recursion_wanted)
        flags |= FLAG_RECURSION_WANTED;
    if (negative)
        put_soa(&a->buf, zone);
    if (udp && a->buf.n + (q->has_opt ? 11 : 0) > q->max_answer) {
        a->buf.n = q->end;
        a->n = 0;
        negative = false;
        flags |= FLAG_CUT;
    }
    if (q->has_opt)
        put_opt(&a->buf);
    set16(&a->buf, 2, flags);
    set16(&a->buf, 4, q->end > HEADER);
    set16(&a->buf, 6, a->n);
    set16(&a->buf, 8, negative);
    set16(&a->buf, 10, q->has_opt);
}
