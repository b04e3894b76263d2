/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: protobuf bodies of built-in kinds.
 *
 * Whatever the bytes, decoding ends with an object or an error.  An object is then carried on as
 * the server would: checked, defaulted, encoded, printed; the print must parse again to an equal
 * value.
 */
#include <assert.h>

#include "src/cluster/apiserver/types/proto.h"
#include "src/cluster/apiserver/types/type.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct registry *registry(void)
{
    static struct registry *reg;
    struct err e = {0};

    if (!reg && registry_new(&reg, &e) < 0)
        abort();
    return reg;
}

static void print_and_parse(struct arena *a, const struct jsn *v)
{
    AUTO(buf_done) struct buf b = {0};
    struct err e = {0};
    struct jsn *again;

    jsn_print(&b, v);
    if (jsn_parse(a, buf_view(&b), NULL, &again, &e) < 0 || !jsn_equal(v, again))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_done) struct arena a = {0};
    const struct schema *s;
    struct err e = {0};
    struct jsn *v;

    if (proto_decode(registry(), &a, (struct str){(const char *)data, size}, &v, &e) < 0) {
        assert(*e.text);
        return 0;
    }
    s = registry_kind_schema(registry(), str_of(jsn_get_str(v, "apiVersion")),
                             str_of(jsn_get_str(v, "kind")));
    if (!s || type_check(&a, s, v, NULL, &e) < 0)
        return 0;
    type_default(&a, s, v);
    type_encode(&a, s, v);
    print_and_parse(&a, v);
    return 0;
}
