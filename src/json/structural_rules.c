/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Validation by rules (x-kubernetes-validations).
 *
 * Every node's rules see its value as self; those that compare with oldSelf run only where the
 * value before is known: the same property, the same key of a map, the item with the same keys of a
 * list that is a map.  A null has no rules.  A rule that uses what is not known here is passed
 * over: its author was warned when the definition was made.
 */
#include "src/base/map.h"
#include "src/json/cel.h"
#include "src/json/pattern.h"
#include "src/json/structural.h"

#define STEPS_ALL 20000000

struct rules {
    const struct structural *how;
    struct schema_faults *faults;
    struct buf path;
    struct arena scratch; /* compiled rules and what they make */
    struct map compiled;  /* by text; a rule that cannot be run is `nothing` */
    struct pattern_budget budget;
    uint64_t steps;
    bool stopped;
};

static char nothing;

static void walk(struct rules *w, const struct schema *s, const struct jsn *v,
                 const struct jsn *old);

static const struct cel *compiled(struct rules *w, const char *text)
{
    void *found = map_get(&w->compiled, str_of(text));
    struct cel *c = NULL;
    struct err e = {0};

    if (found)
        return found == &nothing ? NULL : found;
    if (cel_compile(&w->scratch, text, &c, &e) < 0)
        c = NULL;
    (void)map_put(&w->compiled, str_of(text), c ? (void *)c : &nothing);
    return c;
}

static const char *type_of(const struct schema *s)
{
    const char *type = jsn_text(jsn_key(s->source, "type"));

    return type ? type : "";
}

static struct str trimmed(const char *text)
{
    return str_trim(str_of(text));
}

static void fault(struct rules *w, const struct schema *s, const char *field, const char *fmt,
                  const char *a, struct str b)
{
    AUTO(buf_done) struct buf text = {0};

    buf_printf(&text, "Invalid value: \"%s\": ", type_of(s));
    if (streq(fmt, "failed"))
        buf_printf(&text, "failed rule: " STR_FMT, STR_ARG(b));
    else if (streq(fmt, "overload"))
        buf_printf(&text,
                   "'%s': call arguments did not match a supported operator, function or macro "
                   "signature for rule: " STR_FMT,
                   a, STR_ARG(b));
    else
        buf_printf(&text, "%s evaluating rule: " STR_FMT, a, STR_ARG(b));
    schema_fault(w->faults, "FieldValueInvalid", field, "%s", buf_str(&text));
}

static const char *field_of(struct rules *w, const struct schema_rule *rule)
{
    const char *more = rule ? rule->field_path : NULL;

    if (!more || !*more)
        return w->path.n ? arena_str(&w->scratch, buf_view(&w->path)) : "<nil>";
    return arena_printf(&w->scratch, "%s%s%s", buf_str(&w->path),
                        w->path.n && *more != '.' && *more != '[' ? "." : "",
                        w->path.n || *more != '.' ? more : more + 1);
}

static struct cel_input input(struct rules *w, const struct schema *s, const struct jsn *v,
                              const struct jsn *old)
{
    return (struct cel_input){.arena = &w->scratch,
                              .patterns = w->how->patterns,
                              .budget = &w->budget,
                              .steps = &w->steps,
                              .schema = s,
                              .self = v,
                              .old_self = old};
}

/* What the author wants said: computed, given, or the rule itself. */
static const char *message_of(struct rules *w, const struct schema_rule *rule,
                              const struct cel_input *in)
{
    const struct cel *c = rule->message_expression ? compiled(w, rule->message_expression) : NULL;
    const struct jsn *v = NULL;
    const char *error;

    if (c && cel_run(c, in, &v, &error) == CEL_VALUE && jsn_text(v) && trimmed(jsn_text(v)).n > 0 &&
        !strchr(jsn_text(v), '\n'))
        return jsn_text(v);
    return rule->message;
}

/* "5: "; objects and lists are not shown. */
static const char *shown_value(struct arena *a, const struct jsn *v)
{
    AUTO(buf_done) struct buf b = {0};

    if (jsn_is(v, JSN_OBJECT) || jsn_is(v, JSN_ARRAY))
        return "";
    schema_print_go(&b, v);
    buf_adds(&b, ": ");
    return arena_str(a, buf_view(&b));
}

