/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Devices of the machine that a container may open. */
#pragma once

#include "src/cluster/node/runtime/oci_config.h"

struct device_list {
    struct arena *arena;
    struct oci_device *items;
    size_t n;
    size_t cap;
};

/* All devices in /dev, but for those that every container has of its own. */
void devices_of_machine(struct device_list *l);

/* The devices that a container mounts as hostPath volumes: device files, and what is in directories
 * of /dev. */
void devices_of_mounts(struct device_list *l, const struct pod_spec *p, const struct ctr_spec *c);
