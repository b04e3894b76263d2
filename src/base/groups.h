/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The API groups of our kinds, and what layers that know nothing else of them call by these names.
 */
#pragma once

#define API_GROUP "slinky.slurm.net"
/* Of the kinds that Slinky does not have; labels and annotations of ours begin with it. */
#define API_OWN_GROUP "slurmkeeper.dev"

/* Of a Controller or a pod: the release of Slurm that runs, where no image tag says so. */
#define API_RELEASE_ANNOTATION API_OWN_GROUP "/slurm-version"
/* Of the namespace kube-system: which store it is. */
#define API_STORE_ANNOTATION API_OWN_GROUP "/store"
