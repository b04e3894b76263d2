/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of known keys, for the campaign.
 *
 *   mutation-keys RELEASE
 *
 * Prints a line for each key: file, section, name, kind of value, what it is of this release
 * ("has", "later", "gone", "ignored"), and the choices; tabs between them.
 */
#include <stdio.h>

#include "src/slurm/keys.h"

static const char *const files[CONF_N_KINDS] = {
    [CONF_SLURM] = "slurm.conf",
    [CONF_CGROUP] = "cgroup.conf",
    [CONF_GRES] = "gres.conf",
    [CONF_TOPOLOGY] = "topology.conf",
};

static bool is_of(enum conf_kind file, enum conf_section section)
{
    switch ((unsigned)file) {
    case CONF_SLURM:
        return section <= CONF_POWER;
    case CONF_GRES:
        return section == CONF_GLOBAL || section == CONF_GRES_LINE;
    case CONF_TOPOLOGY:
        return section == CONF_GLOBAL || section == CONF_SWITCH;
    default:
        return section == CONF_GLOBAL;
    }
}

static const char *const sections[CONF_N_SECTIONS] = {
    [CONF_GLOBAL] = "cluster",      [CONF_NODE] = "node",      [CONF_NODESET] = "nodeset",
    [CONF_PARTITION] = "partition", [CONF_DOWN] = "down",      [CONF_FRONTEND] = "frontend",
    [CONF_POWER] = "power",         [CONF_GRES_LINE] = "gres", [CONF_SWITCH] = "switch",
};

static const char *const kinds[VALUE_N_KINDS] = {
    [VALUE_TEXT] = "text",       [VALUE_WORD] = "word",         [VALUE_BOOL] = "bool",
    [VALUE_U16] = "u16",         [VALUE_U32] = "u32",           [VALUE_U64] = "u64",
    [VALUE_FLOAT] = "float",     [VALUE_MINUTES] = "minutes",   [VALUE_SECONDS] = "seconds",
    [VALUE_SUSPEND] = "suspend", [VALUE_OVERTIME] = "overtime", [VALUE_LOGLEVEL] = "loglevel",
    [VALUE_PORTS] = "ports",     [VALUE_SHARE] = "share",       [VALUE_PREEMPT] = "preempt",
    [VALUE_ENUM] = "enum",       [VALUE_FLAGS] = "flags",       [VALUE_PREFIX] = "prefix",
    [VALUE_PLUGIN] = "plugin",   [VALUE_PLUGINS] = "plugins",   [VALUE_OPTIONS] = "options",
    [VALUE_NAMES] = "names",     [VALUE_WEIGHTS] = "weights",   [VALUE_HOSTS] = "hosts",
    [VALUE_NODES] = "nodes",     [VALUE_HOSTADDR] = "hostaddr",
};

static const char *standing(const struct conf_key *key, uint32_t release)
{
    if (release < key->since)
        return "later";
    if (key->gone && release >= key->gone)
        return "gone";
    return keys_in_release(key, release) ? "has" : "ignored";
}

static void section_print(enum conf_kind file, enum conf_section section, uint32_t release)
{
    size_t n;
    const struct conf_key *keys = keys_of(file, section, &n);

    for (size_t i = 0; i < n; i++)
        (void)printf("%s\t%s\t%s\t%s\t%s\t%s\n", files[file], sections[section], keys[i].name,
                     kinds[keys[i].type.kind], standing(&keys[i], release),
                     keys[i].type.choices ? keys[i].type.choices : "");
}

int main(int argc, char **argv)
{
    uint32_t release;
    struct err e = {0};

    if (argc != 2 || release_parse(str_of(argv[1]), &release, &e) < 0)
        return 2;
    for (unsigned file = 0; file < CONF_N_KINDS; file++)
        for (unsigned section = 0; section < CONF_N_SECTIONS; section++)
            if (is_of((enum conf_kind)file, (enum conf_section)section))
                section_print((enum conf_kind)file, (enum conf_section)section, release);
    return 0;
}
