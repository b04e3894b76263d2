/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of users.
 *
 * Lists have the same few users over and over, and asking for a name may mean asking a directory
 * server. So a small table keeps what was found, each user in the place that the number says, for
 * as long as the process lives.
 */
#include "src/agent/worker/users.h"

#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>

#define USERS_KEPT 256

const char *users_name(uint32_t uid)
{
    static struct {
        bool known;
        uint32_t uid;
        char name[64];
    } kept[USERS_KEPT];
    size_t at = uid % USERS_KEPT;
    char text[4096];
    struct passwd entry;
    struct passwd *found = NULL;

    if (kept[at].known && kept[at].uid == uid)
        return kept[at].name;
    if (getpwuid_r(uid, &entry, text, sizeof(text), &found) == 0 && found)
        (void)snprintf(kept[at].name, sizeof(kept[at].name), "%s", found->pw_name);
    else
        (void)snprintf(kept[at].name, sizeof(kept[at].name), "%u", uid);
    kept[at].uid = uid;
    kept[at].known = true;
    return kept[at].name;
}
