/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kind Token: its tables and checks.
 *
 * Whoever may make a Token in a namespace may be any user of the clusters whose key is there, and
 * whoever may read the Secret has the token: both are rights to be given with care
 * (docs/rest-api.md).
 */
#include "src/api/token.h"

#include <ctype.h>

#include "src/api/kinds.h"
#include "src/api/names.h"

/* Slurm's longest, 2^31-2 s; and as short as can still be renewed in time. */
#define LIFETIME_MOST_MS (2147483646LL * 1000)
#define LIFETIME_LEAST_MS 10000
#define USERNAME_MAX 256

#define SPEC(member) offsetof(struct api_token_spec, member)
#define KEY(path_, member, doc_)                                                                   \
    {path_,                                                                                        \
     JSN_SUB,                                                                                      \
     SPEC(member),                                                                                 \
     JSN_PTR,                                                                                      \
     .sub = api_secret_key_fields,                                                                 \
     .size = sizeof(struct api_key_ref),                                                           \
     .list_type = "atomic",                                                                        \
     .doc = doc_}

static const struct jsn_field spec_fields[] = {
    KEY("jwtHs256KeyRef", jwt_hs256_key_ref,
        "Older name of jwtKeyRef; used where that is left out."),
    KEY("jwtKeyRef", jwt_key_ref,
        "The key that signs the token (HS256): the cluster's, as its Controller names it. Cannot "
        "be "
        "changed later."),
    {"username", JSN_STR, SPEC(username), JSN_REQ,
     .doc = "The user of Slurm that the token is for."},
    {"lifetime", JSN_DURATION, SPEC(lifetime_ms), 0, .def = "\"15m\"",
     .doc = "How long a token is good; at least 10s."},
    {"refresh", JSN_FLAG, SPEC(refresh), 0, .def = "true",
     .doc = "Whether the token is made again before it expires, when a fifth of its life is left. "
            "Else its Secret cannot be changed."},
    KEY("secretRef", secret_ref,
        "Which Secret, and which key of it, gets the token; <name>-jwt-<username> and SLURM_JWT if "
        "left out."),
    JSN_END,
};

#define STATUS(member) offsetof(struct api_token_status, member)

const struct jsn_field api_token_status_fields[] = {
    {"observedGeneration", JSN_I64, STATUS(observed_generation), 0,
     .doc = "The metadata.generation that this status speaks of."},
    {"issuedAt", JSN_TIME, STATUS(issued_us), 0, .doc = "When the token in the Secret was made."},
    {"expiresAt", JSN_TIME, STATUS(expires_us), 0, .doc = "Until when it is good."},
    API_CONDITIONS_ROW(struct api_token_status),
    JSN_END,
};

const struct jsn_field api_token_fields[] = {
    API_META_ROW(struct api_token),
    {"spec", JSN_SUB, offsetof(struct api_token, spec), JSN_REQ, .sub = spec_fields,
     .size = sizeof(struct api_token_spec), .doc = "The token as it should be.",
     .extra = "{\"x-kubernetes-validations\":[{\"rule\":\"has(self.jwtKeyRef) || "
              "has(self.jwtHs256KeyRef)\",\"message\":\"jwtKeyRef or jwtHs256KeyRef must be "
              "set\"}]}"},
    {"status", JSN_SUB, offsetof(struct api_token, status), 0, .sub = api_token_status_fields,
     .size = sizeof(struct api_token_status), .doc = "The token as it is."},
    JSN_END,
};

int api_token_decode(struct arena *a, const struct jsn *v, struct api_token *ret, struct err *e)
{
    *ret = (struct api_token){0};
    return fields_decode(a, api_token_fields, v, ret, e);
}

static bool is_named(const struct api_key_ref *ref)
{
    return ref && ref->name && ref->name[0] && ref->key && ref->key[0];
}

const struct api_key_ref *api_token_jwt_ref(const struct api_token *t)
{
    return is_named(t->spec.jwt_key_ref)         ? t->spec.jwt_key_ref
           : is_named(t->spec.jwt_hs256_key_ref) ? t->spec.jwt_hs256_key_ref
                                                 : NULL;
}

struct api_key_ref api_token_secret(struct arena *a, const struct api_token *t)
{
    const struct api_key_ref *ref = t->spec.secret_ref;

