/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Problems.
 *
 * Whoever finds one (our model, libslurm's parser) says where it stands; whoever tells of it (an
 * answer, a condition, the command line) prints it the same way.
 */
#include "src/wire/problem.h"

static const char *const severities[] = {"error", "warning", NULL};

const struct jsn_field wire_problem_fields[] = {
    {"severity", JSN_ENUM, offsetof(struct wire_problem, severity), JSN_KEEP, .names = severities},
    {"file", JSN_STR, offsetof(struct wire_problem, file), 0},
    {"line", JSN_U32, offsetof(struct wire_problem, line), 0},
    {"object", JSN_STR, offsetof(struct wire_problem, object), 0},
    {"key", JSN_STR, offsetof(struct wire_problem, key), 0},
    {"message", JSN_STR, offsetof(struct wire_problem, message), JSN_REQ},
    JSN_END,
};

static const char *copy(struct arena *a, const char *text)
{
    return text ? arena_strdup(a, text) : NULL;
}

void wire_problem_add(struct arena *a, struct wire_problems *list, const struct wire_problem *p)
{
    size_t cap = list->n;

    arena_reserve(a, &list->items, &cap, list->n + 1, sizeof(*list->items));
    list->items[list->n++] = (struct wire_problem){.severity = p->severity,
                                                   .file = copy(a, p->file),
                                                   .line = p->line,
                                                   .object = copy(a, p->object),
                                                   .key = copy(a, p->key),
                                                   .message = copy(a, p->message)};
}

void wire_problem_print(const struct wire_problem *p, struct buf *out)
{
    if (p->file && p->line > 0)
        buf_printf(out, "%s:%u: ", p->file, p->line);
    else if (p->file)
        buf_printf(out, "%s: ", p->file);
    buf_adds(out, p->message);
}

const char *wire_problem_object(struct arena *a, struct str text, uint32_t line)
{
    struct str at;
    struct str word;

    for (; line > 0 && str_split(&text, '\n', &at); line--)
        if (line == 1) {
            at = str_trim(at);
            word = (struct str){at.p, strcspn(at.p, " \t\r\n")};
            word.n = MIN(word.n, at.n);
            return memchr(word.p, '=', word.n) ? arena_str(a, word) : NULL;
        }
    return NULL;
}
