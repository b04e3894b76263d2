/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The capabilities of slurmd.
 *
 * slurmd's container says `privileged`, as Slinky's does: a kubelet mounts control groups read-only
 * for everybody else, and without writing there slurmd 22.05 does not start.  A node that can give
 * a container control groups of its own (the embedded one) needs nothing of the kind.  It finds in
 * an annotation of the pod what slurmd really needs, and gives it that; other nodes do not know the
 * annotation.
 *
 * Who writes `privileged: true` into the NodeSet means it, and gets a pod without the annotation.
 * Capabilities that a NodeSet adds or drops are added to, or dropped from, the table.
 */
#include "src/build/nodeset_confine.h"

#include "src/base/buf.h"

/* Each with what fails without it.  Kernel and Slurm decide this list; docs/pod-isolation.md has it
 * for people. */
static const struct {
    const char *name;
    const char *why;
} needed[] = {
    {"AUDIT_WRITE", "pam_loginuid and sshd report logins to the kernel's audit"},
    {"CHOWN", "slurmd gives a job's spool directory and its terminals to the job's user"},
    {"DAC_OVERRIDE", "slurmd works in directories that it gave to users before"},
    {"FOWNER", "and changes and removes files of theirs there"},
    {"FSETID", "the set-group-id bit of such directories survives that"},
    {"IPC_LOCK", "jobs that lock memory: RDMA between nodes"},
    {"KILL", "slurmd signals the processes of jobs, which other users own"},
    {"NET_BIND_SERVICE", "sshd's port 22, where a NodeSet has ssh"},
    {"SETGID", "slurmstepd becomes the job's group"},
    {"SETUID", "slurmstepd becomes the job's user"},
    {"SYS_CHROOT", "sshd locks its unprivileged part into an empty directory"},
    {"SYS_NICE", "slurmd sets the priority and the processors of users' processes"},
};

/* securityContext of slurmd, as the NodeSet has it in its template. */
static const struct jsn *in_template(const struct nodeset *ns)
{
    JSN_FOR_ITEMS (c, jsn_key(ns->spec.template.spec, "containers"))
        if (streq(jsn_get_str(c, "name"), "slurmd"))
            return jsn_key(c, "securityContext");
    return NULL;
}

static bool lists(const struct jsn *names, const char *name)
{
    JSN_FOR_ITEMS (item, names) {
        const char *text = jsn_text(item);

        if (text && (streq(text, "ALL") || streq(text, name) ||
                     (starts_with(text, "CAP_") && streq(text + 4, name))))
            return true;
    }
    return false;
}

static void add(struct buf *b, const char *name)
{
    buf_printf(b, "%s%s", b->n ? "," : "", name);
}

static void add_wishes(struct buf *b, const struct jsn *names)
{
    JSN_FOR_ITEMS (item, names)
        if (jsn_text(item) && !streq(jsn_text(item), "ALL"))
            add(b, jsn_text(item));
}

const char *worker_confinement(struct arena *a, const struct nodeset *ns)
{
    const struct jsn *wishes[] = {jsn_key(ns->spec.slurmd, "securityContext"), in_template(ns)};
    AUTO(buf_done) struct buf b = {0};

    for (size_t i = 0; i < ARRAY_LEN(wishes); i++)
        if (jsn_get_bool(wishes[i], "privileged", false) ||
            lists(jsn_get(wishes[i], "capabilities.add"), "ALL"))
            return NULL;
    for (size_t i = 0; i < ARRAY_LEN(needed); i++)
        if (!lists(jsn_get(wishes[0], "capabilities.drop"), needed[i].name) &&
            !lists(jsn_get(wishes[1], "capabilities.drop"), needed[i].name))
            add(&b, needed[i].name);
    for (size_t i = 0; i < ARRAY_LEN(wishes); i++)
        add_wishes(&b, jsn_get(wishes[i], "capabilities.add"));
    return arena_strdup(a, buf_str(&b));
}
