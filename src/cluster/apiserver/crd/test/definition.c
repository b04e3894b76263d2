/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the validation of definitions; the sentences are those of kube-apiserver. */
#include "src/cluster/apiserver/crd/definition.h"
#include "src/cluster/apiserver/crd/test/crd.h"
#include "src/json/patch_merge.h"

#define SCHEMA "spec.validation.openAPIV3Schema"
#define B SCHEMA ".properties[spec].properties[b]"
#define DNS1035                                                                                    \
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "   \
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123'," \
    " regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"

static const char *validate(struct arena *a, struct jsn *crd)
{
    struct causes *cs = arena_calloc(a, 1, sizeof(*cs));

    cs->arena = a;
    definition_set_defaults(a, crd);
    definition_note_stored(a, crd);
    definition_validate(cs, crd);
    return joined(a, cs);
}

static void expect(const char *what, const char *got, const char *want)
{
    if (!streq(got, want))
        fail_msg("%s\ngives %s\nnot   %s", what, got, want);
}

/* Each is a merge patch of the good definition. */
static const char *const spec_cases[][2] = {
    {"{}", ""},
    {"{'metadata':{'name':'foo.kw.test'}}",
     "metadata.name: Invalid value: \"foo.kw.test\": must be spec.names.plural+\".\"+spec.group"},
    {"{'metadata':{'name':'widgets.nodot'},'spec':{'group':'nodot'}}",
     "spec.group: Invalid value: \"nodot\": should be a domain with at least one dot"},
    {"{'spec':{'group':''}}", "metadata.name: Invalid value: \"widgets.kw.test\": must be "
                              "spec.names.plural+\".\"+spec.group | spec.group: Required value"},
    {"{'spec':{'scope':'Foo'}}",
     "spec.scope: Unsupported value: \"Foo\": supported values: \"Cluster\", \"Namespaced\""},
    {"{'spec':{'scope':null}}", "spec.scope: Required value"},
    {"{'spec':{'versions':[]}}",
     "spec.versions: Invalid value: []: must have "
     "exactly one version marked as storage version | status.storedVersions: Invalid value: "
     "null: must have at least one stored version"},
    {"{'spec':{'versions':[{'name':'v1','served':true,'storage':true}]}}",
     "spec.versions[0].schema.openAPIV3Schema: Required value"},
    {"{'spec':{'versions':[{'name':'v1','served':true,'storage':true,'schema':{}}]}}",
     "spec.versions[0].schema.openAPIV3Schema: Required value"},
    {"{'spec':{'conversion':{'strategy':'Foo'}}}",
     "spec.conversion.strategy: Unsupported value: \"Foo\": supported values: \"None\", "
     "\"Webhook\""},
    {"{'spec':{'conversion':{'strategy':'None','webhook':{'conversionReviewVersions':['v1'],"
     "'clientConfig':{'url':'https://a/b'}}}}}",
     "spec.conversion.webhookClientConfig: Forbidden: should not be set when strategy is not set "
     "to "
     "Webhook | spec.conversion.conversionReviewVersions: Forbidden: should not be set when "
     "strategy is not set to Webhook"},
    {"{'spec':{'conversion':{'strategy':'Webhook'}}}",
     "spec.conversion.strategy: Invalid value: \"Webhook\": this API server converts between "
     "versions with the strategy None only; define the versions so that they differ in nothing but "
     "apiVersion, or serve one version"},
    {"{'spec':{'preserveUnknownFields':true}}",
     "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set "
     "x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"},
    {"{'spec':{'names':{'kind':'Wid_get','singular':'X','shortNames':['A'],'listKind':'Wid_get',"
     "'categories':['B_']}}}",
     "spec.names.singular: Invalid value: \"X\": " DNS1035
     " | spec.names.kind: Invalid value: \"Wid_get\": may have mixed case, but should otherwise "
     "match: " DNS1035 " | spec.names.listKind: Invalid value: \"Wid_get\": may have mixed case, "
     "but should otherwise "
     "match: " DNS1035 " | spec.names.shortNames[0]: Invalid value: \"A\": " DNS1035
     " | spec.names.listKind: Invalid value: \"Wid_get\": kind and listKind may not be the same"
     " | spec.names.categories[0]: Invalid value: \"B_\": " DNS1035},
    {"{'spec':{'names':{'plural':'','kind':''}}}",
     "metadata.name: Invalid value: \"widgets.kw.test\": must be "
     "spec.names.plural+\".\"+spec.group | spec.names.plural: Required value | "
     "spec.names.singular: Required value | spec.names.kind: Required value | "
     "spec.names.listKind: Required value"},
    {"{'metadata':{'name':'widgets.foo.k8s.io'},'spec':{'group':'foo.k8s.io'}}",
     "metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have "
     "approval annotation \"api-approved.kubernetes.io\", see "
     "https://github.com/kubernetes/enhancements/pull/1111"},
    {"{'metadata':{'name':'widgets.foo.k8s.io','annotations':{'api-approved.kubernetes.io':'bla'}},"
     "'spec':{'group':'foo.k8s.io'}}",
     "metadata.annotations[api-approved.kubernetes.io]: Invalid value: \"bla\": protected groups "
     "must have approval annotation \"api-approved.kubernetes.io\" with either a URL or a reason "
     "starting with \"unapproved\", see https://github.com/kubernetes/enhancements/pull/1111"},
    {"{'metadata':{'name':'widgets.foo.k8s.io','annotations':{'api-approved.kubernetes.io':"
     "'https://github.com/x/1'}},'spec':{'group':'foo.k8s.io'}}",
     ""},
    {"{'metadata':{'name':'widgets.kubernetes.io','annotations':{'api-approved.kubernetes.io':"
     "'unapproved, experimental'}},'spec':{'group':'kubernetes.io'}}",
     ""},
};

