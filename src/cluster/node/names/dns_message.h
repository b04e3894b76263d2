/* SPDX-License-Identifier: GPL-2.0-or-later */
/* DNS messages: read a question, write an answer; pure. */
#pragma once

#include <stdint.h>

#include "src/base/buf.h"

#define DNS_MAX_NAME 255
#define DNS_MAX_UDP 1232

enum dns_type {
    DNS_A = 1,
    DNS_CNAME = 5,
    DNS_SOA = 6,
    DNS_PTR = 12,
    DNS_AAAA = 28,
    DNS_SRV = 33,
    DNS_OPT = 41,
    DNS_ANY = 255
};
enum dns_code {
    DNS_OK = 0,
    DNS_FORMAT_ERROR = 1,
    DNS_SERVER_FAILED = 2,
    DNS_NO_NAME = 3,
    DNS_NOT_IMPLEMENTED = 4
};

struct dns_question {
    uint16_t id;
    bool recursion_wanted;
    uint16_t type;
    char name[DNS_MAX_NAME + 1]; /* lower case, without the last dot */
    size_t end;                  /* where the question section ends */
    size_t max_answer;           /* what the client takes over UDP */
    bool has_opt;
};

/* -EBADMSG: not even an answer is possible.  -EINVAL: the answer is a format error. */
int dns_question_parse(struct str message, struct dns_question *ret) MUST_CHECK;

/* An answer under way. */
struct dns_answer {
    struct buf buf;
    uint16_t n;
    struct str question; /* the message that asked */
    const struct dns_question *q;
};

void dns_answer_begin(struct dns_answer *a, struct str message, const struct dns_question *q);
/* Records about the name that was asked for. */
void dns_answer_a(struct dns_answer *a, uint32_t address, uint32_t ttl);
void dns_answer_name(struct dns_answer *a, enum dns_type type, const char *name, uint32_t ttl);
void dns_answer_srv(struct dns_answer *a, uint16_t port, const char *name, uint32_t ttl);
/* Close it: the code, and, where nothing was found, the zone that says so.  Over UDP an answer that
 * is too long is cut and says so. */
void dns_answer_end(struct dns_answer *a, enum dns_code code, const char *zone, bool udp);
