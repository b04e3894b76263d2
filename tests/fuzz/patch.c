/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: the three kinds of patch.
 *
 * The input is a JSON text [original, patch]; every kind is tried on it.  Neither is changed by
 * that. A merge patch changes nothing the second time.  What comes out prints and parses back.
 */
#include "src/json/patch_json.h"
#include "src/json/patch_merge.h"
#include "src/json/patch_strategic.h"
#include "src/json/test/schema_from.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Lists that merge by key inside of lists that do, sets, and objects of each strategy. */
static const char schema_text[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"l\":{\"type\":\"array\",\"x-kubernetes-patch-strategy\":\"merge\","
    "\"x-kubernetes-patch-merge-key\":\"name\",\"items\":{\"type\":\"object\",\"properties\":{"
    "\"e\":{\"type\":\"array\",\"x-kubernetes-patch-strategy\":\"merge\","
    "\"x-kubernetes-patch-merge-key\":\"k\",\"items\":{\"type\":\"object\"}}}}},"
    "\"f\":{\"type\":\"array\",\"x-kubernetes-patch-strategy\":\"merge\","
    "\"items\":{\"type\":\"string\"}},"
    "\"r\":{\"type\":\"object\",\"x-kubernetes-patch-strategy\":\"replace\"},"
    "\"s\":{\"type\":\"object\",\"x-kubernetes-patch-strategy\":\"retainKeys\"},"
    "\"m\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}}}";

static void check_output(struct arena *a, const struct jsn *v)
{
    AUTO(buf_done) struct buf b = {0};
    struct jsn *again;

    jsn_print(&b, v);
    if (jsn_parse(a, buf_view(&b), NULL, &again, NULL) < 0 || !jsn_equal(v, again))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_done) struct arena a = {0};
    const struct jsn *original;
    const struct jsn *patch;
    struct err e = {0};
    struct jsn *input;
    struct jsn *was;
    struct jsn *out;

    if (jsn_parse(&a, (struct str){(const char *)data, size}, NULL, &input, &e) < 0 ||
        !jsn_item(input, 1))
        return 0;
    was = jsn_clone(&a, input);
    original = jsn_item(input, 0);
    patch = jsn_item(input, 1);
    out = patch_merge(&a, original, patch);
    check_output(&a, out);
    if (!jsn_equal(patch_merge(&a, out, patch), out))
        abort();
    if (patch_json(&a, original, patch, &out, &e) == 0)
        check_output(&a, out);
    if (patch_strategic(&a, schema_from_text(&a, schema_text), original, patch, &out, &e) == 0)
        check_output(&a, out);
    if (!jsn_equal(input, was))
        abort();
    return 0;
}
