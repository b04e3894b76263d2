/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Formats of strings: the table, and what can be told digit by digit.
 *
 * The list is the one of kube-apiserver; all other formats are documentation.  Each check accepts
 * what the API server accepts, its odd corners included (a credit card number may have blanks, a
 * UUID may come without dashes).
 */
#include <arpa/inet.h>
#include <ctype.h>

#include "src/json/format.h"

static bool is_hex(char c)
{
    return isxdigit((unsigned char)c) != 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool any(struct str s)
{
    (void)s;
    return true;
}

/* Text for inet_pton, which wants it terminated. */
static bool pton(int family, struct str s)
{
    char text[INET6_ADDRSTRLEN];
    unsigned char address[16];

    if (s.n >= sizeof(text) || s.n == 0)
        return false;
    memcpy(text, s.p, s.n);
    text[s.n] = '\0';
    return strlen(text) == s.n && inet_pton(family, text, address) == 1;
}

static bool ipv4(struct str s)
{
    return pton(AF_INET, s) || (pton(AF_INET6, s) && str_find(s, '.') < s.n);
}

static bool ipv6(struct str s)
{
    return pton(AF_INET6, s);
}

static bool cidr(struct str s)
{
    struct str address;
    uint32_t bits;

    if (!str_split(&s, '/', &address) || !s.p || str_to_u32(s, &bits) < 0)
        return false;
    return (pton(AF_INET, address) && bits <= 32) || (pton(AF_INET6, address) && bits <= 128);
}

/* Groups of `width` hex digits between `sep`; how many bytes, 0 if it is not that. */
static size_t hex_groups(struct str s, char sep, size_t width)
{
    struct str group;
    size_t bytes = 0;

    while (str_split(&s, sep, &group)) {
        if (group.n != width)
            return 0;
        for (size_t i = 0; i < group.n; i++)
            if (!is_hex(group.p[i]))
                return 0;
        bytes += width / 2;
    }
    return bytes;
}

static bool mac(struct str s)
{
    size_t n = hex_groups(s, ':', 2);

    if (n == 0)
        n = hex_groups(s, '-', 2);
    if (n == 0)
        n = hex_groups(s, '.', 4);
    return n == 6 || n == 8 || n == 20;
}

/* Hex digits with dashes allowed where UUIDs have them; `digits` gets the 32 digits. */
static bool uuid_digits(struct str s, char digits[32])
{
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '-' && (n == 8 || n == 12 || n == 16 || n == 20) && s.p[i - 1] != '-')
            continue;
        if (!is_hex(s.p[i]) || n == 32)
            return false;
        digits[n++] = s.p[i];
    }
    return n == 32 && s.p[s.n - 1] != '-';
}

static bool uuid_version(struct str s, char version, bool variant)
{
    char digits[32];

    return uuid_digits(s, digits) && (!version || digits[12] == version) &&
           (!variant || strchr("89abAB", digits[16]));
}

static bool uuid(struct str s)
{
    return uuid_version(s, 0, false);
}
static bool uuid3(struct str s)
{
    return uuid_version(s, '3', false);
}
static bool uuid4(struct str s)
{
    return uuid_version(s, '4', true);
}
static bool uuid5(struct str s)
{
    return uuid_version(s, '5', true);
}

/* The characters for which `keep` holds, at most max of them; SIZE_MAX if there are more. */
static size_t squeeze(struct str s, const char *skip, char *out, size_t max)
{
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++) {
        if (skip ? strchr(skip, s.p[i]) != NULL : !is_digit(s.p[i]))
            continue;
        if (n == max)
            return SIZE_MAX;
        out[n++] = s.p[i];
    }
    return n;
}

static bool isbn10(struct str s)
{
    char d[10];
    int sum = 0;

    if (squeeze(s, " \t\n\f\r-", d, sizeof(d)) != sizeof(d))
        return false;
    for (int i = 0; i < 9; i++) {
        if (!is_digit(d[i]))
            return false;
        sum += (i + 1) * (d[i] - '0');
    }
    if (d[9] != 'X' && !is_digit(d[9]))
        return false;
    sum += 10 * (d[9] == 'X' ? 10 : d[9] - '0');
    return sum % 11 == 0;
}

static bool isbn13(struct str s)
{
    char d[13];
    int sum = 0;

    if (squeeze(s, " \t\n\f\r-", d, sizeof(d)) != sizeof(d))
        return false;
    for (int i = 0; i < 13; i++) {
        if (!is_digit(d[i]))
            return false;
        if (i < 12)
            sum += (i % 2 ? 3 : 1) * (d[i] - '0');
    }
    return d[12] - '0' == (10 - sum % 10) % 10;
}

