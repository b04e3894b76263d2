/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One call: its options told to curl, and curl's result told as an error.
 *
 * Credentials come from memory, as kubeconfigs and Secrets hold them, and never touch a file.
 * Redirects are not followed and proxies of the environment not used: the peers are API servers and
 * agents, whose address is known.
 *
 * HTTP/1.1 only: with HTTP/2 and the socket interface, curl 7.88 now and then forgets a stream
 * whose last bytes it read together with another's, and the call hangs until its deadline.  A watch
 * would get its events late, or never.
 *
 * A peer that has gone without a word is noticed within a minute: by keep-alive probes where
 * nothing is on its way, by TCP_USER_TIMEOUT where something is.  Else the calls that share its
 * connection would go on dying of their deadlines until the kernel gives up, a quarter of an hour
 * later.
 */
#include "src/http/call.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <strings.h>
#include <sys/socket.h>

#include "src/base/alloc.h"

#define DEADLINE_MS 30000
#define CONNECT_TIMEOUT_MS 10000
#define KEEPALIVE_IDLE_S 15L
#define KEEPALIVE_INTERVAL_S 5L
#define UNANSWERED_MS 30000U
#define MAX_BODY_BYTES ((size_t)64 << 20)

#define SET(call, option, value)                                                                   \
    do {                                                                                           \
        if (curl_easy_setopt((call)->easy, option, value) != CURLE_OK)                             \
            abort(); /* curl lacks the option, or memory */                                        \
    } while (0)

/* Only notes the bytes: the owner is told after curl has returned, and may then call curl again. */
static size_t take_body(char *p, size_t size, size_t n, void *arg)
{
    struct http_call *call = arg;

    buf_add(&call->body, p, size * n);
    if (call->body.overflow) {
        call->full = true;
        return 0;
    }
    if (call->streamed && !list_linked(&call->ready))
        list_append(&call->client->ready, &call->ready);
    return size * n;
}

static void add_header(struct http_call *call, const char *line)
{
    struct curl_slist *l = curl_slist_append(call->headers, line);

    if (!l)
        abort(); /* only allocates */
    call->headers = l;
}

