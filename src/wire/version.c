/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Versions: operator and agent of different releases meet on a fleet, and must not misunderstand
 * each other.
 */
#include "src/wire/version.h"

int wire_version_check(const struct jsn *message, const char *from, const char *to, struct err *e)
{
    const struct jsn *v = jsn_key(message, WIRE_KEY);

    if (!v)
        return 0;
    if (!jsn_is(v, JSN_INT) || v->i < 1)
        return err_set(e, -EPROTONOSUPPORT, ERR_PERMANENT,
                       WIRE_KEY ": the version of the protocol is not a number from 1 on");
    if (v->i > WIRE_VERSION)
        return err_set(e, -EPROTONOSUPPORT, ERR_PERMANENT,
                       "the %s speaks version %lld of the protocol, and this %s knows version %d "
                       "at most: update the %s",
                       from, (long long)v->i, to, WIRE_VERSION, to);
    return 0;
}
