/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who looks after the objects already.
 *
 * Slinky's operator campaigns for a Lease of the same name as ours, but in its own namespace: two
 * of them never act at once, one of each could.  Its webhooks refuse writes (failurePolicy Fail)
 * when nobody answers for them any more.  Whoever takes over stops both first.
 */
#include "src/api/kinds.h"
#include "src/base/clock.h"
#include "src/cli/adopt.h"

#define LEASE "slurm-operator"
#define OUR_WEBHOOK "slurmkeeper-webhook"
#define US 1000000LL

static void tell(struct arena *a, struct jsn *list, const char *fmt, ...) PRINTF(3, 4);
static void tell(struct arena *a, struct jsn *list, const char *fmt, ...)
{
    AUTO(buf_done) struct buf b = {0};
    va_list args;

    va_start(args, fmt);
    buf_vprintf(&b, fmt, args);
    va_end(args);
    jsn_append(a, list, jsn_str(a, buf_view(&b)));
}

bool adopt_lease_is_held(const struct jsn *spec, int64_t now_us)
{
    const char *holder = jsn_get_str(spec, "holderIdentity");
    const char *renewed = jsn_get_str(spec, "renewTime");
    int64_t lasts_us = jsn_get_int(spec, "leaseDurationSeconds", 0) * US;
    int64_t at_us;

    return holder && holder[0] && renewed && clock_parse_rfc3339(str_of(renewed), &at_us) == 0 &&
           at_us + lasts_us > now_us;
}

static int leases(struct ask *k, struct arena *a, int64_t now_us, struct jsn *list, struct err *e)
{
    static const struct kube_resource resource = {"coordination.k8s.io", "v1", "leases"};
    struct jsn *items = NULL;
    int r = ask_list(k, a, &resource, NULL, &items, e);

    if (r < 0)
        return err_wrap(e, r, "reading leases");
    JSN_FOR_ITEMS (item, items) {
        const char *ns = jsn_get_str(item, "metadata.namespace");

        if (streq(jsn_get_str(item, "metadata.name"), LEASE) &&
            adopt_lease_is_held(jsn_key(item, "spec"), now_us))
            tell(a, list,
                 "an operator leads: Lease %s/%s is held by %s; stop it: kubectl -n %s scale "
                 "deployment/slurm-operator --replicas=0",
                 ns, LEASE, jsn_get_str(item, "spec.holderIdentity"), ns);
    }
    return 0;
}

static bool concerns_us(const struct jsn *hook)
{
    JSN_FOR_ITEMS (rule, jsn_key(hook, "rules"))
        JSN_FOR_ITEMS (group, jsn_key(rule, "apiGroups"))
            if (streq(jsn_text(group), API_GROUP))
                return true;
    return false;
}

static int webhooks(struct ask *k, struct arena *a, const char *plural, const char *kind,
                    struct jsn *list, struct err *e)
{
    struct kube_resource resource = {"admissionregistration.k8s.io", "v1", plural};
    struct jsn *items = NULL;
    int r = ask_list(k, a, &resource, NULL, &items, e);

    if (r < 0)
        return err_wrap(e, r, "reading %s", plural);
    JSN_FOR_ITEMS (item, items) {
        const char *name = jsn_get_str(item, "metadata.name");
        bool ours = streq(name, OUR_WEBHOOK);
        bool told = false;

        JSN_FOR_ITEMS (hook, jsn_key(item, "webhooks")) {
            if (ours || told || !concerns_us(hook))
                continue;
            tell(a, list,
                 "%s %s is asked about writes of our kinds; delete it: kubectl delete %s %s", kind,
                 name, plural, name);
            told = true;
        }
    }
    return 0;
}

int adopt_rivals(struct ask *k, struct arena *a, int64_t now_us, struct jsn **ret_list,
                 struct err *e)
{
    struct jsn *list = jsn_array(a);
    int r = leases(k, a, now_us, list, e);

    if (r == 0)
        r = webhooks(k, a, "validatingwebhookconfigurations", "ValidatingWebhookConfiguration",
                     list, e);
    if (r == 0)
        r = webhooks(k, a, "mutatingwebhookconfigurations", "MutatingWebhookConfiguration", list,
                     e);
    if (r == 0)
        *ret_list = list;
    return r;
}
