/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists: paging, versions, selectors. */
#pragma once

#include "src/cluster/apiserver/call.h"

/* Answer a list; frees the call. */
void verb_list(struct api_call *c);
/* Delete everything a list with these parameters would show; frees the call. */
void verb_delete_collection(struct api_call *c);
