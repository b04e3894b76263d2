/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kind Accounting: its tables, and what follows from it.
 *
 * slurm.conf names slurmdbd by its Service, `<name>-accounting`, with the Service's port; an
 * external one by the host and port that it was given.  Keys that are left out are those of the
 * Controller that refers to it, and a storageConfig that is left out means a database of our own.
 */
#include "src/api/accounting.h"

#include "src/api/kinds.h"

#define STORAGE(member) offsetof(struct accounting_storage, member)
static const struct jsn_field storage_fields[] = {
    {"host", JSN_STR, STORAGE(host), JSN_REQ, .doc = "Host name or address of the database."},
    {"port", JSN_I32, STORAGE(port), JSN_HAS_MIN | JSN_HAS_MAX, .def = "3306", .min = 1,
     .max = 65535, .doc = "Port of the database."},
    {"database", JSN_STR, STORAGE(database), 0, .def = "\"" ACCOUNTING_DATABASE "\"",
     .doc = "Name of the database; slurmdbd makes it if its user may."},
    {"username", JSN_STR, STORAGE(username), 0, .doc = "User that slurmdbd logs in as."},
    {"passwordKeyRef", JSN_SUB, STORAGE(password_key_ref), JSN_REQ | JSN_PTR,
     .sub = api_secret_key_fields, .size = sizeof(struct api_key_ref), .list_type = "atomic",
     .doc = "The Secret with that user's password."},
    JSN_END,
};

#define SPEC(member) offsetof(struct accounting_spec, member)
#define KEY(path_, member, table, doc_)                                                            \
    {path_,                                                                                        \
     JSN_SUB,                                                                                      \
     SPEC(member),                                                                                 \
     JSN_PTR,                                                                                      \
     .sub = table,                                                                                 \
     .size = sizeof(struct api_key_ref),                                                           \
     .list_type = "atomic",                                                                        \
     .doc = doc_}

static const struct jsn_field spec_fields[] = {
    KEY("slurmKeyRef", slurm_key_ref, api_secret_key_fields,
        "The key by which slurmctld and slurmdbd know each other. That of the Controller that "
        "refers to this Accounting if left out."),
    KEY("jwtHs256KeyRef", jwt_hs256_key_ref, api_secret_key_fields,
        "Older name of jwtKeyRef; used where that is left out."),
    KEY("jwtKeyRef", jwt_key_ref, api_secret_key_fields,
        "The key that signs users' tokens (HS256). That of the Controller if left out."),
    KEY("jwksKeyRef", jwks_key_ref, api_config_key_fields,
        "A JWKS file with further keys that sign users' tokens."),
    {"external", JSN_FLAG, SPEC(external), 0, .def = "false",
     .doc = "Whether slurmdbd runs somewhere else; then nothing is made."},
    {"externalConfig", JSN_SUB, SPEC(external_config), JSN_PTR, .sub = api_external_fields,
     .size = sizeof(struct api_external), .doc = "Where an external slurmdbd is."},
    {"slurmdbd", JSN_RAW, SPEC(slurmdbd), 0,
     .doc = "Settings of the slurmdbd container: image, resources, env and all else that a "
            "container has."},
    {"template", JSN_SUB, SPEC(template), 0, .sub = api_template_fields,
     .size = sizeof(struct api_template), .doc = "What to lay over slurmdbd's pod."},
    {"storageConfig", JSN_SUB, SPEC(storage), JSN_PTR, .sub = storage_fields,
     .size = sizeof(struct accounting_storage),
     .doc = "A MariaDB or MySQL that is there already. If left out, one is made: StatefulSet "
            "<name>-database with a claim."},
    {"extraConf", JSN_STR, SPEC(extra_conf), 0,
     .doc = "Lines to add to slurmdbd.conf, such as PurgeJobAfter=12months. Options of "
            "AuthAltParameters and AuthInfo are added to those that are needed anyway."},
    {"service", JSN_SUB, SPEC(service), 0, .sub = api_service_fields,
     .size = sizeof(struct api_service), .doc = "The Service in front of slurmdbd."},
    JSN_END,
};

