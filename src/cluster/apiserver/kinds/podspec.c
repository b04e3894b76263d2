/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pod specs, top level.
 *
 * The parts (volumes, containers, security, affinity) have files of their own; here they come
 * together in the order of kube-apiserver, so that the list of causes reads the same.  Names must
 * be unique over containers, init containers and ephemeral containers alike.
 */
#include "src/cluster/apiserver/kinds/podspec.h"

static const char *const restart_policies[] = {"Always", "OnFailure", "Never", NULL};
static const char *const dns_policies[] = {"ClusterFirstWithHostNet", "ClusterFirst", "Default",
                                           "None", NULL};
static const char *const preemption_policies[] = {"PreemptLowerPriority", "Never", NULL};

/* Adds the name to the set; "Duplicate value" if it is there. */
static void check_unique(struct causes *cs, struct map *names, const struct place *name)
{
    struct str key = str_of(place_str(name));
    static char here[1];

    if (key.n == 0)
        return;
    if (map_get(names, key))
        place_duplicate(cs, name);
    else
        (void)map_put(names, key, here);
}

static void check_image_blanks(struct causes *cs, const struct place *container)
{
    struct place image = place_key(container, "image");
    struct str text = str_of(place_str(&image));

    if (str_trim(text).n != text.n)
        place_invalid(cs, &image, "must not have leading or trailing whitespace");
}

static void check_host_ports(struct causes *cs, const struct place *container, struct map *taken)
{
    struct place ports = place_key(container, "ports");

    PLACE_FOR_ITEMS (port, &ports) {
        struct place at = place_key(&port, "hostPort");
        struct place protocol = place_key(&port, "protocol");
        struct place ip = place_key(&port, "hostIP");
        char *text;
        static char here[1];

        if (place_int(&at, 0) == 0)
            continue;
        text = arena_printf(cs->arena, "%s/%s/%lld", place_str(&protocol), place_str(&ip),
                            (long long)place_int(&at, 0));
        if (map_get(taken, str_of(text)))
            cause_duplicate(cs, place_text(cs, &at), jsn_string(cs->arena, text));
        else
            (void)map_put(taken, str_of(text), here);
    }
}

static void check_containers(struct causes *cs, const struct place *list, const struct map *volumes,
                             struct map *names, bool pod)
{
    AUTO(map_done) struct map host_ports = {0};

    if (jsn_len(list->value) == 0)
        place_required(cs, list, NULL);
    PLACE_FOR_ITEMS (c, list) {
        struct place name = place_key(&c, "name");

        check_form_required(cs, &name, FORM_DNS_LABEL);
        check_unique(cs, names, &name);
        container_check(cs, &c, volumes);
        check_host_ports(cs, &c, &host_ports);
        if (pod)
            check_image_blanks(cs, &c);
    }
}

/* A sidecar (restartPolicy Always) may have what other init containers may not. */
static void check_init_only(struct causes *cs, const struct place *c)
{
    static const char *const never[] = {"lifecycle", "livenessProbe", "readinessProbe",
                                        "startupProbe"};
    struct place policy = place_key(c, "restartPolicy");

    if (streq(place_str(&policy), "Always"))
        return;
    for (size_t i = 0; i < ARRAY_LEN(never); i++) {
        struct place at = place_key(c, never[i]);

        if (place_given(&at))
            place_forbidden(cs, &at,
                            "may not be set for init containers without "
                            "restartPolicy=Always");
    }
}

static void check_init_containers(struct causes *cs, const struct place *list,
                                  const struct map *volumes, struct map *names, bool pod)
{
    PLACE_FOR_ITEMS (c, list) {
        AUTO(map_done) struct map host_ports = {0};
        struct place name = place_key(&c, "name");

        check_form_required(cs, &name, FORM_DNS_LABEL);
        check_unique(cs, names, &name);
        container_check(cs, &c, volumes);
        check_init_only(cs, &c);
        check_host_ports(cs, &c, &host_ports);
        if (pod)
            check_image_blanks(cs, &c);
    }
}

static void check_ephemeral_containers(struct causes *cs, const struct place *list,
                                       const struct map *volumes, struct map *names)
{
    static const char *const never[] = {"ports",        "livenessProbe", "readinessProbe",
                                        "startupProbe", "lifecycle",     "restartPolicy"};

    PLACE_FOR_ITEMS (c, list) {
        struct place name = place_key(&c, "name");

        check_form_required(cs, &name, FORM_DNS_LABEL);
        check_unique(cs, names, &name);
        container_check(cs, &c, volumes);
        for (size_t i = 0; i < ARRAY_LEN(never); i++) {
            struct place at = place_key(&c, never[i]);

            if (place_given(&at) && jsn_len(at.value) > 0)
                place_forbidden(cs, &at, "cannot be set for an Ephemeral Container");
        }
    }
}

