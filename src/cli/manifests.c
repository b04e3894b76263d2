/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Manifests from the command line: files, directories (their *.yaml, *.yml and *.json, by name) and
 * standard input ("-"), YAML or JSON, with all their documents.  Each document keeps where it comes
 * from, for messages.
 */
#include "src/cli/manifests.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/json/yaml.h"

static int add_text(struct manifests *in, const char *name, struct str text, struct err *e)
{
    struct jsn *array;
    size_t number = 0;
    int r = yaml_parse_all(in->a, text, NULL, &array, e);

    if (r < 0)
        return err_wrap(e, r, "%s", name);
    JSN_FOR_ITEMS (doc, array) {
        arena_reserve(in->a, &in->docs, &in->cap, in->n + 1, sizeof(*in->docs));
        in->docs[in->n++] = (struct render_doc){
            doc, jsn_len(array) > 1 ? arena_printf(in->a, "%s, document %zu", name, ++number)
                                    : arena_strdup(in->a, name)};
    }
    return 0;
}

static int add_file(struct manifests *in, const char *path, struct err *e)
{
    AUTO(free) char *text = NULL;
    size_t n;
    int r = file_read(path, YAML_MAX_BYTES, &text, &n, e);

    if (r < 0)
        return r;
    return add_text(in, path, (struct str){arena_str(in->a, (struct str){text, n}), n}, e);
}

static int add_stdin(struct manifests *in, struct err *e)
{
    AUTO(buf_done) struct buf b = {.max = YAML_MAX_BYTES};
    char piece[16384];
    size_t n;

    while ((n = fread(piece, 1, sizeof(piece), stdin)) > 0)
        buf_add(&b, piece, n);
    if (ferror(stdin))
        return err_errno(e, EIO, "standard input");
    if (b.overflow)
        return err_bad(e, "standard input has more than %zu bytes", YAML_MAX_BYTES);
    return add_text(in, "standard input", (struct str){arena_str(in->a, buf_view(&b)), b.n}, e);
}

static int is_manifest(const struct dirent *d)
{
    return ends_with(d->d_name, ".yaml") || ends_with(d->d_name, ".yml") ||
           ends_with(d->d_name, ".json");
}

static int add_dir(struct manifests *in, const char *path, struct err *e)
{
    struct dirent **list = NULL;
    int n = scandir(path, &list, is_manifest, alphasort);
    int r = n < 0 ? err_errno(e, errno, "%s", path) : 0;

    for (int i = 0; i < n; i++) {
        if (r == 0)
            r = add_file(in,
                         arena_printf(in->a, "%s%s%s", path, ends_with(path, "/") ? "" : "/",
                                      list[i]->d_name),
                         e);
        free(list[i]);
    }
    free(list);
    return r;
}

int manifests_add(struct manifests *in, const char *path, struct err *e)
{
    struct stat st;

    if (streq(path, "-"))
        return add_stdin(in, e);
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return add_dir(in, path, e);
    return add_file(in, path, e);
}
