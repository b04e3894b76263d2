/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: kubeconfig files.
 *
 * Whatever the bytes, reading ends with a configuration or with an error that names the file.  A
 * configuration is merged with itself, which must change nothing, and every context is chosen.  The
 * same bytes are also read as what a credential plugin prints.
 */
#include <assert.h>

#include "src/base/alloc.h"
#include "src/kube/plugin.h"
#include "src/kube/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void choose(struct str text, const char *context)
{
    AUTO(kube_config_done) struct kube_config c;
    AUTO(kube_target_free) struct kube_target *t = NULL;
    struct err e = {0};

    kube_config_init(&c);
    if (kube_config_add(&c, "/fuzz/config", text, &e) < 0)
        abort();
    if (kube_target_select(&c, "fuzz", &(struct kube_wish){.context = context}, &t, &e) < 0)
        assert(starts_with(e.text, context ? "context '" : "") || strstr(e.text, "fuzz"));
    else
        assert(starts_with(t->cluster->server, "http"));
}

static void read_plugin(struct str text)
{
    AUTO(kube_plugin_answer_done) struct kube_plugin_answer a = {0};
    struct err e = {0};

    if (kube_plugin_parse(text, "client.authentication.k8s.io/v1", &a, &e) < 0)
        assert(*e.text);
    else
        assert(!secret_empty(&a.token) || a.cert_pem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(kube_config_done) struct kube_config c;
    struct str text = {(const char *)data, size};
    struct err e = {0};
    struct str name;
    size_t before, at = 0;

    read_plugin(text);
    kube_config_init(&c);
    if (kube_config_add(&c, "/fuzz/config", text, &e) < 0) {
        assert(starts_with(e.text, "kubeconfig '/fuzz/config': "));
        return 0;
    }
    before = c.clusters.n + c.users.n + c.contexts.n;
    if (kube_config_add(&c, "/other/config", text, &e) < 0)
        abort();
    assert(before == c.clusters.n + c.users.n + c.contexts.n);
    choose(text, NULL);
    for (int i = 0; i < 16 && map_next(&c.contexts, &at, &name, NULL); i++) {
        AUTO(free) char *context = str_dup(name);

        choose(text, context);
    }
    return 0;
}