static void check_readiness_gates(struct causes *cs, const struct place *gates)
{
    PLACE_FOR_ITEMS (gate, gates) {
        struct place type = place_key(&gate, "conditionType");

        check_form(cs, &type, FORM_QUALIFIED);
    }
}

static void check_host_aliases(struct causes *cs, const struct place *aliases)
{
    PLACE_FOR_ITEMS (alias, aliases) {
        struct place ip = place_key(&alias, "ip");
        struct place names = place_key(&alias, "hostnames");

        if (!names_good(FORM_IP, place_str(&ip)))
            place_invalid(cs, &ip, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
        PLACE_FOR_ITEMS (name, &names)
            check_form(cs, &name, FORM_DNS_SUBDOMAIN);
    }
}

static void check_filled_form(struct causes *cs, const struct place *spec, const char *key,
                              enum name_form form)
{
    struct place at = place_key(spec, key);

    if (place_filled(&at))
        check_form(cs, &at, form);
}

static void check_scalars(struct causes *cs, const struct place *spec)
{
    struct place deadline = place_key(spec, "activeDeadlineSeconds");
    struct place preemption = place_key(spec, "preemptionPolicy");

    check_filled_form(cs, spec, "serviceAccountName", FORM_DNS_SUBDOMAIN);
    check_filled_form(cs, spec, "nodeName", FORM_DNS_SUBDOMAIN);
    check_range(cs, &deadline, 1, INT32_MAX);
    check_filled_form(cs, spec, "hostname", FORM_DNS_LABEL);
    check_filled_form(cs, spec, "subdomain", FORM_DNS_LABEL);
    check_filled_form(cs, spec, "priorityClassName", FORM_DNS_SUBDOMAIN);
    check_filled_form(cs, spec, "runtimeClassName", FORM_DNS_SUBDOMAIN);
    check_enum(cs, &preemption, preemption_policies);
}

void podspec_check(struct causes *cs, const struct place *spec, bool pod)
{
    AUTO(map_done) struct map volumes = {0};
    AUTO(map_done) struct map names = {0};
    struct place volume_list = place_key(spec, "volumes");
    struct place containers = place_key(spec, "containers");
    struct place inits = place_key(spec, "initContainers");
    struct place ephemeral = place_key(spec, "ephemeralContainers");
    struct place restart = place_key(spec, "restartPolicy");
    struct place dns = place_key(spec, "dnsPolicy");
    struct place node_selector = place_key(spec, "nodeSelector");
    struct place affinity = place_key(spec, "affinity");
    struct place gates = place_key(spec, "readinessGates");
    struct place spread = place_key(spec, "topologySpreadConstraints");
    struct place tolerations = place_key(spec, "tolerations");
    struct place aliases = place_key(spec, "hostAliases");

    volumes_check(cs, &volume_list, &volumes);
    check_containers(cs, &containers, &volumes, &names, pod);
    check_init_containers(cs, &inits, &volumes, &names, pod);
    check_ephemeral_containers(cs, &ephemeral, &volumes, &names);
    check_enum_required(cs, &restart, restart_policies);
    check_enum_required(cs, &dns, dns_policies);
    check_labels(cs, &node_selector);
    pod_security_check(cs, spec);
    pod_affinity_check(cs, &affinity);
    pod_dns_check(cs, spec);
    check_readiness_gates(cs, &gates);
    pod_spread_check(cs, &spread);
    check_scalars(cs, spec);
    pod_tolerations_check(cs, &tolerations);
    check_host_aliases(cs, &aliases);
}

void podtemplate_check(struct causes *cs, const struct place *template)
{
    struct place meta = place_key(template, "metadata");
    struct place labels = place_key(template, "labels"); /* Kubernetes leaves "metadata" out */
    struct place annotations = place_key(template, "annotations");
    struct place spec = place_key(template, "spec");
    struct place ephemeral = place_key(&spec, "ephemeralContainers");

    labels.value = jsn_key(meta.value, "labels");
    annotations.value = jsn_key(meta.value, "annotations");
    check_labels(cs, &labels);
    check_annotations(cs, &annotations);
    podspec_check(cs, &spec, false);
    if (jsn_len(ephemeral.value) > 0)
        place_forbidden(cs, &ephemeral, "ephemeral containers not allowed in pod template");
}
