/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values as Go's %#v prints them, where kube-apiserver's sentences show such. */
#pragma once

#include "src/json/jsn.h"

/* []string{"a", "b"}; an absent list is []string(nil). */
const char *gotext_strings(struct arena *a, const struct jsn *list);
/* map[string]string{"a":"b"}, sorted; an absent map is map[string]string(nil). */
const char *gotext_map(struct arena *a, const struct jsn *map);
/* intstr.IntOrString{Type:1, IntVal:0, StrVal:"25%"} */
const char *gotext_int_or_string(struct arena *a, const struct jsn *v);
/* A struct with Type and a RollingUpdate that is not there. */
const char *gotext_strategy(struct arena *a, const char *strategy, const char *rolling,
                            const char *type);
/* v1.LabelSelector{MatchLabels:..., MatchExpressions:...} */
const char *gotext_selector(struct arena *a, const struct jsn *selector);
