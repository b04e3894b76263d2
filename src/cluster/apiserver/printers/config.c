/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of config maps, secrets, service accounts, bindings, webhooks, quotas and budgets: kinds
 * that show how many things they hold.
 *
 * A quota shows used/hard for each resource, sorted, limits apart from requests.  A budget shows
 * "N/A" for the bound that it does not have.
 */
#include "src/cluster/apiserver/printers/cells.h"

#include <stdlib.h>

static void print_configmap(struct cells *c)
{
    cell_name(c);
    cell_int(c, (int64_t)(jsn_len(jsn_key(c->object, "data")) +
                          jsn_len(jsn_key(c->object, "binaryData"))));
    cell_age(c);
}

static const struct printer_column configmap_columns[] = {
    COLUMN_NAME,
    {"Data", "string", "", "How many keys it has.", 0},
    COLUMN_AGE,
};

const struct printer printer_configmaps = {
    .resource = "configmaps",
    .columns = configmap_columns,
    .n_columns = ARRAY_LEN(configmap_columns),
    .print = print_configmap,
};

static void print_secret(struct cells *c)
{
    cell_name(c);
    cell_at(c, "type", "");
    cell_int(c, (int64_t)jsn_len(jsn_key(c->object, "data")));
    cell_age(c);
}

static const struct printer_column secret_columns[] = {
    COLUMN_NAME,
    {"Type", "string", "", "What the keys mean.", 0},
    {"Data", "string", "", "How many keys it has.", 0},
    COLUMN_AGE,
};

const struct printer printer_secrets = {
    .resource = "secrets",
    .columns = secret_columns,
    .n_columns = ARRAY_LEN(secret_columns),
    .print = print_secret,
};

static void print_account(struct cells *c)
{
    cell_name(c);
    cell_age(c);
}

static const struct printer_column account_columns[] = {
    COLUMN_NAME,
    COLUMN_AGE,
};

const struct printer printer_serviceaccounts = {
    .resource = "serviceaccounts",
    .columns = account_columns,
    .n_columns = ARRAY_LEN(account_columns),
    .print = print_account,
};

/* All subjects of one kind; service accounts as namespace/name. */
static void cell_subjects(struct cells *c, const char *kind)
{
    AUTO(buf_done) struct buf b = {0};

    JSN_FOR_ITEMS (subject, jsn_key(c->object, "subjects")) {
        if (!streq(jsn_get_str(subject, "kind"), kind))
            continue;
        buf_adds(&b, b.n > 0 ? ", " : "");
        if (streq(kind, "ServiceAccount"))
            buf_printf(&b, "%s/", cells_text(subject, "namespace"));
        buf_adds(&b, cells_text(subject, "name"));
    }
    cell_text(c, buf_str(&b));
}

static void print_binding(struct cells *c)
{
    cell_name(c);
    cell_textf(c, "%s/%s", cells_text(c->object, "roleRef.kind"),
               cells_text(c->object, "roleRef.name"));
    cell_age(c);
    cell_subjects(c, "User");
    cell_subjects(c, "Group");
    cell_subjects(c, "ServiceAccount");
}

static const struct printer_column binding_columns[] = {
    COLUMN_NAME,
    {"Role", "string", "", "Role that is granted.", 0},
    COLUMN_AGE,
    {"Users", "string", "", "Users to whom it is granted.", 1},
    {"Groups", "string", "", "Groups to which it is granted.", 1},
    {"ServiceAccounts", "string", "", "Service accounts to which it is granted.", 1},
};

const struct printer printer_rolebindings = {
    .resource = "rolebindings.rbac.authorization.k8s.io",
    .columns = binding_columns,
    .n_columns = ARRAY_LEN(binding_columns),
    .print = print_binding,
};

const struct printer printer_clusterrolebindings = {
    .resource = "clusterrolebindings.rbac.authorization.k8s.io",
    .columns = binding_columns,
    .n_columns = ARRAY_LEN(binding_columns),
    .print = print_binding,
};

