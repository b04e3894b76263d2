/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Backup files.
 *
 * An archive of tar, which everybody can look into, and after its end one block of 128 bytes:
 *
 *   slurmkeeper-backup-1 sha256 HEX bytes NUMBER
 *
 * padded with blanks.  tar does not read beyond the end that it marks itself.  A file without that
 * block, or one that does not fit it, is refused: it was cut or changed.
 */
#include "src/local/archive.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/local/command.h"
#include "src/loop/loop.h"

#define TRAILER_BYTES 128
#define TRAILER "slurmkeeper-backup-1 sha256 %s bytes %020lld"
#define UNPACK_MS 3600000
#define HEX_LEN 64

struct digest {
    EVP_MD_CTX *ctx;
    int64_t bytes;
};

static void digest_start(struct digest *d)
{
    d->ctx = EVP_MD_CTX_new();
    d->bytes = 0;
    assert(d->ctx && EVP_DigestInit_ex(d->ctx, EVP_sha256(), NULL) == 1);
}

static void digest_add(struct digest *d, const void *p, size_t n)
{
    assert(EVP_DigestUpdate(d->ctx, p, n) == 1);
    d->bytes += (int64_t)n;
}

/* The block that belongs at the end; the digest is gone. */
static void digest_end(struct digest *d, char ret[TRAILER_BYTES + 1])
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    char hex[HEX_LEN + 1];
    unsigned int n = 0;
    int len;

    assert(EVP_DigestFinal_ex(d->ctx, sum, &n) == 1);
    EVP_MD_CTX_free(d->ctx);
    for (size_t i = 0; i < HEX_LEN / 2; i++)
        (void)snprintf(hex + 2 * i, 3, "%02x", sum[i]);
    len = snprintf(ret, TRAILER_BYTES + 1, TRAILER, hex, (long long)d->bytes);
    memset(ret + len, ' ', (size_t)(TRAILER_BYTES - len));
    ret[TRAILER_BYTES - 1] = '\n';
    ret[TRAILER_BYTES] = '\0';
}

static NORETURN void become_tar(const char *const *args, int out)
{
    loop_signals_reset();
    (void)dup2(out, 1);
    (void)execvp("tar", (char *const *)(uintptr_t)args);
    _exit(127);
}

static int pump(int from, int to, char trailer[TRAILER_BYTES + 1])
{
    char block[65536];
    struct digest d;
    ssize_t n;
    int r = 0;

    digest_start(&d);
    while (r == 0 && (n = read(from, block, sizeof(block))) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            r = -errno;
        if (r == 0)
            digest_add(&d, block, (size_t)n);
        if (r == 0)
            r = file_write_all(to, (struct str){block, (size_t)n});
    }
    digest_end(&d, trailer);
    return r;
}

int archive_write(int fd, const char *const *args, struct err *e)
{
    char trailer[TRAILER_BYTES + 1];
    int status = 0;
    int pipes[2];
    pid_t pid;
    int r;

    if (pipe2(pipes, O_CLOEXEC) < 0)
        return err_errno(e, errno, "pipe");
    pid = fork();
    if (pid == 0)
        become_tar(args, pipes[1]);
    (void)close(pipes[1]);
    r = pid < 0 ? -errno : pump(pipes[0], fd, trailer);
    (void)close(pipes[0]);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (r < 0)
        return err_errno(e, -r, "the backup cannot be written");
    /* 1: a file changed while it was read; slurmctld replaces its files whole */
    if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
        return err_set(e, -EIO, ERR_RETRY, "tar failed (status %d)", WEXITSTATUS(status));
    r = file_write_all(fd, (struct str){trailer, TRAILER_BYTES});
    return r < 0 ? err_errno(e, -r, "the backup cannot be written") : 0;
}

/* The checksum over all but the last block. */
static int sum_file(int fd, int64_t left, char trailer[TRAILER_BYTES + 1])
{
    char block[65536];
    struct digest d;
    int r = 0;

    digest_start(&d);
    while (r == 0 && left > 0) {
        ssize_t n = read(fd, block, (size_t)MIN(left, (int64_t)sizeof(block)));

        if (n <= 0) {
            r = n < 0 ? -errno : -EIO;
            continue;
        }
        digest_add(&d, block, (size_t)n);
        left -= n;
    }
    digest_end(&d, trailer);
    return r;
}

int archive_check(const char *path, struct err *e)
{
    AUTO(close) int fd = open(path, O_RDONLY | O_CLOEXEC);
    char wanted[TRAILER_BYTES + 1];
    char found[TRAILER_BYTES] = "";
    struct stat st;
    int r;

    if (fd < 0 || fstat(fd, &st) < 0)
        return err_errno(e, errno, "cannot read '%s'", path);
    if (!S_ISREG(st.st_mode) || st.st_size <= TRAILER_BYTES)
        return err_set(e, -EBADMSG, ERR_PERMANENT, "'%s' is no backup", path);
    r = sum_file(fd, st.st_size - TRAILER_BYTES, wanted);
    if (r < 0)
        return err_errno(e, -r, "cannot read '%s'", path);
    if (pread(fd, found, TRAILER_BYTES, st.st_size - TRAILER_BYTES) != TRAILER_BYTES ||
        memcmp(found, wanted, TRAILER_BYTES) != 0)
        return err_set(e, -EBADMSG, ERR_PERMANENT,
                       "'%s' is damaged, cut off, or no backup: its checksum does not fit; use "
                       "another one. Nothing was changed",
                       path);
    return 0;
}

int archive_unpack(const char *path, const char *dir, struct err *e)
{
    const char *const argv[] = {
        "tar", "--extract", "--numeric-owner", "--same-permissions", "-f", path, "-C", dir, NULL};
    AUTO(free) char *out = NULL;

    return command_output(argv, NULL, UNPACK_MS, &out, e);
}
