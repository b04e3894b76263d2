/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a Lease object says, and what it should say next; pure. */
#pragma once

#include "src/json/jsn.h"

/* What an election reads from a Lease.  {0} is valid; strings are owned. */
struct lease_record {
    char *holder;     /* "": nobody */
    char *spec;       /* as text: any change is a sign of life of the holder */
    char *object;     /* as text: to be changed and put back */
    int64_t lease_ms; /* what the holder promised */
};

void lease_record_done(struct lease_record *r);
/* Read a Lease. */
void lease_record_read(struct lease_record *r, const struct jsn *lease);

/* A new Lease held by us. */
struct jsn *lease_record_create(struct arena *a, const char *namespace, const char *name,
                                const char *identity, int64_t lease_ms, int64_t wall_us);
/* The Lease with us as its holder: renewed if we hold it, else taken over.  NULL: what was
 * read is no Lease. */
struct jsn *lease_record_hold(const struct lease_record *r, struct arena *a, const char *identity,
                              int64_t lease_ms, int64_t wall_us);
/* The Lease given back. */
struct jsn *lease_record_release(const struct lease_record *r, struct arena *a, int64_t wall_us);
