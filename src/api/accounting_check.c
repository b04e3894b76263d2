/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Validation of an Accounting: what the object alone tells, and what may not change.
 *
 * extraConf stands last in slurmdbd.conf, and the last line counts: what says where slurmdbd and
 * its database are, or by which keys it is known, is not the user's there.  A key that no slurmdbd
 * knows would end it at its start, and is told before.
 */
#include "src/api/accounting.h"

#include "src/api/names.h"
#include "src/json/quantity.h"

static const char *const known_keys[] = {
    "AllResourcesAbsolute",
    "AllowNoDefAcct",
    "ArchiveDir",
    "ArchiveEvents",
    "ArchiveJobs",
    "ArchiveResvs",
    "ArchiveScript",
    "ArchiveSteps",
    "ArchiveSuspend",
    "ArchiveTXN",
    "ArchiveUsage",
    "AuthAltParameters",
    "AuthAltTypes",
    "AuthInfo",
    "CommitDelay",
    "CommunicationParameters",
    "DebugFlags",
    "DebugLevel",
    "DebugLevelSyslog",
    "DefaultQOS",
    "DisableArchiveCommands",
    "DisableCoordDBD",
    "HashPlugin",
    "LogTimeFormat",
    "MaxPurgeLimit",
    "MaxQueryTimeRange",
    "MessageTimeout",
    "Parameters",
    "PluginDir",
    "PrivateData",
    "PurgeEventAfter",
    "PurgeEventMonths",
    "PurgeJobAfter",
    "PurgeJobMonths",
    "PurgeResvAfter",
    "PurgeStepAfter",
    "PurgeStepMonths",
    "PurgeSuspendAfter",
    "PurgeSuspendMonths",
    "PurgeTXNAfter",
    "PurgeUsageAfter",
    "StorageParameters",
    "TCPTimeout",
    "TrackSlurmctldDown",
    "TrackWCKey",
};

static const struct {
    const char *key;
    const char *what;
} owned[] = {
    {"AuthType", "goes with the keys of the cluster"},
    {"DbdAddr", "is the pod's"},
    {"DbdBackupHost", "cannot be: there is one slurmdbd"},
    {"DbdHost", "is the pod's name"},
    {"DbdPort", "is the pod's port; spec.service.port is that of the Service"},
    {"LogFile", "is the pod's log"},
    {"PidFile", "is the pod's"},
    {"SlurmUser", "is the user of the pod"},
    {"StorageBackupHost", "comes from spec.storageConfig"},
    {"StorageHost", "comes from spec.storageConfig.host"},
    {"StorageLoc", "comes from spec.storageConfig.database"},
    {"StoragePass", "comes from spec.storageConfig.passwordKeyRef"},
    {"StoragePassScript", "comes from spec.storageConfig.passwordKeyRef"},
    {"StoragePort", "comes from spec.storageConfig.port"},
    {"StorageType", "is accounting_storage/mysql"},
    {"StorageUser", "comes from spec.storageConfig.username"},
};

static void check_name(const struct accounting *acct, struct api_problems *p)
{
    const char *name = acct->meta.name ? acct->meta.name : "";
    const char *fault = name_label_fault(str_of(name));

    if (name[0] && !fault && !(name[0] >= 'a' && name[0] <= 'z'))
        fault = "must begin with a letter, since Services are named after it";
    if (fault)
        api_problem_value(p, API_INVALID, "metadata.name", name_shown(p, name), "a name %s", fault);
    else if (strlen(name) > ACCOUNTING_NAME_MAX)
        api_problem_value(p, API_INVALID, "metadata.name", name_shown(p, name),
                          "may have %d characters, so that the names of what is made from it fit",
                          ACCOUNTING_NAME_MAX);
}

/* A value becomes a line of slurmdbd.conf: it must not make two of it, or end it before its end. */
static void check_word(struct api_problems *p, const char *field, const char *value)
{
    if (value && strpbrk(value, " \t\r\n#\"'\\"))
        api_problem_value(
            p, API_INVALID, field, name_shown(p, value),
            "may have no blanks, quotes, '#' or '\\': slurmdbd.conf cannot hold them");
}

static void check_storage(const struct accounting *acct, struct api_problems *p)
{
    const struct accounting_storage *s = acct->spec.storage;

    if (!s)
        return;
    if (!s->host[0])
        api_problem_add(p, API_REQUIRED, "spec.storageConfig.host",
                        "must be the host name or address of the database; leave storageConfig "
                        "out to have a database made");
    if (!s->username || !s->username[0])
        api_problem_add(p, API_WARNING, "spec.storageConfig.username",
                        "is empty: slurmdbd logs in as the user that it runs as");
    check_word(p, "spec.storageConfig.host", s->host);
    check_word(p, "spec.storageConfig.database", s->database);
    check_word(p, "spec.storageConfig.username", s->username);
    name_check_key_ref(p, "spec.storageConfig.passwordKeyRef", s->password_key_ref);
    name_check_needed(p, "spec.storageConfig.passwordKeyRef", s->password_key_ref);
}