static void a_definition_is_checked_as_a_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(spec_cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct jsn *crd = patch_merge(&a, json_of(&a, CRD_WIDGETS), json_of(&a, spec_cases[i][0]));

        expect(spec_cases[i][0], validate(&a, crd), spec_cases[i][1]);
    }
}

/* Each is merged into the only version. */
static const char *const version_cases[][2] = {
    {"{'name':'V_1'}", "spec.versions[0].name: Invalid value: \"V_1\": " DNS1035
                       " | spec.version: Invalid value: \"V_1\": " DNS1035},
    {"{'storage':false}",
     "spec.versions: Invalid value: "
     "[{\"Name\":\"v1\",\"Served\":true,\"Storage\":false}]: must have exactly "
     "one version marked as storage version | status.storedVersions: Invalid value: null: "
     "must have at least one stored version"},
    {"{'deprecationWarning':'x'}",
     "spec.versions[0].deprecationWarning: Invalid value: \"x\": can only be set for deprecated "
     "versions"},
    {"{'deprecated':true,'deprecationWarning':''}",
     "spec.versions[0].deprecationWarning: Invalid value: \"\": must not be an empty string"},
    {"{'deprecated':true,'deprecationWarning':'a\\nb'}",
     "spec.versions[0].deprecationWarning: Invalid value: \"a\\nb\": must only contain printable "
     "UTF-8 characters; non-printable character found at index 1"},
    {"{'deprecated':true,'deprecationWarning':'use v2'}", ""},
    {"{'subresources':{'scale':{'specReplicasPath':'','statusReplicasPath':'x'}}}",
     "spec.subresources.scale.specReplicasPath: Required value | "
     "spec.subresources.scale.statusReplicasPath: Invalid value: \"x\": must be a simple json path "
     "starting with ."},
    {"{'subresources':{'scale':{'specReplicasPath':'.status.x','statusReplicasPath':'.spec.x',"
     "'labelSelectorPath':'.meta.x'}}}",
     "spec.subresources.scale.specReplicasPath: Invalid value: \".status.x\": should be a json "
     "path "
     "under .spec | spec.subresources.scale.statusReplicasPath: Invalid value: \".spec.x\": should "
     "be a json path under .status | spec.subresources.scale.labelSelectorPath: Invalid value: "
     "\".meta.x\": should be a json path under either .spec or .status"},
    {"{'subresources':{'status':{}},'schema':{'openAPIV3Schema':{'anyOf':[{'required':['spec']}]}}"
     "}",
     SCHEMA ": Invalid value: \"anyOf\": only [Description Type Format Title Maximum "
            "ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems "
            "MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example "
            "XPreserveUnknownFields XValidations] fields are allowed at the root of the schema if "
            "the status subresource is enabled"},
    {"{'additionalPrinterColumns':[{'name':'','type':'foo','jsonPath':'x','format':'bar'},"
     "{'name':'x','type':'','jsonPath':''}]}",
     "spec.additionalPrinterColumns[0].name: Required value | "
     "spec.additionalPrinterColumns[0].type: Invalid value: \"foo\": must be one of "
     "boolean,date,integer,number,string | spec.additionalPrinterColumns[0].format: Invalid value: "
     "\"bar\": must be one of byte,date,date-time,double,float,int32,int64,password | "
     "spec.additionalPrinterColumns[0].JSONPath: Invalid value: \"x\": must be a simple json path "
     "starting with . | spec.additionalPrinterColumns[1].type: Required value: must be one of "
     "boolean,date,integer,number,string | spec.additionalPrinterColumns[1].JSONPath: Required "
     "value"},
    {"{'selectableFields':[{'jsonPath':'.spec.a'},{'jsonPath':'.spec.a'},{'jsonPath':'.spec.z'},"
     "{'jsonPath':'.spec'},{'jsonPath':'.metadata.name'},{'jsonPath':''}]}",
     "spec.selectableFields[1].jsonPath: Duplicate value: \".spec.a\" | "
     "spec.selectableFields[2].jsonPath: Invalid value: \".spec.z\": is an invalid path: it leads "
     "to no field of the schema | spec.selectableFields[3].jsonPath: Invalid value: \".spec\": "
     "must "
     "point to a field of type string, boolean or integer. Enum string fields and strings with "
     "formats are allowed. | spec.selectableFields[4].jsonPath: Invalid value: \".metadata.name\": "
     "must not point to fields in metadata | spec.selectableFields[5].jsonPath: Required value"},
    /* the root of the schema */
    {"{'schema':{'openAPIV3Schema':{'type':null}}}",
     SCHEMA ".type: Required value: must not be empty at the root"},
    {"{'schema':{'openAPIV3Schema':{'type':'string'}}}",
     SCHEMA ".type: Invalid value: \"string\": must be object at the root"},
    {"{'schema':{'openAPIV3Schema':{'nullable':true}}}",
     SCHEMA ".nullable: Forbidden: nullable cannot be true at the root"},
    {"{'schema':{'openAPIV3Schema':{'additionalProperties':{'type':'string'}}}}",
     SCHEMA ".additionalProperties: Forbidden: must not be used at the root | " SCHEMA
            ".additionalProperties: Forbidden: additionalProperties and properties are mutual "
            "exclusive"},
    {"{'schema':{'openAPIV3Schema':{'anyOf':[{'properties':{'metadata':{}}}]}}}",
     SCHEMA ".anyOf[0].properties[metadata]: Forbidden: must not be specified in a nested context "
            "| " SCHEMA ".properties[metadata]: Required value: because it is defined in " SCHEMA
            ".anyOf[0].properties[metadata]"},
    {"{'schema':{'openAPIV3Schema':{'properties':{'metadata':{'type':'object','properties':"
     "{'labels':{'type':'object'}}}}}}}",
     SCHEMA ".properties[metadata]: Forbidden: must not specify anything other than name and "
            "generateName, but metadata is implicitly specified"},
    {"{'schema':{'openAPIV3Schema':{'properties':{'metadata':{'type':'object','properties':"
     "{'name':{'type':'string','pattern':'^a'}}}}}}}",
     ""},
    {"{'schema':{'openAPIV3Schema':{'properties':{'metadata':{'type':'string'}}}}}",
     SCHEMA ".properties[metadata].type: Invalid value: \"string\": must be object"},
    {"{'schema':{'openAPIV3Schema':{'properties':{'metadata':{'type':'object','default':{}}}}}}",
     SCHEMA ".properties[metadata].default: Forbidden: must not be set in top-level metadata"},
    {"{'schema':{'openAPIV3Schema':{'properties':{'kind':{'type':'integer'}}}}}",
     SCHEMA ".properties[kind].type: Invalid value: \"integer\": must be string"},
};

