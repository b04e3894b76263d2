/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values in sentences, as kube-apiserver shows them: JSON, and once Go's %#v. */
#pragma once

#include "src/json/jsn.h"

/* ["a","b"], "25%", 3; null where there is none. */
const char *gotext_value(struct arena *a, const struct jsn *v);
/* {"a":"b"}, sorted; an absent map is null. */
const char *gotext_map(struct arena *a, const struct jsn *map);
/* A struct with Type and a RollingUpdate that is not there. */
const char *gotext_strategy(struct arena *a, const char *type);
/* {"matchLabels":{...},"matchExpressions":[...]} */
const char *gotext_selector(struct arena *a, const struct jsn *selector);
/* []string{"a", "b"} */
const char *gotext_go_strings(struct arena *a, const struct jsn *list);
