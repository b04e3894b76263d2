/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * YAML text to JSON values.
 *
 * A text that is JSON is read by the JSON parser, which is faster and knows what YAML does not
 * (tabs, surrogate pairs); everything else goes through libyaml (yaml_read.c).  Size and encoding
 * are checked before either sees it.
 */
#include "src/json/yaml.h"

#include "src/json/yaml_read.h"

/* Is the text JSON, and without duplicate keys (which the YAML reader names by line)? */
static bool try_json(struct arena *a, struct str text, struct jsn **ret)
{
    struct jsn_notes notes = {.arena = a};
    struct str start = str_trim(text);

    return start.n && start.p[0] == '{' && jsn_parse(a, text, &notes, ret, NULL) == 0 &&
           notes.n_duplicates == 0;
}

int yaml_parse_all(struct arena *a, struct str text, struct jsn_notes *notes,
                   struct jsn **ret_array, struct err *e)
{
    struct jsn *documents = jsn_array(a);
    struct jsn *json;
    int rc;

    if (text.n > YAML_MAX_BYTES)
        return err_bad(e, "yaml: the text has %zu bytes, more than the %zu allowed", text.n,
                       YAML_MAX_BYTES);
    if (try_json(a, text, &json)) {
        jsn_append(a, documents, json);
        *ret_array = documents;
        return 0;
    }
    if (!str_utf8_ok(text))
        return err_bad(e, "yaml: the text is not valid UTF-8");
    rc = yaml_read(a, text, notes, documents, e);
    if (rc < 0)
        return rc;
    *ret_array = documents;
    return 0;
}

int yaml_parse(struct arena *a, struct str text, struct jsn_notes *notes, struct jsn **ret_value,
               struct err *e)
{
    struct jsn *documents = NULL;
    int rc = yaml_parse_all(a, text, notes, &documents, e);

    if (rc < 0)
        return rc;
    if (jsn_len(documents) > 1)
        return err_bad(e, "yaml: the text holds %zu documents where one is expected",
                       jsn_len(documents));
    *ret_value = jsn_len(documents) ? jsn_item(documents, 0) : jsn_null(a);
    return 0;
}
