/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text encodings: base64, percent encoding, random identifiers.
 *
 * Decoders are strict: a character out of place is an error, since what is decoded here (Secrets,
 * tokens, URLs) comes from outside and a lenient reading would let two texts mean the same.
 */
#include "src/base/encode.h"

#include <stdio.h>
#include <sys/random.h>

static const char std_alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char url_alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static void base64(struct buf *b, struct str data, const char *alphabet, bool pad)
{
    const unsigned char *p = (const unsigned char *)data.p;

    for (size_t i = 0; i < data.n; i += 3) {
        size_t left = MIN(data.n - i, (size_t)3);
        uint32_t v = (uint32_t)p[i] << 16;

        if (left > 1)
            v |= (uint32_t)p[i + 1] << 8;
        if (left > 2)
            v |= p[i + 2];
        for (size_t k = 0; k < 4; k++) {
            if (k <= left)
                buf_addc(b, alphabet[v >> (18 - 6 * k) & 63]);
            else if (pad)
                buf_addc(b, '=');
        }
    }
}

void encode_base64(struct buf *b, struct str data)
{
    base64(b, data, std_alphabet, true);
}

void encode_base64url(struct buf *b, struct str data)
{
    base64(b, data, url_alphabet, false);
}

static int base64_value(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == '+' || c == '-')
        return 62;
    if (c == '/' || c == '_')
        return 63;
    return -1;
}

int decode_base64(struct buf *b, struct str text)
{
    AUTO(buf_done) struct buf out = {0};
    uint32_t v = 0;
    int bits = 0;

    if (text.n % 4 == 0)
        for (int k = 0; k < 2 && text.n > 0 && text.p[text.n - 1] == '='; k++)
            text.n--;
    if (text.n % 4 == 1)
        return -EINVAL;
    for (size_t i = 0; i < text.n; i++) {
        int c = base64_value(text.p[i]);

        if (c < 0)
            return -EINVAL;
        v = v << 6 | (uint32_t)c;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            buf_addc(&out, (char)(v >> bits & 0xFF));
        }
    }
    if (v & ((1U << bits) - 1))
        return -EINVAL;
    buf_add(b, buf_str(&out), out.n);
    return 0;
}

static bool unreserved(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

void encode_url(struct buf *b, struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        if (unreserved(text.p[i]))
            buf_addc(b, text.p[i]);
        else
            buf_printf(b, "%%%02X", (unsigned char)text.p[i]);
    }
}

int decode_url(struct buf *b, struct str text, bool plus_is_space)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];

        if (c == '%') {
            int hi = i + 2 < text.n ? str_hex_digit(text.p[i + 1]) : -1;
            int lo = hi >= 0 ? str_hex_digit(text.p[i + 2]) : -1;

            if (lo < 0 || (hi == 0 && lo == 0))
                return -EINVAL;
            c = (char)(hi << 4 | lo);
            i += 2;
        } else if (c == '+' && plus_is_space) {
            c = ' ';
        } else if (c == '\0') {
            return -EINVAL;
        }
        buf_addc(b, c);
    }
    return 0;
}

void encode_random(void *p, size_t n)
{
    char *at = p;

    while (n > 0) {
        ssize_t got = getrandom(at, n, 0);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            abort();
        at += got;
        n -= (size_t)got;
    }
}

void encode_letters(char *p, size_t n)
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";

    for (size_t i = 0; i < n; i++)
        p[i] = letters[(unsigned char)p[i] % (sizeof(letters) - 1)];
}

void encode_uuid(char ret_text[ENCODE_UUID_LEN + 1])
{
    unsigned char b[16];

    encode_random(b, sizeof(b));
    b[6] = (unsigned char)((b[6] & 0x0F) | 0x40);
    b[8] = (unsigned char)((b[8] & 0x3F) | 0x80);
    (void)snprintf(ret_text, ENCODE_UUID_LEN + 1,
                   "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
                   b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
                   b[14], b[15]);
}