static void check_external(const struct accounting *acct, struct api_problems *p)
{
    const struct accounting_spec *s = &acct->spec;

    if (!s->external)
        return;
    if (!s->external_config)
        api_problem_add(p, API_REQUIRED, "spec.externalConfig",
                        "must say where slurmdbd is, since external is true");
    else if (!s->external_config->host[0])
        api_problem_add(p, API_REQUIRED, "spec.externalConfig.host",
                        "must be the host name or address of slurmdbd");
    else
        check_word(p, "spec.externalConfig.host", s->external_config->host);
    if (s->storage)
        api_problem_add(p, API_WARNING, "spec.storageConfig",
                        "is ignored: an external slurmdbd has a configuration of its own");
    if (s->extra_conf && s->extra_conf[0])
        api_problem_add(p, API_WARNING, "spec.extraConf",
                        "is ignored: an external slurmdbd has a configuration of its own");
}

static bool is_known(struct str key)
{
    for (size_t i = 0; i < ARRAY_LEN(known_keys); i++)
        if (str_eq_nocase(key, str_of(known_keys[i])))
            return true;
    return false;
}

static void check_setting(struct api_problems *p, unsigned number, struct str key)
{
    for (size_t i = 0; i < ARRAY_LEN(owned); i++)
        if (str_eq_nocase(key, str_of(owned[i].key))) {
            api_problem_add(p, API_FORBIDDEN, "spec.extraConf",
                            "line %u: %s %s and cannot be set; remove the line", number,
                            owned[i].key, owned[i].what);
            return;
        }
    if (!is_known(key))
        api_problem_add(p, API_INVALID, "spec.extraConf",
                        "line %u: slurmdbd has no setting " STR_FMT, number, STR_ARG(key));
}

static void check_extra(const struct accounting *acct, struct api_problems *p)
{
    struct str rest = str_of(acct->spec.extra_conf ? acct->spec.extra_conf : "");
    unsigned number = 0;
    struct str line;

    while (str_split(&rest, '\n', &line)) {
        struct str key = {0};

        number++;
        line = str_trim((struct str){line.p, str_find(line, '#')});
        if (line.n == 0)
            continue;
        if (str_find(line, '=') == line.n || !str_split(&line, '=', &key))
            api_problem_add(p, API_INVALID, "spec.extraConf",
                            "line %u: is not of the form Key=Value", number);
        else
            check_setting(p, number, str_trim(key));
    }
}

static void check_annotations(const struct accounting *acct, struct api_problems *p)
{
    const char *size = api_annotation(&acct->meta, ACCOUNTING_SIZE_ANNOTATION);
    struct quantity q;
    struct err e = {0};

    if (size && (quantity_parse(str_of(size), &q, &e) < 0 || q.nano <= 0))
        api_problem_add(p, API_INVALID, "metadata.annotations[" ACCOUNTING_SIZE_ANNOTATION "]",
                        "%s is not a quantity such as 20Gi", name_shown(p, size));
}

void accounting_check(const struct accounting *acct, struct api_problems *p)
{
    const struct accounting_spec *s = &acct->spec;

    check_name(acct, p);
    name_check_key_ref(p, "spec.slurmKeyRef", s->slurm_key_ref);
    name_check_key_ref(p, "spec.jwtKeyRef", s->jwt_key_ref);
    name_check_key_ref(p, "spec.jwtHs256KeyRef", s->jwt_hs256_key_ref);
    name_check_key_ref(p, "spec.jwksKeyRef", s->jwks_key_ref);
    name_check_needed(p, "spec.slurmKeyRef", s->slurm_key_ref);
    if (s->jwt_hs256_key_ref)
        api_problem_add(p, API_WARNING, "spec.jwtHs256KeyRef",
                        s->jwt_key_ref ? "is ignored beside jwtKeyRef"
                                       : "is an older name; write jwtKeyRef");
    if (jsn_len(jsn_get(s->service.spec, "externalIPs")))
        api_problem_add(p, API_WARNING, "spec.service.spec.externalIPs",
                        "is ignored: it would let this namespace take traffic of others");
    check_external(acct, p);
    check_storage(acct, p);
    check_extra(acct, p);
    check_annotations(acct, p);
}

void accounting_check_update(const struct accounting *acct, const struct accounting *old,
                             struct api_problems *p)
{
    const struct api_key_ref *jwt = accounting_jwt_key(acct);
    const struct api_key_ref *was = accounting_jwt_key(old);

    if (was && !api_key_ref_equal(jwt, was))
        api_problem_add(p, API_FORBIDDEN, "spec.jwtKeyRef",
                        "cannot be changed: tokens in use are signed with it; change the Secret's "
                        "content instead");
    if (!old->spec.external && !acct->spec.external && !old->spec.storage != !acct->spec.storage)
        api_problem_add(p, API_WARNING, "spec.storageConfig",
                        "slurmdbd goes to another database, and the records stay in the one of "
                        "before: copy them first (docs/accounting.md)");
}
