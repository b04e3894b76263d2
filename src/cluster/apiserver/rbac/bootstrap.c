/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeping the default roles and bindings.
 *
 * At each start what is missing is made; a role that lacks a default rule gets it, a binding that
 * lacks a default subject gets that.  What somebody has added stays.  Whoever wants a default role
 * left alone sets its annotation rbac.authorization.kubernetes.io/autoupdate to "false".  A binding
 * whose role was changed is made again, since a binding's role never changes.  All of this is as
 * kube-apiserver does it.
 */
#include "src/cluster/apiserver/rbac/bootstrap.h"

#include "src/cluster/apiserver/object.h"
#include "src/cluster/apiserver/rbac/bootstrap_roles.h"
#include "src/cluster/apiserver/rbac/index.h"
#include "src/cluster/apiserver/server.h"
#include "src/cluster/apiserver/write.h"

static const struct bootstrap_set *const sets[] = {&bootstrap_people, &bootstrap_programs,
                                                   &bootstrap_own};

#define AUTOUPDATE "rbac.authorization.kubernetes.io/autoupdate"

static struct jsn *words(struct arena *a, const char *text)
{
    struct jsn *list = jsn_array(a);
    struct str rest = str_of(text);
    struct str word;

    while (text && str_split(&rest, ' ', &word))
        if (word.n)
            jsn_append(a, list, str_eqz(word, "-") ? jsn_string(a, "") : jsn_str(a, word));
    return list;
}

static void set_words(struct arena *a, struct jsn *rule, const char *key, const char *text)
{
    if (text)
        jsn_set(a, rule, key, words(a, text));
}

static struct jsn *rule_object(struct arena *a, const struct bootstrap_rule *b)
{
    struct jsn *rule = jsn_object(a);

    set_words(a, rule, "verbs", b->verbs);
    set_words(a, rule, "apiGroups", b->groups);
    set_words(a, rule, "resources", b->resources);
    set_words(a, rule, "resourceNames", b->names);
    set_words(a, rule, "nonResourceURLs", b->urls);
    return rule;
}

struct jsn *rbac_bootstrap_rules(struct arena *a, const char *role)
{
    struct jsn *rules = jsn_array(a);

    for (size_t i = 0; i < ARRAY_LEN(sets); i++)
        for (const struct bootstrap_rule *b = sets[i]->rules; b->role; b++)
            if (streq(b->role, role))
                jsn_append(a, rules, rule_object(a, b));
    return rules;
}

static struct jsn *named(struct arena *a, const char *name, const char *marks)
{
    struct jsn *object = jsn_object(a);
    struct jsn *meta = jsn_ensure_object(a, object, "metadata");
    struct jsn *labels = jsn_ensure_object(a, meta, "labels");

    jsn_set_str(a, meta, "name", name);
    jsn_set_str(a, labels, "kubernetes.io/bootstrapping", "rbac-defaults");
    JSN_FOR_ITEMS (mark, words(a, marks))
        jsn_set_str(a, labels, jsn_text(mark), "true");
    jsn_set_str(a, jsn_ensure_object(a, meta, "annotations"), AUTOUPDATE, "true");
    return object;
}

static struct jsn *role_object(struct arena *a, const struct bootstrap_role *r)
{
    struct jsn *object = named(a, r->name, r->labels);
    struct jsn *selectors = jsn_array(a);
    struct jsn *selector = jsn_object(a);

    if (!r->aggregate) {
        jsn_set(a, object, "rules", rbac_bootstrap_rules(a, r->name));
        return object;
    }
    jsn_set_str(a, jsn_ensure_object(a, selector, "matchLabels"), r->aggregate, "true");
    jsn_append(a, selectors, selector);
    jsn_set_path(a, object, "aggregationRule.clusterRoleSelectors", selectors);
    return object;
}

static struct jsn *subject_object(struct arena *a, const char *kind, struct jsn *name)
{
    struct jsn *s = jsn_object(a);

    jsn_set_str(a, s, "kind", kind);
    if (!streq(kind, "ServiceAccount"))
        jsn_set_str(a, s, "apiGroup", RBAC_GROUP);
    jsn_set(a, s, "name", name);
    if (streq(kind, "ServiceAccount"))
        jsn_set_str(a, s, "namespace", "kube-system");
    return s;
}

static struct jsn *binding_object(struct arena *a, const struct bootstrap_binding *b)
{
    struct jsn *object = named(a, b->role, NULL);
    struct jsn *ref = jsn_ensure_object(a, object, "roleRef");
    struct jsn *subjects = jsn_array(a);

    jsn_set_str(a, ref, "apiGroup", RBAC_GROUP);
    jsn_set_str(a, ref, "kind", "ClusterRole");
    jsn_set_str(a, ref, "name", b->role);
    JSN_FOR_ITEMS (name, words(a, b->subjects))
        jsn_append(a, subjects, subject_object(a, b->kind, name));
    if (b->subjects)
        jsn_set(a, object, "subjects", subjects);
    return object;
}

