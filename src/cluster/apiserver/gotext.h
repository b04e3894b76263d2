/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values as Go's %#v prints them, where kube-apiserver's sentences show such. */
#pragma once

#include "src/json/jsn.h"

/* []string{"a", "b"}; an absent list is []string(nil). */
const char *gotext_strings(struct arena *a, const struct jsn *list);
/* map[string]string{"a":"b"}, sorted; an absent map is map[string]string(nil). */
const char *gotext_map(struct arena *a, const struct jsn *map);
/* v1.LabelSelector{MatchLabels:..., MatchExpressions:...} */
const char *gotext_selector(struct arena *a, const struct jsn *selector);