static struct jsn *with_version(struct arena *a, const char *patch)
{
    struct jsn *crd = json_of(a, CRD_WIDGETS);
    struct jsn *versions = jsn_get(crd, "spec.versions");

    versions->a.items[0] = patch_merge(a, jsn_item(versions, 0), json_of(a, patch));
    return crd;
}

static void versions_are_checked_under_their_inner_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(version_cases); i++) {
        AUTO(arena_done) struct arena a = {0};

        expect(version_cases[i][0], validate(&a, with_version(&a, version_cases[i][0])),
               version_cases[i][1]);
    }
}

/* Each is the schema of spec.b. */
static const char *const field_cases[][2] = {
    {"{}", B ".type: Required value: must not be empty for specified object fields"},
    {"{'type':'array','items':{}}",
     B ".items.type: Required value: must not be empty for specified array items"},
    {"{'type':'array'}", B ".items: Required value: must be specified"},
    {"{'type':'foo'}",
     B ".type: Unsupported value: \"foo\": supported values: \"array\", \"boolean\", \"integer\", "
       "\"number\", \"object\", \"string\""},
    {"{'type':'null'}",
     B ".type: Unsupported value: \"null\": supported values: \"array\", \"boolean\", \"integer\", "
       "\"number\", \"object\", \"string\" | " B
       ".type: Forbidden: type cannot be set to null, use nullable as an alternative"},
    {"{'type':'array','items':{'type':'string'},'uniqueItems':true}",
     B ".uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity "
       "becomes quadratic"},
    {"{'type':'object','properties':{'a':{'type':'string'}},'additionalProperties':"
     "{'type':'string'}}",
     B ".additionalProperties: Forbidden: additionalProperties and properties are mutual "
       "exclusive"},
    {"{'type':'object','properties':{'a':{'type':'string'}},'additionalProperties':false}",
     B ".additionalProperties: Forbidden: additionalProperties and properties are mutual "
       "exclusive"},
    {"{'type':'object','properties':{'a':{'type':'string'}},'additionalProperties':true}", ""},
    {"{'$ref':'#/x'}", B ".$ref: Forbidden: $ref is not supported"},
    {"{'type':'string','id':'x'}", B ".id: Forbidden: id is not supported"},
    {"{'type':'object','patternProperties':{'a':{'type':'string'}}}",
     B ".patternProperties: Forbidden: patternProperties is not supported"},
    {"{'type':'object','definitions':{'a':{'type':'string'}}}",
     B ".definitions: Forbidden: definitions is not supported"},
    {"{'type':'object','dependencies':{'a':['b']}}",
     B ".dependencies: Forbidden: dependencies is not supported"},
    {"{'type':'array','items':[{'type':'string'}]}",
     B ".items: Forbidden: items must be a schema object and not an array"},
    {"{'type':'array','items':{'type':'string'},'additionalItems':true}",
     B ".additionalItems: Forbidden: additionalItems is not supported"},
    {"{'type':'object','x-kubernetes-preserve-unknown-fields':false}",
     B ".x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined"},
    {"{'type':'string','pattern':'('}",
     B ".pattern: Invalid value: \"(\": must be a valid regular expression, but isn't: error "
       "parsing regexp: missing closing ): `(`"},
    {"{'type':'string','pattern':'(?=a)'}",
     B ".pattern: Invalid value: \"(?=a)\": must be a valid regular expression, but isn't: error "
       "parsing regexp: invalid or unsupported Perl syntax: `(?=`"},
    {"{'x-kubernetes-int-or-string':true,'anyOf':[{'type':'integer'},{'type':'string'}]}", ""},
    {"{'anyOf':[{'type':'integer'},{'type':'string'}]}",
     B ".type: Required value: must not be empty for specified object fields"},
    {"{'x-kubernetes-int-or-string':true,'x-kubernetes-preserve-unknown-fields':true}",
     B ".x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if "
       "x-kubernetes-int-or-string is true"},
    {"{'x-kubernetes-int-or-string':true,'allOf':[{'anyOf':[{'type':'integer'},{'type':'string'}]}"
     ",{'pattern':'a'}]}",
     ""},
    {"{'type':'object','properties':{'x':{'type':'string'}},'oneOf':[{'type':'object',"
     "'description':'d','default':{},'nullable':true,'title':'t','properties':{'x':{'type':"
     "'string'}},'x-kubernetes-preserve-unknown-fields':true}]}",
     B ".oneOf[0].default: Forbidden: must be undefined to be structural | " B
       ".oneOf[0].description: Forbidden: must be empty to be structural | " B
       ".oneOf[0].nullable: Forbidden: must be false to be structural | " B
       ".oneOf[0].properties[x].type: Forbidden: must be empty to be structural | " B
       ".oneOf[0].title: Forbidden: must be empty to be structural | " B
       ".oneOf[0].type: Forbidden: must be empty to be structural | " B
       ".oneOf[0].x-kubernetes-preserve-unknown-fields: Forbidden: must be false to be "
       "structural"},
    {"{'type':'string','x-kubernetes-embedded-resource':true}",
     B ".properties: Required value: must not be empty if x-kubernetes-embedded-resource is true "
       "without x-kubernetes-preserve-unknown-fields | " B
       ".type: Invalid value: \"string\": must be object if x-kubernetes-embedded-resource is "
       "true"},
    {"{'type':'object','x-kubernetes-embedded-resource':true,'additionalProperties':"
     "{'type':'string'}}",
     B
     ".additionalProperties: Forbidden: must not be used if x-kubernetes-embedded-resource is set "
     "| " B ".properties: Required value: must not be empty if x-kubernetes-embedded-resource is "
     "true without x-kubernetes-preserve-unknown-fields"},
    {"{'type':'object','x-kubernetes-embedded-resource':true,"
     "'x-kubernetes-preserve-unknown-fields':true}",
     ""},
    /* defaults */
    {"{'type':'integer','default':'x'}",
     B ".default: Invalid value: \"string\":  in body must be of type integer: \"string\""},
    {"{'type':'object','default':{'zz':1}}",
     B ".default: Invalid value: {\"zz\":1}: must not have unknown fields"},
    {"{'type':'object','properties':{'q':{'type':'integer','minimum':3}},'required':['q'],"
     "'default':{'q':1}}",
     B ".default.q: Invalid value: 1: q in body should be greater than or equal to 3"},
    {"{'type':'object','properties':{'q':{'type':'integer'}},'required':['q'],'default':{}}",
     B ".default.q: Required value"},
    {"{'type':'object','additionalProperties':{'type':'integer','default':1}}", ""},
    {"{'type':'integer','default':5}", ""},
    /* lists and maps */
    {"{'type':'object','x-kubernetes-list-type':'set'}",
     B ".type: Invalid value: \"object\": must be array if x-kubernetes-list-type is specified"},
    {"{'type':'array','items':{'type':'object'},'x-kubernetes-list-type':'set'}",
     B ".items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list "
       "with x-kubernetes-list-type=set"},
    {"{'type':'array','items':{'type':'string'},'x-kubernetes-list-type':'foo'}", B
     ".x-kubernetes-list-type: Unsupported value: \"foo\": supported values: \"atomic\", \"set\", "
     "\"map\""},
    {"{'type':'array','items':{'type':'object','properties':{'a':{'type':'string'}}},"
     "'x-kubernetes-list-type':'map'}",
     B
     ".x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is "
     "map"},
    {"{'type':'array','items':{'type':'object','properties':{'a':{'type':'string'}},'required':"
     "['a']},'x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['a','a','b']}",
     B ".x-kubernetes-list-map-keys: Invalid value: [\"a\",\"a\",\"b\"]: must not contain "
       "duplicate entries | " B ".x-kubernetes-list-map-keys: Invalid value: "
       "[\"a\",\"a\",\"b\"]: entries must all be names of item properties"},
    {"{'type':'array','items':{'type':'string'},'x-kubernetes-list-map-keys':['a']}",
     B ".x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is "
       "non-empty"},
    {"{'type':'array','items':{'type':'string'},'x-kubernetes-list-type':'map',"
     "'x-kubernetes-list-map-keys':['a']}",
     B ".items.type: Invalid value: \"string\": must be object if parent array's "
       "x-kubernetes-list-type is map"},
    {"{'type':'array','items':{'type':'object','properties':{'a':{'type':'string'}}},"
     "'x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['a']}",
     B ".items.properties[a].default: Required value: this property is in "
       "x-kubernetes-list-map-keys, so it must have a default or be a required property"},
    {"{'type':'array','items':{'type':'object','nullable':true,'required':['a'],'properties':{'a':"
     "{'type':'object','nullable':true}}},'x-kubernetes-list-type':'map',"
     "'x-kubernetes-list-map-keys':['a']}",
     B ".items.properties[a].type: Invalid value: \"object\": must be a scalar type if parent "
       "array's x-kubernetes-list-type is map | " B
       ".items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is map | " B
       ".items.properties[a].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, "
       "so it cannot be nullable"},
    {"{'type':'string','x-kubernetes-map-type':'atomic'}",
     B ".type: Invalid value: \"string\": must be object if x-kubernetes-map-type is specified"},
    {"{'type':'object','x-kubernetes-map-type':'foo'}",
     B ".x-kubernetes-map-type: Unsupported value: \"foo\": supported values: \"atomic\", "
       "\"granular\""},
    /* rules */
    {"{'type':'string','x-kubernetes-validations':[{'rule':' '}]}",
     B ".x-kubernetes-validations[0].rule: Required value: rule is not specified"},
    {"{'type':'string','x-kubernetes-validations':[{'rule':'true &&\\n true'}]}",
     B ".x-kubernetes-validations[0].message: Required value: message must be specified if rule "
       "contains line breaks"},
    {"{'type':'string','x-kubernetes-validations':[{'rule':'true','message':'a\\nb'}]}",
     B ".x-kubernetes-validations[0].message: Invalid value: \"a\\nb\": message must not contain "
       "line breaks"},
    {"{'type':'string','x-kubernetes-validations':[{'rule':'self +'}]}",
     B ".x-kubernetes-validations[0].rule: Invalid value: \"self +\": compilation failed: ERROR: "
       "<input>:1:7: Syntax error: mismatched input '<EOF>'\n | self +\n | ......^"},
    {"{'type':'string','x-kubernetes-validations':[{'rule':'quantity(self).isInteger()'}]}", ""},
    {"{'type':'string','x-kubernetes-validations':[{'rule':'true','reason':'Foo'}]}",
     B ".x-kubernetes-validations[0].reason: Unsupported value: \"Foo\": supported values: "
       "\"FieldValueDuplicate\", \"FieldValueForbidden\", \"FieldValueInvalid\", "
       "\"FieldValueRequired\""},
};

