/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes of a node: its state with a reason, and its other attributes; and the end of its record.
 *
 * One node a call: of a list slurmctld changes those before a bad name and says that it failed. The
 * error of UNDRAIN and RESUME cannot be trusted either: 22.05 answers "invalid state" for a node
 * that has not registered yet, and does it all the same; and RESUME of a node that is up already is
 * an error.  So the node is read back, and what counts is what it is.
 *
 * A node that is up again keeps its reason in some releases, and no call takes it away.  If
 * slurmctld drained such a node later by itself, for a failed prolog, the old reason would stay,
 * and a drain that is not ours would look like one.  So a reason of ours is replaced then, by one
 * that slurmctld overwrites: any that begins with "Not responding".
 *
 * With `onlyIfReason` a node is left alone whose reason somebody else wrote, which is looked up
 * right before the change.  Deleting a node that slurm.conf names makes the next start of older
 * releases fail; only nodes that came by themselves are deleted.
 */
#include <strings.h>

#include "src/agent/worker/call.h"
#include "src/agent/worker/release.h"
#include "src/slurm/nodestate.h"
#include "src/slurm/profile.h"

static const struct {
    const char *word;
    uint32_t state;
} state_words[] = {
    {"drain", NODE_STATE_DRAIN},
    {"undrain", NODE_STATE_UNDRAIN},
    {"resume", NODE_RESUME},
    {"down", NODE_STATE_DOWN},
    {"idle", NODE_STATE_IDLE},
    {"fail", NODE_STATE_FAIL},
    {"future", NODE_STATE_FUTURE},
    {"cancel_reboot", NODE_STATE_REBOOT_CANCEL},
    {"power_up", NODE_STATE_POWER_UP},
    {"power_down", NODE_STATE_POWER_DOWN},
    {"power_down_asap", NODE_STATE_POWER_DOWN | NODE_STATE_POWER_DRAIN},
    {"power_down_force", NODE_STATE_POWER_DOWN | NODE_STATE_POWERED_DOWN},
};

/* What a node is now.  An unknown one has state NO_VAL. */
struct node_now {
    uint32_t state;
    char *reason; /* in the call's arena; NULL if it has none */
    char *left;   /* the same, but of a node that is up: left from before */
};

static int node_look(struct worker_call *c, const char *name, struct node_now *ret)
{
    node_info_msg_t *msg = NULL;

    if (slurm_load_node_single(&msg, arena_strdup(c->arena, name), SHOW_ALL | SHOW_FUTURE) !=
        SLURM_SUCCESS)
        return errno;
    *ret = (struct node_now){.state = NO_VAL};
    for (uint32_t i = 0; i < msg->record_count; i++) {
        const node_info_t *n = &msg->node_array[i];

        if (!streq(n->name, name))
            continue;
        ret->state = n->node_state;
        if (n->reason && n->reason[0])
            *(nodestate_has_reason(n->node_state) ? &ret->reason : &ret->left) =
                arena_strdup(c->arena, n->reason);
    }
    slurm_free_node_info_msg(msg);
    return 0;
}

static int state_set(struct worker_call *c, update_node_msg_t *m)
{
    const struct jsn *value = jsn_key(c->request, "state");
    const char *word = jsn_text(value);

    if (!value)
        return 0;
    for (size_t i = 0; word && i < ARRAY_LEN(state_words); i++)
        if (strcasecmp(word, state_words[i].word) == 0) {
            m->node_state = state_words[i].state;
            return 0;
        }
    return call_invalid(c, "'%s' is no state that a node can be set to", word ? word : "");
}

static int later_set(struct worker_call *c, update_node_msg_t *m)
{
    const struct {
        const char *key;
        bool (*set)(update_node_msg_t *m, char *text);
    } later[] = {
        {"topology", release_node_set_topology},
        {"instanceId", release_node_set_instance_id},
        {"instanceType", release_node_set_instance_type},
    };
    int64_t after = jsn_get_int(c->request, "resumeAfter", -1);

    for (size_t i = 0; i < ARRAY_LEN(later); i++) {
        char *text = call_text(c, later[i].key);

        if (text && !later[i].set(m, text))
            return call_invalid(c, "'%s': this release of Slurm does not have it", later[i].key);
    }
    if (after >= 0 && !release_node_set_resume_after(m, (uint32_t)MIN(after, (int64_t)NO_VAL - 1)))
        return call_invalid(c, "'resumeAfter': this release of Slurm does not have it");
    return 0;
}

static int message_fill(struct worker_call *c, const char *name, update_node_msg_t *ret)
{
    int64_t weight = jsn_get_int(c->request, "weight", -1);

    slurm_init_update_node_msg(ret);
    ret->node_names = arena_strdup(c->arena, name);
    ret->reason = call_text(c, "reason");
    ret->comment = call_text(c, "comment");
    ret->extra = call_text(c, "extra");
    ret->features = call_text(c, "features");
    ret->features_act = call_text(c, "activeFeatures");
    ret->gres = call_text(c, "gres");
    ret->node_addr = call_text(c, "address");
    ret->node_hostname = call_text(c, "hostname");
    if (weight >= 0 && weight < (int64_t)NO_VAL)
        ret->weight = (uint32_t)weight;
    return state_set(c, ret) < 0 ? -1 : later_set(c, ret);
}

/* Is the node what UNDRAIN or RESUME should have made of it? */
static bool state_reached(uint32_t asked, uint32_t now)
{
    if (now == NO_VAL || (now & NODE_STATE_DRAIN))
        return false;
    if (asked == NODE_STATE_UNDRAIN)
        return true;
    return asked == NODE_RESUME && !(now & NODE_STATE_FAIL) &&
           nodestate_base(now) != NODE_BASE_DOWN && nodestate_base(now) != NODE_BASE_FUTURE;
}