    return (struct api_key_ref){
        .name = ref && ref->name && ref->name[0]
                    ? ref->name
                    : arena_printf(a, "%s-jwt-%s", t->meta.name, t->spec.username),
        .key = ref && ref->key && ref->key[0] ? ref->key : API_TOKEN_KEY};
}

static void check_username(const struct api_token *t, struct api_problems *p)
{
    const char *name = t->spec.username ? t->spec.username : "";
    bool good = name[0] && strlen(name) <= USERNAME_MAX;

    for (const char *c = name; *c; c++)
        good = good && !isspace((unsigned char)*c) && !iscntrl((unsigned char)*c) && *c != ':';
    if (!good)
        api_problem_value(p, API_INVALID, "spec.username", name_shown(p, name),
                          "must be the name of a user: no blanks, no ':', 1 to %d characters",
                          USERNAME_MAX);
}

void api_token_check(const struct api_token *t, struct api_problems *p)
{
    struct api_key_ref secret = api_token_secret(p->arena, t);
    const char *fault = name_subdomain_fault(str_of(secret.name));

    check_username(t, p);
    if (!api_token_jwt_ref(t))
        api_problem_add(p, API_REQUIRED, "spec.jwtKeyRef",
                        "must name the Secret and its key that sign the cluster's tokens");
    if (t->spec.jwt_hs256_key_ref && t->spec.jwt_key_ref)
        api_problem_add(p, API_WARNING, "spec.jwtHs256KeyRef", "is ignored beside jwtKeyRef");
    name_check_needed(p, "spec.jwtKeyRef", t->spec.jwt_key_ref);
    name_check_needed(p, "spec.jwtHs256KeyRef", t->spec.jwt_hs256_key_ref);
    if (t->spec.secret_ref && t->spec.secret_ref->optional)
        api_problem_add(p, API_WARNING, "spec.secretRef.optional",
                        "is not used: the Secret is made in any case");
    if (t->spec.lifetime_ms < LIFETIME_LEAST_MS || t->spec.lifetime_ms > LIFETIME_MOST_MS)
        api_problem_add(p, API_INVALID, "spec.lifetime",
                        "must be between 10s and 2147483646s, which is Slurm's longest");
    if (fault)
        api_problem_value(
            p, API_INVALID, t->spec.secret_ref ? "spec.secretRef.name" : "spec.username",
            name_shown(p, secret.name), "the Secret's name %s; give one in secretRef", fault);
    if (name_key_fault(str_of(secret.key)))
        api_problem_value(p, API_INVALID, "spec.secretRef.key", name_shown(p, secret.key),
                          "a key %s", name_key_fault(str_of(secret.key)));
}

void api_token_check_refs(const struct api_token *t, const struct api_lookup *l,
                          struct api_problems *p)
{
    const struct api_key_ref *ref = api_token_jwt_ref(t);

    if (ref && api_lookup_get(l, "Secret", api_namespace(&t->meta), ref->name, NULL) == API_ABSENT)
        api_problem_add(p, API_WARNING, "spec.jwtKeyRef.name",
                        "there is no Secret %s in namespace %s yet", ref->name,
                        api_namespace(&t->meta));
}

void api_token_check_update(const struct api_token *t, const struct api_token *old,
                            struct api_problems *p)
{
    if (!api_key_ref_equal(api_token_jwt_ref(t), api_token_jwt_ref(old)))
        api_problem_add(p, API_FORBIDDEN, "spec.jwtKeyRef",
                        "cannot be changed: make another Token");
}

static const char *const short_names[] = {"jwt", NULL};
static const struct api_column columns[] = {
    {"USER", "string", ".spec.username", "Whose token it is.", false},
    {"READY", "string", ".status.conditions[?(@.type==\"Ready\")].status",
     "Whether the Secret has a good one.", false},
    {"IAT", "date", ".status.issuedAt", "When it was made.", false},
    {"AGE", "date", ".metadata.creationTimestamp", "When the Token was made.", false},
    {NULL},
};

const struct api_kind api_kind_token = {
    API_TOKEN_NAMES,
    .id = KIND_TOKEN,
    .singular = "token",
    .short_names = short_names,
    .doc = "A user's token for Slurm, in a Secret, renewed before it expires.",
    .fields = api_token_fields,
    .columns = columns,
    .scale = false,
    .needed = false,
    .slurm_name = api_no_slurm_name,
};
