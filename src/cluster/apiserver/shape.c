/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shape of objects.
 *
 * Built-in kinds get their defaults from the tables, then from their strategy, and are stored as
 * Go would print them; custom kinds have everything in their schema.
 */
#include "src/cluster/apiserver/shape.h"

#include "src/cluster/apiserver/crd/custom.h"
#include "src/cluster/apiserver/strategy.h"
#include "src/cluster/apiserver/types/type.h"

void shape_default(struct api_call *c, struct jsn *object)
{
    const struct strategy *st = strategy_of(c->stored);

    if (c->res->custom) {
        custom_default(&c->arena, c->res, object);
        return;
    }
    type_default(&c->arena, c->stored->schema, object);
    if (st->set_defaults)
        st->set_defaults(&c->arena, object);
    type_encode(&c->arena, c->stored->schema, object);
}

void shape_validate(struct causes *cs, const struct api_call *c, const struct jsn *object,
                    const struct jsn *old)
{
    bool status = c->sub && streq(c->sub->name, "status");

    if (c->res->custom)
        custom_validate(cs, c->res, object, old, status ? CUSTOM_STATUS : CUSTOM_WHOLE);
}