const struct jsn_field accounting_status_fields[] = {
    {"observedGeneration", JSN_I64, offsetof(struct accounting_status, observed_generation), 0,
     .doc = "The metadata.generation that this status speaks of."},
    API_CONDITIONS_ROW(struct accounting_status),
    JSN_END,
};

#define NEEDS_PLACE                                                                                \
    "{\"x-kubernetes-validations\":[{\"rule\":\"!(has(self.external) && self.external) || "        \
    "has(self.externalConfig)\",\"message\":\"externalConfig is needed where external is "         \
    "true\"}]}"

const struct jsn_field accounting_fields[] = {
    API_META_ROW(struct accounting),
    {"spec", JSN_SUB, offsetof(struct accounting, spec), 0, .sub = spec_fields,
     .size = sizeof(struct accounting_spec), .doc = "Accounting as it should be.",
     .extra = NEEDS_PLACE},
    {"status", JSN_SUB, offsetof(struct accounting, status), 0, .sub = accounting_status_fields,
     .size = sizeof(struct accounting_status), .doc = "Accounting as it is."},
    JSN_END,
};

int accounting_decode(struct arena *a, const struct jsn *v, struct accounting *ret, struct err *e)
{
    *ret = (struct accounting){0};
    return fields_decode(a, accounting_fields, v, ret, e);
}

const char *accounting_host(struct arena *a, const struct accounting *acct)
{
    if (acct->spec.external && acct->spec.external_config)
        return acct->spec.external_config->host;
    return arena_printf(a, "%s-accounting", acct->meta.name);
}

int32_t accounting_port(const struct accounting *acct)
{
    if (acct->spec.external && acct->spec.external_config)
        return acct->spec.external_config->port;
    return acct->spec.service.port ? acct->spec.service.port : ACCOUNTING_PORT;
}

bool accounting_answers(const struct accounting *acct)
{
    const struct api_condition *ready = api_condition_find(&acct->status.conditions, "Ready");

    return ready && streq(ready->status, "True");
}

static bool is_named(const struct api_key_ref *ref)
{
    return ref && ref->name && ref->name[0];
}

const struct api_key_ref *accounting_jwt_key(const struct accounting *acct)
{
    const struct accounting_spec *s = &acct->spec;

    if (is_named(s->jwt_key_ref))
        return s->jwt_key_ref;
    return is_named(s->jwt_hs256_key_ref) ? s->jwt_hs256_key_ref : NULL;
}

bool accounting_has_key_set(const struct accounting *acct)
{
    const struct api_key_ref *ref = acct->spec.slurm_key_ref;

    return is_named(ref) && ref->key && ends_with(ref->key, ".jwks");
}

const char *accounting_extra(struct arena *a, const struct accounting *acct, const char *key)
{
    struct str rest = str_of(acct->spec.extra_conf ? acct->spec.extra_conf : "");
    const char *found = NULL;
    struct str line;

    while (str_split(&rest, '\n', &line)) {
        struct str name;

        line = str_trim((struct str){line.p, str_find(line, '#')});
        if (str_split(&line, '=', &name) && str_eq_nocase(str_trim(name), str_of(key)))
            found = arena_str(a, str_trim(line));
    }
    return found;
}

static const char *const short_names[] = {"slurmdbd", NULL};
static const struct api_column columns[] = {
    {"READY", "string", ".status.conditions[?(@.type==\"Ready\")].status",
     "Whether slurmdbd answers and has its database.", false},
    {"REASON", "string", ".status.conditions[?(@.type==\"Ready\")].reason",
     "Why it is ready, or is not.", true},
    {"AGE", "date", ".metadata.creationTimestamp", "When it was made.", false},
    {NULL},
};

const struct api_kind api_kind_accounting = {
    API_ACCOUNTING_NAMES,
    .id = KIND_ACCOUNTING,
    .singular = "accounting",
    .short_names = short_names,
    .doc = "Accounting of Slurm clusters: slurmdbd, and its database.",
    .fields = accounting_fields,
    .columns = columns,
    .scale = false,
    .needed = false,
    .slurm_name = api_no_slurm_name,
};