static void fields_must_be_structural(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(field_cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct jsn *crd = with_version(
            &a, arena_printf(&a,
                             "{'schema':{'openAPIV3Schema':{'properties':{'spec':{'properties':"
                             "{'b':%s}}}}}}",
                             field_cases[i][0]));

        expect(field_cases[i][0], validate(&a, crd), field_cases[i][1]);
    }
}

static struct jsn *two_versions(struct arena *a, const char *patch)
{
    struct jsn *crd = json_of(a, CRD_WIDGETS);
    struct jsn *versions = jsn_get(crd, "spec.versions");
    struct jsn *second = jsn_clone(a, jsn_item(versions, 0));

    jsn_set_str(a, second, "name", "v2");
    jsn_set_bool(a, second, "storage", false);
    jsn_append(a, versions, patch_merge(a, second, json_of(a, patch)));
    return crd;
}

static void versions_that_differ_are_named(void **state)
{
    static const char *const cases[][2] = {
        {"{}", ""},
        {"{'schema':{'openAPIV3Schema':{'properties':{'y':{}}}}}",
         "spec.versions[1].schema.openAPIV3Schema.properties[y].type: Required value: must not be "
         "empty for specified object fields"},
        {"{'additionalPrinterColumns':[{'name':'','type':'string','jsonPath':'.x'}]}",
         "spec.versions[1].additionalPrinterColumns[0].name: Required value"},
        {"{'schema':null}", "spec.versions[1].schema.openAPIV3Schema: Required value"},
        {"{'name':'v1'}", "spec.versions: Invalid value: "
                          "[{\"Name\":\"v1\",\"Served\":true,\"Storage\":true},"
                          "{\"Name\":\"v1\",\"Served\":true,\"Storage\":false}]: "
                          "must contain unique version names"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};

        expect(cases[i][0], validate(&a, two_versions(&a, cases[i][0])), cases[i][1]);
    }
}

