/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of field tables: decode, defaults, encode, schema. */
#include "src/json/test/json_text.h"

#include "src/json/fields.h"

enum color { RED, GREEN };
static const char *const color_names[] = {"Red", "Green", NULL};

struct port {
    const char *name;
    uint32_t number;
    const int32_t *node_port;
};

static const struct jsn_field port_fields[] = {
    {"name", JSN_STR, offsetof(struct port, name), JSN_REQ, .doc = "What it is called."},
    {"number", JSN_U32, offsetof(struct port, number), JSN_HAS_MAX, .def = "80", .max = 65535},
    {"nodePort", JSN_I32, offsetof(struct port, node_port), JSN_PTR},
    JSN_END,
};

struct thing {
    const char *name;
    uint32_t replicas;
    const int32_t *limit;
    bool paused;
    const bool *protect;
    int color;
    int64_t generation;
    double weight;
    struct jsn_strs args;
    struct jsn_map labels;
    struct jsn_int_or_str surge;
    struct quantity memory;
    int64_t since_us;
    int64_t lifetime_ms;
    const struct jsn *template;
    const struct jsn *any;
    struct port main;
    const struct port *spare;
    struct {
        struct port *items;
        size_t n;
    } ports;
    bool ssh;
    const char *ssh_config;
};

static int check_name(const void *value, struct err *e)
{
    const char *const *name = value;

    return strchr(*name, '_') ? err_bad(e, "'%s' has an underscore in it", *name) : 0;
}

static const struct jsn_field thing_fields[] = {
    {"metadata.name", JSN_STR, offsetof(struct thing, name), JSN_REQ, .check = check_name},
    {"spec", JSN_GROUP, 0, 0, .doc = "What is wanted."},
    {"spec.replicas", JSN_U32, offsetof(struct thing, replicas), 0, .def = "1", .doc = "How many."},
    {"spec.limit", JSN_I32, offsetof(struct thing, limit), JSN_PTR | JSN_HAS_MIN, .min = 1},
    {"spec.paused", JSN_FLAG, offsetof(struct thing, paused), 0},
    {"spec.protect", JSN_FLAG, offsetof(struct thing, protect), JSN_PTR, .def = "true"},
    {"spec.color", JSN_ENUM, offsetof(struct thing, color), 0, .def = "\"Green\"",
     .names = color_names},
    {"spec.weight", JSN_DOUBLE, offsetof(struct thing, weight), 0},
    {"spec.args", JSN_STRS, offsetof(struct thing, args), JSN_HAS_MAX | JSN_NULLABLE, .max = 3,
     .list_type = "atomic"},
    {"spec.labels", JSN_MAP, offsetof(struct thing, labels), 0},
    {"spec.strategy.surge", JSN_INT_OR_STR, offsetof(struct thing, surge), 0, .def = "\"25%\""},
    {"spec.memory", JSN_QUANTITY, offsetof(struct thing, memory), 0},
    {"spec.since", JSN_TIME, offsetof(struct thing, since_us), 0},
    {"spec.lifetime", JSN_DURATION, offsetof(struct thing, lifetime_ms), 0, .def = "\"15m\""},
    {"spec.template", JSN_RAW, offsetof(struct thing, template), 0},
    {"spec.any", JSN_RAW, offsetof(struct thing, any), JSN_ANY},
    {"spec.main", JSN_SUB, offsetof(struct thing, main), 0, .sub = port_fields,
     .size = sizeof(struct port)},
    {"spec.spare", JSN_SUB, offsetof(struct thing, spare), JSN_PTR, .sub = port_fields,
     .size = sizeof(struct port)},
    {"spec.ports", JSN_SUBS, offsetof(struct thing, ports), 0, .sub = port_fields,
     .size = sizeof(struct port), .list_type = "map", .list_keys = "name"},
    {"spec.ssh", JSN_GROUP, 0, 0, .extra = "{\"x-kubernetes-validations\":[{\"rule\":\"true\"}]}"},
    {"spec.ssh.enabled", JSN_FLAG, offsetof(struct thing, ssh), JSN_REQ},
    {"spec.ssh.config", JSN_STR, offsetof(struct thing, ssh_config), JSN_HAS_MAX, .max = 10,
     .pattern = "^[^\n]+$"},
    {"status.generation", JSN_I64, offsetof(struct thing, generation), JSN_HIDDEN},
    JSN_END,
};

