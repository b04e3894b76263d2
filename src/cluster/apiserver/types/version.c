/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Order of API versions.
 *
 * "v<major>", "v<major>beta<minor>" and "v<major>alpha<minor>" are ordered by stability first
 * (release, beta, alpha), then by major and minor number, the newest first.  Names of any other
 * form come after these, in alphabetical order.
 */
#include <ctype.h>

#include "src/cluster/apiserver/types/registry.h"

enum stability { STABLE, BETA, ALPHA, OTHER };

struct version {
    enum stability stability;
    uint64_t major, minor;
};

static bool read_number(const char **p, uint64_t *ret)
{
    size_t n = 0;

    while (isdigit((unsigned char)(*p)[n]))
        n++;
    if (n == 0 || **p == '0' || str_to_u64((struct str){*p, n}, ret) < 0)
        return false;
    *p += n;
    return true;
}

static struct version parse(const char *s)
{
    static const struct version other = {.stability = OTHER};
    struct version v = {0};

    if (*s != 'v')
        return other;
    s++;
    if (!read_number(&s, &v.major))
        return other;
    if (!*s)
        return v;
    if (starts_with(s, "beta")) {
        v.stability = BETA;
        s += 4;
    } else if (starts_with(s, "alpha")) {
        v.stability = ALPHA;
        s += 5;
    } else {
        return other;
    }
    return read_number(&s, &v.minor) && !*s ? v : other;
}

int registry_version_cmp(const char *a, const char *b)
{
    struct version va = parse(a), vb = parse(b);

    if (va.stability != vb.stability)
        return va.stability < vb.stability ? -1 : 1;
    if (va.stability == OTHER)
        return strcmp(a, b);
    if (va.major != vb.major)
        return va.major > vb.major ? -1 : 1;
    if (va.minor != vb.minor)
        return va.minor > vb.minor ? -1 : 1;
    return 0;
}
