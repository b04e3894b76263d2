/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps the status of a pod in the API as it should be. */
#pragma once

#include "src/kube/client.h"

struct status_writer;

/* `gone` is called when the API says that there is no such pod any more. */
struct status_writer *status_writer_new(struct kube_client *c, const char *ns, const char *name,
                                        const char *uid, loop_defer_fn gone, void *arg);
struct status_writer *status_writer_free(struct status_writer *w);

/* The status to be; copied.  Nothing is sent if it is what the API has been told already. */
void status_writer_set(struct status_writer *w, const struct jsn *status);
/* Has the API taken the last one? */
bool status_writer_settled(const struct status_writer *w);
