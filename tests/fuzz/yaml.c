/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: YAML text.
 *
 * Each document that is read must print to YAML that reads back as an equal value.
 */
#include "src/json/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_done) struct arena a = {0};
    struct err e = {0};
    struct jsn *documents;

    if (yaml_parse_all(&a, (struct str){(const char *)data, size}, NULL, &documents, &e) < 0) {
        assert(e.text[0]);
        return 0;
    }
    JSN_FOR_ITEMS (v, documents) {
        AUTO(buf_done) struct buf b = {0};
        struct jsn *again;

        yaml_print(&b, v);
        if (yaml_parse(&a, buf_view(&b), NULL, &again, &e) < 0 || !jsn_equal(v, again))
            abort();
    }
    return 0;
}
