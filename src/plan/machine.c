/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kubernetes nodes.
 *
 * `kubectl cordon` says that nothing new is to be put there, and what Slurm would put there are
 * jobs.  Conditions drain only where the operator was told their types: most are of no concern to
 * jobs.  Texts come from whoever may write nodes, and end up in a reason that slurmctld shows.
 */
#include "src/plan/machine.h"

#include "src/base/buf.h"

#define TEXT_MAX 256

static const char *text_of(struct arena *a, const struct jsn *v)
{
    const char *text = jsn_text(v);

    return text && text[0] ? arena_strdup(a, text) : NULL;
}

void plan_machine_decode(struct arena *a, const struct jsn *v, struct plan_machine *ret)
{
    const struct jsn *conditions = jsn_get(v, "status.conditions");
    struct plan_machine m = {0};

    m.name = text_of(a, jsn_get(v, "metadata.name"));
    m.cordoned = jsn_get_bool(v, "spec.unschedulable", false);
    m.reason =
        text_of(a, jsn_member(jsn_get(v, "metadata.annotations"), STR(MACHINE_CORDON_REASON)));
    m.conditions = arena_calloc(a, jsn_len(conditions) + 1, sizeof(*m.conditions));
    JSN_FOR_ITEMS (c, conditions)
        if (streq(jsn_get_str(c, "status"), "True") && jsn_get_str(c, "type"))
            m.conditions[m.n_conditions++] = (struct machine_condition){
                text_of(a, jsn_key(c, "type")), text_of(a, jsn_key(c, "reason")),
                text_of(a, jsn_key(c, "message"))};
    *ret = m;
}

static bool lists(const char *list, const char *type)
{
    struct str rest = str_of(list);
    struct str item;

    while (list && str_split(&rest, ',', &item))
        if (str_eqz(str_trim(item), type))
            return true;
    return false;
}

/* Cut where a character ends. */
static void add_clean(struct buf *b, const char *text)
{
    size_t n = strlen(text);

    if (n > TEXT_MAX)
        for (n = TEXT_MAX; n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80;)
            n--;
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)text[i] >= ' ' && text[i] != 0x7f)
            buf_addc(b, text[i]);
}

static void add_conditions(struct buf *b, const struct plan_machine *m, const char *types)
{
    for (size_t i = 0; i < m->n_conditions; i++) {
        const struct machine_condition *c = &m->conditions[i];

        if (!lists(types, c->type))
            continue;
        buf_adds(b, b->n ? "; (" : "(");
        add_clean(b, c->reason ? c->reason : c->type);
        if (c->message) {
            buf_adds(b, ": ");
            add_clean(b, c->message);
        }
        buf_addc(b, ')');
    }
}

const char *plan_machine_drains(struct arena *a, const struct plan_machine *m,
                                const char *conditions)
{
    AUTO(buf_done) struct buf b = {0};

    if (m->cordoned && m->reason)
        add_clean(&b, m->reason);
    if (b.n == 0)
        add_conditions(&b, m, conditions);
    if (b.n)
        return arena_printf(a, "Node (%s): %s", m->name, buf_str(&b));
    return m->cordoned ? arena_printf(a, "Node (%s) was cordoned", m->name) : NULL;
}
