/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pods that run on this machine and that the API server does not know.
 *
 * The node marks them in its records (state.json of the pod); what they are is in pod.json beside
 * it.  Both can be read without any process of ours.
 */
#include "src/local/unknown.h"

#include <dirent.h>

#include "src/base/alloc.h"
#include "src/base/file.h"

#define MAX_OBJECT ((size_t)4 << 20)

static int read_json(struct arena *a, const char *dir, const char *uid, const char *file,
                     struct jsn **ret, struct err *e)
{
    AUTO(free) char *path = xasprintf("%s/%s/%s", dir, uid, file);
    AUTO(free) char *text = NULL;
    size_t n;
    int r = file_read(path, MAX_OBJECT, &text, &n, e);

    if (r == 0)
        r = jsn_parse(a, (struct str){arena_str(a, (struct str){text, n}), n}, NULL, ret, e);
    return r;
}

int unknown_list(const struct layout *l, struct arena *a, struct jsn **ret_pods, struct err *e)
{
    AUTO(free) char *dir = xasprintf("%s/node/pods", l->state);
    struct jsn *list = jsn_array(a);
    DIR *d = opendir(dir);
    struct dirent *entry;
    int r = d || errno == ENOENT ? 0 : err_errno(e, errno, "cannot read '%s'", dir);

    while (r == 0 && d && (entry = readdir(d))) {
        struct jsn *state = NULL;
        struct jsn *pod = NULL;

        if (entry->d_name[0] == '.' ||
            read_json(a, dir, entry->d_name, "state.json", &state, NULL) < 0 ||
            !jsn_get_bool(state, "unknown", false))
            continue;
        r = read_json(a, dir, entry->d_name, "pod.json", &pod, e);
        if (r == 0)
            jsn_append(a, list, pod);
    }
    if (d)
        (void)closedir(d);
    *ret_pods = list;
    return r;
}

bool unknown_is_settled(const struct layout *l)
{
    AUTO(free) char *path = xasprintf("%s/node/judged", l->state);

    return file_exists(path);
}

void unknown_forget(const struct layout *l)
{
    AUTO(free) char *path = xasprintf("%s/node/judged", l->state);

    (void)unlink(path);
}
