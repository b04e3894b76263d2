/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Users.
 *
 * A certificate cannot be called back, a token of a service account can: it dies with the account,
 * at once.  So a person is a ServiceAccount in a namespace of its own, with bindings that bear the
 * person's name in a label, and gets a token by TokenRequest.  This is plain Kubernetes: it works
 * with any API server.
 *
 * To remove somebody the account goes first, so that nothing that fails afterwards leaves a token
 * good; an account of the same name that is made later is another one.
 */
#include "src/local/users.h"

#include "src/base/groups.h"
#include "src/json/names.h"

#define LABEL API_OWN_GROUP "/user"
#define RBAC "rbac.authorization.k8s.io"
#define DAY_S 86400

static const struct kube_resource namespaces = {"", "v1", "namespaces"};
static const struct kube_resource accounts = {"", "v1", "serviceaccounts"};
static const struct kube_resource cluster_roles = {RBAC, "v1", "clusterroles"};
static const struct kube_resource bindings[] = {{RBAC, "v1", "clusterrolebindings"},
                                                {RBAC, "v1", "rolebindings"}};

bool users_name_ok(const char *name)
{
    return names_good(FORM_DNS_LABEL, name);
}

static struct jsn *object(struct arena *a, const char *version, const char *kind, const char *name)
{
    struct jsn *o = jsn_object(a);

    jsn_set_str(a, o, "apiVersion", version);
    jsn_set_str(a, o, "kind", kind);
    jsn_set_path(a, o, "metadata.name", jsn_string(a, name));
    return o;
}

static void set_label(struct arena *a, struct jsn *o, const char *user)
{
    jsn_set_str(a, jsn_ensure_object(a, jsn_ensure_object(a, o, "metadata"), "labels"), LABEL,
                user);
}

/* Create what may be there already. */
static int ensure(struct ask *k, struct arena *a, const struct kube_resource *what, const char *ns,
                  const struct jsn *body, struct err *e)
{
    struct kube_request r = {.verb = KUBE_CREATE, .resource = *what, .namespace = ns, .body = body};
    int n = ask_call(k, &r, a, NULL, e);

    return n == -EEXIST ? 0 : n;
}

static int ensure_account(struct ask *k, struct arena *a, const char *name, struct err *e)
{
    struct jsn *ns = object(a, "v1", "Namespace", USERS_NAMESPACE);
    struct jsn *account = object(a, "v1", "ServiceAccount", name);
    int r = ensure(k, a, &namespaces, NULL, ns, e);

    set_label(a, account, name);
    jsn_set_bool(a, account, "automountServiceAccountToken", false);
    return r < 0 ? r : ensure(k, a, &accounts, USERS_NAMESPACE, account, e);
}

static int check_role(struct ask *k, struct arena *a, const char *role, struct err *e)
{
    int r = ask_get(k, a, &cluster_roles, NULL, role, &(struct jsn *){NULL}, e);

    return r == -ENOENT ? err_set(e, r, ERR_PERMANENT, "there is no cluster role '%s'", role) : r;
}

static struct jsn *binding_object(struct arena *a, const char *name, const struct users_grant *g)
{
    const char *own = arena_printf(a, "slurmkeeper-user:%s:%s", name, g->role);
    struct jsn *o = object(a, RBAC "/v1", g->ns ? "RoleBinding" : "ClusterRoleBinding", own);
    struct jsn *ref = jsn_ensure_object(a, o, "roleRef");
    struct jsn *subject = jsn_object(a);
    struct jsn *subjects = jsn_array(a);

    set_label(a, o, name);
    jsn_set_str(a, ref, "apiGroup", RBAC);
    jsn_set_str(a, ref, "kind", "ClusterRole");
    jsn_set_str(a, ref, "name", g->role);
    jsn_set_str(a, subject, "kind", "ServiceAccount");
    jsn_set_str(a, subject, "name", name);
    jsn_set_str(a, subject, "namespace", USERS_NAMESPACE);
    jsn_append(a, subjects, subject);
    jsn_set(a, o, "subjects", subjects);
    return o;
}

static int request_token(struct ask *k, struct arena *a, const char *name, int64_t days,
                         struct users_token *ret, struct err *e)
{
    struct jsn *body = object(a, "authentication.k8s.io/v1", "TokenRequest", name);
    struct kube_request r = {.verb = KUBE_CREATE,
                             .resource = accounts,
                             .namespace = USERS_NAMESPACE,
                             .name = name,
                             .subresource = "token",
                             .body = body};
    struct jsn *answer = NULL;
    int n;