/* The rights that a default rule gives may be there in another form. */
static bool covered(struct arena *a, const struct jsn *rules, struct jsn *one)
{
    struct rbac_rules held, wanted, missing;
    struct jsn *list = jsn_array(a);

    jsn_append(a, list, one);
    rbac_rules_read(a, rules, &held);
    rbac_rules_read(a, list, &wanted);
    return rbac_rules_cover(a, &held, &wanted, &missing) == 1;
}

/* Add to the list at `key` what of the wanted one is not there. */
static void add_missing(struct arena *a, struct jsn *object, const struct jsn *wanted,
                        const char *key)
{
    struct jsn *list = jsn_key(object, key);
    bool rules = streq(key, "rules");

    if (!jsn_is(list, JSN_ARRAY)) {
        list = jsn_array(a);
        jsn_set(a, object, key, list);
    }
    JSN_FOR_ITEMS (item, jsn_key(wanted, key))
        if (rules ? !covered(a, list, item) : !rbac_listed(list, item))
            jsn_append(a, list, item);
}

/* Labels and annotations of ours, without changing others. */
static void add_marks(struct arena *a, struct jsn *object, const struct jsn *wanted,
                      const char *key)
{
    struct jsn *marks = jsn_ensure_object(a, jsn_ensure_object(a, object, "metadata"), key);

    JSN_FOR_MEMBERS (m, jsn_key(jsn_key(wanted, "metadata"), key))
        jsn_set_member(a, marks, m->key, m->value);
}

static bool left_alone(const struct jsn *object)
{
    return streq(jsn_text(jsn_key(jsn_get(object, "metadata.annotations"), AUTOUPDATE)), "false");
}

static int amend(struct api_call *c, const struct jsn *old, const struct jsn *wanted)
{
    struct write_update how = {.unconditional = true};
    struct jsn *object = jsn_clone(&c->arena, old);

    if (left_alone(old))
        return 0;
    add_marks(&c->arena, object, wanted, "labels");
    add_marks(&c->arena, object, wanted, "annotations");
    if (jsn_key(wanted, "aggregationRule"))
        jsn_set(&c->arena, object, "aggregationRule", jsn_key(wanted, "aggregationRule"));
    else if (jsn_key(wanted, "rules"))
        add_missing(&c->arena, object, wanted, "rules");
    else if (jsn_key(wanted, "subjects"))
        add_missing(&c->arena, object, wanted, "subjects");
    return write_update(c, old, object, &how);
}

static int make_again(struct api_call *c, struct jsn *old, struct jsn *wanted)
{
    struct delete_options o = {.grace_s = -1, .propagation = PROPAGATE_BACKGROUND};
    struct jsn *answer;
    int r;

    if (left_alone(old))
        return 0;
    r = write_delete(c, old, &o, &answer);
    return r < 0 ? r : write_create(c, wanted);
}

static int keep(struct apiserver *s, const char *plural,
                struct jsn *(*make)(struct arena *a, const void *row), const void *row,
                struct err *e)
{
    AUTO(call_done_inner) struct api_call c;
    struct jsn *wanted;
    struct jsn *old = NULL;
    int r;

    call_init_inner(&c, s, registry_find(s->registry, STR(RBAC_GROUP), STR("v1"), str_of(plural)));
    wanted = make(&c.arena, row);
    r = object_find(&c, "", object_name(wanted), &old);
    if (r == -ENOENT)
        r = write_create(&c, wanted);
    else if (r == 0 && !jsn_equal(jsn_key(old, "roleRef"), jsn_key(wanted, "roleRef")))
        r = make_again(&c, old, wanted);
    else if (r == 0)
        r = amend(&c, old, wanted);
    if (r < 0)
        return err_set(e, -EIO, ERR_RETRY, "%s '%s' could not be made: %s", plural,
                       object_name(wanted), jsn_get_str(c.failure, "message"));
    return 0;
}

static struct jsn *make_role(struct arena *a, const void *row)
{
    return role_object(a, row);
}

static struct jsn *make_binding(struct arena *a, const void *row)
{
    return binding_object(a, row);
}

static int keep_set(struct apiserver *s, const struct bootstrap_set *set, struct err *e)
{
    int r = 0;

    for (const struct bootstrap_role *b = set->roles; b->name && r == 0; b++)
        r = keep(s, "clusterroles", make_role, b, e);
    for (const struct bootstrap_binding *b = set->bindings; b->role && r == 0; b++)
        r = keep(s, "clusterrolebindings", make_binding, b, e);
    return r;
}

int rbac_bootstrap(struct apiserver *s, struct err *e)
{
    int r = 0;

    for (size_t i = 0; i < ARRAY_LEN(sets) && r == 0; i++)
        r = keep_set(s, sets[i], e);
    return r;
}
