/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Manifests from examples/ that the program carries. */
#pragma once

extern const char example_quickstart[]; /* a Controller and a NodeSet of three */
