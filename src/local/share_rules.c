/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which directories may be shared with pods.
 *
 * Root in a pod does what it likes in a shared directory, and programs of root's on the machine
 * follow paths.  So no path that they follow may lead through a share:
 *
 * - not that of the state directory.  Its files can be hidden from pods, but a directory above it
 * can be moved away, and another one made in its place;
 * - not that of another share, since it is mounted again for each pod.
 */
#include "src/local/share_rules.h"

#include <stdlib.h>

#include "src/base/alloc.h"
#include "src/base/path.h"
#include "src/base/str.h"

static int check_state(const char *state, const char *dir, struct err *e)
{
    AUTO(free) char *place = path_real(state);
    AUTO(free) char *real = path_real(dir);

    if (path_is_in(place, real) || path_enters(state, dir))
        return err_bad(e,
                       "the state directory '%s' lies in '%s', which would be shared with jobs: "
                       "they could exchange it; name another one of both (--state, --share)",
                       state, dir);
    if (path_is_in(real, place))
        return err_bad(e, "'%s' lies in the state directory, which is not shared with jobs", dir);
    return 0;
}

static int check_pair(const char *dir, const char *outer, struct err *e)
{
    AUTO(free) char *real = realpath(dir, NULL);
    AUTO(free) char *top = realpath(outer, NULL);

    if (!real || !top || streq(dir, outer))
        return 0;
    if (path_is_below(dir, outer) && !path_is_in(real, top))
        return err_bad(e,
                       "the share '%s' lies in '%s', which jobs may write, and leads out of it: "
                       "name '%s' instead",
                       dir, outer, real);
    if (path_enters(dir, outer))
        return err_bad(e,
                       "the share '%s' leads through '%s', which jobs may write, by a link: they "
                       "could have it lead elsewhere; name '%s' instead",
                       dir, outer, real);
    return 0;
}

int share_rules_check(const char *state, char *const *shares, struct err *e)
{
    int r = 0;

    for (char *const *s = shares; r == 0 && s && *s; s++) {
        if ((*s)[0] != '/')
            return err_bad(e, "the share '%s' is not an absolute path", *s);
        r = check_state(state, *s, e);
        for (char *const *o = shares; r == 0 && *o; o++)
            r = check_pair(*s, *o, e);
    }
    return r;
}

const char *share_rules_program(const char *program, char *const *shares)
{
    AUTO(free) char *place = path_real(program);

    for (char *const *s = shares; s && *s; s++) {
        AUTO(free) char *real = path_real(*s);

        if (path_is_in(place, real))
            return *s;
    }
    return NULL;
}
