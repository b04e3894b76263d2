/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules of a definition that this server keeps and publishes, but cannot evaluate: whoever makes
 * the definition should know, since elsewhere they do count.
 */
#include "src/cluster/apiserver/crd/definition.h"
#include "src/json/cel.h"

struct search {
    struct arena *a;
    definition_rule_fn fn;
    void *arg;
};

static void look(const struct search *w, const struct jsn *schema)
{
    static const char *const nodes[] = {"items", "additionalProperties"};

    JSN_FOR_ITEMS (rule, jsn_key(schema, "x-kubernetes-validations")) {
        const char *text = jsn_get_str(rule, "rule");
        struct cel *c;
        struct err e = {0};

        if (text && cel_compile(w->a, text, &c, &e) == -ENOTSUP)
            w->fn(w->arg, text, e.text);
    }
    JSN_FOR_MEMBERS (m, jsn_key(schema, "properties"))
        look(w, m->value);
    for (size_t i = 0; i < ARRAY_LEN(nodes); i++)
        if (jsn_is(jsn_key(schema, nodes[i]), JSN_OBJECT))
            look(w, jsn_key(schema, nodes[i]));
}

void definition_unknown_rules(struct arena *a, const struct jsn *crd, definition_rule_fn fn,
                              void *arg)
{
    const struct search w = {a, fn, arg};

    JSN_FOR_ITEMS (version, jsn_get(crd, "spec.versions"))
        look(&w, jsn_get(version, "schema.openAPIV3Schema"));
}
