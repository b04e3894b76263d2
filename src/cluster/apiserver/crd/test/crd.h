/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of custom resources share: definitions and objects from short texts. */
#pragma once

#include "src/json/test/json_text.h"

#include "src/cluster/apiserver/status.h"

/* A good definition of one version, as a client sends it. */
#define CRD_WIDGETS                                                                                \
    "{'metadata':{'name':'widgets.kw.test'},'spec':{'group':'kw.test','scope':'Namespaced',"       \
    "'names':{'plural':'widgets','kind':'Widget'},'versions':[{'name':'v1','served':true,"         \
    "'storage':true,'schema':{'openAPIV3Schema':{'type':'object','properties':{'spec':{'type':"    \
    "'object','properties':{'a':{'type':'string'}}}}}}}]}}"

/* Everything that is wrong, "field: text" each, joined by " | ". */
static inline const char *joined(struct arena *a, const struct causes *cs)
{
    AUTO(buf_done) struct buf b = {0};

    for (size_t i = 0; i < cs->n; i++)
        buf_printf(&b, "%s%s: %s", i ? " | " : "", cs->items[i].field, cs->items[i].text);
    return arena_str(a, buf_view(&b));
}
