/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Partitions as typed fields.
 *
 * The key table says for each key where its field is, so that loading, printing and comparing are
 * loops over the table.  A few keys are not fields of their own (Priority, Shared, Exclusive) or
 * depend on each other (memory, DefaultTime); load_special() puts them in order as slurmctld does.
 *
 * What leaving a key out means is the table's default; a text that says just that ("ALL" for
 * AllowGroups) is stored as NULL.  So two partitions mean the same exactly if their fields do.
 */
#include "src/slurm/partition.h"

#include <strings.h>

#include "src/base/alloc.h"
#include "src/slurm/keys_impl.h"

static char **text_field(const struct partition *p, const struct conf_key *key)
{
    return (char **)((uintptr_t)p + key->text_at - 1);
}

static uint64_t *number_field(const struct partition *p, const struct conf_key *key)
{
    return (uint64_t *)((uintptr_t)p + key->number_at - 1);
}

static uint64_t number_default(const struct conf_key *key)
{
    uint64_t v;

    if (!key->dflt || value_number(key->type, str_of(key->dflt), &v) < 0)
        return VALUE_UNSET;
    return v;
}

void partition_init(struct partition *p)
{
    *p = (struct partition){0};
    for (const struct conf_key *key = keys_partition; key->name; key++)
        if (key->number_at)
            *number_field(p, key) = number_default(key);
}

void partition_done(struct partition *p)
{
    free(p->name);
    free(p->nodesets);
    for (const struct conf_key *key = keys_partition; key->name; key++)
        if (key->text_at)
            free(*text_field(p, key));
    *p = (struct partition){0};
}

void partition_copy(const struct partition *from, struct partition *to)
{
    struct partition copy = *from;

    copy.name = xstrdup_null(from->name);
    copy.nodesets = xstrdup_null(from->nodesets);
    for (const struct conf_key *key = keys_partition; key->name; key++)
        if (key->text_at)
            *text_field(&copy, key) = xstrdup_null(*text_field(from, key));
    *to = copy;
}

static void text_set(struct partition *p, const struct conf_key *key, struct str value)
{
    char **field = text_field(p, key);

    free(*field);
    *field = NULL;
    if (value.n > 0 && !(key->dflt && str_eq_nocase(value, str_of(key->dflt))))
        *field = str_dup(value);
}

static int bad_value(const struct conf_key *key, struct str value, struct err *e)
{
    struct err why = {0};

    if (value_check(key->type, RELEASE_NEWEST, value, &why) == 0)
        return err_bad(e, "%s: '" STR_FMT "' cannot be read", key->name, STR_ARG(value));
    return err_bad(e, "%s: '" STR_FMT "' %s", key->name, STR_ARG(value), why.text);
}

static int field_set(struct partition *p, const struct conf_key *key, struct str value,
                     struct err *e)
{
    uint64_t number;

    if (key->text_at) {
        text_set(p, key, value);
        return 0;
    }
    if (value_number(key->type, value, &number) < 0)
        return bad_value(key, value, e);
    *number_field(p, key) = number;
    return 0;
}

static const struct conf_pair *pair_find(const struct conf_pair *pairs, size_t n, const char *key)
{
    for (size_t i = n; i > 0; i--)
        if (strcasecmp(pairs[i - 1].key, key) == 0)
            return &pairs[i - 1];
    return NULL;
}

/* The number of a key that has no field; *ret_found tells whether it stands there. */
static int number_find(const struct conf_pair *pairs, size_t n, const char *name, bool *ret_found,
                       uint64_t *ret_number, struct err *e)
{
    const struct conf_pair *pair = pair_find(pairs, n, name);
    const struct conf_key *key = keys_find(CONF_SLURM, CONF_PARTITION, str_of(name));

    *ret_found = pair != NULL;
    if (!pair || value_number(key->type, str_of(pair->value), ret_number) == 0)
        return 0;
    return bad_value(key, str_of(pair->value), e);
}

