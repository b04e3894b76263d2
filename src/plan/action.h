/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Actions: what a plan wants done, as data. */
#pragma once

#include <stdint.h>

#include "src/json/jsn.h"
#include "src/plan/kind.h"

enum action_verb {
    ACTION_CREATE,
    ACTION_PATCH, /* JSON merge patch */
    ACTION_DELETE,
    ACTION_STATUS,  /* JSON merge patch of the status subresource */
    ACTION_EVENT,   /* about the object that the plan is for */
    ACTION_REQUEUE, /* plan again then, if nothing happens before */
    ACTION_PUSH,    /* hand a configuration to the agent; how it fares shows in Slurm's state */
    ACTION_NODE,    /* have the agent change a Slurm node */
    ACTION_TRY,     /* ask the API server whether it would create the object; nothing is made */
};

/*
 * What is known of a node is as old as the last answer, and a job may have started since.  So
 * before its pod is deleted, slurmctld is asked to drain the node (once more), and to say that it
 * has no work then: from that moment on no job starts there.
 */
struct action_hold {
    const char *controller;
    const char *node;
    const char *reason;
    bool may_be_absent; /* Slurm had no such node, and need not have it */
};

/* All it points to lives in the arena of its list, or is static. */
struct action {
    enum action_verb verb;
    const char *step; /* "StatefulSet": named in events when it fails */
    /* Actions of one stage may run at the same time; a later stage waits for the earlier ones. */
    unsigned stage;
    const struct plan_kind *kind; /* NULL for the agent's actions */
    const char *namespace;
    const char *name;    /* of the object; for the agent's actions of the Controller */
    const char *node;    /* ACTION_NODE: in Slurm */
    const char *uid;     /* ACTION_DELETE: of this very object, or nothing is deleted */
    const char *version; /* ACTION_DELETE: only if it has not changed since; NULL: in any case */
    const struct action_hold *hold; /* ACTION_DELETE of a pod: only if this holds; NULL: nothing */
    const struct jsn *body;         /* object or patch */
    bool strategic;                 /* ACTION_STATUS: the patch is a strategic one */
    bool guarded;                   /* left out if something that was tried before was refused */
    bool same_size;     /* ACTION_TRY: as large as what goes for it, so a full quota is enough */
    bool warning;       /* ACTION_EVENT */
    const char *reason; /* of an event; of other actions: event once it has succeeded */
    const char *text;
    int64_t at_us; /* ACTION_REQUEUE: wall clock */
};

/* {.arena = a} is a valid empty list. */
struct actions {
    struct arena *arena;
    struct action *items;
    size_t n;
    size_t cap;
    const char *step; /* given to what is added */
    unsigned stage;
};

/* What is added from here on belongs to a new step, a stage after all that is there. */
void actions_step(struct actions *to, const char *step);

/* Append one; step and stage are filled in.  Returns it, valid until the next is added. */
struct action *actions_add(struct actions *to, enum action_verb verb);

/* Both are followed by an event of that reason once they have succeeded. */
void actions_create(struct actions *to, const struct jsn *object, const char *reason,
                    const char *fmt, ...) PRINTF(4, 5);
struct action *actions_delete(struct actions *to, const char *kind, const char *ns,
                              const char *name, const char *uid, const char *reason,
                              const char *fmt, ...) PRINTF(7, 8);
/* Try a pod like this one, under a name of its own. */
void actions_try_pod(struct actions *to, const struct jsn *pod, bool same_size);
void actions_event(struct actions *to, bool warning, const char *reason, const char *fmt, ...)
    PRINTF(4, 5);
void actions_requeue(struct actions *to, int64_t at_us);
void actions_push(struct actions *to, const char *ns, const char *controller,
                  const struct jsn *body);
/* `only_if` (or NULL): nothing is done unless the node's reason begins with it. */
void actions_node(struct actions *to, const char *ns, const char *controller, const char *node,
                  const char *what, const char *reason, const char *only_if);

/* Give a node what `body` says (features, weight, ...); the body is taken over. */
void actions_node_update(struct actions *to, const char *ns, const char *controller,
                         const char *node, struct jsn *body);

/* Does the table of kinds say that plans do this?  Whoever carries actions out does no other. */
bool action_is_allowed(const struct action *a);
