/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The roles and bindings that every server has, as tables.  Lists are words with blanks between. */
#pragma once

struct bootstrap_role {
    const char *name;
    const char *labels;    /* these are "true" on it; NULL: none */
    const char *aggregate; /* takes the rules of the roles with this label; NULL: has its own */
};

/* A rule of the role of that name; `groups` and `resources`, or `urls`. */
struct bootstrap_rule {
    const char *role;
    const char *verbs;
    const char *groups; /* "-" stands for the core group */
    const char *resources;
    const char *names; /* NULL: all */
    const char *urls;
};

/* Gives the ClusterRole of the same name. */
struct bootstrap_binding {
    const char *role;
    const char *kind; /* User or Group */
    const char *subjects;
};

/* Each ends with a NULL role. */
extern const struct bootstrap_role bootstrap_roles[];
extern const struct bootstrap_rule bootstrap_rules[];
extern const struct bootstrap_binding bootstrap_bindings[];
