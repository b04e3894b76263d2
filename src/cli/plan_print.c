/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A plan for people and for programs.
 *
 *     cluster slurm/lab (Slurm 22.05.8)
 *       rpc          partition debug: State: UP -> DRAIN
 *       restart      SelectType: select/cons_tres -> select/linear
 *       2 changes; slurmctld is restarted, jobs go on
 */
#include "src/cli/plan.h"

static const char *const colours[] = {
    [CHANGE_NONE] = "\033[2m",
    [CHANGE_RPC] = "\033[32m",
    [CHANGE_RECONFIGURE] = "\033[33m",
    [CHANGE_RESTART] = "\033[31m",
};

/* What each class means for those who use the cluster. */
static const char *const sentences[] = {
    [CHANGE_NONE] = "Slurm takes no notice",
    [CHANGE_RPC] = "by calls to slurmctld, in milliseconds",
    [CHANGE_RECONFIGURE] = "slurmctld reads its files again",
    [CHANGE_RESTART] = "slurmctld is restarted, jobs go on",
};

/* Of a guess the series is enough, and more than that would be said without knowing. */
static void show_release(const struct plan_cluster *c, char ret_text[RELEASE_TEXT_LEN])
{
    if (c->guessed)
        release_series_text(c->release, ret_text);
    else
        release_text(c->release, ret_text);
}

static void print_change(const struct plan_change *ch, bool colour, struct buf *out)
{
    buf_printf(out, "  %s%-12s%s %s", colour ? colours[ch->class] : "",
               change_class_name(ch->class), colour ? "\033[0m" : "", ch->text);
    if (ch->why)
        buf_printf(out, " (%s)", ch->why);
    buf_addc(out, '\n');
}

static void print_drift(const struct plan_cluster *c, bool colour, struct buf *out)
{
    JSN_FOR_ITEMS (text, c->drift)
        buf_printf(out, "  %s%-12s%s %s\n", colour ? colours[CHANGE_RECONFIGURE] : "", "drift",
                   colour ? "\033[0m" : "", jsn_text(text));
    if (jsn_len(c->drift))
        buf_printf(out, "  drift is what slurmctld has otherwise than declared; it %s\n",
                   c->reverts ? "is put back as soon as Slurm allows (policy Revert)"
                              : "stays until its declaration changes (policy Report)");
}

static void print_end(const struct plan_cluster *c, bool colour, struct buf *out)
{
    if (c->refused)
        buf_printf(out, "  %srefused%s: %s\n", colour ? colours[CHANGE_RESTART] : "",
                   colour ? "\033[0m" : "", c->refused);
    else if (c->is_new)
        buf_adds(out, "  the cluster is new: it is started with this configuration\n");
    else if (c->n == 0)
        buf_adds(out, jsn_len(c->drift) ? "  no change of what is declared\n" : "  no change\n");
    else
        buf_printf(out, "  %zu change%s; %s\n", c->n, c->n == 1 ? "" : "s", sentences[c->class]);
}

void plan_print_text(const struct plan_cluster *list, size_t n, bool colour, struct buf *out)
{
    for (size_t i = 0; i < n; i++) {
        const struct plan_cluster *c = &list[i];
        char release[RELEASE_TEXT_LEN];

        show_release(c, release);
        buf_printf(out, "%s%scluster %s/%s%s (%sSlurm %s)\n", i ? "\n" : "",
                   colour ? "\033[1m" : "", c->ns, c->name, colour ? "\033[0m" : "",
                   c->guessed ? "as for " : "", release);
        if (c->note)
            buf_printf(out, "  compared with the files that were written last: %s\n", c->note);
        for (size_t k = 0; k < c->n; k++)
            print_change(&c->changes[k], colour, out);
        JSN_FOR_ITEMS (text, c->warnings)
            buf_printf(out, "  warning: %s\n", jsn_text(text) ? jsn_text(text) : "");
        print_drift(c, colour, out);
        print_end(c, colour, out);
    }
}

static struct jsn *cluster_json(struct arena *a, const struct plan_cluster *c)
{
    struct jsn *o = jsn_object(a);
    struct jsn *changes = jsn_array(a);
    char release[RELEASE_TEXT_LEN];

    show_release(c, release);
    jsn_set_str(a, o, "namespace", c->ns);
    jsn_set_str(a, o, "name", c->name);
    jsn_set_str(a, o, "release", release);
    jsn_set_str(a, o, "source", c->source);
    if (c->note)
        jsn_set_str(a, o, "note", c->note);
    jsn_set_bool(a, o, "new", c->is_new);
    jsn_set_str(a, o, "class", change_class_name(c->class));
    for (size_t i = 0; i < c->n; i++) {
        struct jsn *item = jsn_object(a);

        jsn_set_str(a, item, "class", change_class_name(c->changes[i].class));
        jsn_set_str(a, item, "change", c->changes[i].text);
        if (c->changes[i].why)
            jsn_set_str(a, item, "why", c->changes[i].why);
        jsn_append(a, changes, item);
    }
    jsn_set(a, o, "changes", changes);
    jsn_set(a, o, "warnings", c->warnings);
    jsn_set(a, o, "drift", c->drift ? c->drift : jsn_array(a));
    if (c->refused)
        jsn_set_str(a, o, "refused", c->refused);
    return o;
}

void plan_print_json(struct arena *a, const struct plan_cluster *list, size_t n, struct buf *out)
{
    struct jsn *top = jsn_object(a);
    struct jsn *clusters = jsn_array(a);

    for (size_t i = 0; i < n; i++)
        jsn_append(a, clusters, cluster_json(a, &list[i]));
    jsn_set(a, top, "clusters", clusters);
    jsn_print(out, top);
    buf_addc(out, '\n');
}