static void everything_is_decoded(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(arena_done) struct arena source = {0};
    struct thing t = {0};
    struct err e = {0};
    int r = fields_decode(
        &a, thing_fields,
        json_of(&source,
                "{'metadata':{'name':'x'},'spec':{'replicas':3,'limit':7,'paused':true,"
                "'protect':false,'color':'Red','weight':2,'args':['-a','b'],'labels':{'k':'v'},"
                "'strategy':{'surge':2},'memory':'1.5Gi','since':'1970-01-01T00:00:01Z',"
                "'lifetime':'1h30m','template':{'spec':{'x':[1]}},'any':5,"
                "'main':{'name':'m'},'spare':{'name':'s','nodePort':1},"
                "'ports':[{'name':'a'},{'name':'b','number':2}],"
                "'ssh':{'enabled':true,'config':'yes'}},'status':{'generation':9}}"),
        &t, &e);

    (void)state;
    arena_done(&source);
    assert_int_equal(r, 0);
    assert_string_equal(t.name, "x");
    assert_int_equal(t.replicas, 3);
    assert_int_equal(*t.limit, 7);
    assert_true(t.paused);
    assert_false(*t.protect);
    assert_int_equal(t.color, RED);
    assert_true(t.weight == 2.0);
    assert_int_equal(t.args.n, 2);
    assert_string_equal(t.args.items[1], "b");
    assert_string_equal(jsn_map_get(&t.labels, "k"), "v");
    assert_null(jsn_map_get(&t.labels, "z"));
    assert_true(t.surge.set && !t.surge.str && t.surge.i == 2);
    assert_int_equal(quantity_value(&t.memory), 1610612736);
    assert_int_equal(t.since_us, 1000000);
    assert_int_equal(t.lifetime_ms, 5400000);
    assert_int_equal(jsn_len(jsn_get(t.template, "spec.x")), 1);
    assert_int_equal(t.any->i, 5);
    assert_string_equal(t.main.name, "m");
    assert_int_equal(t.main.number, 80);
    assert_int_equal(*t.spare->node_port, 1);
    assert_int_equal(t.ports.n, 2);
    assert_int_equal(t.ports.items[0].number, 80);
    assert_int_equal(t.ports.items[1].number, 2);
    assert_true(t.ssh);
    assert_int_equal(t.generation, 9);
}

static void what_is_absent_gets_its_default(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct thing t = {0};

    (void)state;
    assert_int_equal(
        fields_decode(&a, thing_fields, json_of(&a, "{'metadata':{'name':'x'}}"), &t, NULL), 0);
    assert_int_equal(t.replicas, 1);
    assert_null(t.limit);
    assert_true(*t.protect);
    assert_int_equal(t.color, GREEN);
    assert_string_equal(t.surge.str, "25%");
    assert_int_equal(t.lifetime_ms, 900000);
    assert_int_equal(t.main.number, 80);
    assert_null(t.main.name);
    assert_null(t.spare);
    assert_int_equal(t.ports.n, 0);
    assert_null(t.template);
}

