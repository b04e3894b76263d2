/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Class differences.
 *
 * The key tables hold the class of a plain change of each key.  Here is what depends on more than
 * the key: a partition that comes with keys the create RPC lacks, values that an RPC can set but
 * not take back, options of which only one needs the heavier way, and files without keys.
 *
 * A partition is created, changed and deleted by RPC; everything that only the files know (node
 * sets, down nodes, nodes themselves) needs them to be read again.
 */
#include "src/slurm/classify.h"

#include <strings.h>

#include "src/slurm/keyfiles.h"

static struct verdict verdict_of(const struct conf_key *key, uint32_t release)
{
    struct verdict v = {.class = CHANGE_RECONFIGURE};

    if (key) {
        v.class = keys_class(key, release);
        v.why = key->warning;
    }
    return v;
}

/* A new partition is as heavy as the heaviest of its keys. */
static struct verdict partition_added(const struct conf_change *change, uint32_t release)
{
    struct verdict v = {.class = CHANGE_RPC};

    for (size_t i = 0; change->subject && i < change->subject->n; i++) {
        const struct conf_key *key = change->subject->values[i].key;
        struct verdict one = verdict_of(key, release);

        if (one.class > v.class) {
            v = one;
            v.why = "the call that creates partitions does not know all of its keys";
        }
    }
    return v;
}

static struct verdict partition_changed(const struct conf_change *change, uint32_t release)
{
    struct verdict v = verdict_of(change->key, release);
    bool unset = !change->to || !change->to[0];

    if (v.class == CHANGE_RPC && unset && (change->key->flags & KEY_NO_UNSET))
        return (struct verdict){CHANGE_RECONFIGURE,
                                "an RPC can set this key, but not take it back"};
    if (streq(change->key->name, "QOS") && profile_quirk(release, QUIRK_PART_QOS_CRASH))
        v.why = "slurmctld of this release crashes if the QOS does not exist";
    return v;
}

/* True if one of the blank-separated options is in one value and not in the other. */
static bool option_toggled(const struct conf_change *change, const char *options)
{
    struct str rest = str_of(options);
    struct str option;

    while (str_split(&rest, ' ', &option)) {
        bool in[2] = {false, false};

        for (unsigned i = 0; i < 2; i++) {
            struct str value = str_of(i == 0 ? change->from : change->to);
            struct str item;

            while (str_split(&value, ',', &item))
                in[i] = in[i] || str_eq_nocase(str_trim(item), option);
        }
        if (in[0] != in[1])
            return true;
    }
    return false;
}

static struct verdict setting_changed(const struct conf_change *change, uint32_t release)
{
    struct verdict v = verdict_of(change->key, release);
    const char *name = change->key_name;

    if (strcasecmp(name, "SlurmctldParameters") == 0 &&
        !profile_has(release, PROFILE_RECONFIGURE_REFUSES) &&
        option_toggled(change, "enable_configless"))
        return (struct verdict){CHANGE_RESTART, "enable_configless is read at the start only"};
    if (strcasecmp(name, "LaunchParameters") == 0 &&
        !profile_has(release, PROFILE_RECONFIGURE_REFUSES) &&
        option_toggled(change, "disable_send_gids"))
        return (struct verdict){CHANGE_RESTART, "disable_send_gids is read at the start only"};
    if (strcasecmp(name, "CommunicationParameters") == 0 &&
        option_toggled(change, "NoCtldInAddrAny NoInAddrAny EnableIPv6 DisableIPv4 disable_http"))
        return (struct verdict){CHANGE_RESTART, "the addresses that daemons listen on change"};
    return v;
}

struct verdict classify_change(const struct conf_change *change, enum conf_kind kind,
                               uint32_t release)
{
    bool partition = change->section == CONF_PARTITION;

    if (change->section == CONF_GLOBAL)
        return setting_changed(change, release);
    if (change->key_name)
        return partition ? partition_changed(change, release) : verdict_of(change->key, release);
    if (partition)
        return change->what == DIFF_ADDED ? partition_added(change, release)
                                          : (struct verdict){.class = CHANGE_RPC};
    /* an object that came or went: as its name */
    return verdict_of(keys_find(kind, change->section, str_of(change->line->pairs[0].key)),
                      release);
}

struct verdict classify_file(const char *name, uint32_t release)
{
    const char *slash = strrchr(name, '/');
    const char *base = slash ? slash + 1 : name;
    const struct keyfile *key = keyfile_find(str_of(base));

    if (key && key->slurm)
        return (struct verdict){CHANGE_RESTART,
                                "keys are read at the start, and every daemon needs the same"};
    if (streq(base, "gres.conf") && !profile_has(release, PROFILE_RECONFIGURE_REFUSES))
        return (struct verdict){CHANGE_RESTART, "slurmd reads its resources at the start"};
    return (struct verdict){.class = CHANGE_RECONFIGURE};
}
