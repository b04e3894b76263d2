/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: JSONPath.
 *
 * The input is a path; what compiles is evaluated, and the first result is the first of all.
 */
#include "src/json/path.h"
#include "src/base/alloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct jsn *object(struct arena *a)
{
    static const char text[] =
        "{\"a\":{\"b\":[1,2,{\"c\":\"x\",\"d\":[[1],[2]]}]},\"l\":[{\"t\":\"r\","
        "\"s\":1},{\"t\":\"q\",\"s\":2}],\"n\":null}";
    struct jsn *v;

    if (jsn_parse(a, str_of(text), NULL, &v, NULL) < 0)
        abort();
    return v;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(free) char *text = xstrndup((const char *)data, size);
    struct jsn *v = object(&a);
    struct path *p;
    struct jsn *all;

    if (path_compile(&a, text, &p, NULL) < 0)
        return 0;
    all = path_find(&a, p, v);
    if (path_first(p, v) != jsn_item(all, 0))
        abort();
    return 0;
}
