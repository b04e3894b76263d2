/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The relay.
 *
 * A client sends one request and gets one answer: a credential to be made, or one to be decoded.
 * What is to be made is made with the key to sign with.  What is to be decoded is decoded with that
 * key, or with the other one.  Both munged look at who the client is (SO_PEERCRED), so this process
 * becomes the client's user and group for as long as it speaks with them; a relay that does not run
 * as root serves its own user alone.
 *
 * A message has a head of 11 bytes (magic, version, type, retries, length of the body; big-endian)
 * and a body.  Of the bodies only the first byte of an answer is looked at: the kind of failure.
 */
#include "src/munge/relay.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "src/base/buf.h"
#include "src/base/file.h"
#include "src/munge/daemon.h"

#define MAGIC 0x00606D4BU
#define CREDENTIAL_INVALID 14 /* EMUNGE_CRED_INVALID */
#define CLIENT_S 10

static uint32_t number_at(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

int munge_head_parse(const unsigned char head[MUNGE_HEAD_BYTES], struct munge_head *ret)
{
    uint32_t n = number_at(head + 7);

    if (number_at(head) != MAGIC || n > MUNGE_BODY_MAX_BYTES)
        return -EPROTO;
    *ret = (struct munge_head){head[5], n};
    return 0;
}

bool munge_is_of_another_key(struct str answer)
{
    return answer.n > MUNGE_HEAD_BYTES && (unsigned char)answer.p[5] == MUNGE_DECODE_ANSWER &&
           (unsigned char)answer.p[MUNGE_HEAD_BYTES] == CREDENTIAL_INVALID;
}

static int read_all(int fd, struct buf *to, size_t n)
{
    while (n > 0) {
        char *room = buf_room(to, n);
        ssize_t got = room ? read(fd, room, n) : -1;

        if (!room)
            return -EFBIG;
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? -errno : -EPIPE;
        buf_grew(to, (size_t)got);
        n -= (size_t)got;
    }
    return 0;
}

static int read_message(int fd, struct buf *to, struct munge_head *ret)
{
    int r = read_all(fd, to, MUNGE_HEAD_BYTES);

    if (r == 0)
        r = munge_head_parse((const unsigned char *)to->p, ret);
    return r == 0 ? read_all(fd, to, ret->body_bytes) : r;
}

static int become_client(int client)
{
    struct ucred who;
    socklen_t n = sizeof(who);

    if (getsockopt(client, SOL_SOCKET, SO_PEERCRED, &who, &n) < 0)
        return -errno;
    if (who.uid == geteuid() && who.gid == getegid())
        return 0;
    if (setresgid((gid_t)-1, who.gid, (gid_t)-1) < 0 ||
        setresuid((uid_t)-1, who.uid, (uid_t)-1) < 0)
        return -errno;
    return 0;
}

static int ask(const char *socket_path, struct str request, struct buf *answer)
{
    AUTO(close) int fd = munged_connect(socket_path);
    struct munge_head head;
    int r = fd < 0 ? fd : file_write_all(fd, request);

    return r == 0 ? read_message(fd, answer, &head) : r;
}

int relay_serve(int client, const char *sign, const char *also)
{
    AUTO(buf_done) struct buf request = {0};
    AUTO(buf_done) struct buf first = {0};
    AUTO(buf_done) struct buf second = {0};
    struct timeval limit = {.tv_sec = CLIENT_S};
    struct munge_head head = {0};
    bool other;
    int r;

    if (setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) < 0 ||
        setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) < 0)
        return -errno;
    r = become_client(client);
    if (r == 0)
        r = read_message(client, &request, &head);
    if (r == 0)
        r = ask(sign, buf_view(&request), &first);
    if (r < 0)
        return r;
    other =
        also && head.type == MUNGE_DECODE_REQUEST && munge_is_of_another_key(buf_view(&first)) &&
        ask(also, buf_view(&request), &second) == 0 && !munge_is_of_another_key(buf_view(&second));
    return file_write_all(client, buf_view(other ? &second : &first));
}
