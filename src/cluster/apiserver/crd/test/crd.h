/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of custom resources share: definitions and objects from short texts. */
#pragma once

#include "src/base/test/unit.h"

#include "src/cluster/apiserver/status.h"

/* JSON with single quotes, which read better in C. */
static inline struct jsn *json(struct arena *a, const char *text)
{
    char *copy = arena_strdup(a, text);
    struct err e = {0};
    struct jsn *v = NULL;

    for (char *c = copy; *c; c++)
        if (*c == '\'')
            *c = '"';
    if (jsn_parse(a, str_of(copy), NULL, &v, &e) < 0)
        fail_msg("%s: %s", text, e.text);
    return v;
}

static inline const char *text_of(struct arena *a, const struct jsn *v)
{
    AUTO(buf_done) struct buf b = {0};

    jsn_print(&b, v);
    for (size_t i = 0; i < b.n; i++)
        if (b.p[i] == '"')
            b.p[i] = '\'';
    return arena_str(a, buf_view(&b));
}

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
