/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where an Accounting is.
 *
 * slurm.conf names slurmdbd by its Service, `<name>-accounting`, with the Service's port; an
 * external one by the host and port that it was given.
 */
#include "src/api/accounting.h"

static const struct jsn_field accounting_fields[] = {
    API_META_ROW(struct accounting),
    {"spec.external", JSN_FLAG, offsetof(struct accounting, external), 0},
    {"spec.externalConfig", JSN_SUB, offsetof(struct accounting, external_config), JSN_PTR,
     .sub = api_external_fields, .size = sizeof(struct api_external)},
    {"spec.service", JSN_SUB, offsetof(struct accounting, service), 0, .sub = api_service_fields,
     .size = sizeof(struct api_service)},
    JSN_END,
};

int accounting_decode(struct arena *a, const struct jsn *v, struct accounting *ret, struct err *e)
{
    *ret = (struct accounting){0};
    return fields_decode(a, accounting_fields, v, ret, e);
}

const char *accounting_host(struct arena *a, const struct accounting *acct)
{
    if (acct->external && acct->external_config)
        return acct->external_config->host;
    return arena_printf(a, "%s-accounting", acct->meta.name);
}

int32_t accounting_port(const struct accounting *acct)
{
    if (acct->external && acct->external_config)
        return acct->external_config->port;
    return acct->service.port ? acct->service.port : ACCOUNTING_PORT;
}
