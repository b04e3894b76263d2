/* SPDX-License-Identifier: GPL-2.0-or-later */
/* OpenAPI: the API described for clients, version 2 (JSON and protobuf) and version 3 (JSON). */
#pragma once

#include "src/cluster/apiserver/types/document.h"

struct openapi;

/* Borrows the registry. */
struct openapi *openapi_new(const struct registry *reg);
struct openapi *openapi_free(struct openapi *o);
DEFINE_AUTO(struct openapi, openapi_free);

/*
 * /openapi/v2: one document about everything.  In protobuf where `accept` (may be NULL) names it,
 * as kubectl does, else in JSON.
 */
const struct document *openapi_v2(struct openapi *o, const char *accept);

/* /openapi/v3: where the documents of each group and version are. */
const struct document *openapi_v3_root(struct openapi *o);

/*
 * /openapi/v3/PATH, e.g. "apis/apps/v1" or "api/v1".  NULL: there is none, a 404.  A client that
 * gives another ?hash= than the document's is to be sent to the URL with the right one.
 */
const struct document *openapi_v3(struct openapi *o, struct str path);
