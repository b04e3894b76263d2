/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmkeeper status: the cluster of this machine on one screen: controllers, partitions, nodes,
 * jobs, and what is wrong.
 *
 * What Slurm knows comes from its own commands, what is declared from the API.  Whatever of both
 * does not answer is said, and the rest is still shown.  The exit status is 0 if nothing is wrong,
 * 3 if something is.
 */
#include <stdio.h>

#include "src/base/clock.h"
#include "src/cli/reach.h"
#include "src/cli/trouble.h"
#include "src/cli/verbs.h"
#include "src/local/command.h"
#include "src/local/daemon.h"
#include "src/local/install.h"
#include "src/local/space.h"
#include "src/slurm/profile.h"

#define COMMAND_MS 5000
#define MAX_WRONG 12

struct screen {
    struct buf out;
    struct arena arena;
    bool colour;
    size_t wrong;
};

static void heading(struct screen *s, const char *text)
{
    buf_printf(&s->out, s->colour ? "\n\033[1m%s\033[0m\n" : "\n%s\n", text);
}

static int slurm(const struct reach_client *c, const char *const *argv, char **ret, struct err *e)
{
    return reach_command(c, argv, COMMAND_MS, ret, e);
}

/* A command's lines, indented. */
static bool show_command(struct screen *s, const struct reach_client *c, const char *const *argv)
{
    AUTO(free) char *text = NULL;
    struct err e = {0};
    struct str rest;
    struct str line;

    if (slurm(c, argv, &text, &e) < 0) {
        buf_printf(&s->out, "  %s\n", e.text);
        s->wrong++;
        return false;
    }
    rest = str_trim(str_of(text));
    while (rest.n && str_split(&rest, '\n', &line))
        buf_printf(&s->out, "  " STR_FMT "\n", STR_ARG(line));
    return true;
}

static size_t count(const struct reach_client *c, const char *states)
{
    const char *const argv[] = {"squeue", "-h", "-r", "-t", states, "-o", "%A", NULL};
    AUTO(free) char *text = NULL;
    size_t n = 0;

    if (slurm(c, argv, &text, NULL) < 0)
        return 0;
    for (const char *p = text; *p; p++)
        n += *p == '\n';
    return n;
}

static void show_client(struct screen *s, const struct reach_client *c)
{
    static const char *const partitions[] = {"sinfo", "-o", "%12P %.6a %.12l %.6D %.10T %N", NULL};
    static const char *const down[] = {"sinfo", "-R", "-h", "-o", "%20N %10u %E", NULL};
    AUTO(free) char *reasons = NULL;

    heading(s, arena_printf(&s->arena, "Controller %s/%s", c->ns, c->name));
    if (!show_command(s, c, partitions))
        return;
    buf_printf(&s->out, "  jobs: %zu running, %zu pending\n", count(c, "R,CG,S,CF"),
               count(c, "PD"));
    if (slurm(c, down, &reasons, NULL) == 0 && str_trim(str_of(reasons)).n > 0) {
        buf_adds(&s->out, "  out of service:\n");
        (void)show_command(s, c, down);
    }
}

static const char *age_of(struct screen *s, const struct jsn *object)
{
    const char *created = jsn_get_str(object, "metadata.creationTimestamp");
    char text[CLOCK_AGE_LEN];
    int64_t when;

    if (!created || clock_parse_rfc3339(str_of(created), &when) < 0)
        return "?";
    clock_age((clock_wall_us() - when) / 1000000, text);
    return arena_strdup(&s->arena, text);
}

static void show_nodesets(struct screen *s, struct ask *k)
{
    struct jsn *items;
    struct err e = {0};

    if (ask_list(k, &s->arena, &resource_nodesets, NULL, &items, &e) < 0) {
        buf_printf(&s->out, "  %s\n", e.text);
        return;
    }
    heading(s, "NodeSets");
    if (jsn_len(items) == 0)
        buf_adds(&s->out, "  none is declared\n");
    JSN_FOR_ITEMS (n, items)
        buf_printf(&s->out, "  %-24s of %-16s %lld of %lld ready, %s old\n",
                   arena_printf(&s->arena, "%s/%s", jsn_get_str(n, "metadata.namespace"),
                                jsn_get_str(n, "metadata.name")),
                   jsn_get_str(n, "spec.controllerRef.name"),
                   (long long)jsn_get_int(n, "status.readyReplicas", 0),
                   (long long)jsn_get_int(n, "spec.replicas", 1), age_of(s, n));
}

