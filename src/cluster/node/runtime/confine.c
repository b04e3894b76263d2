/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Privileged, confined or ordinary.
 *
 * Slurm's own worker pods say `privileged`, because a Kubernetes node mounts control groups
 * read-only for everybody else, and slurmd must write its own.  Here they are delegated one by one,
 * so those pods carry an annotation with the few capabilities that slurmd needs, and get just that.
 * A pod that says `privileged` without the annotation means it, and has the machine.
 */
#include "src/cluster/node/runtime/confine.h"

#include "src/cluster/node/runtime/capability.h"

const struct jsn *confine_setting(const struct pod_spec *p, const struct ctr_spec *c,
                                  const char *key)
{
    const struct jsn *own = jsn_key(jsn_key(c->json, "securityContext"), key);

    return own ? own : jsn_key(jsn_get(p->json, "spec.securityContext"), key);
}

/* The list of the annotation, or NULL. */
static const char *confinement(const struct pod_spec *p, const struct ctr_spec *c)
{
    JSN_FOR_MEMBERS (m, jsn_get(p->json, "metadata.annotations")) {
        struct str key = m->key;

        if (str_starts(key, CONFINE_ANNOTATION) &&
            str_eqz((struct str){key.p + sizeof(CONFINE_ANNOTATION) - 1,
                                 key.n - (sizeof(CONFINE_ANNOTATION) - 1)},
                    c->name))
            return jsn_text(m->value);
    }
    return NULL;
}

bool confine_is_privileged(const struct pod_spec *p, const struct ctr_spec *c)
{
    return jsn_get_bool(c->json, "securityContext.privileged", false) && !confinement(p, c);
}

bool confine_is_confined(const struct pod_spec *p, const struct ctr_spec *c)
{
    return confinement(p, c);
}

bool confine_writes_cgroups(const struct pod_spec *p, const struct ctr_spec *c)
{
    return confine_is_privileged(p, c) || confinement(p, c);
}

static int no_such(const char *name, struct err *e)
{
    return err_bad(e, "there is no capability '%s'", name ? name : "");
}

/* "ALL" or a name. */
static int apply(const struct jsn *names, bool add, uint64_t all, uint64_t *set, struct err *e)
{
    JSN_FOR_ITEMS (item, names) {
        const char *name = jsn_text(item);
        int n = capability_number(name);

        if (n < 0 && !streq(name, "ALL"))
            return no_such(name, e);
        if (n < 0)
            *set = add ? all : 0;
        else if (add)
            *set |= UINT64_C(1) << n;
        else
            *set &= ~(UINT64_C(1) << n);
    }
    return 0;
}

static int read_list(const char *list, uint64_t *ret, struct err *e)
{
    struct str rest = str_of(list), word;

    *ret = 0;
    while (rest.n && str_split(&rest, ',', &word)) {
        AUTO(free) char *name = str_dup(str_trim(word));
        int n = capability_number(name);

        if (n < 0)
            return no_such(name, e);
        *ret |= UINT64_C(1) << n;
    }
    return 0;
}

int confine_capabilities(const struct pod_spec *p, const struct ctr_spec *c, uint64_t may_have,
                         uint64_t *ret_set, struct err *e)
{
    const struct jsn *wish = jsn_get(c->json, "securityContext.capabilities");
    const char *list = confinement(p, c);
    uint64_t set = confine_is_privileged(p, c) ? may_have : capability_default();
    int r;

    if (list) {
        r = read_list(list, &set, e);
    } else {
        /* "drop ALL, add X" means X: so first what is dropped. */
        r = apply(jsn_key(wish, "drop"), false, may_have, &set, e);
        if (r == 0)
            r = apply(jsn_key(wish, "add"), true, may_have, &set, e);
    }
    if (r == 0)
        *ret_set = set & may_have;
    return r;
}

int confine_unfiltered(const struct pod_spec *p, const struct ctr_spec *c, bool *ret, struct err *e)
{
    const char *type = jsn_get_str(confine_setting(p, c, "seccompProfile"), "type");

    if (streq(type, "Localhost"))
        return err_bad(e, "seccompProfile: profiles of the machine are not supported: there are "
                          "RuntimeDefault and Unconfined");
    *ret = confine_is_privileged(p, c) || streq(type, "Unconfined");
    return 0;
}

bool confine_is_filtered(const struct pod_spec *p, const struct ctr_spec *c)
{
    bool unfiltered = false;

    return confine_unfiltered(p, c, &unfiltered, NULL) < 0 || !unfiltered;
}
