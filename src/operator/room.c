/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Quotas that are full.
 *
 * A pod is tried while the one that it replaces is still there and counts.  kube-apiserver says:
 *
 *   pods "a" is forbidden: exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=3
 *
 * Each list is sorted and has the same resources.  As long as nothing is used beyond its limit, the
 * pod that goes gives back what the other one asks for.
 */
#include "src/operator/room.h"

#include "src/base/str.h"
#include "src/json/quantity.h"

#define QUOTA "exceeded quota: "
#define USED ", used: "
#define LIMITED ", limited: "

/* "requests.cpu=1" -> its value. */
static bool read_pair(struct str pair, struct str *ret_key, struct quantity *ret)
{
    size_t at = str_find(pair, '=');

    if (at == pair.n)
        return false;
    *ret_key = (struct str){pair.p, at};
    return quantity_parse((struct str){pair.p + at + 1, pair.n - at - 1}, ret, NULL) == 0;
}

bool room_will_be(const char *refusal)
{
    const char *quota = strstr(refusal, QUOTA);
    const char *used = quota ? strstr(quota, USED) : NULL;
    const char *limited = used ? strstr(used, LIMITED) : NULL;
    struct str have;
    struct str most;
    struct str a;
    struct str b;
    bool any = false;

    if (!limited || strlen(refusal) + 1 >= sizeof(((struct err *)NULL)->text))
        return false; /* or cut off */
    have = (struct str){used + strlen(USED), (size_t)(limited - used) - strlen(USED)};
    most = str_of(limited + strlen(LIMITED));
    while (str_split(&have, ',', &a)) {
        struct quantity x;
        struct quantity y;
        struct str key;
        struct str same;

        if (!str_split(&most, ',', &b) || !read_pair(a, &key, &x) || !read_pair(b, &same, &y) ||
            !str_eq(key, same) || quantity_cmp(&x, &y) > 0)
            return false;
        any = true;
    }
    return any && !str_split(&most, ',', &b);
}