    jsn_set_path(a, body, "spec.expirationSeconds", jsn_int(a, days * (int64_t)DAY_S));
    n = ask_call(k, &r, a, &answer, e);
    if (n < 0)
        return n;
    ret->text = jsn_get_str(answer, "status.token");
    ret->until = jsn_get_str(answer, "status.expirationTimestamp");
    return ret->text && ret->until ? 0 : err_bad(e, "the API server's answer holds no token");
}

int users_add(struct ask *k, struct arena *a, const char *name, const struct users_grant *g,
              int64_t days, struct users_token *ret_token, struct err *e)
{
    int r = check_role(k, a, g->role, e);

    /* The binding may fail for want of its namespace; without the account it gives nothing. */
    if (r == 0)
        r = ensure(k, a, &bindings[g->ns ? 1 : 0], g->ns, binding_object(a, name, g), e);
    if (r == 0)
        r = ensure_account(k, a, name, e);
    return r < 0 ? r : request_token(k, a, name, days, ret_token, e);
}

/* All bindings of a user, or of all users (NULL), cluster-wide ones first. */
static int list_bindings(struct ask *k, struct arena *a, const char *user, struct jsn **ret,
                         struct err *e)
{
    const char *selector = user ? arena_printf(a, LABEL "=%s", user) : LABEL;
    const char *const query[] = {"labelSelector", selector, NULL};
    struct jsn *all = jsn_array(a);

    for (size_t i = 0; i < ARRAY_LEN(bindings); i++) {
        struct kube_request r = {.verb = KUBE_LIST, .resource = bindings[i], .query = query};
        struct jsn *list = NULL;
        int n = ask_call(k, &r, a, &list, e);

        if (n < 0)
            return n;
        JSN_FOR_ITEMS (item, jsn_key(list, "items"))
            jsn_append(a, all, item);
    }
    *ret = all;
    return 0;
}

static const char *label_of(const struct jsn *o)
{
    return jsn_text(jsn_key(jsn_get(o, "metadata.labels"), LABEL));
}

static const char *roles_text(struct arena *a, const struct jsn *all, const char *user)
{
    AUTO(buf_done) struct buf b = {0};

    JSN_FOR_ITEMS (item, all) {
        const char *ns = jsn_get_str(item, "metadata.namespace");

        if (!streq(label_of(item), user))
            continue;
        buf_printf(&b, "%s%s%s%s", b.n ? ", " : "", jsn_get_str(item, "roleRef.name"),
                   ns ? " in " : "", ns ? ns : "");
    }
    return arena_str(a, buf_view(&b));
}

int users_list(struct ask *k, struct arena *a, struct jsn **ret_list, struct err *e)
{
    struct jsn *people = NULL;
    struct jsn *given = NULL;
    struct jsn *list = jsn_array(a);
    int r = ask_list(k, a, &accounts, USERS_NAMESPACE, &people, e);

    if (r == 0)
        r = list_bindings(k, a, NULL, &given, e);
    if (r < 0)
        return r;
    JSN_FOR_ITEMS (item, people) {
        const char *name = jsn_get_str(item, "metadata.name");
        const char *since = jsn_get_str(item, "metadata.creationTimestamp");
        struct jsn *o = jsn_object(a);

        if (!name || !streq(label_of(item), name))
            continue;
        jsn_set_str(a, o, "name", name);
        jsn_set_str(a, o, "since", since ? since : "");
        jsn_set_str(a, o, "roles", roles_text(a, given, name));
        jsn_append(a, list, o);
    }
    *ret_list = list;
    return 0;
}

static int delete_binding(struct ask *k, struct arena *a, const struct jsn *binding, struct err *e)
{
    const char *ns = jsn_get_str(binding, "metadata.namespace");
    struct kube_request r = {.verb = KUBE_DELETE,
                             .resource = bindings[ns ? 1 : 0],
                             .namespace = ns,
                             .name = jsn_get_str(binding, "metadata.name")};
    int n = ask_call(k, &r, a, NULL, e);

    return n == -ENOENT ? 0 : n;
}

int users_remove(struct ask *k, struct arena *a, const char *name, struct err *e)
{
    struct kube_request r = {
        .verb = KUBE_DELETE, .resource = accounts, .namespace = USERS_NAMESPACE, .name = name};
    struct jsn *given = NULL;
    int gone = ask_call(k, &r, a, NULL, e);
    int n;

    if (gone < 0 && gone != -ENOENT)
        return gone;
    n = list_bindings(k, a, name, &given, e);
    JSN_FOR_ITEMS (item, given)
        if (n == 0)
            n = delete_binding(k, a, item, e);
    if (n == 0 && gone == -ENOENT && jsn_len(given) == 0)
        return err_set(e, -ENOENT, ERR_PERMANENT, "there is no user '%s'", name);
    return n;
}
