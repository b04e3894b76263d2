/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Services: between the file that prepares them and the one that validates them. */
#pragma once

#include "src/cluster/apiserver/status.h"

/* clusterIP None: no address, DNS leads to the pods themselves. */
bool service_is_headless(const struct jsn *spec);

void services_validate(struct causes *cs, const struct jsn *service);
void services_validate_update(struct causes *cs, const struct jsn *service, const struct jsn *old);
