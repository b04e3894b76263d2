/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a pod may run: affinity, tolerations, topology spread, and the resolver's configuration
 * that goes with the place.
 *
 * There is one node, so nothing here acts on these; they are checked since manifests carry them,
 * and since a mistake should show here and not only on the next, larger cluster.
 */
#include "src/cluster/apiserver/gotext.h"
#include "src/cluster/apiserver/kinds/labelselector.h"
#include "src/cluster/apiserver/kinds/podspec.h"

#define BAD_OPERATOR "not a valid selector operator"

static void check_node_requirement(struct causes *cs, const struct place *rq)
{
    struct place operator= place_key(rq, "operator");
    struct place values = place_key(rq, "values");
    struct place key = place_key(rq, "key");
    const char *op = place_str(&operator);
    size_t n = jsn_len(values.value);

    if (streq(op, "In") || streq(op, "NotIn")) {
        if (n == 0)
            place_required(cs, &values, "must be specified when `operator` is 'In' or 'NotIn'");
    } else if (streq(op, "Exists") || streq(op, "DoesNotExist")) {
        if (n > 0)
            place_forbidden(cs, &values,
                            "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    } else if (streq(op, "Gt") || streq(op, "Lt")) {
        if (n != 1)
            place_required(cs, &values,
                           "must be specified single value when `operator` is 'Lt' or 'Gt'");
    } else {
        place_invalid(cs, &operator, BAD_OPERATOR);
    }
    check_form_always(cs, &key, FORM_QUALIFIED);
}

static void check_node_field(struct causes *cs, const struct place *rq)
{
    struct place operator= place_key(rq, "operator");
    struct place values = place_key(rq, "values");
    struct place key = place_key(rq, "key");

    if (!streq(place_str(&operator), "In") && !streq(place_str(&operator), "NotIn"))
        place_invalid(cs, &operator, BAD_OPERATOR);
    else if (jsn_len(values.value) != 1)
        place_required(cs, &values,
                       "must be only one value when `operator` is 'In' or 'NotIn' for node field "
                       "selector");
    if (!streq(place_str(&key), "metadata.name"))
        place_invalid(cs, &key, "not a valid field selector key");
    else
        PLACE_FOR_ITEMS (value, &values)
            check_form(cs, &value, FORM_DNS_SUBDOMAIN);
}

static void check_node_term(struct causes *cs, const struct place *term)
{
    struct place expressions = place_key(term, "matchExpressions");
    struct place fields = place_key(term, "matchFields");

    PLACE_FOR_ITEMS (rq, &expressions)
        check_node_requirement(cs, &rq);
    PLACE_FOR_ITEMS (rq, &fields)
        check_node_field(cs, &rq);
}

void node_selector_check(struct causes *cs, const struct place *selector)
{
    struct place terms = place_key(selector, "nodeSelectorTerms");

    if (jsn_len(terms.value) == 0)
        place_required(cs, &terms, "must have at least one node selector term");
    PLACE_FOR_ITEMS (term, &terms)
        check_node_term(cs, &term);
}

static void check_weight(struct causes *cs, const struct place *item)
{
    struct place weight = place_key(item, "weight");
    int64_t w = place_int(&weight, 0);

    if (w > 0 && w <= 100)
        return;
    if (weight.value)
        place_invalid(cs, &weight, "must be in the range 1-100");
    else
        place_invalid_text(cs, &weight, "0", "must be in the range 1-100");
}

static void check_node_affinity(struct causes *cs, const struct place *affinity)
{
    struct place required = place_key(affinity, "requiredDuringSchedulingIgnoredDuringExecution");
    struct place preferred = place_key(affinity, "preferredDuringSchedulingIgnoredDuringExecution");

    if (place_given(&required))
        node_selector_check(cs, &required);
    PLACE_FOR_ITEMS (item, &preferred) {
        struct place preference = place_key(&item, "preference");

        check_weight(cs, &item);
        check_node_term(cs, &preference);
    }
}

static void check_pod_term(struct causes *cs, const struct place *term)
{
    struct place selector = place_key(term, "labelSelector");
    struct place ns_selector = place_key(term, "namespaceSelector");
    struct place namespaces = place_key(term, "namespaces");
    struct place topology = place_key(term, "topologyKey");

    labelselector_check(cs, &selector);
    labelselector_check(cs, &ns_selector);
    PLACE_FOR_ITEMS (ns, &namespaces)
        check_form(cs, &ns, FORM_DNS_LABEL);
    (void)check_filled(cs, &topology, "can not be empty");
    check_form_always(cs, &topology, FORM_QUALIFIED);
}

static void check_pod_affinity(struct causes *cs, const struct place *affinity)
{
    struct place required = place_key(affinity, "requiredDuringSchedulingIgnoredDuringExecution");
    struct place preferred = place_key(affinity, "preferredDuringSchedulingIgnoredDuringExecution");

    PLACE_FOR_ITEMS (term, &required)
        check_pod_term(cs, &term);
    PLACE_FOR_ITEMS (item, &preferred) {
        struct place term = place_key(&item, "podAffinityTerm");

        check_weight(cs, &item);
        check_pod_term(cs, &term);
    }
}

void pod_affinity_check(struct causes *cs, const struct place *affinity)
{
    struct place node = place_key(affinity, "nodeAffinity");
    struct place pod = place_key(affinity, "podAffinity");
    struct place anti = place_key(affinity, "podAntiAffinity");

    check_node_affinity(cs, &node);
    check_pod_affinity(cs, &pod);
    check_pod_affinity(cs, &anti);
}

static void check_toleration(struct causes *cs, const struct place *t)
{
    static const char *const operators[] = {"Equal", "Exists", NULL};
    static const char *const effects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute", NULL};
    struct place key = place_key(t, "key");
    struct place operator= place_key(t, "operator");
    struct place value = place_key(t, "value");
    struct place effect = place_key(t, "effect");
    struct place seconds = place_key(t, "tolerationSeconds");
    const char *op = place_str(&operator);

    if (place_filled(&key))
        check_form(cs, &key, FORM_QUALIFIED);
    else if (!streq(op, "Exists"))
        place_invalid(cs, &operator,
                      "operator must be Exists when `key` is empty, which means \"match all "
                      "values and all keys\"");
    if (place_given(&seconds) && !streq(place_str(&effect), "NoExecute"))
        place_invalid(cs, &effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
    if (streq(op, "Exists") && place_filled(&value))
        place_invalid(cs, &operator, "value must be empty when `operator` is 'Exists'");
    if (op[0] == '\0' || streq(op, "Equal")) {
        struct name_faults f = names_check(FORM_LABEL_VALUE, str_of(place_str(&value)));

        if (f.n > 0)
            cause_invalid(cs, place_text(cs, &operator), value.value, "%s", f.text[0]);
    }
    check_enum(cs, &operator, operators);
    check_enum(cs, &effect, effects);
}

void pod_tolerations_check(struct causes *cs, const struct place *tolerations)
{
    PLACE_FOR_ITEMS (t, tolerations)
        check_toleration(cs, &t);
}

/* Each constraint whose pair of key and action comes again further down. */
static void check_spread_pairs(struct causes *cs, const struct place *constraints)
{
    AUTO(map_done) struct map seen = {0};
    static char here[1];

    for (size_t i = jsn_len(constraints->value); i > 0; i--) {
        struct place c = place_item(constraints, i - 1);
        struct place key = place_key(&c, "topologyKey");
        struct place action = place_key(&c, "whenUnsatisfiable");
        struct place pair = place_key(&c, "{topologyKey, whenUnsatisfiable}");
        char *text = arena_printf(cs->arena, "{%s, %s}", place_str(&key), place_str(&action));

        if (!map_put(&seen, str_of(text), here))
            cause_duplicate(cs, place_text(cs, &pair), jsn_string(cs->arena, text));
    }
}

void pod_spread_check(struct causes *cs, const struct place *constraints)
{
    static const char *const actions[] = {"DoNotSchedule", "ScheduleAnyway", NULL};

    PLACE_FOR_ITEMS (c, constraints) {
        struct place skew = place_key(&c, "maxSkew");
        struct place key = place_key(&c, "topologyKey");
        struct place action = place_key(&c, "whenUnsatisfiable");
        struct place selector = place_key(&c, "labelSelector");

        if (place_int(&skew, 0) <= 0)
            place_invalid_text(cs, &skew,
                               arena_printf(cs->arena, "%lld", (long long)place_int(&skew, 0)),
                               "must be greater than zero");
        (void)check_filled(cs, &key, "can not be empty");
        if (place_filled(&action))
            check_enum(cs, &action, actions);
        else
            place_unsupported(cs, &action, actions);
        labelselector_check(cs, &selector);
    }
    check_spread_pairs(cs, constraints);
}

static void check_searches(struct causes *cs, const struct place *searches)
{
    size_t chars = 0;

    PLACE_FOR_ITEMS (search, searches) {
        struct str text = str_of(place_str(&search));
        struct name_faults f;

        chars += text.n + 1;
        if (str_ends(text, "."))
            text.n--;
        f = names_check(FORM_DNS_SUBDOMAIN, text);
        for (size_t i = 0; i < f.n; i++)
            place_invalid(cs, &search, "%s", f.text[i]);
    }
    if (jsn_len(searches->value) > 32)
        place_invalid_text(cs, searches, gotext_value(cs->arena, searches->value),
                           "must not have more than 32 search paths");
    if (chars > 2049)
        place_invalid_text(cs, searches, gotext_value(cs->arena, searches->value),
                           "must not have more than 2048 characters (including spaces) in the "
                           "search list");
}

void pod_dns_check(struct causes *cs, const struct place *spec)
{
    struct place policy = place_key(spec, "dnsPolicy");
    struct place config = place_key(spec, "dnsConfig");
    struct place servers = place_key(&config, "nameservers");
    struct place searches = place_key(&config, "searches");
    struct place options = place_key(&config, "options");

    if (streq(place_str(&policy), "None")) {
        if (!place_given(&config))
            place_required(cs, &config, "must provide `dnsConfig` when `dnsPolicy` is None");
        else if (jsn_len(servers.value) == 0)
            place_required(cs, &servers,
                           "must provide at least one DNS nameserver when `dnsPolicy` is None");
    }
    if (jsn_len(servers.value) > 3)
        place_invalid_text(cs, &servers, gotext_value(cs->arena, servers.value),
                           "must not have more than 3 nameservers");
    PLACE_FOR_ITEMS (server, &servers) {
        if (!names_good(FORM_IP, place_str(&server)))
            place_invalid(cs, &server,
                          "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
    }
    check_searches(cs, &searches);
    PLACE_FOR_ITEMS (option, &options) {
        struct place name = place_key(&option, "name");

        if (!place_filled(&name))
            place_required(cs, &option, "must not be empty");
    }
}
