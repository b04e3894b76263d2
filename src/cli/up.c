/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmkeeper up: a Slurm cluster on this machine, in the background.
 *
 * Starts `slurmkeeper serve` if nobody serves the state directory, applies the manifests, and
 * returns when Slurm's own commands show the nodes ready; or fails with what is known of the reason
 * and the log lines that tell of it.  What is there already is left as it is, so it may be run
 * again at any time.
 */
#include "src/cli/up.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/cli/examples.h"
#include "src/cli/manifests.h"
#include "src/cli/trouble.h"
#include "src/cli/verbs.h"
#include "src/cluster/node/network/ipam.h"
#include "src/json/yaml.h"
#include "src/local/daemon.h"
#include "src/local/host.h"
#include "src/local/space.h"
#include "src/local/unknown.h"
#include "src/slurm/profile.h"

#define TAIL_BYTES 2000
#define MAX_ARGS 160
#define SERVE_ENDS_MS 20000

static const char *const titles[] = {"machine",   "API server", "manifests",
                                     "slurmctld", "nodes",      NULL};

/* The last lines of a log, to standard error. */
static void show_tail(const char *path)
{
    AUTO(free) char *text = NULL;
    struct str rest;
    struct str line;
    size_t n;

    if (file_read(path, (size_t)64 << 20, &text, &n, NULL) < 0 || n == 0)
        return;
    rest = str_trim(
        (struct str){n > TAIL_BYTES ? text + n - TAIL_BYTES : text, MIN(n, (size_t)TAIL_BYTES)});
    if (n > TAIL_BYTES)
        (void)str_split(&rest, '\n', &line);
    (void)fprintf(stderr, "last lines of %s:\n", path);
    while (str_split(&rest, '\n', &line))
        (void)fprintf(stderr, "    " STR_FMT "\n", STR_ARG(line));
}

static size_t serve_argv(const struct cli_args *args, const struct up *u, const char *here,
                         const char **argv)
{
    const char *state = u->layout.state;
    size_t n = 0;

    argv[n++] = "slurmkeeper";
    argv[n++] = "serve";
    argv[n++] = "--state";
    argv[n++] = state;
    if (cli_has(args, "name")) {
        argv[n++] = "--name";
        argv[n++] = cli_get(args, "name");
    }
    if (cli_has(args, "pod-cidr")) {
        argv[n++] = "--pod-cidr";
        argv[n++] = cli_get(args, "pod-cidr");
    }
    if (cli_has(args, "slurm") && !u->next.prefix) {
        argv[n++] = "--slurm";
        argv[n++] = cli_get(args, "slurm");
    }
    if (cli_has(args, "no-agent"))
        argv[n++] = "--no-agent";
    n = up_share_args(args, state, here, argv, n, MAX_ARGS);
    return n;
}

/* It does not stay where `up` was started: a memory dump of a process with keys would be written
 * there, and pods share that directory. */
static NORETURN void become_serve(const char *program, const char *state, const char **argv,
                                  int log)
{
    int null = open("/dev/null", O_RDWR);

    (void)setsid();
    if (chdir(state) < 0)
        _exit(126);
    (void)dup2(null, 0);
    (void)dup2(log, 1);
    (void)dup2(log, 2);
    /* what the caller has open, a lock for instance, would be held for as long as it serves */
    (void)close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    (void)execv(program, (char *const *)(uintptr_t)argv);
    _exit(127);
}

/* Until it holds the state directory; it ends at once if it cannot serve it. */
static int wait_for_holder(const struct up *u, pid_t pid, const char *log, struct err *e)
{
    struct timespec t = {0, 5000000L};
    int status;

    for (;;) {
        if (layout_holder(&u->layout) == pid)
            return 0;
        if (waitpid(pid, &status, WNOHANG) == pid) {
            AUTO(free) char *words = daemon_last_words(log, "serve");

            return err_set(e, -ECHILD, ERR_PERMANENT, "%s",
                           words ? words : "it ended at once, without a word");
        }
        (void)nanosleep(&t, NULL);
    }
}

