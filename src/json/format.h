/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The "format" of strings in schemas: those that Kubernetes checks. */
#pragma once

#include "src/base/str.h"

/* Is it a format that is checked at all?  Dashes in the name do not count ("date-time"). */
bool format_known(const char *format);

/* Does the text have that format?  A format that is not known accepts everything. */
bool format_ok(const char *format, struct str text);

/* The single checks that are more than a few lines. */
bool format_date(struct str s);
bool format_date_time(struct str s);
bool format_duration(struct str s);
bool format_uri(struct str s);
bool format_email(struct str s);
bool format_hostname(struct str s);
