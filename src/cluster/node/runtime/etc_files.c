/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names in a pod: its own in /etc/hosts, everybody else's through /etc/resolv.conf.
 *
 * dnsPolicy: ClusterFirst asks the cluster's server, with the cluster's search domains before the
 * machine's; Default is the machine's own; None is dnsConfig alone; what dnsConfig says is added to
 * each.  A pod on the machine's network has Default unless it says ClusterFirstWithHostNet.
 */
#include "src/cluster/node/runtime/etc_files.h"

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/cluster/node/record.h"

void etc_hosts(struct buf *b, const struct pod_spec *p, const char *ip)
{
    buf_adds(b, "# Kubernetes-managed hosts file.\n"
                "127.0.0.1\tlocalhost\n"
                "::1\tlocalhost ip6-localhost ip6-loopback\n"
                "fe00::0\tip6-localnet\n"
                "fe00::0\tip6-mcastprefix\n"
                "fe00::1\tip6-allnodes\n"
                "fe00::2\tip6-allrouters\n");
    if (p->subdomain && p->subdomain[0])
        buf_printf(b, "%s\t%s.%s.%s.svc." CLUSTER_DOMAIN "\t%s\n", ip, p->host_name, p->subdomain,
                   p->ns, p->host_name);
    else
        buf_printf(b, "%s\t%s\n", ip, p->host_name);
    JSN_FOR_ITEMS (alias, jsn_get(p->json, "spec.hostAliases")) {
        buf_printf(b, "%s", jsn_get_str(alias, "ip"));
        JSN_FOR_ITEMS (name, jsn_key(alias, "hostnames"))
            buf_printf(b, "\t%s", jsn_text(name));
        buf_addc(b, '\n');
    }
}

/* The words after `keyword` in a resolv.conf, each with a blank in front. */
static void words_of(struct str conf, const char *keyword, struct buf *b)
{
    struct str line;

    while (str_split(&conf, '\n', &line)) {
        struct str rest = str_trim(line), word;

        if (!str_split(&rest, ' ', &word) || !str_eqz(word, keyword))
            continue;
        while (str_split(&rest, ' ', &word))
            if (word.n)
                buf_printf(b, " " STR_FMT, STR_ARG(word));
    }
}

static bool asks_cluster(const struct pod_spec *p, const char *policy)
{
    return streq(policy, "ClusterFirstWithHostNet") ||
           ((!policy || streq(policy, "ClusterFirst")) && !p->host_network);
}

static void add_options(const struct jsn *config, bool cluster, struct buf *options)
{
    bool ndots = false;

    JSN_FOR_ITEMS (o, jsn_key(config, "options")) {
        const char *value = jsn_get_str(o, "value");

        ndots = ndots || streq(jsn_get_str(o, "name"), "ndots");
        buf_printf(options, " %s%s%s", jsn_get_str(o, "name"), value ? ":" : "",
                   value ? value : "");
    }
    if (cluster && !ndots)
        buf_adds(options, " ndots:5");
}

void etc_resolv(struct buf *b, const struct pod_spec *p, const char *server, struct str host)
{
    const char *policy = jsn_get_str(p->json, "spec.dnsPolicy");
    const struct jsn *config = jsn_get(p->json, "spec.dnsConfig");
    AUTO(buf_done) struct buf search = {0};
    AUTO(buf_done) struct buf servers = {0};
    AUTO(buf_done) struct buf options = {0};
    struct str rest, word;
    bool cluster = asks_cluster(p, policy);

    if (cluster) {
        buf_printf(&servers, " %s", server);
        buf_printf(&search, " %s.svc." CLUSTER_DOMAIN " svc." CLUSTER_DOMAIN " " CLUSTER_DOMAIN,
                   p->ns);
        words_of(host, "search", &search);
    } else if (!streq(policy, "None")) {
        words_of(host, "nameserver", &servers);
        words_of(host, "search", &search);
        words_of(host, "options", &options);
    }
    JSN_FOR_ITEMS (item, jsn_key(config, "nameservers"))
        buf_printf(&servers, " %s", jsn_text(item));
    JSN_FOR_ITEMS (item, jsn_key(config, "searches"))
        buf_printf(&search, " %s", jsn_text(item));
    add_options(config, cluster, &options);
    if (search.n)
        buf_printf(b, "search%s\n", buf_str(&search));
    rest = buf_view(&servers);
    while (str_split(&rest, ' ', &word))
        if (word.n)
            buf_printf(b, "nameserver " STR_FMT "\n", STR_ARG(word));
    if (options.n)
        buf_printf(b, "options%s\n", buf_str(&options));
}

static int write_file(const char *dir, const char *name, struct buf *b, struct err *e)
{
    AUTO(free) char *path = xasprintf("%s/etc/%s", dir, name);

    return record_write(path, buf_view(b), 0644, e);
}

int etc_files_write(const char *dir, const struct pod_spec *p, const char *ip, const char *server,
                    struct err *e)
{
    AUTO(free) char *etc = xasprintf("%s/etc", dir);
    AUTO(free) char *host = NULL;
    AUTO(buf_done) struct buf hosts = {0};
    AUTO(buf_done) struct buf resolv = {0};
    AUTO(buf_done) struct buf name = {0};
    size_t n = 0;
    int r = file_make_dirs(etc, 0755, e);

    if (r < 0)
        return r;
    (void)!file_read("/etc/resolv.conf", 65536, &host, &n, NULL);
    etc_hosts(&hosts, p, ip);
    etc_resolv(&resolv, p, server, (struct str){host, n});
    buf_printf(&name, "%s\n", p->host_name);
    r = write_file(dir, "hosts", &hosts, e);
    if (r == 0)
        r = write_file(dir, "resolv.conf", &resolv, e);
    return r < 0 ? r : write_file(dir, "hostname", &name, e);
}
