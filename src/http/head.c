/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Request heads.
 *
 * Input is everything up to and including the empty line; output is a method, a target cut into
 * path and query, the header fields, and one of three framings: no body, a length, or chunked.
 *
 * The parser is strict where leniency lets a proxy and this server disagree about where a request
 * ends (request smuggling): lines end with CR LF and neither stands alone; no blank before a colon;
 * no folded lines; one Host; one Content-Length of digits only, never beside Transfer-Encoding; the
 * only transfer coding is "chunked", named once, and not in HTTP/1.0.  Other faults get 400,
 * unknown codings 501, other versions 505.
 */
#include "src/http/head.h"

#include <string.h>
#include <strings.h>

#include "src/base/alloc.h"

#define MAX_METHOD 32

struct parser {
    struct http_head *head;
    char *at;   /* rest of the text, which is terminated */
    size_t cap; /* of head->headers */
    const char *why;
};

static int refuse(struct parser *p, int status, const char *why)
{
    p->why = why;
    return status;
}

void http_head_done(struct http_head *h)
{
    free(h->text);
    free(h->headers);
    *h = (struct http_head){0};
}

size_t http_head_end(struct str text, size_t seen)
{
    size_t from = seen > 3 ? seen - 3 : 0;
    const char *end;

    if (text.n < 4)
        return 0;
    end = memmem(text.p + from, text.n - from, "\r\n\r\n", 4);
    return end ? (size_t)(end - text.p) + 4 : 0;
}

static bool is_token_char(unsigned char c)
{
    if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
        return true;
    return c && strchr("!#$%&'*+-.^_`|~", c);
}

static size_t token_span(const char *s)
{
    size_t n = 0;

    while (is_token_char((unsigned char)s[n]))
        n++;
    return n;
}

/* Cut the next line out; NULL if it holds a CR or LF that is not its end. */
static char *next_line(struct parser *p)
{
    char *line = p->at;
    size_t n = strcspn(line, "\r\n");

    if (line[n] != '\r' || line[n + 1] != '\n')
        return NULL;
    line[n] = '\0';
    p->at = line + n + 2;
    return line;
}

/* Absolute form ("http://host/path"): drop scheme and authority, keep what an origin form has. */
static char *strip_authority(char *target)
{
    char *at;

    if (strncasecmp(target, "http://", 7) == 0)
        at = target + 7;
    else if (strncasecmp(target, "https://", 8) == 0)
        at = target + 8;
    else
        return target;
    at += strcspn(at, "/?");
    if (*at == '/')
        return at;
    *--at = '/'; /* overwrites the authority's last character, or a slash */
    return at;
}

static int parse_target(struct parser *p, char *target)
{
    char *query;

    for (const unsigned char *c = (unsigned char *)target; *c; c++) {
        if (*c <= ' ' || *c >= 127 || *c == '#')
            return refuse(p, 400, "the request target holds a character that is not allowed");
    }
    target = strip_authority(target);
    if (*target != '/')
        return refuse(p, 400, "the request target is not a path");
    query = strchr(target, '?');
    if (query)
        *query++ = '\0';
    p->head->path = target;
    p->head->query = query ? query : "";
    return 0;
}

static int parse_version(struct parser *p, const char *text)
{
    if (strncmp(text, "HTTP/", 5) != 0)
        return refuse(p, 400, "the request line does not end in an HTTP version");
    if (strcmp(text, "HTTP/1.1") == 0)
        p->head->minor = 1;
    else if (strcmp(text, "HTTP/1.0") == 0)
        p->head->minor = 0;
    else
        return refuse(p, 505, "only HTTP/1.1 and HTTP/1.0 are spoken here");
    return 0;
}

static int parse_request_line(struct parser *p)
{
    char *line = next_line(p);
    char *target, *version;
    size_t n;
    int r;

    if (!line)
        return refuse(p, 400, "a line does not end with CR LF");
    n = token_span(line);
    if (n == 0 || n > MAX_METHOD || line[n] != ' ')
        return refuse(p, 400, "the request line does not begin with a method");
    target = line + n + 1;
    version = strchr(target, ' ');
    if (!version)
        return refuse(p, 400, "the request line has no HTTP version");
    line[n] = '\0';
    *version++ = '\0';
    p->head->method = line;
    r = parse_version(p, version);
    return r ? r : parse_target(p, target);
}

static bool value_ok(const char *value)
{
    for (const unsigned char *c = (const unsigned char *)value; *c; c++) {
        if ((*c < ' ' && *c != '\t') || *c == 127)
            return false;
    }
    return true;
}

static char *trim(char *s)
{
    size_t n;

    s += strspn(s, " \t");
    n = strlen(s);
    while (n > 0 && (s[n - 1] == ' ' || s[n - 1] == '\t'))
        s[--n] = '\0';
    return s;
}

