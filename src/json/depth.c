/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How deep a value is nested.
 *
 * The parser refuses what is deeper than JSN_MAX_DEPTH.  A value that is put together here (by a
 * patch, by aliases, by keeping books on fields) can be deeper than any text that went into it, and
 * once stored nobody could read it again.  Whoever builds values from outside asks here before
 * letting go of them.
 */
#include "src/json/jsn.h"

bool jsn_deeper_than(const struct jsn *v, int depth)
{
    if (!jsn_is(v, JSN_ARRAY) && !jsn_is(v, JSN_OBJECT))
        return false;
    if (depth <= 0)
        return true;
    JSN_FOR_ITEMS (item, v)
        if (jsn_deeper_than(item, depth - 1))
            return true;
    JSN_FOR_MEMBERS (m, v)
        if (jsn_deeper_than(m->value, depth - 1))
            return true;
    return false;
}
