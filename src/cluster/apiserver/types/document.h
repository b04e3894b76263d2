/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Documents about the API itself, made from the registry when asked for and kept while it stays. */
#pragma once

#include "src/base/hash.h"
#include "src/base/map.h"
#include "src/cluster/apiserver/types/registry.h"

/* An answer; borrowed from the cache, valid until it is asked again after a change of the registry.
 */
struct document {
    struct str body;
    const char *content_type;
    char hash[SHA512_HEX_LEN + 1];     /* of the body */
    char etag[SHA512_HEX_LEN + 2 + 1]; /* the hash in quotes */
    bool vary_accept;                  /* other Accept headers get other forms: Vary: Accept */
    bool immutable; /* by its URL with the hash: Cache-Control: public, immutable */
};

struct document_cache {
    const struct registry *reg; /* NULL: what is kept never gets out of date */
    uint64_t version;           /* of the registry that the documents were made from */
    struct map documents;
};

void document_cache_init(struct document_cache *c, const struct registry *reg);
void document_cache_done(struct document_cache *c);

/* The document of that key, or NULL if it must be made (again). */
const struct document *document_find(struct document_cache *c, const char *key);

/* Keep a body under a key; takes the buffer's content.  The content type is borrowed for ever. */
struct document *document_keep(struct document_cache *c, const char *key, struct buf *body,
                               const char *content_type);
