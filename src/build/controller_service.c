/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Services of slurmctld.
 *
 * There are two: a headless one that gives every slurmctld a name (SlurmctldHost), and one that
 * leads to whichever is active (SlurmctldAddr), told by a label on the pod.  Where the user wants
 * the latter on another port, it keeps 6817 besides, since that is the port in slurm.conf.  A
 * ServiceMonitor selects the latter alone, so that nothing is collected twice.
 */
#include "src/build/controller_service.h"

#include "src/build/labels.h"
#include "src/build/tree.h"
#include "src/json/patch_merge.h"

static struct jsn *make_meta(struct arena *a, const struct build_cluster *c, const char *name,
                             const char *which, const struct api_labels *user)
{
    const struct api_meta *m = &c->controller->meta;
    struct jsn *labels = labels_all(a, APP_CONTROLLER, m->name);
    struct jsn *annotations = jsn_object(a);

    if (user) {
        build_add_map(a, labels, &user->labels);
        build_add_map(a, annotations, &user->annotations);
    }
    jsn_set_str(a, labels, LABEL_SERVICE, which);
    return labels_meta(a, name, api_namespace(m), labels, annotations,
                       labels_owner(a, "Controller", m, true));
}

static struct jsn *make_ports(struct arena *a, const struct api_service *user)
{
    int32_t port = user->port ? user->port : SLURMCTLD_PORT;
    struct jsn *ports =
        build_tree(a,
                   "[{'name':'slurmctld','protocol':'TCP','port':'$port','nodePort':'$node',"
                   "'targetPort':'slurmctld'}]",
                   SLOTS({"port", jsn_int(a, port)},
                         {"node", user->node_port ? jsn_int(a, user->node_port) : NULL}));

    if (port != SLURMCTLD_PORT)
        jsn_append(a, ports,
                   build_tree(a,
                              "{'name':'slurm','protocol':'TCP','port':6817,"
                              "'targetPort':'slurmctld'}",
                              NULL));
    JSN_FOR_ITEMS (p, jsn_get(user->spec, "ports"))
        if (!streq(jsn_get_str(p, "name"), "slurmctld"))
            jsn_append(a, ports, p);
    return ports;
}

struct jsn *build_controller_service(struct arena *a, const struct build_cluster *c)
{
    const struct controller *ctl = c->controller;
    const struct api_service *user = &ctl->spec.service;
    struct jsn *selector = labels_selector(a, APP_CONTROLLER, ctl->meta.name);
    struct jsn *spec = jsn_object(a);
    struct jsn *meta =
        make_meta(a, c, labels_controller(a, ctl->meta.name), "active", &user->metadata);

    if (user->spec)
        spec = patch_merge(a, spec, user->spec);
    jsn_set_str(a, selector, LABEL_ACTIVE, "true");
    jsn_set(a, spec, "ports", make_ports(a, user));
    jsn_set(a, spec, "selector", selector);
    (void)jsn_del(spec, "externalIPs");
    return build_tree(a, "{'apiVersion':'v1','kind':'Service','metadata':'$meta','spec':'$spec'}",
                      SLOTS({"meta", meta}, {"spec", spec}));
}

struct jsn *build_controller_internal(struct arena *a, const struct build_cluster *c)
{
    const char *name = c->controller->meta.name;
    struct jsn *meta = make_meta(a, c, labels_internal(a, name), "internal", NULL);

    return build_tree(
        a,
        "{'apiVersion':'v1','kind':'Service','metadata':'$meta','spec':{'clusterIP':'None',"
        "'publishNotReadyAddresses':true,'selector':'$selector','ports':[{'name':'slurmctld',"
        "'protocol':'TCP','port':6817,'targetPort':'slurmctld'}]}}",
        SLOTS({"meta", meta}, {"selector", labels_selector(a, APP_CONTROLLER, name)}));
}

static struct jsn *make_endpoint(struct arena *a, const struct api_service_monitor *m,
                                 const struct api_endpoint *e)
{
    const char *interval = e->interval ? e->interval : m->interval;
    const char *timeout = e->scrape_timeout ? e->scrape_timeout : m->scrape_timeout;

    return build_tree(a,
                      "{'port':'slurmctld','scheme':'http','path':'$path','interval':'$interval',"
                      "'scrapeTimeout':'$timeout'}",
                      SLOTS({"path", jsn_string(a, e->path)},
                            {"interval", interval ? jsn_string(a, interval) : NULL},
                            {"timeout", timeout ? jsn_string(a, timeout) : NULL}));
}

static struct jsn *make_endpoints(struct arena *a, const struct api_service_monitor *m)
{
    static const char *const paths[] = {"/metrics/jobs", "/metrics/nodes", "/metrics/partitions",
                                        "/metrics/scheduler"};
    struct jsn *list = jsn_array(a);

    for (size_t i = 0; i < m->endpoints.n; i++)
        jsn_append(a, list, make_endpoint(a, m, &m->endpoints.items[i]));
    for (size_t i = 0; m->endpoints.n == 0 && i < ARRAY_LEN(paths); i++)
        jsn_append(a, list, make_endpoint(a, m, &(struct api_endpoint){.path = paths[i]}));
    return list;
}

struct jsn *build_service_monitor(struct arena *a, const struct build_cluster *c)
{
    const struct controller *ctl = c->controller;
    const struct api_metrics *m = &ctl->spec.metrics;
    const char *ns = api_namespace(&ctl->meta);
    struct jsn *selector = labels_selector(a, APP_CONTROLLER, ctl->meta.name);
    struct jsn *labels;

    if (ctl->spec.external || !m->enabled || !m->monitor.enabled || !build_has(c, PROFILE_METRICS))
        return NULL;
    labels = labels_all(a, APP_CONTROLLER, ctl->meta.name);
    build_add_map(a, labels, &m->monitor.labels);
    jsn_set_str(a, selector, LABEL_SERVICE, "active");
    return build_tree(
        a,
        "{'apiVersion':'monitoring.coreos.com/v1','kind':'ServiceMonitor','metadata':'$meta',"
        "'spec':{'selector':{'matchLabels':'$selector'},'namespaceSelector':{'matchNames':['$ns']},"
        "'endpoints':'$endpoints'}}",
        SLOTS({"meta", labels_meta(a, labels_controller(a, ctl->meta.name), ns, labels,
                                   build_map(a, &m->monitor.annotations),
                                   labels_owner(a, "Controller", &ctl->meta, true))},
              {"selector", selector}, {"ns", jsn_string(a, ns)},
              {"endpoints", make_endpoints(a, &m->monitor)}));
}