/* What is in the prefix may have been upgraded, by apt for one, and pods pick that up one by one.
 */
static void show_changed(struct screen *s, const struct choices *c)
{
    AUTO(install_done) struct install now = {0};
    const struct install_wish wish = {.kept = c->slurm};
    char text[RELEASE_TEXT_LEN];
    struct err e = {0};
    uint32_t was;

    if (!c->slurm || !c->release || release_parse(str_of(c->release), &was, NULL) < 0)
        return;
    if (install_find(&wish, &now, &e) < 0) {
        buf_printf(&s->out, "  %s\n", e.text);
    } else if (now.release != was) {
        release_text(now.release, text);
        buf_printf(
            &s->out,
            "  the Slurm in %s is %s now, and the cluster's is %s: 'slurmkeeper up' makes it "
            "an upgrade, in Slurm's order\n",
            c->slurm, text, c->release);
    } else {
        return;
    }
    s->wrong++;
}

static void show_trouble(struct screen *s, const struct layout *l, const struct choices *c,
                         struct ask *k)
{
    AUTO(free) char *words = NULL;
    const char *ailing = NULL;
    struct jsn *list = NULL;
    struct err e = {0};
    size_t n = 0;

    heading(s, "What is wrong");
    words = daemon_ailing(l->logs, &ailing);
    if (words) {
        buf_printf(&s->out, "  the cluster's %s does not start: %s\n", ailing, words);
        s->wrong++;
    }
    if (space_check(l->state, SPACE_TO_RUN, &e) < 0) {
        buf_printf(&s->out, "  %s\n", e.text);
        s->wrong++;
        e.num = 0;
    }
    show_changed(s, c);
    if (trouble_find(k, &s->arena, false, &list, &e) < 0)
        buf_printf(&s->out, "  the API server does not answer: %s\n", e.text);
    else if (jsn_len(list) == 0 && s->wrong == 0)
        buf_adds(&s->out, "  nothing\n");
    s->wrong += e.num ? 1 : jsn_len(list);
    JSN_FOR_ITEMS (line, list)
        if (n++ < MAX_WRONG)
            buf_printf(&s->out, "  %s\n", jsn_text(line));
    if (n > MAX_WRONG)
        buf_printf(&s->out, "  and %zu more: kubectl get events -A\n", n - MAX_WRONG);
}

static void show(struct screen *s, const struct layout *l, const struct choices *c, pid_t pid)
{
    AUTO(reach_clients_done) struct reach_clients clients = {0};
    AUTO(ask_free) struct ask *k = NULL;
    struct err e = {0};

    buf_printf(&s->out, "cluster %s in %s, served by process %d; API at https://127.0.0.1:%d\n",
               c->name, l->state, (int)pid, c->port);
    if (c->slurm && c->release)
        buf_printf(&s->out, "Slurm %s in %s\n", c->release, c->slurm);
    reach_list(l, &clients);
    for (size_t i = 0; i < clients.n; i++)
        show_client(s, &clients.items[i]);
    if (ask_new(l->kubeconfig, &k, &e) < 0) {
        buf_printf(&s->out, "\n%s\n", e.text);
        s->wrong++;
        return;
    }
    show_nodesets(s, k);
    show_trouble(s, l, c, k);
}

int verb_status_run(const struct cli_args *args)
{
    AUTO(layout_done) struct layout l = {0};
    AUTO(choices_done) struct choices c = {0};
    struct screen s = {.colour = isatty(STDOUT_FILENO)};
    struct err e = {0};
    pid_t pid;

    if (layout_init(&l, reach_state(args), &e) < 0)
        return cli_failure("status: %s", e.text);
    pid = layout_holder(&l);
    if (pid == 0 || choices_read(&l, &c, &e) < 0)
        return reach_not_served("status", args, &l);
    reach_use_slurm(&l);
    show(&s, &l, &c, pid);
    (void)fputs(buf_str(&s.out), stdout);
    buf_done(&s.out);
    arena_done(&s.arena);
    return s.wrong ? 3 : 0;
}
