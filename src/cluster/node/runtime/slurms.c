/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several Slurms on one machine.
 *
 * A cluster has one of them, but for the time in which it goes from one to another: then each pod
 * runs what its annotation says, whenever one of its containers is started.  Root lists them, each
 * with its release, in the file STATE/slurms (`up --slurm`), since a pod could name any directory
 * otherwise.  It is read each time; it changes while the node runs.
 *
 *     24.11.5 /usr
 *     26.05.5 /opt/slurm-26.05.5
 */
#include "src/cluster/node/runtime/slurms.h"

#include "src/base/file.h"
#include "src/base/groups.h"

#define MAX_BYTES ((size_t)64 << 10)

#define SERIES_LEN strlen("26.05")

/* How well a Slurm is the one that is wished for: it itself, or one of its series. */
enum fit { NOT_IT, OF_ITS_SERIES, IT };

static enum fit fit_of(struct str release, struct str wish)
{
    if (str_eq(release, wish))
        return IT;
    return release.n >= SERIES_LEN && wish.n >= SERIES_LEN &&
                   memcmp(release.p, wish.p, SERIES_LEN) == 0
               ? OF_ITS_SERIES
               : NOT_IT;
}

static const char *wish_of(const struct pod_spec *pod)
{
    return jsn_text(
        jsn_member(jsn_get(pod->json, "metadata.annotations"), STR(API_RELEASE_ANNOTATION)));
}

/* The best of the list; of several that are alike, the last one. */
static struct str find(struct str list, struct str wish)
{
    enum fit best = OF_ITS_SERIES;
    struct str found = {0};
    struct str line;

    while (str_split(&list, '\n', &line)) {
        struct str prefix = line;
        struct str word;
        enum fit fit = NOT_IT;

        if (str_split(&prefix, ' ', &word) && prefix.n > 0 && prefix.p[0] == '/')
            fit = fit_of(word, wish);
        if (fit < best)
            continue;
        best = fit;
        found = prefix;
    }
    return found;
}

int slurms_choose(struct arena *a, const char *state_dir, const struct pod_spec *pod,
                  const char *usual, const char **ret_prefix, struct err *e)
{
    AUTO(free) char *text = NULL;
    const char *said = wish_of(pod);
    struct str prefix = {0};
    size_t n = 0;
    int r;

    if (!said) {
        *ret_prefix = usual;
        return 0;
    }
    r = file_read(arena_printf(a, "%s/slurms", state_dir), MAX_BYTES, &text, &n, e);
    if (r == 0)
        prefix = find((struct str){text, n}, str_trim(str_of(said)));
    if (r < 0 && r != -ENOENT)
        return r;
    if (prefix.n == 0)
        return err_set(e, -ENOENT, ERR_RETRY,
                       "the pod is to run Slurm %s, which this machine is not known to have: "
                       "'slurmkeeper up --slurm PREFIX' names one",
                       said);
    *ret_prefix = arena_str(a, prefix);
    return 0;
}
