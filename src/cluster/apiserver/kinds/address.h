/* SPDX-License-Identifier: GPL-2.0-or-later */
/* IP addresses in services and endpoints. */
#pragma once

#include "src/cluster/apiserver/checks.h"

/* A valid address that traffic can be sent to: not unspecified, loopback or link-local. */
void address_check(struct causes *cs, const struct place *at);
bool address_is_ipv6(const char *text);
