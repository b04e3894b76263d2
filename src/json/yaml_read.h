/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading YAML: from the events of its parser to values. */
#pragma once

#include "src/json/yaml.h"

/* Append all documents of a text that are not empty; see yaml_parse_all. */
int yaml_read(struct arena *a, struct str text, struct jsn_notes *notes, struct jsn *documents,
              struct err *e) MUST_CHECK;
