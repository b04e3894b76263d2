/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cache of documents about the API.
 *
 * A key (path and form) leads to the bytes and their ETag, which is the hash of the bytes.  The
 * first question after a change of the registry empties the cache; nothing is made before it is
 * asked for.
 */
#include "src/cluster/apiserver/types/document.h"

#include "src/base/alloc.h"

static void free_document(void *p)
{
    struct document *d = p;

    free((void *)(uintptr_t)d->body.p);
    free(d);
}

void document_cache_init(struct document_cache *c, const struct registry *reg)
{
    *c = (struct document_cache){.reg = reg, .version = reg ? registry_version(reg) : 0};
    map_init(&c->documents, free_document);
}

void document_cache_done(struct document_cache *c)
{
    map_done(&c->documents);
}

const struct document *document_find(struct document_cache *c, const char *key)
{
    if (c->reg && c->version != registry_version(c->reg)) {
        map_done(&c->documents);
        map_init(&c->documents, free_document);
        c->version = registry_version(c->reg);
    }
    return map_get(&c->documents, str_of(key));
}

struct document *document_keep(struct document_cache *c, const char *key, struct buf *body,
                               const char *content_type)
{
    struct document *d = xcalloc(1, sizeof(*d));
    size_t n = body->n;

    /* More definitions than a document holds: half of one would be no JSON. */
    if (body->overflow) {
        buf_clear(body);
        buf_adds(body, "{}");
        n = body->n;
    }
    d->body = (struct str){buf_take(body), n};
    d->content_type = content_type;
    hash_sha512_hex(d->body, d->hash);
    (void)snprintf(d->etag, sizeof(d->etag), "\"%s\"", d->hash);
    (void)map_put(&c->documents, str_of(key), d);
    return d;
}