/* Exclusive=NO|NODE|USER|TOPO (26.05) in terms of the older keys. */
static void exclusive_apply(struct partition *p, uint64_t mode)
{
    enum { NO, NODE, USER, TOPO };

    p->exclusive_user = mode == USER;
    p->exclusive_topo = mode == TOPO;
    if (mode == NODE || mode == TOPO)
        p->oversubscribe = 0;
    else if (mode == NO && p->oversubscribe == 0)
        p->oversubscribe = 1;
}

static void memory_settle(uint64_t *per_node, uint64_t *per_cpu)
{
    if (*per_node != VALUE_UNSET)
        *per_cpu = VALUE_UNSET;
    if (*per_node == 0)
        *per_node = VALUE_UNSET;
    if (*per_cpu == 0)
        *per_cpu = VALUE_UNSET;
}

static int load_special(struct partition *p, const struct conf_pair *pairs, size_t n, struct err *e)
{
    uint64_t number = 0;
    bool found;
    int r;

    r = number_find(pairs, n, "Shared", &found, &number, e);
    if (r < 0)
        return r;
    if (found && !pair_find(pairs, n, "OverSubscribe"))
        p->oversubscribe = number;
    r = number_find(pairs, n, "Priority", &found, &number, e);
    if (r < 0)
        return r;
    if (found)
        p->priority_tier = p->priority_job_factor = number;
    r = number_find(pairs, n, "Exclusive", &found, &number, e);
    if (r < 0)
        return r;
    if (found)
        exclusive_apply(p, number);
    memory_settle(&p->def_mem_per_node, &p->def_mem_per_cpu);
    memory_settle(&p->max_mem_per_node, &p->max_mem_per_cpu);
    if (p->default_time != VALUE_UNSET && p->default_time > p->max_time)
        p->default_time = VALUE_UNSET;
    return 0;
}

int partition_load(struct partition *p, const struct conf_pair *pairs, size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        struct str value = str_of(pairs[i].value);
        const struct conf_key *key = keys_find(CONF_SLURM, CONF_PARTITION, str_of(pairs[i].key));
        int r;

        if (!key)
            continue;
        if (streq(key->name, "PartitionName")) {
            free(p->name);
            p->name = str_dup(value);
        }
        if (!key->text_at && !key->number_at)
            continue;
        r = field_set(p, key, value, e);
        if (r < 0)
            return r;
    }
    return load_special(p, pairs, n, e);
}

void partition_settle(struct partition *p, uint32_t release)
{
    if (profile_has(release, PROFILE_EXCLUSIVE) && p->exclusive_topo == 1)
        p->oversubscribe = 0;
}

void partition_value(const struct partition *p, const struct conf_key *key, struct buf *out)
{
    if (key->text_at) {
        const char *text = *text_field(p, key);

        buf_adds(out, text ? text : key->dflt ? key->dflt : "");
        return;
    }
    if (key->number_at && *number_field(p, key) != VALUE_UNSET)
        value_print(key->type, *number_field(p, key), out);
}

static bool at_default(const struct partition *p, const struct conf_key *key)
{
    if (key->text_at)
        return *text_field(p, key) == NULL;
    return !key->number_at || *number_field(p, key) == number_default(key);
}

void partition_print(const struct partition *p, struct buf *out)
{
    AUTO(buf_done) struct buf value = {0};

    conf_pair_print("PartitionName", p->name ? p->name : "", out);
    if (p->nodes) {
        buf_addc(out, ' ');
        conf_pair_print("Nodes", p->nodes, out);
    }
    for (const struct conf_key *key = keys_partition; key->name; key++) {
        if (at_default(p, key) || streq(key->name, "Nodes"))
            continue;
        buf_clear(&value);
        partition_value(p, key, &value);
        buf_addc(out, ' ');
        conf_pair_print(key->name, buf_str(&value), out);
    }
}
