/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parser of CEL and its literals share. */
#pragma once

#include "src/json/cel_node.h"

struct cel_parser {
    struct arena *a;
    const char *text;
    size_t at;
    size_t nodes;
    int depth;
    struct err *e;
};

/* It is CEL, but not known here: -ENOTSUP.  And: it is no CEL at this place. */
int cel_parser_beyond(struct cel_parser *p, const char *what);
int cel_parser_syntax(struct cel_parser *p);
struct cel_node *cel_parser_node(struct cel_parser *p, enum cel_op op, size_t at);

/* Literals, at their first character; a raw string at its quote. */
int cel_string_literal(struct cel_parser *p, bool raw, struct cel_node **ret) MUST_CHECK;
int cel_number_literal(struct cel_parser *p, struct cel_node **ret) MUST_CHECK;
