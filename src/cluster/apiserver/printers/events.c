/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of events.  core/v1 and events.k8s.io show the same events under different names, and a
 * row is printed from what the client asked for; so each text is looked up under both.
 */
#include "src/cluster/apiserver/printers/cells.h"

static const char *either(const struct jsn *event, const char *core, const char *other)
{
    const char *text = cells_text(event, core);

    return text[0] != '\0' ? text : cells_text(event, other);
}

static const char *first_seen(struct cells *c)
{
    const char *first = either(c->object, "firstTimestamp", "deprecatedFirstTimestamp");

    return cells_age_of(c, first[0] != '\0' ? first : jsn_get_str(c->object, "eventTime"));
}

static const char *last_seen(struct cells *c)
{
    const char *last = either(c->object, "lastTimestamp", "deprecatedLastTimestamp");

    if (jsn_key(c->object, "series"))
        return cells_age_of(c, jsn_get_str(c->object, "series.lastObservedTime"));
    return last[0] != '\0' ? cells_age_of(c, last) : first_seen(c);
}

static int64_t count_of(const struct jsn *event)
{
    int64_t n = jsn_get_int(event, "count", jsn_get_int(event, "deprecatedCount", 0));

    if (jsn_key(event, "series"))
        return jsn_get_int(event, "series.count", 0) + 1;
    return n == 0 ? 1 : n;
}

static void cell_object(struct cells *c)
{
    char *kind = arena_strdup(c->arena, either(c->object, "involvedObject.kind", "regarding.kind"));
    const char *name = either(c->object, "involvedObject.name", "regarding.name");

    for (char *p = kind; *p != '\0'; p++)
        if (*p >= 'A' && *p <= 'Z')
            *p = (char)(*p - 'A' + 'a');
    cell_textf(c, "%s%s%s", kind, name[0] != '\0' ? "/" : "", name);
}

static void cell_source(struct cells *c)
{
    const char *component = either(c->object, "source.component", "deprecatedSource.component");
    const char *host = either(c->object, "source.host", "deprecatedSource.host");

    if (component[0] == '\0')
        component = either(c->object, "reportingComponent", "reportingController");
    if (host[0] == '\0')
        host = cells_text(c->object, "reportingInstance");
    cell_textf(c, "%s%s%s", component, host[0] != '\0' ? ", " : "", host);
}

static void print_event(struct cells *c)
{
    struct str message = str_trim(str_of(either(c->object, "message", "note")));

    cell_text(c, last_seen(c));
    cell_at(c, "type", "");
    cell_at(c, "reason", "");
    cell_object(c);
    cell_text(c, either(c->object, "involvedObject.fieldPath", "regarding.fieldPath"));
    cell_source(c);
    cell_text(c, arena_str(c->arena, message));
    cell_text(c, first_seen(c));
    cell_int(c, count_of(c->object));
    cell_name(c);
}

static const struct printer_column event_columns[] = {
    {"Last Seen", "string", "", "Time since it happened last.", 0},
    {"Type", "string", "", "Normal or Warning.", 0},
    {"Reason", "string", "", "What happened, in one word.", 0},
    {"Object", "string", "", "What it happened to.", 0},
    {"Subobject", "string", "", "Which part of the object.", 1},
    {"Source", "string", "", "Who says so.", 1},
    {"Message", "string", "", "What happened.", 0},
    {"First Seen", "string", "", "Time since it happened first.", 1},
    {"Count", "string", "", "How often it happened.", 1},
    {"Name", "string", "name", "Name of the event.", 1},
};

const struct printer printer_events = {
    .resource = "events",
    .columns = event_columns,
    .n_columns = ARRAY_LEN(event_columns),
    .print = print_event,
};
