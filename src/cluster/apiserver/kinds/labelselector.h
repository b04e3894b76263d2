/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Label selectors as objects: {"matchLabels": ..., "matchExpressions": ...}. */
#pragma once

#include "src/json/jsn.h"

struct causes;
struct place;

/* The selector is well formed; an absent one is. */
void labelselector_check(struct causes *cs, const struct place *selector);
/* No label and no expression: it selects everything. */
bool labelselector_empty(const struct jsn *selector);
/* Does it select an object with these labels?  An absent or malformed selector selects nothing. */
bool labelselector_match(struct arena *a, const struct jsn *selector, const struct jsn *labels);
/* Every label of a plain map (matchLabels without the rest) is among the labels. */
bool labelmap_match(const struct jsn *map, const struct jsn *labels);
/* As `kubectl get` and /scale show it: "a=b,c in (x,y)"; "" if it is absent or empty. */
const char *labelselector_text(struct arena *a, const struct jsn *selector);
/* "a=b,c=d" for a plain map; "" if it is empty. */
const char *labelmap_text(struct arena *a, const struct jsn *map);
