/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CustomResourceDefinitions as objects of the API.  Their schemas, names and conditions are the
 * business of crd/; here is only what the generic code needs to know about the kind.
 */
#include "src/cluster/apiserver/kinds/kinds.h"

const struct strategy strategy_crds = {
    .resource = "customresourcedefinitions.apiextensions.k8s.io",
    .status_reset = true,
    .needs_version = true,
};
