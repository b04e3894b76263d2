/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: what a credential plugin prints.
 *
 * An answer that is taken has a token, or a certificate with its key; nothing else is left behind.
 */
#include "src/kube/plugin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(kube_plugin_answer_done) struct kube_plugin_answer a = {0};
    struct err e = {0};
    int r = kube_plugin_parse((struct str){(const char *)data, size},
                              "client.authentication.k8s.io/v1", &a, &e);

    if (r < 0) {
        assert(e.text[0]);
        return 0;
    }
    assert(!secret_empty(&a.token) || (a.cert_pem && !secret_empty(&a.key_pem)));
    return 0;
}