static bool isbn(struct str s)
{
    return isbn10(s) || isbn13(s);
}

/* Does the number start like one of the issuers that are known? */
static bool card_issuer(const char *d, size_t n)
{
    static const struct {
        const char *low, *high; /* range of the first digits */
        size_t n;
    } issuers[] = {
        {"4", "4", 13},       {"4", "4", 16},   {"51", "55", 16},     {"6011", "6011", 16},
        {"6500", "6599", 16}, {"34", "34", 15}, {"37", "37", 15},     {"300", "305", 14},
        {"36", "36", 14},     {"38", "38", 14}, {"2131", "2131", 15}, {"1800", "1800", 15},
        {"35", "35", 16},
    };

    for (size_t i = 0; i < sizeof(issuers) / sizeof(issuers[0]); i++) {
        size_t head = strlen(issuers[i].low);

        if (n == issuers[i].n && memcmp(d, issuers[i].low, head) >= 0 &&
            memcmp(d, issuers[i].high, head) <= 0)
            return true;
    }
    return false;
}

static bool credit_card(struct str s)
{
    char d[16];
    size_t n = squeeze(s, NULL, d, sizeof(d));
    int sum = 0;

    if (n > sizeof(d) || !card_issuer(d, n))
        return false;
    for (size_t i = 0; i < n; i++) {
        int digit = d[n - 1 - i] - '0';

        if (i % 2)
            digit = digit * 2 > 9 ? digit * 2 - 9 : digit * 2;
        sum += digit;
    }
    return sum % 10 == 0;
}

static bool ssn(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        bool separator = i == 3 || i == 6;

        if (separator ? s.p[i] != '-' && s.p[i] != ' ' : !is_digit(s.p[i]))
            return false;
    }
    return s.n == 11;
}

static bool hex_color(struct str s)
{
    if (s.n > 0 && s.p[0] == '#') {
        s.p++;
        s.n--;
    }
    for (size_t i = 0; i < s.n; i++)
        if (!is_hex(s.p[i]))
            return false;
    return s.n == 3 || s.n == 6;
}

static bool rgb_color(struct str s)
{
    struct str part;
    int parts = 0;

    if (!str_starts(s, "rgb(") || !str_ends(s, ")"))
        return false;
    s = (struct str){s.p + 4, s.n - 5};
    while (str_split(&s, ',', &part)) {
        uint32_t v;

        part = str_trim(part);
        if (str_to_u32(part, &v) < 0 || v > 255 || (part.n > 1 && part.p[0] == '0'))
            return false;
        parts++;
    }
    return parts == 3;
}

static bool base64(struct str s)
{
    size_t pad = 0;

    if (s.n == 0 || s.n % 4)
        return false;
    while (pad < 2 && s.p[s.n - 1 - pad] == '=')
        pad++;
    for (size_t i = 0; i < s.n - pad; i++)
        if (!isalnum((unsigned char)s.p[i]) && s.p[i] != '+' && s.p[i] != '/')
            return false;
    return true;
}

static bool bson_object_id(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!is_hex(s.p[i]))
            return false;
    return s.n == 24;
}

static const struct {
    const char *name; /* without dashes */
    bool (*check)(struct str s);
} formats[] = {
    {"bsonobjectid", bson_object_id},
    {"uri", format_uri},
    {"email", format_email},
    {"hostname", format_hostname},
    {"ipv4", ipv4},
    {"ipv6", ipv6},
    {"cidr", cidr},
    {"mac", mac},
    {"uuid", uuid},
    {"uuid3", uuid3},
    {"uuid4", uuid4},
    {"uuid5", uuid5},
    {"isbn", isbn},
    {"isbn10", isbn10},
    {"isbn13", isbn13},
    {"creditcard", credit_card},
    {"ssn", ssn},
    {"hexcolor", hex_color},
    {"rgbcolor", rgb_color},
    {"byte", base64},
    {"password", any},
    {"date", format_date},
    {"duration", format_duration},
    {"datetime", format_date_time},
};

/* Equal but for dashes in `name`. */
static bool same_name(const char *known, const char *name)
{
    for (; *name; name++) {
        if (*name == '-')
            continue;
        if (*name != *known++)
            return false;
    }
    return *known == '\0';
}

static size_t find(const char *format)
{
    size_t i = 0;

    while (i < ARRAY_LEN(formats) && !same_name(formats[i].name, format))
        i++;
    return i;
}

bool format_known(const char *format)
{
    return format && find(format) < ARRAY_LEN(formats);
}

bool format_ok(const char *format, struct str text)
{
    size_t i = find(format);

    return i == ARRAY_LEN(formats) || formats[i].check(text);
}
