/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resource quotas: what objects use of a namespace, and whether one more still fits. */
#pragma once

#include "src/json/jsn.h"
#include "src/json/quantity.h"

struct api_call;

/* Amounts by the names that quotas have for them: "pods", "requests.cpu", "count/jobs.batch". */
struct quota_use {
    struct arena *a;
    struct quota_amount {
        const char *name;
        struct quantity q;
    } *items;
    size_t n;
    size_t cap;
};

/* Add what an object uses; `resource` is as the store names it: "pods", "jobs.batch". */
void quota_use_add(struct quota_use *u, const char *resource, const struct jsn *object);
/* The amount under a name; NULL: nothing is used. */
const struct quantity *quota_use_find(const struct quota_use *u, const char *name);

/* Does the quota count the object, by its scopes?  Only pods can be out of scope. */
bool quota_covers(const struct jsn *quota, const char *resource, const struct jsn *object);
/* The resource whose objects a name of a quota counts; in `a`. */
const char *quota_resource(struct arena *a, const char *name);

/* status.hard and status.used as they should be, given everything that is used. */
struct jsn *quota_status(struct arena *a, const struct jsn *quota, const struct quota_use *used);

/*
 * May the object be stored, as far as the quotas of its namespace say?  `old` is its state before,
 * or NULL.  Otherwise the call has failed: 403, in kube-apiserver's words.
 */
int quota_admit(struct api_call *c, const struct jsn *object, const struct jsn *old);