static void set_headers(struct http_call *call, const struct http_call_options *o)
{
    bool typed = false;

    for (const char *const *h = o->headers; h && *h; h++) {
        typed |= strncasecmp(*h, "content-type:", 13) == 0;
        add_header(call, *h);
    }
    if (!typed)
        add_header(call, "Content-Type:"); /* or curl calls every body a form */
    add_header(call, "Expect:");
    SET(call, CURLOPT_HTTPHEADER, call->headers);
    if (o->bearer_token) {
        SET(call, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
        SET(call, CURLOPT_XOAUTH2_BEARER, o->bearer_token);
    }
}

static void set_blob(struct http_call *call, CURLoption option, const char *pem)
{
    struct curl_blob blob = {.flags = CURL_BLOB_COPY};

    if (!pem)
        return;
    memcpy(&blob.data, &(const void *){pem}, sizeof(blob.data)); /* curl's type lacks a const */
    blob.len = strlen(pem);
    SET(call, option, &blob);
}

/* Ask for another name at the same address: the URL gets the name, the connection the address. */
static void set_server_name(struct http_call *call, const char *url, const char *name)
{
    CURLU *u = curl_url();
    AUTO(free) char *entry = NULL;
    AUTO(free) char *header = NULL;
    char *host = NULL;
    char *port = NULL;
    char *renamed = NULL;

    if (!u)
        abort(); /* only allocates */
    if (curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK &&
        curl_url_get(u, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
        curl_url_get(u, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK &&
        curl_url_set(u, CURLUPART_HOST, name, 0) == CURLUE_OK &&
        curl_url_get(u, CURLUPART_URL, &renamed, 0) == CURLUE_OK) {
        entry = xasprintf("::%s:%s", host, port);
        header = xasprintf("Host: %s:%s", host, port);
        call->connect_to = curl_slist_append(NULL, entry);
        SET(call, CURLOPT_CONNECT_TO, call->connect_to);
        SET(call, CURLOPT_URL, renamed);
        add_header(call, header);
    }
    curl_free(host);
    curl_free(port);
    curl_free(renamed);
    curl_url_cleanup(u);
}

static void set_tls(struct http_call *call, const struct http_client_tls *t)
{
    if (!t)
        return;
    set_blob(call, CURLOPT_CAINFO_BLOB, t->ca_pem);
    set_blob(call, CURLOPT_SSLCERT_BLOB, t->cert_pem);
    set_blob(call, CURLOPT_SSLKEY_BLOB, t->key_pem);
    if (t->insecure) {
        SET(call, CURLOPT_SSL_VERIFYPEER, 0L);
        SET(call, CURLOPT_SSL_VERIFYHOST, 0L);
    }
}

static void set_method(struct http_call *call, const char *method, struct str body)
{
    if (body.n > 0) {
        SET(call, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.n);
        SET(call, CURLOPT_COPYPOSTFIELDS, body.p);
    } else if (streq(method, "POST") || streq(method, "PUT") || streq(method, "PATCH")) {
        SET(call, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)0);
        SET(call, CURLOPT_COPYPOSTFIELDS, "");
    } else if (streq(method, "HEAD")) {
        SET(call, CURLOPT_NOBODY, 1L);
    }
    SET(call, CURLOPT_CUSTOMREQUEST, method);
}

static void set_limits(struct http_call *call, const struct http_call_options *o)
{
    int64_t deadline_ms = o->deadline_ms ? o->deadline_ms : DEADLINE_MS;

    SET(call, CURLOPT_TIMEOUT_MS, deadline_ms > 0 ? (long)deadline_ms : 0L);
    SET(call, CURLOPT_CONNECTTIMEOUT_MS,
        (long)(o->connect_timeout_ms ? o->connect_timeout_ms : CONNECT_TIMEOUT_MS));
    if (o->idle_timeout_s > 0) {
        SET(call, CURLOPT_LOW_SPEED_LIMIT, 1L);
        SET(call, CURLOPT_LOW_SPEED_TIME, (long)o->idle_timeout_s);
    }
    buf_init(&call->body, o->max_body_bytes ? o->max_body_bytes : MAX_BODY_BYTES);
}

static int prepare_socket(void *arg, curl_socket_t fd, curlsocktype purpose)
{
    unsigned int ms = UNANSWERED_MS;

    (void)arg;
    (void)purpose;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof(ms)); /* not on Unix sockets */
    return CURL_SOCKOPT_OK;
}

static void set_transport(struct http_call *call, const struct http_call_options *o)
{
    SET(call, CURLOPT_PROTOCOLS_STR, "http,https");
    SET(call, CURLOPT_PROXY, o->proxy_url ? o->proxy_url : "");
    SET(call, CURLOPT_NOSIGNAL, 1L);
    SET(call, CURLOPT_TCP_KEEPALIVE, 1L);
    SET(call, CURLOPT_TCP_KEEPIDLE, KEEPALIVE_IDLE_S);
    SET(call, CURLOPT_TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S);
    SET(call, CURLOPT_SOCKOPTFUNCTION, prepare_socket);
    SET(call, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1); /* see above */
    if (o->unix_path)
        SET(call, CURLOPT_UNIX_SOCKET_PATH, o->unix_path);
}

struct http_call *http_call_new(struct http_client *c, const struct http_call_options *o)
{
    struct http_call *call = xcalloc(1, sizeof(*call));
    const char *method = o->method ? o->method : "GET";

    call->client = c;
    call->on_chunk = o->on_chunk;
    call->on_done = o->on_done;
    call->arg = o->arg;
    call->streamed = o->on_chunk != NULL;
    call->what = xasprintf("%s %s", method, o->url);
    call->easy = curl_easy_init();
    if (!call->easy)
        abort(); /* only allocates */
    SET(call, CURLOPT_URL, o->url);
    SET(call, CURLOPT_PRIVATE, call);
    SET(call, CURLOPT_ERRORBUFFER, call->problem);
    SET(call, CURLOPT_WRITEFUNCTION, take_body);
    SET(call, CURLOPT_WRITEDATA, call);
    set_transport(call, o);
    set_limits(call, o);
    set_method(call, method, o->body);
    if (o->tls && o->tls->server_name)
        set_server_name(call, o->url, o->tls->server_name);
    set_headers(call, o);
    set_tls(call, o->tls);
    return call;
}

void http_call_free(struct http_call *call)
{
    curl_easy_cleanup(call->easy);
    curl_slist_free_all(call->headers);
    curl_slist_free_all(call->connect_to);
    buf_done(&call->body);
    free(call->what);
    free(call);
}

int http_call_error(const struct http_call *call, struct err *e)
{
    static const struct {
        CURLcode code;
        int num;
        enum err_class class;
    } table[] = {
        {CURLE_URL_MALFORMAT, -EINVAL, ERR_PERMANENT},
        {CURLE_UNSUPPORTED_PROTOCOL, -EINVAL, ERR_PERMANENT},
        {CURLE_COULDNT_RESOLVE_HOST, -EHOSTUNREACH, ERR_RETRY},
        {CURLE_COULDNT_CONNECT, -ECONNREFUSED, ERR_RETRY},
        {CURLE_OPERATION_TIMEDOUT, -ETIMEDOUT, ERR_RETRY},
        {CURLE_PEER_FAILED_VERIFICATION, -EKEYREJECTED, ERR_PERMANENT},
        {CURLE_SSL_CERTPROBLEM, -EKEYREJECTED, ERR_PERMANENT},
        {CURLE_SSL_CACERT_BADFILE, -EKEYREJECTED, ERR_PERMANENT},
        {CURLE_WRITE_ERROR, -EMSGSIZE, ERR_PERMANENT},
    };
    const char *text = *call->problem ? call->problem : curl_easy_strerror(call->result);

    if (call->full)
        text = "the answer is longer than allowed";
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        if (table[i].code == call->result)
            return err_set(e, table[i].num, table[i].class, "%s: %s", call->what, text);
    }
    return err_set(e, -ECONNRESET, ERR_RETRY, "%s: %s", call->what, text);
}
