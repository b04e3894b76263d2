/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules of pods, outside of a server.
 *
 * These are the server's own: the tables of its types, its defaults, its validation.  So whoever
 * keeps pieces of pods in objects of another kind can tell their author at once what would
 * otherwise show when the pod is made.  The tables are read once, when they are first needed, and
 * kept.
 *
 * Go's sentence about a wrong type names the field and the type that it has; it is taken apart
 * here, since the path goes before the sentence in the API's answers.
 */
#include "src/cluster/apiserver/podrules/podrules.h"

#include "src/cluster/apiserver/kinds/podspec.h"
#include "src/cluster/apiserver/types/registry.h"
#include "src/cluster/apiserver/types/type.h"

#define STRUCT_FIELD "Go struct field "
#define OF_TYPE " of type "
#define UNKNOWN_FIELD "unknown field \""

static const struct schema *schema_of(enum podrules_type type)
{
    static const char *const names[PODRULES_N_TYPES] = {
        [PODRULES_CONTAINER] = "Container",
        [PODRULES_POD_SPEC] = "PodSpec",
        [PODRULES_CLAIM_SPEC] = "PersistentVolumeClaimSpec",
        [PODRULES_SERVICE_SPEC] = "ServiceSpec",
    };
    static struct registry *tables;
    struct err e = {0};
    const struct schema *s;

    if (!tables && registry_new(&tables, &e) < 0)
        abort(); /* they are ours, and the server's tests read them */
    s = registry_type(tables, "core", names[type]);
    assert(s);
    return s;
}

static bool is_empty(const struct jsn *v)
{
    return jsn_is(v, JSN_NULL) || (jsn_is(v, JSN_ARRAY) && jsn_len(v) == 0);
}

/* A copy without what counts as not given. */
static struct jsn *given(struct arena *a, const struct jsn *v)
{
    struct jsn *copy;

    if (jsn_is(v, JSN_OBJECT)) {
        copy = jsn_object(a);
        JSN_FOR_MEMBERS (m, v)
            if (!is_empty(m->value))
                jsn_set_member(a, copy, m->key, given(a, m->value));
        return copy;
    }
    if (!jsn_is(v, JSN_ARRAY))
        return jsn_clone(a, v);
    copy = jsn_array(a);
    JSN_FOR_ITEMS (item, v)
        jsn_append(a, copy, given(a, item));
    return copy;
}

/* "json: cannot unmarshal object into Go struct field Container.image of type string" */
static void tell_type(struct arena *a, const char *sentence, podrules_fn fn, void *arg)
{
    const char *owner = strstr(sentence, STRUCT_FIELD);
    const char *type = owner ? strstr(owner, OF_TYPE) : NULL;
    const char *dot = owner ? strchr(owner + strlen(STRUCT_FIELD), '.') : NULL;
    const char *got = strstr(sentence, "unmarshal ");
    const char *into = got ? strstr(got, " into ") : NULL;

    if (!type || !dot || dot > type || !into) {
        fn(arg, PODRULES_TYPE, "", sentence);
        return;
    }
    got += strlen("unmarshal ");
    fn(arg, PODRULES_TYPE, arena_printf(a, "%.*s", (int)(type - dot - 1), dot + 1),
       arena_printf(a, "must be of type %s, and is of type %.*s", type + strlen(OF_TYPE),
                    (int)(into - got), got));
}

/* "unknown field \"a.b\"" */
static void tell_unknown(struct arena *a, const struct jsn *piece, const char *note, podrules_fn fn,
                         void *arg)
{
    const char *begin = note + strlen(UNKNOWN_FIELD);
    const char *field;
    const struct jsn *v;

    if (!starts_with(note, UNKNOWN_FIELD))
        return;
    field = arena_printf(a, "%.*s", (int)(strlen(begin) - 1), begin);
    v = jsn_get(piece, field);
    if (jsn_is(v, JSN_OBJECT) && jsn_len(v) == 0)
        return;
    fn(arg, PODRULES_UNKNOWN, field, "there is no such field");
}

/* Returns what is left of it, or NULL: a type is wrong, and has been told. */
static struct jsn *check_types(struct arena *a, enum podrules_type type, const struct jsn *piece,
                               podrules_fn fn, void *arg)
{
    struct jsn *copy = given(a, piece);
    struct type_notes notes = {0};
    struct err e = {0};
    int r = type_check(a, schema_of(type), copy, &notes, &e);

    for (size_t i = 0; i < notes.n_texts; i++)
        tell_unknown(a, piece, notes.texts[i], fn, arg);
    if (r == 0)
        return copy;
    tell_type(a, e.text, fn, arg);
    return NULL;
}

void podrules_types(struct arena *a, enum podrules_type type, const struct jsn *piece,
                    podrules_fn fn, void *arg)
{
    if (piece)
        (void)check_types(a, type, piece, fn, arg);
}

void podrules_pod(struct arena *a, const struct jsn *pod_spec, podrules_fn fn, void *arg)
{
    struct jsn *spec = check_types(a, PODRULES_POD_SPEC, pod_spec, fn, arg);
    struct causes found = {.arena = a};
    struct place root;
    struct place at;
    struct jsn *pod = jsn_object(a);

    if (!spec)
        return;
    type_default(a, schema_of(PODRULES_POD_SPEC), spec);
    podspec_default(a, spec, true);
    jsn_set(a, pod, "spec", spec);
    root = place_root(pod);
    at = place_key(&root, "spec");
    podspec_check(&found, &at, true);
    for (size_t i = 0; i < found.n; i++)
        fn(arg, PODRULES_VALUE, found.items[i].field, found.items[i].text);
}