static void broken(struct rules *w, const struct schema_rule *rule, const struct cel_input *in,
                   const struct jsn *v)
{
    const char *message = message_of(w, rule, in), *field = field_of(w, rule);
    const char *reason = rule->reason ? rule->reason : "FieldValueInvalid";

    if (!message || !*message)
        message = arena_printf(&w->scratch, "failed rule: " STR_FMT, STR_ARG(trimmed(rule->rule)));
    if (streq(reason, "FieldValueRequired"))
        schema_fault(w->faults, reason, field, "Required value: %s", message);
    else if (streq(reason, "FieldValueForbidden"))
        schema_fault(w->faults, reason, field, "Forbidden: %s", message);
    else
        schema_fault(w->faults, reason, field, "%s: %s%s",
                     streq(reason, "FieldValueDuplicate") ? "Duplicate value" : "Invalid value",
                     shown_value(&w->scratch, v), message);
}

static void run_rule(struct rules *w, const struct schema *s, const struct schema_rule *rule,
                     const struct jsn *v, const struct jsn *old)
{
    const struct cel *c = compiled(w, rule->rule);
    struct cel_input in = input(w, s, v, old);
    const struct jsn *value = NULL;
    const char *error = "";
    enum cel_outcome outcome;

    if (!c || (cel_uses_old_self(c) && (!old || rule->optional_old_self)))
        return;
    outcome = cel_run(c, &in, &value, &error);
    if (w->steps == 0) {
        w->stopped = true;
        schema_fault(w->faults, "FieldValueInvalid", field_of(w, NULL),
                     "Invalid value: \"%s\": validation failed due to running out of cost budget, "
                     "no further validation rules will be run",
                     type_of(s));
    } else if (outcome == CEL_FAILED) {
        fault(w, s, field_of(w, NULL),
              starts_with(error, "no such overload") ? "overload" : "error", error,
              trimmed(rule->message && *rule->message ? rule->message : rule->rule));
    } else if (outcome == CEL_VALUE && !(jsn_is(value, JSN_BOOL) && value->b)) {
        broken(w, rule, &in, v);
    }
}

static void pop(struct rules *w, size_t before)
{
    w->path.n = before;
    if (w->path.p)
        w->path.p[before] = '\0';
}

/* The item with the same keys; NULL: there is none, or lists like this one are not compared. */
static const struct jsn *same_item(const struct schema *s, const struct jsn *old,
                                   const struct jsn *item)
{
    if (s->merge != SCHEMA_MERGE_MAP || !s->list_keys)
        return NULL;
    JSN_FOR_ITEMS (other, old) {
        bool same = true;

        for (const char **key = s->list_keys; *key && same; key++)
            same = jsn_equal(jsn_key(other, *key), jsn_key(item, *key));
        if (same)
            return other;
    }
    return NULL;
}

static void walk_members(struct rules *w, const struct schema *s, const struct jsn *v,
                         const struct jsn *old)
{
    JSN_FOR_MEMBERS (m, v) {
        const struct schema_property *p = schema_property(s, m->key);
        const struct schema *child = p ? p->schema : s->additional;
        size_t before = w->path.n;

        if (!child || !child->has_rules)
            continue;
        if (p && before)
            buf_addc(&w->path, '.');
        buf_printf(&w->path, p ? STR_FMT : "[" STR_FMT "]", STR_ARG(m->key));
        walk(w, child, m->value, jsn_member(old, m->key));
        pop(w, before);
    }
}

static void walk(struct rules *w, const struct schema *s, const struct jsn *v,
                 const struct jsn *old)
{
    if (!s || !v || v->type == JSN_NULL || w->stopped)
        return;
    if (jsn_is(old, JSN_NULL))
        old = NULL;
    for (size_t i = 0; i < s->n_rules && !w->stopped; i++)
        run_rule(w, s, &s->rules[i], v, old);
    walk_members(w, s, v, old);
    for (size_t i = 0; s->items && s->items->has_rules && jsn_is(v, JSN_ARRAY) && i < jsn_len(v);
         i++) {
        size_t before = w->path.n;

        buf_printf(&w->path, "[%zu]", i);
        walk(w, s->items, jsn_item(v, i), same_item(s, old, jsn_item(v, i)));
        pop(w, before);
    }
}

void schema_validate_rules(const struct structural *how, const struct schema *s,
                           const struct jsn *v, const struct jsn *old, struct schema_faults *faults)
{
    struct rules w = {
        .how = how, .faults = faults, .budget = {PATTERN_BUDGET_STEPS}, .steps = STEPS_ALL};

    walk(&w, s, v, old);
    buf_done(&w.path);
    map_done(&w.compiled);
    arena_done(&w.scratch);
}
