/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: field management and server-side apply.
 *
 * The input is a JSON text: a list of objects.  The first is created, the next ones are in turn
 * updated to and applied by two managers.  An apply that succeeded changes nothing when it is
 * repeated, and the managedFields that come out can be decoded.
 */
#include "src/json/managed.h"
#include "src/json/managed_entry.h"
#include "src/json/test/widget.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_fields(const struct jsn *object)
{
    AUTO(arena_done) struct arena a = {0};
    struct managed_entries entries;

    if (managed_decode(&a, jsn_get(object, "metadata.managedFields"), &entries, NULL) < 0)
        abort();
}

static struct jsn *apply(struct arena *a, const struct managed_request *req, struct jsn *live,
                         struct jsn *config)
{
    struct managed_conflicts conflicts = {0};
    AUTO(buf_done) struct buf b = {0};
    struct err e = {0};
    struct jsn *again;
    struct jsn *out;
    int r;

    jsn_set_str(a, config, "apiVersion", req->api_version);
    (void)jsn_del_path(config, "metadata.managedFields");
    r = managed_apply(a, req, live, config, false, &out, &conflicts, &e);
    if (r == -EBUSY) {
        managed_conflict_message(&b, &conflicts);
        r = managed_apply(a, req, live, config, true, &out, &conflicts, &e);
    }
    if (r < 0)
        return live;
    if (managed_apply(a, req, out, config, false, &again, &conflicts, &e) < 0 ||
        !jsn_equal(out, again))
        abort();
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_done) struct arena a = {0};
    struct managed_request req = {.api_version = "kw.test/v1"};
    struct jsn *input;
    struct jsn *live = NULL;
    size_t n = 0;

    if (jsn_parse(&a, (struct str){(const char *)data, size}, NULL, &input, NULL) < 0 ||
        jsn_len(input) > 16)
        return 0;
    req.schema = widget_schema(&a);
    JSN_FOR_ITEMS (object, input) {
        if (object->type != JSN_OBJECT)
            continue;
        req.manager = n % 3 == 1 ? "A" : "B";
        req.now_us += 1000000;
        if (n++ % 2)
            live = apply(&a, &req, live, object);
        else
            live = managed_update(&a, &req, live, object);
        check_fields(live);
    }
    return 0;
}
