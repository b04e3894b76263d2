/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm.conf for commands outside of the cluster's pods.
 *
 * In the pods' network the controller has a name, here it has an address, and so has slurmdbd; and
 * munged answers on a socket of this cluster's own, since the machine may have another for its own
 * ends.  What asks slurmdbd does not look for the socket in AuthInfo, but in AccountingStoragePass.
 * Nodes have names in the pods' network, too, so those that the file names here come with their
 * addresses.
 */
#include "src/local/client_conf.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/map.h"
#include "src/slurm/hostlist.h"

static bool is_key(const struct conf_line *line, const char *key)
{
    return line->section == CONF_GLOBAL && strcasecmp(line->pairs[0].key, key) == 0;
}

static bool is_ours(const struct conf_line *line)
{
    return is_key(line, "SlurmctldHost") || is_key(line, "SlurmctldAddr") ||
           is_key(line, "AuthInfo") || is_key(line, "AccountingStoragePass") ||
           line->section == CONF_PARTITION || line->section == CONF_DOWN;
}

static const char *global(const struct conf *c, const char *key)
{
    size_t n;
    const struct conf_line *lines = conf_lines(c, &n);
    const char *found = NULL;

    for (size_t i = 0; i < n; i++)
        if (is_key(&lines[i], key))
            found = lines[i].pairs[0].value;
    return found;
}

bool client_conf_uses_munge(const struct conf *cluster)
{
    const char *type = global(cluster, "AuthType");

    return !type || strcasecmp(type, "auth/munge") == 0;
}

/* The cluster's own, but for the socket. */
static void print_auth(const char *info, const char *socket, struct buf *out)
{
    struct str rest = str_of(info);
    struct str part;
    bool first = true;

    if (!info && !socket)
        return;
    buf_adds(out, "AuthInfo=");
    if (socket)
        buf_printf(out, "socket=%s", socket);
    first = !socket;
    while (info && str_split(&rest, ',', &part)) {
        if (part.n == 0 || (socket && str_starts(part, "socket=")))
            continue;
        buf_printf(out, "%s" STR_FMT, first ? "" : ",", STR_ARG(part));
        first = false;
    }
    buf_addc(out, '\n');
}

const char *client_conf_slurmdbd(const struct conf *cluster)
{
    const char *type = global(cluster, "AccountingStorageType");

    return type && strcasecmp(type, "accounting_storage/slurmdbd") == 0
               ? global(cluster, "AccountingStorageHost")
               : NULL;
}

static void print_slurmdbd(const struct conf *cluster, const struct client_place *p,
                           struct buf *out)
{
    if (!client_conf_slurmdbd(cluster))
        return;
    if (p->slurmdbd)
        buf_printf(out, "AccountingStorageHost=%s\n", p->slurmdbd);
    if (p->munge_socket)
        buf_printf(out, "AccountingStoragePass=%s\n", p->munge_socket);
}

static int by_name(const void *a, const void *b)
{
    const struct client_node *x = a;
    const struct client_node *y = b;
    int r = strverscmp(x->name, y->name);

    return r ? r : strcmp(x->address, y->address);
}

/* Nothing that has a meaning of its own in slurm.conf: these come from the API. */
static bool is_plain(const char *text, const char *allowed)
{
    return text && text[0] && text[strspn(text, allowed)] == '\0';
}

static bool can_be_said(const struct client_node *n)
{
    static const char names[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";

    return is_plain(n->name, names) && is_plain(n->address, "0123456789abcdefABCDEF.:") &&
           strcasecmp(n->name, "DEFAULT") != 0;
}

/* The names that the cluster's own file declares. */
static void note_declared(const struct conf *cluster, struct map *names)
{
    size_t n;
    const struct conf_line *lines = conf_lines(cluster, &n);

    for (size_t i = 0; i < n; i++) {
        AUTO(hostlist_free) struct host_list *list = NULL;
        AUTO(buf_done) struct buf name = {0};
        struct host_iter it = {0};

        if (lines[i].section != CONF_NODE ||
            hostlist_parse(str_of(lines[i].pairs[0].value), &list, NULL) < 0)
            continue;
        while (hostlist_next(list, &it, &name))
            map_put(names, buf_view(&name), names);
    }
}

static void print_nodes(const struct conf *cluster, struct client_place *p, struct buf *out)
{
    struct map declared;
    size_t good = 0;

    for (size_t i = 0; i < p->n_nodes; i++)
        if (can_be_said(&p->nodes[i]))
            p->nodes[good++] = p->nodes[i];
    if (good == 0)
        return;
    map_init(&declared, NULL);
    note_declared(cluster, &declared);
    qsort(p->nodes, good, sizeof(*p->nodes), by_name);
    for (size_t i = 0; i < good; i++) {
        const struct client_node *n = &p->nodes[i];

        if (map_get(&declared, str_of(n->name)))
            continue;
        map_put(&declared, str_of(n->name), &declared);
        buf_printf(out, "NodeName=%s NodeAddr=%s\n", n->name, n->address);
    }
    map_done(&declared);
}

void client_conf_print(const struct conf *cluster, struct client_place *p, struct buf *out)
{
    size_t n;
    const struct conf_line *lines = conf_lines(cluster, &n);

    buf_adds(out, "# Made from the cluster's slurm.conf; kept in step with it.\n");
    buf_printf(out, "SlurmctldHost=%s(%s)\n", p->host, p->address);
    print_auth(global(cluster, "AuthInfo"), p->munge_socket, out);
    print_slurmdbd(cluster, p, out);
    for (size_t i = 0; i < n; i++) {
        if (is_ours(&lines[i]) || (p->slurmdbd && is_key(&lines[i], "AccountingStorageHost")))
            continue;
        conf_line_print(&lines[i], out);
        buf_addc(out, '\n');
    }
    print_nodes(cluster, p, out);
}