static int parse_field(struct parser *p, char *line)
{
    struct http_head *h = p->head;
    size_t n = token_span(line);

    if (*line == ' ' || *line == '\t')
        return refuse(p, 400, "a header is folded over several lines");
    if (n == 0 || line[n] != ':')
        return refuse(p, 400, "a header line is not a name, a colon and a value");
    if (!value_ok(line + n + 1))
        return refuse(p, 400, "a header value holds a control character");
    if (h->n_headers >= HTTP_MAX_HEADERS)
        return refuse(p, 431, "there are too many headers");
    line[n] = '\0';
    array_reserve(&h->headers, &p->cap, h->n_headers + 1, sizeof(*h->headers));
    h->headers[h->n_headers++] = (struct http_header){line, trim(line + n + 1)};
    return 0;
}

static int parse_fields(struct parser *p)
{
    for (;;) {
        char *line = next_line(p);
        int r;

        if (!line)
            return refuse(p, 400, "a line does not end with CR LF");
        if (!*line)
            break;
        r = parse_field(p, line);
        if (r)
            return r;
    }
    if (*p->at)
        return refuse(p, 400, "something follows the empty line");
    return 0;
}

static int frame_length(struct parser *p)
{
    struct http_head *h = p->head;
    const char *text = http_head_get(h, "content-length", 0);

    if (!text)
        return 0;
    if (http_head_get(h, "content-length", 1))
        return refuse(p, 400, "Content-Length stands twice");
    if (!*text || text[strspn(text, "0123456789")] != '\0')
        return refuse(p, 400, "Content-Length is not a number");
    if (str_to_u64(str_of(text), &h->length) < 0)
        return refuse(p, 413, "Content-Length is too large");
    h->has_length = true;
    return 0;
}

static int frame_coding(struct parser *p)
{
    struct http_head *h = p->head;
    const char *text = http_head_get(h, "transfer-encoding", 0);

    if (!text)
        return 0;
    if (http_head_get(h, "content-length", 0))
        return refuse(p, 400, "Content-Length and Transfer-Encoding exclude each other");
    if (h->minor == 0)
        return refuse(p, 400, "HTTP/1.0 has no Transfer-Encoding");
    if (http_head_get(h, "transfer-encoding", 1))
        return refuse(p, 400, "Transfer-Encoding stands twice");
    if (strcasecmp(text, "chunked") != 0)
        return refuse(p, 501, "the only transfer coding known here is chunked");
    h->chunked = true;
    return 0;
}

static int check_host(struct parser *p)
{
    struct http_head *h = p->head;
    const char *host = http_head_get(h, "host", 0);

    if (http_head_get(h, "host", 1))
        return refuse(p, 400, "Host stands twice");
    if (!host && h->minor > 0)
        return refuse(p, 400, "the Host header is missing");
    if (host && host[strcspn(host, " \t,/@?#")] != '\0')
        return refuse(p, 400, "the Host header is not a host");
    return 0;
}

static int read_options(struct parser *p)
{
    struct http_head *h = p->head;
    const char *expect = http_head_get(h, "expect", 0);

    h->keep_alive = h->minor > 0 ? !http_head_lists(h, "connection", "close")
                                 : http_head_lists(h, "connection", "keep-alive");
    if (!expect)
        return 0;
    if (strcasecmp(expect, "100-continue") != 0)
        return refuse(p, 417, "the only expectation known here is 100-continue");
    h->expect_continue = h->minor > 0;
    return 0;
}

int http_head_parse(struct str text, struct http_head *ret_head, const char **ret_why)
{
    static int (*const steps[])(struct parser *) = {parse_request_line, parse_fields, frame_coding,
                                                    frame_length,       check_host,   read_options};
    AUTO(http_head_done) struct http_head h = {0};
    struct parser p = {.head = &h};
    int r = 0;

    if (memchr(text.p, '\0', text.n)) {
        *ret_why = "the head holds a NUL byte";
        return 400;
    }
    h.text = p.at = xstrndup(text.p, text.n);
    for (size_t i = 0; i < ARRAY_LEN(steps) && r == 0; i++)
        r = steps[i](&p);
    if (r) {
        *ret_why = p.why;
        return r;
    }
    *ret_head = h;
    h = (struct http_head){0};
    return 0;
}

const char *http_head_get(const struct http_head *h, const char *name, size_t i)
{
    for (size_t k = 0; k < h->n_headers; k++) {
        if (strcasecmp(h->headers[k].name, name) == 0 && i-- == 0)
            return h->headers[k].value;
    }
    return NULL;
}

bool http_head_lists(const struct http_head *h, const char *name, const char *token)
{
    const char *value;

    for (size_t i = 0; (value = http_head_get(h, name, i)); i++) {
        struct str rest = str_of(value);
        struct str part;

        while (str_split(&rest, ',', &part)) {
            if (str_eq_nocase(str_trim(part), str_of(token)))
                return true;
        }
    }
    return false;
}
