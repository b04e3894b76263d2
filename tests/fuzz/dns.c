/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: questions to the cluster's name server.
 *
 * Any datagram of any pod arrives here.  A question that is taken must have a name that is text,
 * end inside the message, and get an answer that is a message of the same number, short enough for
 * who asked.
 */
#include <string.h>

#include "src/cluster/node/names/dns_zone.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fill(struct directory *d)
{
    static const char *const texts[] = {
        "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\"},\"spec\":{\"hostname\":\"h\","
        "\"subdomain\":\"s\"},\"status\":{\"podIP\":\"10.131.0.2\"}}",
        "{\"metadata\":{\"name\":\"s\",\"namespace\":\"n\"},\"spec\":{\"clusterIP\":\"10.96.0.1\","
        "\"ports\":[{\"name\":\"p\",\"port\":1}]}}"};
    struct jsn *v = NULL;

    if (jsn_parse(&d->arena, str_of(texts[0]), NULL, &v, NULL) == 0)
        directory_add_pod(d, v);
    if (jsn_parse(&d->arena, str_of(texts[1]), NULL, &v, NULL) == 0)
        directory_add_service(d, v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct directory d = {0};
    struct dns_zone z = {
        .directory = &d, .domain = "cluster.local", .base = 0x0a830000, .prefix = 16};
    struct str m = {(const char *)data, size};
    struct dns_question q;
    struct dns_answer a;

    if (size > 4096 || dns_question_parse(m, &q) != 0)
        return 0;
    assert(q.end <= size && strlen(q.name) <= DNS_MAX_NAME);
    fill(&d);
    dns_answer_begin(&a, m, &q);
    if (dns_zone_answer(&z, &q, &a) != DNS_NOT_OURS) {
        dns_answer_end(&a, DNS_OK, z.domain, true);
        assert(a.buf.n >= 12 && memcmp(a.buf.p, data, 2) == 0);
        assert(a.buf.n <= q.max_answer || a.n == 0);
    }
    buf_done(&a.buf);
    directory_done(&d);
    return 0;
}
