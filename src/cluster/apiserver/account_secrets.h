/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Secrets of type kubernetes.io/service-account-token: filled in, and removed with their account.
 */
#pragma once

#include "src/base/err.h"

struct apiserver;
struct store_event;
struct account_secrets;

struct account_secrets *account_secrets_new(struct apiserver *s);
struct account_secrets *account_secrets_free(struct account_secrets *a);
int account_secrets_start(struct account_secrets *a, struct err *e) MUST_CHECK;
void account_secrets_event(struct account_secrets *a, const struct store_event *ev);
