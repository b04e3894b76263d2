/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A set of configuration files: names, contents and modes, with one hash for all of it. */
#pragma once

#include <sys/types.h>

#include "src/base/hash.h"
#include "src/base/str.h"
#include "src/json/jsn.h"

#define FILESET_MAX_FILES 256
#define FILESET_MAX_BYTES ((size_t)16 << 20) /* of all files together */
#define FILESET_MODE 0644

struct fileset_file {
    char *name;
    char *text; /* terminated */
    size_t n;
    mode_t mode;
    uid_t uid; /* of a file that was read; who writes as root gives it back */
    gid_t gid;
};

/* Sorted by name.  {0} is a valid empty set. */
struct fileset {
    struct fileset_file *files;
    size_t n;
    size_t cap;
    size_t total_bytes;
};

void fileset_done(struct fileset *s);
DEFINE_AUTO_DONE(struct fileset, fileset_done);
void fileset_copy(const struct fileset *from, struct fileset *to);

/* Put a file, replacing one of that name.  -EINVAL for a name that is not a plain file name (or is
 * hidden), -EFBIG beyond the limits. */
int fileset_put(struct fileset *s, const char *name, struct str text, mode_t mode,
                struct err *e) MUST_CHECK;
const struct fileset_file *fileset_get(const struct fileset *s, const char *name);

/* A key that comes from a Secret (slurm.key, jwt.key, slurm.jwks, ...) and is never pushed. */
bool fileset_is_key(const char *name);
/* Move the keys of `from` to `keys`. */
void fileset_split_keys(struct fileset *from, struct fileset *keys);

/* Modes of mounted files are the kubelet's: everybody may read, and run what can be run. */
void fileset_open_modes(struct fileset *s);

/*
 * Read the plain files of a directory (symbolic links to them too, as the kubelet makes them);
 * names that begin with a dot and directories do not count.  *ret must be empty.
 */
int fileset_read(const char *dir, struct fileset *ret, struct err *e) MUST_CHECK;

/* Names and contents, not modes: SHA-256 of "name\0length\0content" of each file in order. */
void fileset_hash(const struct fileset *s, char ret_hex[SHA256_HEX_LEN + 1]);
/* The same of those files alone that `names` has, too. */
void fileset_hash_within(const struct fileset *s, const struct fileset *names,
                         char ret_hex[SHA256_HEX_LEN + 1]);
bool fileset_same(const struct fileset *a, const struct fileset *b);
/* The same bytes and mode; false if one of them is NULL. */
bool fileset_file_same(const struct fileset_file *a, const struct fileset_file *b);

/* {"files":{name:text},"modes":{name:number}} as a push has it; modes may be missing. */
int fileset_decode(const struct jsn *v, struct fileset *ret, struct err *e) MUST_CHECK;