static int update_failed(struct worker_call *c, const char *name, const update_node_msg_t *m,
                         int code)
{
    struct node_now now;

    if ((code == ESLURM_INVALID_NODE_STATE || code == RELEASE_CODE_BAD_TRANSITION) &&
        node_look(c, name, &now) == 0 && state_reached(m->node_state, now.state))
        return 0;
    return call_refused(c, code, "node '%s' cannot be changed", name);
}

/* 0: go on. */
static int reason_guard(struct worker_call *c, const char *name)
{
    const char *prefix = jsn_text(jsn_key(c->request, "onlyIfReason"));
    struct node_now now;
    int code;

    if (!prefix)
        return 0;
    code = node_look(c, name, &now);
    if (code)
        return call_refused(c, code, "node '%s' cannot be read", name);
    if (now.state == NO_VAL)
        return call_refused(c, ESLURM_INVALID_NODE_NAME, "node '%s'", name);
    if (now.reason && !starts_with(now.reason, prefix))
        return call_failed(c, "refused",
                           arena_printf(c->arena, "node '%s' has a reason of somebody else: '%s'",
                                        name, now.reason));
    return 0;
}

/*
 * Is it a drain of ours, of a node that somebody else has drained?  The caller may not have seen
 * that yet.  It is drained as it should be, and keeps their reason.
 */
static bool is_held(struct worker_call *c, const char *name, const update_node_msg_t *m)
{
    static const char ours[] = "slurmkeeper: ";
    struct node_now now;

    return m->node_state == NODE_STATE_DRAIN && m->reason && starts_with(m->reason, ours) &&
           node_look(c, name, &now) == 0 && now.state != NO_VAL && (now.state & NODE_STATE_DRAIN) &&
           now.reason && !starts_with(now.reason, ours);
}

/* What is left to do is done as well as can be: the node is up. */
static void reason_replace(struct worker_call *c, const char *name, const update_node_msg_t *m)
{
    static char words[] = "Not responding yet, after it was resumed by slurmkeeper";
    update_node_msg_t again;
    struct node_now now;

    if ((m->node_state != NODE_STATE_UNDRAIN && m->node_state != NODE_RESUME &&
         m->node_state != NODE_STATE_IDLE) ||
        !profile_quirk(release_built_for(), QUIRK_RESUME_KEEPS_REASON) ||
        node_look(c, name, &now) != 0 || !now.left || starts_with(now.left, "Not responding"))
        return;
    slurm_init_update_node_msg(&again);
    again.node_names = arena_strdup(c->arena, name);
    again.reason = words;
    (void)slurm_update_node(&again);
}

/* Does anything run on it, or may it?  Who deletes what it runs in asks for a drain first. */
static void tell_busy(struct worker_call *c, const char *name)
{
    struct node_now now;
    bool idle = node_look(c, name, &now) == 0 && now.state != NO_VAL &&
                !(now.state & NODE_FLAG_COMPLETING) &&
                (nodestate_base(now.state) == NODE_BASE_IDLE ||
                 nodestate_base(now.state) == NODE_BASE_DOWN);

    jsn_set_bool(c->arena, c->answer, "busy", !idle);
}

/* A list, ALL or a NodeSet would change many: names of nodes alone get through. */
static const char *node_name(struct worker_call *c)
{
    const char *name = call_need(c, "name");

    if (name && (strpbrk(name, "[],{} \t") || strcasecmp(name, "ALL") == 0)) {
        (void)call_invalid(c, "'%s' is not the name of one node", name);
        return NULL;
    }
    return name;
}

static int node_change(struct worker_call *c, const char *name, const update_node_msg_t *m)
{
    if (is_held(c, name, m))
        return 0;
    if (slurm_update_node((update_node_msg_t *)(uintptr_t)m) != SLURM_SUCCESS &&
        update_failed(c, name, m, errno) < 0)
        return -1;
    reason_replace(c, name, m);
    return 0;
}

int call_node_update(struct worker_call *c)
{
    const char *name = node_name(c);
    update_node_msg_t message;

    if (!name || call_check_texts(c) < 0 || message_fill(c, name, &message) < 0 ||
        reason_guard(c, name) < 0 || node_change(c, name, &message) < 0)
        return -1;
    if (message.node_state == NODE_STATE_DRAIN)
        tell_busy(c, name);
    return 0;
}

static int node_gone(struct worker_call *c)
{
    jsn_set_bool(c->arena, c->answer, "gone", true);
    return 0;
}

int call_node_delete(struct worker_call *c)
{
    const char *name = node_name(c);
    update_node_msg_t message;
    struct node_now now;
    int code;

    if (!name)
        return -1;
    code = node_look(c, name, &now);
    if (code)
        return call_refused(c, code, "node '%s' cannot be read", name);
    if (now.state == NO_VAL)
        return node_gone(c);
    if (!(now.state & (NODE_FLAG_DYNAMIC | NODE_FLAG_EXTERNAL)))
        return call_failed(c, "refused",
                           arena_printf(c->arena,
                                        "node '%s' stands in slurm.conf; only dynamic "
                                        "nodes can be deleted",
                                        name));
    slurm_init_update_node_msg(&message);
    message.node_names = arena_strdup(c->arena, name);
    if (slurm_delete_node(&message) != SLURM_SUCCESS)
        return errno == ESLURM_INVALID_NODE_NAME
                   ? node_gone(c)
                   : call_refused(c, errno, "node '%s' cannot be deleted", name);
    return 0;
}