static void decode_names_the_bad_field(void **state)
{
    static const char *const cases[][2] = {
        {"{}", "metadata.name: is required"},
        {"{'metadata':{'name':null}}", "metadata.name: is required"},
        {"{'metadata':{'name':5}}", "metadata.name: 5 is not a string"},
        {"{'metadata':{'name':'a_b'}}", "metadata.name: 'a_b' has an underscore in it"},
        {"{'metadata':{'name':'\\u0000'}}",
         "metadata.name: \"\\u0000\" is not a string without NUL"},
        {"{'spec':{'replicas':-1}}", "spec.replicas: -1 is not an unsigned 32-bit integer"},
        {"{'spec':{'replicas':4294967296}}",
         "spec.replicas: 4294967296 is not an unsigned 32-bit integer"},
        {"{'spec':{'replicas':1.5}}", "spec.replicas: 1.5 is not an unsigned 32-bit integer"},
        {"{'spec':{'limit':2147483648}}", "spec.limit: 2147483648 is not a 32-bit integer"},
        {"{'spec':{'limit':0}}", "spec.limit: 0 is below 1"},
        {"{'spec':{'paused':'yes'}}", "spec.paused: \"yes\" is not true or false"},
        {"{'spec':{'color':'Blue'}}", "spec.color: \"Blue\" is not one of Red, Green"},
        {"{'spec':{'weight':'x'}}", "spec.weight: \"x\" is not a number"},
        {"{'spec':{'args':'x'}}", "spec.args: \"x\" is not a list of strings"},
        {"{'spec':{'args':[1]}}", "spec.args: 1 is not a string"},
        {"{'spec':{'args':['a','b','c','d']}}", "spec.args: has 4 items and may have 3"},
        {"{'spec':{'labels':{'a':1}}}", "spec.labels: 1 is not a string"},
        {"{'spec':{'labels':[]}}", "spec.labels: [] is not an object of strings"},
        {"{'spec':{'strategy':{'surge':true}}}",
         "spec.strategy.surge: true is not a 32-bit integer or a string"},
        {"{'spec':{'memory':'1GB'}}", "spec.memory: \"1GB\" is not a quantity"},
        {"{'spec':{'since':'today'}}",
         "spec.since: \"today\" is not a time such as 2026-01-09T10:00:00Z"},
        {"{'spec':{'lifetime':'5'}}", "spec.lifetime: \"5\" is not a duration such as 1h30m"},
        {"{'spec':{'template':[]}}", "spec.template: [] is not an object"},
        {"{'spec':{'main':[]}}", "spec.main: [] is not an object"},
        {"{'spec':{'main':{}}}", "spec.main.name: is required"},
        {"{'spec':{'ports':{}}}", "spec.ports: {} is not a list"},
        {"{'spec':{'ports':[{'name':'a'},{'name':'b','number':70000}]}}",
         "spec.ports[1].number: 70000 is above 65535"},
        {"{'spec':{'ports':[5]}}", "spec.ports[0]: 5 is not an object"},
        {"{'spec':{'ssh':{}}}", "spec.ssh.enabled: is required"},
        {"{'spec':{'ssh':{'enabled':true,'config':'a\\nb'}}}",
         "spec.ssh.config: \"a\\nb\" is not of the form ^[^\n]+$"},
        {"{'spec':{'ssh':{'enabled':true,'config':'12345678901'}}}",
         "spec.ssh.config: has 11 bytes and may have 10"},
        {"{'spec':[]}", "spec: [] is not an object"},
        {"[]", "[] is not an object"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct jsn *v = json_of(&a, cases[i][0]);
        struct thing t = {0};
        struct err e = {0};

        if (i > 4 && v->type == JSN_OBJECT)
            jsn_set_path(&a, v, "metadata.name", jsn_string(&a, "x"));
        assert_int_equal(fields_decode(&a, thing_fields, v, &t, &e), -EINVAL);
        assert_string_equal(e.text, cases[i][1]);
    }
}

static void structs_are_encoded(void **state)
{
    static const char *const cases[] = {
        "{'metadata':{'name':'x'},'spec':{'replicas':3,'limit':7,'paused':true,'protect':false,"
        "'color':'Red','weight':2.5,'args':['-a'],'labels':{'k':'v'},'strategy':{'surge':2},"
        "'memory':'1536Mi','since':'1970-01-01T00:00:01Z','lifetime':'1h30m0s',"
        "'template':{'x':1},'any':5,'main':{'name':'m','number':80},"
        "'spare':{'name':'s','number':81,'nodePort':1},'ports':[{'name':'a','number':80}],"
        "'ssh':{'enabled':true,'config':'yes'}},'status':{'generation':9}}",
        "{'metadata':{'name':'x'},'spec':{'replicas':0,'protect':true,'color':'Green',"
        "'strategy':{'surge':'25%'},'lifetime':'15m0s','main':{'name':'m','number':80}}}",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct thing t = {0};

        assert_int_equal(fields_decode(&a, thing_fields, json_of(&a, cases[i]), &t, NULL), 0);
        assert_string_equal(text_of(&a, fields_encode(&a, thing_fields, &t)), cases[i]);
    }
}

static void unknown_members_are_found(void **state)
{
    static const char *const cases[][2] = {
        {"{'apiVersion':'v1','kind':'T','metadata':{'name':'x','labels':{}},'spec':{'replicas':1}}",
         NULL},
        {"{'spec':{'template':{'whatever':1},'ssh':{'enabled':true},'labels':{'free':'x'}}}", NULL},
        {"{'spec':{'bogus':1}}", "spec.bogus"},
        {"{'spek':{}}", "spek"},
        {"{'spec':{'ssh':{'x':1}}}", "spec.ssh.x"},
        {"{'spec':{'main':{'x':1}}}", "spec.main.x"},
        {"{'spec':{'ports':[{'name':'a'},{'y':1}]}}", "spec.ports[1].y"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        const char *path = fields_unknown(&a, thing_fields, json_of(&a, cases[i][0]));

        if (cases[i][1])
            assert_string_equal(path, cases[i][1]);
        else
            assert_null(path);
    }
}

static void schemas_say_what_the_table_says(void **state)
{
    static const struct {
        const char *path;
        const char *text;
    } cases[] = {
        {"properties.metadata", "{'type':'object'}"},
        {"properties.spec.description", "'What is wanted.'"},
        {"properties.spec.properties.replicas",
         "{'type':'integer','format':'int64','description':'How many.','default':1,'minimum':0}"},
        {"properties.spec.properties.limit", "{'type':'integer','format':'int32','minimum':1}"},
        {"properties.spec.properties.protect", "{'type':'boolean','default':true}"},
        {"properties.spec.properties.color",
         "{'type':'string','enum':['Red','Green'],'default':'Green'}"},
        {"properties.spec.properties.weight", "{'type':'number','format':'double'}"},
        {"properties.spec.properties.args",
         "{'type':'array','items':{'type':'string'},'nullable':true,'maxItems':3,"
         "'x-kubernetes-list-type':'atomic'}"},
        {"properties.spec.properties.labels",
         "{'type':'object','additionalProperties':{'type':'string'}}"},
        {"properties.spec.properties.strategy",
         "{'type':'object','properties':{'surge':{'anyOf':[{'type':'integer'},{'type':'string'}],"
         "'x-kubernetes-int-or-string':true,'default':'25%'}}}"},
        {"properties.spec.properties.since", "{'type':'string','format':'date-time'}"},
        {"properties.spec.properties.template",
         "{'type':'object','x-kubernetes-preserve-unknown-fields':true}"},
        {"properties.spec.properties.any", "{'x-kubernetes-preserve-unknown-fields':true}"},
        {"properties.spec.properties.ports.x-kubernetes-list-map-keys", "['name']"},
        {"properties.spec.properties.ports.items",
         "{'type':'object','required':['name'],'properties':{'name':{'type':'string',"
         "'description':'What it is called.'},'number':{'type':'integer','format':'int64',"
         "'default':80,'minimum':0,'maximum':65535},'nodePort':{'type':'integer','format':"
         "'int32'}}}"},
        {"properties.spec.properties.ssh",
         "{'type':'object','x-kubernetes-validations':[{'rule':'true'}],'required':['enabled'],"
         "'properties':{'enabled':{'type':'boolean'},'config':{'type':'string','maxLength':10,"
         "'pattern':'^[^\\n]+$'}}}"},
    };
    AUTO(arena_done) struct arena a = {0};
    struct jsn *schema = fields_kind_schema(&a, thing_fields, "A thing.");

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct jsn *node = jsn_get(schema, cases[i].path);

        assert_non_null(node);
        assert_string_equal(text_of(&a, node), cases[i].text);
    }
    assert_null(jsn_get(schema, "properties.status"));
    assert_null(jsn_get(schema, "required"));
    assert_null(jsn_get(schema, "properties.spec.required"));
    schema = fields_schema(&a, thing_fields);
    assert_string_equal(text_of(&a, jsn_get(schema, "required")), "['metadata']");
    assert_string_equal(text_of(&a, jsn_get(schema, "properties.metadata.required")), "['name']");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_decoded),
        cmocka_unit_test(what_is_absent_gets_its_default),
        cmocka_unit_test(decode_names_the_bad_field),
        cmocka_unit_test(structs_are_encoded),
        cmocka_unit_test(unknown_members_are_found),
        cmocka_unit_test(schemas_say_what_the_table_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
