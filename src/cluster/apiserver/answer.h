/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers: in the form the client accepts, and never before the commit. */
#pragma once

#include "src/cluster/apiserver/server.h"

/* What the Accept header asks for. */
enum answer_form {
    FORM_OBJECT,   /* the object or list itself */
    FORM_TABLE,    /* meta.k8s.io/v1 Table, for kubectl get */
    FORM_METADATA, /* PartialObjectMetadata(List) */
};

struct answer_wish {
    enum answer_form form;
    const char *table_version; /* "v1" or "v1beta1" of meta.k8s.io */
    bool yaml;
};

/* Negotiate; fails the call with 406 if nothing of ours is accepted. */
int answer_wish_read(struct api_call *c, struct answer_wish *ret_wish);

/*
 * Send an answer and free the call.  If the turn has uncommitted writes, the bytes wait for the
 * commit, whoever wrote: nobody sees what may yet be undone.
 */
void answer_text(struct api_call *c, int code, const char *content_type, struct str body);
void answer_json(struct api_call *c, int code, const struct jsn *v);
/* One object in presented form, as the client wished (object, table, metadata). */
void answer_object(struct api_call *c, int code, struct jsn *presented);
/* c->failure with its own code. */
void answer_failure(struct api_call *c);

/* The turn's end: commit, then send what waited; on failure everybody is told so. */
void answer_commit(struct apiserver *s);

/* {"kind": "PartialObjectMetadata", ...} of a presented object. */
struct jsn *answer_metadata_of(struct arena *a, const struct jsn *presented,
                               const char *meta_version);
/* "Audit-Id", "Warning" and other header lines of this call, in its arena. */
const char *answer_headers(struct api_call *c);

/* A row object for a table, by includeObject (None, Metadata, Object); fails the call if unknown.
 */
enum row_object { ROW_METADATA, ROW_NONE, ROW_OBJECT };
int answer_row_object(struct api_call *c, enum row_object *ret_row);
/* A table without rows; and one row of it. */
struct jsn *answer_table(struct api_call *c, const struct answer_wish *w, bool columns);
struct jsn *answer_table_row(struct api_call *c, const struct answer_wish *w, struct jsn *presented,
                             enum row_object row);

/* Make and free calls. */
struct api_call *call_new(struct apiserver *s, struct http_exchange *x);
void call_free(struct api_call *c);