/* Ctrl-C ends the waiting, and nothing else: say so, for that is not what everybody expects. */
static void on_interrupt(int signo)
{
    static const char text[] = "\nslurmkeeper: up: interrupted; the cluster goes on coming up: "
                               "'status' shows it, 'down' ends it\n";

    (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
    _exit(128 + signo);
}

static int start_serve(const struct cli_args *args, struct up *u, struct err *e)
{
    AUTO(free) char *log = xasprintf("%s/serve.log", u->layout.logs);
    AUTO(free) char *program = realpath("/proc/self/exe", NULL);
    AUTO(close) int fd = -1;
    char here[PATH_MAX];
    const char *argv[MAX_ARGS + 1] = {NULL};
    pid_t pid;
    int r = layout_make(&u->layout, e);

    if (r < 0)
        return r;
    (void)serve_argv(args, u, getcwd(here, sizeof(here)), argv);
    fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_errno(e, errno, "open '%s'", log);
    pid = fork();
    if (pid == 0)
        become_serve(program, u->layout.state, argv, fd);
    if (pid < 0)
        return err_errno(e, errno, "no new process");
    (void)signal(SIGINT, on_interrupt);
    return wait_for_holder(u, pid, log, e);
}

/* Which Slurm: everything that is started or asked from here on finds it first. */
static int step_machine(const struct cli_args *args, struct up *u, struct err *e)
{
    AUTO(choices_done) struct choices kept = {0};
    AUTO(host_done) struct host host = {0};
    struct install_wish wish = {.named = cli_get(args, "slurm"), .path = getenv("PATH")};
    char release[RELEASE_TEXT_LEN];
    int r = choices_read(&u->layout, &kept, e);

    if (r < 0 && r != -ENOENT)
        return r;
    wish.kept = kept.slurm;
    r = up_slurm_find(u, &kept, wish.named, e);
    if (u->next.prefix)
        wish.named = NULL;
    if (r == 0)
        r = host_look(&wish, &host, e);
    if (r == 0 && layout_holder(&u->layout) == 0)
        r = space_check(u->layout.state, SPACE_TO_START, e);
    if (r < 0)
        return r;
    if (u->accounting)
        r = up_accounting_check(host.slurm.prefix, e);
    if (r < 0)
        return r;
    if (u->next.prefix)
        steps_append(&u->steps, "Slurm");
    if (u->accounting)
        steps_append(&u->steps, "accounting");
    install_use(host.slurm.prefix);
    release_text(host.slurm.release, release);
    steps_done(&u->steps, "Slurm %s in %s, control groups %s", release, host.slurm.prefix,
               host.cgroup);
    return 0;
}

static const char *was_up(bool running, const struct choices *c)
{
    return !running ? "" : c->no_agent ? ", was up already, without an agent" : ", was up already";
}

static int step_api(const struct cli_args *args, struct up *u, struct err *e)
{
    AUTO(choices_done) struct choices c = {0};
    bool running = layout_holder(&u->layout) != 0;
    char here[PATH_MAX];
    bool shares_here =
        !running && up_shares_here(args, u->layout.state, getcwd(here, sizeof(here)));
    int r = running ? 0 : start_serve(args, u, e);

    u->started = !running && r == 0;
    if (r == 0)
        (void)signal(SIGINT, on_interrupt); /* also where it was up already */
    if (r == 0)
        r = up_wait_api(u, e);
    if (r == 0)
        r = choices_read(&u->layout, &c, e);
    if (r == 0)
        r = choices_check(&c, u->layout.state, cli_get(args, "name"), cli_get(args, "pod-cidr"), e);
    if (r == 0 && running)
        r = up_share_check(args, &c, e);
    if (r == 0 && running)
        r = choices_check_agent(&c, cli_has(args, "no-agent"), e);
    if (r < 0)
        return r;
    steps_done(&u->steps, "https://127.0.0.1:%d%s%s%s", c.port, was_up(running, &c),
               shares_here ? "; until it is taken down, jobs may write here: " : "",
               shares_here ? here : "");
    return 0;
}

static int add_quickstart(struct up *u, struct manifests *m, struct err *e)
{
    struct jsn *controllers;
    struct jsn *docs;
    int r = ask_list(u->ask, &u->arena, &resource_controllers, NULL, &controllers, e);

    if (r < 0 || jsn_len(controllers) > 0)
        return r;
    r = host_limits_jobs("/sys/fs/cgroup", e); /* the quick start says task/cgroup */
    if (r < 0)
        return r;
    r = yaml_parse_all(m->a, str_of(example_quickstart), NULL, &docs, e);
    JSN_FOR_ITEMS (doc, docs) {
        arena_reserve(m->a, &m->docs, &m->cap, m->n + 1, sizeof(*m->docs));
        m->docs[m->n++] = (struct render_doc){doc, "quickstart.yaml"};
    }
    return r;
}

/* A List stands for its items. */
static int apply_one(struct up *u, const struct jsn *object, const char *origin, struct err *e)
{
    int r = 0;

    if (streq(jsn_get_str(object, "kind"), "List")) {
        JSN_FOR_ITEMS (item, jsn_key(object, "items"))
            if (r == 0)
                r = apply_one(u, item, origin, e);
        return r;
    }
    r = up_accounting_add(u, &object, e);
    if (r == 0)
        r = ask_apply(u->ask, &u->arena, object, NULL, e);
    return r < 0 ? err_wrap(e, r, "%s", origin) : 0;
}

static int step_manifests(const struct cli_args *args, struct up *u, struct err *e)
{
    struct manifests m = {.a = &u->arena};
    int r = 0;

    for (size_t i = 0; r == 0 && cli_get_at(args, "filename", i); i++)
        r = manifests_add(&m, cli_get_at(args, "filename", i), e);
    if (r == 0 && !cli_has(args, "filename"))
        r = add_quickstart(u, &m, e);
    for (size_t i = 0; r == 0 && i < m.n; i++)
        r = apply_one(u, m.docs[i].object, m.docs[i].place, e);
    if (r == 0 && u->accounting)
        r = up_accounting_patch(u, e);
    if (r < 0)
        return r;
    if (m.n == 0)
        steps_done(&u->steps, "as they were");
    else
        steps_done(&u->steps, "%zu object%s of %s%s", m.n, m.n == 1 ? "" : "s", m.docs[0].place,
                   streq(m.docs[0].place, m.docs[m.n - 1].place) ? "" : " and others");
    return 0;
}

static int step_accounting(struct up *u, struct err *e)
{
    int r;

    steps_begin(&u->steps);
    r = up_wait_accounting(u, e);
    if (r == 0)
        steps_done(&u->steps, "slurmdbd answers, and has the cluster");
    return r;
}

/* The cluster is up as it was; now it becomes the next Slurm. */
static int step_slurm(struct up *u, struct err *e)
{
    char release[RELEASE_TEXT_LEN];
    int r;

    steps_begin(&u->steps);
    r = up_slurm_declare(u, e);
    if (r == 0)
        r = up_wait_slurm(u, e);
    if (r == 0)
        r = up_slurm_keep(u, e);
    if (r < 0)
        return r;
    release_text(u->next.release, release);
    steps_done(&u->steps, "%s in %s, slurmctld and all nodes", release, u->next.prefix);
    return 0;
}

static int run_steps(const struct cli_args *args, struct up *u, struct err *e)
{
    char note[80] = "";
    int r;

    steps_begin(&u->steps);
    r = step_machine(args, u, e);
    if (r < 0)
        return r;
    steps_begin(&u->steps);
    r = step_api(args, u, e);
    if (r < 0)
        return r;
    steps_begin(&u->steps);
    r = step_manifests(args, u, e);
    if (r < 0)
        return r;
    steps_begin(&u->steps);
    r = up_wait_controllers(u, e);
    if (r < 0)
        return r;
    steps_done(&u->steps, "answers");
    steps_begin(&u->steps);
    r = up_wait_nodes(u, note, sizeof(note), e);
    if (r == 0)
        steps_done(&u->steps, "%s", note);
    if (r == 0 && u->next.prefix)
        r = step_slurm(u, e);
    return r == 0 && u->accounting ? step_accounting(u, e) : r;
}

/* What else is known, where something did not come about; other failures say all themselves. */
static void explain(struct up *u, int r)
{
    static const char *const logs[] = {"serve", "apiserver", "operator", "node"};
    struct jsn *list = NULL;
    struct err e = {0};

    if (space_check(u->layout.state, SPACE_TO_RUN, &e) < 0)
        (void)fprintf(stderr, "  %s\n", e.text);
    if (r != -ETIMEDOUT && r != -ESRCH)
        return;
    if (u->ask && trouble_find(u->ask, &u->arena, true, &list, NULL) == 0 && jsn_len(list) > 0) {
        JSN_FOR_ITEMS (line, list)
            (void)fprintf(stderr, "  %s\n", jsn_text(line));
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(logs); i++) {
        AUTO(free) char *path = xasprintf("%s/%s.log", u->layout.logs, logs[i]);

        show_tail(path);
    }
}

/* For who sits there; a script knows what it wants. */
static void hint(const struct cli_args *args)
{
    if (isatty(STDERR_FILENO) && isatty(STDOUT_FILENO))
        (void)fprintf(
            stderr,
            "\nNext: eval \"$(%s env%s%s)\", and sinfo, srun, sbatch and kubectl mean this "
            "cluster.\n",
            program_invocation_name, cli_has(args, "state") ? " --state " : "",
            cli_has(args, "state") ? cli_get(args, "state") : "");
}

/* The cluster is up, but something may run that it does not know: never without a word. */
static void tell_unknown(struct up *u)
{
    AUTO(buf_done) struct buf names = {0};
    struct jsn *list = NULL;

    if (up_wait_settled(u) < 0)
        (void)cli_failure("up: the node has not yet told which pods it keeps; 'slurmkeeper status' "
                          "will");
    if (unknown_list(&u->layout, &u->arena, &list, NULL) < 0 || jsn_len(list) == 0)
        return;
    JSN_FOR_ITEMS (pod, list)
        buf_printf(&names, "%s%s/%s", names.n ? ", " : "", jsn_get_str(pod, "metadata.namespace"),
                   jsn_get_str(pod, "metadata.name"));
    (void)cli_failure("up: %zu pod%s of this machine run%s on that the API server does not know: "
                      "%s; 'slurmkeeper recover' adopts or gives up",
                      jsn_len(list), jsn_len(list) == 1 ? "" : "s", jsn_len(list) == 1 ? "s" : "",
                      buf_str(&names));
}

static int up_run(const struct cli_args *args, struct up *u, int64_t timeout_s)
{
    struct err e = {0};
    int r = layout_init(&u->layout, reach_state(args), &e);

    if (r < 0)
        return cli_failure("up: %s", e.text);
    u->deadline_ms = clock_mono_ms() + timeout_s * 1000;
    steps_init(&u->steps, titles);
    r = run_steps(args, u, &e);
    if (r == 0) {
        tell_unknown(u);
        up_share_tell(args, u->layout.state, cli_get(args, "slurm"));
        hint(args);
        return 0;
    }
    steps_fail(&u->steps);
    (void)cli_failure("up: %s", e.text);
    explain(u, r);
    /* what cannot start is not left behind to try for ever; pods of an earlier time run on */
    if (r == -ECHILD && u->started && layout_end_holder(&u->layout, SERVE_ENDS_MS, &e) < 0)
        (void)cli_failure("up: %s", e.text);
    return 1;
}

int verb_up_run(const struct cli_args *args)
{
    struct up u = {.accounting = cli_has(args, "accounting")};
    struct err e = {0};
    int64_t timeout_s = 120;
    unsigned int prefix;
    uint32_t base;
    int status;

    if (!cli_get_i64(args, "timeout", 1, 86400, &timeout_s))
        return 2;
    if (cli_has(args, "name") && !choices_name_ok(cli_get(args, "name")))
        return cli_usage_error("up: --name: '%s' is not a name of at most 40 lower-case letters, "
                               "digits and dashes",
                               cli_get(args, "name"));
    if (cli_has(args, "pod-cidr") &&
        ipam_parse(str_of(cli_get(args, "pod-cidr")), &base, &prefix, &e) < 0)
        return cli_usage_error("up: --pod-cidr: %s", e.text);
    if (geteuid() != 0)
        return cli_failure("up: pods need root: their containers, network namespaces, the bridge "
                           "and mounts are made on this machine; run it with sudo");
    status = up_run(args, &u, timeout_s);
    ask_free(u.ask);
    arena_done(&u.arena);
    install_done(&u.next);
    layout_done(&u.layout);
    return status;
}
