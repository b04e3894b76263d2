/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `parse`: would libslurm take this slurm.conf?
 *
 * The parser is libslurm's own, in a process made for the purpose: it ends that process when it
 * does not like the file, and tells standard error why.  The process that answers calls never
 * initialises libslurm in this lane, so that the one made from it starts clean.
 *
 * What it finds: unknown keys, bad values, includes that cannot be read, doubles of single keys.
 * What it does not find, for only slurmctld looks there: nodes that no line names, plugins that are
 * missing.
 */
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "src/agent/worker/call.h"
#include "src/agent/worker/conf_files.h"

#define SAID_MAX_BYTES ((size_t)64 << 10)

static NORETURN void parser_run(const char *path, int said)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || dup2(said, STDERR_FILENO) < 0)
        _exit(126);
    slurm_init(path);
    _exit(0);
}

/* Run the parser; *ret_status is its wait status, `said` what it wrote. */
static int parser_start(const char *path, struct buf *said, int *ret_status)
{
    int pipes[2];
    pid_t pid;
    ssize_t n;

    if (pipe2(pipes, O_CLOEXEC) < 0)
        return -errno;
    pid = fork();
    if (pid == 0)
        parser_run(path, pipes[1]);
    (void)close(pipes[1]);
    while (pid > 0) {
        char chunk[4096];

        n = read(pipes[0], chunk, sizeof(chunk));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        buf_add(said, chunk, (size_t)n);
    }
    (void)close(pipes[0]);
    if (pid < 0)
        return -EAGAIN;
    while (waitpid(pid, ret_status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    return 0;
}

/* Without the name of the program and the level: "slurmkeeper-agent-worker: error: ...". */
static struct str message_of(struct str line)
{
    static const char *const levels[] = {"error: ", "fatal: "};
    const char *colon = memmem(line.p, line.n, ": ", 2);

    if (colon)
        line = (struct str){colon + 2, line.n - (size_t)(colon + 2 - line.p)};
    for (size_t i = 0; i < ARRAY_LEN(levels); i++)
        if (str_starts(line, levels[i]))
            return (struct str){line.p + strlen(levels[i]), line.n - strlen(levels[i])};
    return line;
}

/* "... in file /etc/slurm/slurm.conf line 12: ..." */
static void place_put(struct worker_call *c, struct jsn *problem, struct str text)
{
    const char *file = memmem(text.p, text.n, "in file ", 8);
    const char *line;
    struct str number;
    uint64_t n;

    if (!file)
        return;
    file += 8;
    line = memmem(file, (size_t)(text.p + text.n - file), " line ", 6);
    if (!line)
        return;
    number = (struct str){line + 6, (size_t)(text.p + text.n - line - 6)};
    number.n = strspn(arena_str(c->arena, number), "0123456789");
    if (str_to_u64(number, &n) < 0)
        return;
    jsn_set(c->arena, problem, "file",
            jsn_str(c->arena, (struct str){file, (size_t)(line - file)}));
    jsn_set_int(c->arena, problem, "line", (int64_t)n);
}

/* The letters and digits that stand after `mark` ("" for the beginning), if `end` follows them. */
static struct str word_after(struct str text, const char *mark, const char *end)
{
    const char *at = mark[0] ? memmem(text.p, text.n, mark, strlen(mark)) : text.p;
    struct str word = {0};
    struct str rest;

    if (!at)
        return word;
    at += strlen(mark);
    rest = (struct str){at, (size_t)(text.p + text.n - at)};
    while (word.n < rest.n && isalnum((unsigned char)rest.p[word.n]))
        word.n++;
    word.p = rest.p;
    rest = (struct str){word.p + word.n, rest.n - word.n};
    return str_starts(rest, end) ? word : (struct str){0};
}

/* The setting, in the sentences of libslurm's parser: of a key that it does not know, of a value
 * that it cannot read, and of the rest of a line from there on. */
static void key_put(struct worker_call *c, struct jsn *problem, struct str text)
{
    static const struct {
        const char *mark;
        const char *end;
    } forms[] = {{"unrecognized key: ", ""}, {": \"", "="}, {"", " value "}};
    struct str key = {0};

    for (size_t i = 0; i < ARRAY_LEN(forms) && key.n == 0; i++)
        key = word_after(text, forms[i].mark, forms[i].end);
    if (key.n > 0)
        jsn_set(c->arena, problem, "key", jsn_str(c->arena, key));
}

/* The first sentence is the reason. */
static const char *problems_put(struct worker_call *c, struct str said)
{
    struct jsn *problems = jsn_array(c->arena);
    const char *first = NULL;
    struct str line;

    while (str_split(&said, '\n', &line)) {
        struct str text = message_of(line);
        struct jsn *problem = jsn_object(c->arena);

        /* what every refusal ends with says nothing, unless it is all there is */
        if (text.n == 0 || (first && str_eqz(text, "Unable to process configuration file")))
            continue;
        jsn_set(c->arena, problem, "message", jsn_str(c->arena, text));
        place_put(c, problem, text);
        key_put(c, problem, text);
        jsn_append(c->arena, problems, problem);
        if (!first)
            first = arena_str(c->arena, text);
    }
    jsn_set(c->arena, c->answer, "problems", problems);
    return first;
}

/* libslurm waits a minute for an include that is not there. */
static int includes_check(struct worker_call *c, const char *path)
{
    AUTO(conffiles_done) struct conf_files files = {0};
    struct jsn *problems = jsn_array(c->arena);
    struct jsn *problem = jsn_object(c->arena);

    if (conffiles_read(path, &files, NULL) < 0 || !files.missing)
        return 0;
    jsn_set_str(c->arena, problem, "message", files.missing);
    jsn_append(c->arena, problems, problem);
    jsn_set(c->arena, c->answer, "problems", problems);
    return call_failed(c, "refused", arena_strdup(c->arena, files.missing));
}

int call_parse(struct worker_call *c)
{
    const char *dir = call_need(c, "dir");
    AUTO(buf_done) struct buf said = {0};
    const char *first;
    char *path;
    int status = 0;
    int r;

    if (!dir)
        return -1;
    path = arena_printf(c->arena, "%s/slurm.conf", dir);
    if (access(path, R_OK) < 0)
        return call_invalid(c, "'%s' cannot be read: %s", path, strerror(errno));
    if (includes_check(c, path) < 0)
        return -1;
    buf_init(&said, SAID_MAX_BYTES);
    r = parser_start(path, &said, &status);
    if (r < 0)
        return call_failed(c, "busy", "no process for libslurm's parser");
    first = problems_put(c, buf_view(&said));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    return call_failed(c, "refused", first ? first : "libslurm's parser ended without a word");
}
