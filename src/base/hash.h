/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hashes: keyed for tables, stable for content, SHA-256 for identity. */
#pragma once

#include <stdint.h>

#include "src/base/str.h"

/* For hash tables: SipHash-1-3, keyed per process; never store or send it. */
uint64_t hash_str(struct str s);

/* FNV-1a, 64 and 32 bits: the same everywhere and for ever; not for untrusted tables. */
uint64_t hash_stable64(struct str s);
uint32_t hash_stable32(struct str s);

#define HMAC_SHA256_LEN 32
/* HMAC with SHA-256, as bytes. */
void hash_hmac_sha256(struct str key, struct str text, unsigned char ret[HMAC_SHA256_LEN]);

#define SHA256_HEX_LEN 64
#define SHA512_HEX_LEN 128
/* SHA-256 and SHA-512 as lower-case hex. */
void hash_sha256_hex(struct str s, char ret_hex[SHA256_HEX_LEN + 1]);
void hash_sha512_hex(struct str s, char ret_hex[SHA512_HEX_LEN + 1]);
