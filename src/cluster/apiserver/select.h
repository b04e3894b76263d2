/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which objects a list or watch is about: namespace, labels, fields. */
#pragma once

#include "src/cluster/apiserver/call.h"
#include "src/json/selector.h"

struct selection {
    const char *ns;          /* NULL: all */
    const char *name;        /* metadata.name of a field selector or of the path; NULL: all */
    struct selector *labels; /* NULL: all */
    struct selector *fields; /* NULL: all; the known fields of the kind only */
};

/* From the path and the query; fails the call on a bad selector.  Lives in the call's arena. */
int selection_read(struct api_call *c, struct selection *ret_selection);

/* Does an object in stored form belong?  The namespace is compared too. */
bool selection_match(const struct selection *s, const struct jsn *object);
/* Everything in these namespaces matches: no need to look into objects. */
bool selection_trivial(const struct selection *s);
