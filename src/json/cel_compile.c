/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compilation of CEL: every name must be something, every function known.
 *
 * Names are self, oldSelf, the types, and the variables of macros around them.  A function that is
 * not known may still be one of Kubernetes' many libraries, so that it is no error: the rule is
 * just beyond what is known here.
 */
#include "src/json/cel_node.h"

struct scope {
    const struct scope *up;
    struct str name;
};

struct check {
    const char *text;
    struct cel *cel;
    struct err *e;
};

static int check(struct check *k, const struct scope *scope, struct cel_node *n);

static int check_name(struct check *k, const struct scope *scope, const struct cel_node *n)
{
    for (; scope; scope = scope->up)
        if (str_eq(scope->name, n->name))
            return 0;
    if (str_eqz(n->name, "oldSelf"))
        k->cel->uses_old = true;
    if (str_eqz(n->name, "self") || str_eqz(n->name, "oldSelf") || cel_is_type(n->name))
        return 0;
    return cel_fail(k->e, k->text, n->at, "undeclared reference to '" STR_FMT "' (in container '')",
                    STR_ARG(n->name));
}

static int check_call(struct check *k, struct cel_node *n)
{
    n->fn = cel_find_function(n->name, n->member, n->n_args);
    if (n->fn)
        return 0;
    return err_set(k->e, -ENOTSUP, ERR_PERMANENT, "the function " STR_FMT "() with %zu arguments",
                   STR_ARG(n->name), n->n_args - n->member);
}

static bool is_macro(const struct cel_node *n)
{
    return n->op >= CEL_ALL && n->op <= CEL_TRANSFORM;
}

static int check(struct check *k, const struct scope *scope, struct cel_node *n)
{
    struct scope inner = {.up = scope, .name = n->name};
    struct cel_node *children[] = {n->a, n->b, n->c};
    int r = 0;

    if (n->op == CEL_NAME)
        return check_name(k, scope, n);
    for (size_t i = 0; r == 0 && i < ARRAY_LEN(children); i++)
        if (children[i] && !(n->op == CEL_CALL && i == 0))
            r = check(k, is_macro(n) && i > 0 ? &inner : scope, children[i]);
    if (n->op != CEL_CALL && n->op != CEL_LIST && n->op != CEL_MAP)
        return r;
    for (size_t i = 0; r == 0 && i < n->n_args; i++)
        r = check(k, scope, n->args[i]);
    return r == 0 && n->op == CEL_CALL ? check_call(k, n) : r;
}

int cel_compile(struct arena *a, const char *text, struct cel **ret, struct err *e)
{
    struct cel *c = arena_calloc(a, 1, sizeof(*c));
    struct check k = {.text = text, .cel = c, .e = e};
    int r = cel_parse(a, text, &c->root, e);

    c->text = text;
    if (r == 0)
        r = check(&k, NULL, c->root);
    if (r < 0)
        return r;
    *ret = c;
    return 0;
}

bool cel_uses_old_self(const struct cel *c)
{
    return c->uses_old;
}