static void some_things_never_change(void **state)
{
    static const struct {
        const char *old, *patch, *want;
    } cases[] = {
        {"{'status':{'conditions':[{'type':'Established','status':'True'}]}}",
         "{'spec':{'scope':'Cluster','names':{'kind':'Gadget'}}}",
         "spec.scope: Invalid value: \"Cluster\": field is immutable | spec.names.kind: Invalid "
         "value: \"Gadget\": field is immutable"},
        {"{}", "{'spec':{'scope':'Cluster'}}", ""}, /* not established yet */
        {"{}", "{'spec':{'group':'other.test','names':{'plural':'others'}}}",
         "spec.group: Invalid value: \"other.test\": field is immutable | spec.names.plural: "
         "Invalid value: \"others\": field is immutable"},
        {"{}", "{'spec':{'names':{'shortNames':['w']}}}", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct causes cs = {.arena = &a};
        struct jsn *old = patch_merge(&a, json_of(&a, CRD_WIDGETS), json_of(&a, cases[i].old));

        definition_validate_update(&cs, patch_merge(&a, old, json_of(&a, cases[i].patch)), old);
        expect(cases[i].patch, joined(&a, &cs), cases[i].want);
    }
}

static void a_stored_version_must_stay(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *crd = json_of(&a, CRD_WIDGETS);

    (void)state;
    jsn_set_path(&a, crd, "metadata.resourceVersion", jsn_string(&a, "5"));
    jsn_set_path(&a, crd, "status.storedVersions", json_of(&a, "['v0']"));
    assert_string_equal(validate(&a, crd),
                        "status.storedVersions[0]: Invalid value: \"v0\": must appear in "
                        "spec.versions");
    assert_string_equal(text_of(&a, jsn_get(crd, "status.storedVersions")), "['v0','v1']");
}

static void note_rule(void *arg, const char *rule, const char *uses)
{
    buf_printf(arg, "%s: %s;", rule, uses);
}

static void rules_that_are_not_evaluated_are_told(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf b = {0};
    struct jsn *crd = with_version(
        &a, "{'schema':{'openAPIV3Schema':{'properties':{'spec':{'x-kubernetes-validations':[{"
            "'rule':'has(self.a)'}],'properties':{'l':{'type':'array','items':{'type':'string',"
            "'x-kubernetes-validations':[{'rule':'isURL(self)'}]}}}}}}}}");

    (void)state;
    definition_unknown_rules(&a, crd, note_rule, &b);
    assert_string_equal(buf_str(&b), "isURL(self): the function isURL() with 1 arguments;");
}

static void defaults_follow_from_the_kind(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *crd = json_of(&a, "{'spec':{'names':{'plural':'widgets','kind':'WidGet'}}}");

    (void)state;
    definition_set_defaults(&a, crd);
    assert_string_equal(text_of(&a, crd),
                        "{'spec':{'names':{'plural':'widgets','kind':'WidGet','singular':'widget',"
                        "'listKind':'WidGetList'},'conversion':{'strategy':'None'}}}");
    crd = json_of(&a, "{'spec':'text'}");
    definition_set_defaults(&a, crd);
    assert_string_equal(text_of(&a, crd), "{'spec':'text'}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_definition_is_checked_as_a_whole),
        cmocka_unit_test(versions_are_checked_under_their_inner_names),
        cmocka_unit_test(fields_must_be_structural),
        cmocka_unit_test(versions_that_differ_are_named),
        cmocka_unit_test(some_things_never_change),
        cmocka_unit_test(a_stored_version_must_stay),
        cmocka_unit_test(rules_that_are_not_evaluated_are_told),
        cmocka_unit_test(defaults_follow_from_the_kind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