static void print_webhooks(struct cells *c)
{
    cell_name(c);
    cell_int(c, (int64_t)jsn_len(jsn_key(c->object, "webhooks")));
    cell_age(c);
}

static const struct printer_column webhook_columns[] = {
    COLUMN_NAME,
    {"Webhooks", "integer", "", "How many webhooks it has.", 0},
    COLUMN_AGE,
};

const struct printer printer_mutatingwebhooks = {
    .resource = "mutatingwebhookconfigurations.admissionregistration.k8s.io",
    .columns = webhook_columns,
    .n_columns = ARRAY_LEN(webhook_columns),
    .print = print_webhooks,
};

const struct printer printer_validatingwebhooks = {
    .resource = "validatingwebhookconfigurations.admissionregistration.k8s.io",
    .columns = webhook_columns,
    .n_columns = ARRAY_LEN(webhook_columns),
    .print = print_webhooks,
};

static int by_key(const void *a, const void *b)
{
    const struct jsn_member *const *x = a;
    const struct jsn_member *const *y = b;

    return str_cmp((*x)->key, (*y)->key);
}

static void print_quota(struct cells *c)
{
    const struct jsn *hard = jsn_get(c->object, "status.hard");
    const struct jsn *used = jsn_get(c->object, "status.used");
    const struct jsn_member **sorted =
        arena_calloc(c->arena, jsn_len(hard) + 1, sizeof(const struct jsn_member *));
    AUTO(buf_done) struct buf requests = {0};
    AUTO(buf_done) struct buf limits = {0};

    JSN_FOR_MEMBERS (m, hard)
        sorted[m_i] = m;
    qsort(sorted, jsn_len(hard), sizeof(const struct jsn_member *), by_key);
    for (size_t i = 0; i < jsn_len(hard); i++) {
        struct buf *b = str_starts(sorted[i]->key, "limits.") ? &limits : &requests;
        const char *is = jsn_text(jsn_member(used, sorted[i]->key));
        const char *most = jsn_text(sorted[i]->value);

        buf_printf(b, "%s%s: %s/%s", b->n > 0 ? ", " : "", sorted[i]->key.p, is ? is : "0",
                   most ? most : "0");
    }
    cell_name(c);
    cell_age(c);
    cell_text(c, buf_str(&requests));
    cell_text(c, buf_str(&limits));
}

static const struct printer_column quota_columns[] = {
    COLUMN_NAME,
    COLUMN_AGE,
    {"Request", "string", "", "What is used, of how much.", 0},
    {"Limit", "string", "", "What limits are used, of how much.", 0},
};

const struct printer printer_resourcequotas = {
    .resource = "resourcequotas",
    .columns = quota_columns,
    .n_columns = ARRAY_LEN(quota_columns),
    .print = print_quota,
};

/* A count or a percentage. */
static void cell_share(struct cells *c, const char *path)
{
    const struct jsn *v = jsn_get(c->object, path);

    if (jsn_is(v, JSN_INT))
        cell_textf(c, "%lld", (long long)v->i);
    else
        cell_text(c, jsn_text(v) ? jsn_text(v) : "N/A");
}

static void print_budget(struct cells *c)
{
    cell_name(c);
    cell_share(c, "spec.minAvailable");
    cell_share(c, "spec.maxUnavailable");
    cell_int_at(c, "status.disruptionsAllowed", 0);
    cell_age(c);
}

static const struct printer_column budget_columns[] = {
    COLUMN_NAME,
    {"Min Available", "string", "", "How many pods must stay.", 0},
    {"Max Unavailable", "string", "", "How many pods may be missing.", 0},
    {"Allowed Disruptions", "integer", "", "How many pods may be evicted now.", 0},
    COLUMN_AGE,
};

const struct printer printer_poddisruptionbudgets = {
    .resource = "poddisruptionbudgets.policy",
    .columns = budget_columns,
    .n_columns = ARRAY_LEN(budget_columns),
    .print = print_budget,
};
