/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nodes added to a Partition or taken from it, by name.
 *
 * scontrol of 23.11 and later takes nodes+= and nodes-=; here is the same for every release, on
 * what is declared, so that it lasts.
 */
#include "src/cli/partition_edit.h"

#include "src/slurm/hostlist.h"
#include "src/slurm/hostset.h"

static bool is_nodeset(const struct jsn *nodesets, const char *controller, const char *name)
{
    JSN_FOR_ITEMS (item, nodesets)
        if (streq(jsn_get_str(item, "metadata.name"), name) &&
            streq(jsn_get_str(item, "spec.controllerRef.name"), controller))
            return true;
    return false;
}

/* The NodeSets without one of them, and with it at the end if it is to be there. */
static int edit_refs(struct arena *a, struct jsn *spec, const char *name, bool add, struct err *e)
{
    struct jsn *list = jsn_array(a);
    bool had = false;

    JSN_FOR_ITEMS (ref, jsn_key(spec, "nodeSetRefs")) {
        had = had || streq(jsn_get_str(ref, "name"), name);
        if (!streq(jsn_get_str(ref, "name"), name))
            jsn_append(a, list, jsn_clone(a, ref));
    }
    if (had == add)
        return err_bad(e, "NodeSet %s is %s", name, add ? "in it already" : "not in it");
    if (add) {
        struct jsn *ref = jsn_object(a);

        jsn_set_str(a, ref, "name", name);
        jsn_append(a, list, ref);
    }
    jsn_set(a, spec, "nodeSetRefs", list);
    return 0;
}

/* Copy the names of `from` to `to`, but for those in `but`. */
static void copy_names(const struct host_list *from, const struct host_set *but,
                       struct host_list *to)
{
    struct host_iter it = {0};
    AUTO(buf_done) struct buf name = {0};

    while (hostlist_next(from, &it, &name)) {
        if (!but || !hostset_has(but, buf_view(&name)))
            hostlist_push(to, buf_view(&name));
        buf_clear(&name);
    }
}

static int edit_hosts(struct arena *a, struct jsn *spec, const char *hosts, bool add, struct err *e)
{
    const char *now = jsn_get_str(spec, "nodes");
    AUTO(hostlist_free) struct host_list *list = NULL;
    AUTO(hostlist_free) struct host_list *named = NULL;
    AUTO(hostlist_free) struct host_list *result = hostlist_new();
    AUTO(hostset_free) struct host_set *set = NULL;
    AUTO(buf_done) struct buf text = {0};
    int r = hostlist_parse(str_of(now ? now : ""), &list, e);

    if (r == 0)
        r = hostlist_parse(str_of(hosts), &named, e);
    if (r < 0)
        return r;
    set = hostset_of(named);
    copy_names(list, set, result);
    if (!add && hostlist_count(result) == hostlist_count(list))
        return err_bad(e, "%s: there is no such NodeSet in its cluster, nor such a node in it",
                       hosts);
    if (add)
        copy_names(named, NULL, result);
    hostlist_print(result, &text);
    jsn_set(a, spec, "nodes", text.n ? jsn_str(a, buf_view(&text)) : jsn_null(a));
    return 0;
}

int partition_edit(struct arena *a, struct jsn *spec, const struct jsn *nodesets, const char *word,
                   struct err *e)
{
    const char *controller = jsn_get_str(spec, "controllerRef.name");
    bool add = starts_with(word, "nodes+=");
    const char *names = word + strlen("nodes+=");

    if (!(add || starts_with(word, "nodes-=")) || !names[0])
        return err_bad(e, "'%s' is neither nodes+=NAMES nor nodes-=NAMES", word);
    if (jsn_get_bool(spec, "all", false))
        return err_bad(e, "it has all nodes of the cluster (spec.all)");
    for (size_t n; names[0]; names += n + (names[n] == ',')) {
        const char *name;
        int r;

        n = 0;
        for (int depth = 0; names[n] && (depth > 0 || names[n] != ','); n++)
            depth += (names[n] == '[') - (names[n] == ']');
        name = arena_str(a, (struct str){names, n});
        r = is_nodeset(nodesets, controller, name) ? edit_refs(a, spec, name, add, e)
                                                   : edit_hosts(a, spec, name, add, e);
        if (r < 0)
            return r;
    }
    return 0;
}
