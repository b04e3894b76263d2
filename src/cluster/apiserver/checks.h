/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks that the validation of many kinds shares. */
#pragma once

#include "src/cluster/apiserver/place.h"
#include "src/json/names.h"

/* Each adds causes for what is wrong at the place, and passes over what is absent unless its name
 * says otherwise.  Lists of supported values end with NULL. */

/* The value has the form; "" is checked too, absent is not. */
void check_form(struct causes *cs, const struct place *at, enum name_form form);
/* As above, and absent counts as "". */
void check_form_always(struct causes *cs, const struct place *at, enum name_form form);
/* As check_form, and absent or "" is "Required value". */
void check_form_required(struct causes *cs, const struct place *at, enum name_form form);
/* "Required value" if absent or ""; returns whether it was there. */
bool check_filled(struct causes *cs, const struct place *at, const char *why);

/* One of the list; absent and "" are passed over. */
void check_enum(struct causes *cs, const struct place *at, const char *const *supported);
/* One of the list; absent is "Required value". */
void check_enum_required(struct causes *cs, const struct place *at, const char *const *supported);

void check_nonnegative(struct causes *cs, const struct place *at);
void check_positive(struct causes *cs, const struct place *at); /* absent counts as 0 */
void check_range(struct causes *cs, const struct place *at, int64_t low, int64_t high);
void check_port(struct causes *cs, const struct place *at); /* absent counts as 0 */
/* A port number or the name of one. */
void check_port_or_name(struct causes *cs, const struct place *at);
/* Count or percentage: not negative; a text must be a percentage. */
void check_count_or_percent(struct causes *cs, const struct place *at);
void check_at_most_100_percent(struct causes *cs, const struct place *at);
/* A count or percentage that comes to nothing. */
bool check_is_zero(const struct place *at);

/* "field is immutable" unless both are equal; absent, null and empty are equal. */
void check_immutable(struct causes *cs, const struct place *at, const struct jsn *old);
/* Equal by what Go would make of it: absent, null, "", 0, false, {} and [] are the same. */
bool check_same(const struct jsn *a, const struct jsn *b);

/* A map of labels: keys and values. */
void check_labels(struct causes *cs, const struct place *at);
void check_annotations(struct causes *cs, const struct place *at);

/* A relative path without ".."; and any path without "..". */
void check_relative_path(struct causes *cs, const struct place *at);
void check_no_backsteps(struct causes *cs, const struct place *at);

/* "10.0.0.0/8" or an IPv6 range. */
bool check_is_cidr(const char *text);
