/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of objects that many ask for. */
#pragma once

#include "src/json/jsn.h"

/* "" where absent. */
const char *object_name(const struct jsn *object);
const char *object_namespace(const struct jsn *object);
const char *object_uid(const struct jsn *object);
bool object_deleting(const struct jsn *object);
