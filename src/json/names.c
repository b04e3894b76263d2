/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Forms of names.
 *
 * Kubernetes describes each form by a regular expression and quotes that expression in the
 * sentence it answers.  The expressions are simple enough to be read by hand, which is faster and
 * needs no allocation; the sentences are kept whole, since people search for them.
 *
 * A value can break several rules at once ("too long" and "bad character"); each gets its own
 * sentence, in the order in which kube-apiserver lists them.
 */
#include "src/json/names.h"

#include <arpa/inet.h>
#include <string.h>

#define LABEL_RE "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define SUBDOMAIN_RE LABEL_RE "(\\." LABEL_RE ")*"
#define QUALIFIED_RE "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"

#define SUBDOMAIN_TEXT                                                                             \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "   \
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "  \
    "for validation is '" SUBDOMAIN_RE "')"
#define QUALIFIED_TEXT                                                                             \
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "    \
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "         \
    "validation is '" QUALIFIED_RE "')"

static const char text_label[] =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    "for validation is '" LABEL_RE "')";
static const char text_1035[] =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
static const char text_wildcard[] =
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which "
    "must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric "
    "character (e.g. '*.example.com', regex used for validation is '\\*\\." SUBDOMAIN_RE "')";
static const char text_label_value[] =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
    "'12345', regex used for validation is '(" QUALIFIED_RE ")?')";
static const char text_env[] =
    "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or "
    "'.', and must not start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or "
    "'MyEnvName1', regex used for validation is '[-._a-zA-Z][-._a-zA-Z0-9]*')";
static const char text_identifier[] =
    "a valid C identifier must start with alphabetic character or '_', followed by a string of "
    "alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for "
    "validation is '[A-Za-z_][A-Za-z0-9_]*')";
static const char text_config_key[] =
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
    "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
    "'[-._a-zA-Z0-9]+')";
static const char text_header[] =
    "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', "
    "regex used for validation is '[-A-Za-z0-9]+')";
static const char text_percent[] =
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or "
    "'93%', regex used for validation is '[0-9]+%')";

enum char_class { LOWER = 1, UPPER = 2, DIGIT = 4, DASH = 8, UNDERSCORE = 16, DOT = 32 };
#define ALNUM (LOWER | UPPER | DIGIT)

static int class_of(char c)
{
    if (c >= 'a' && c <= 'z')
        return LOWER;
    if (c >= 'A' && c <= 'Z')
        return UPPER;
    if (c >= '0' && c <= '9')
        return DIGIT;
    return c == '-' ? DASH : c == '_' ? UNDERSCORE : c == '.' ? DOT : 0;
}

/* first, then any number of inner, then last; one character must be in first and last. */
static bool shaped(struct str s, int first, int inner, int last)
{
    if (s.n == 0 || !(class_of(s.p[0]) & first) || !(class_of(s.p[s.n - 1]) & last))
        return false;
    for (size_t i = 1; i + 1 < s.n; i++)
        if (!(class_of(s.p[i]) & inner))
            return false;
    return true;
}

static bool made_of(struct str s, int classes)
{
    return shaped(s, classes, classes, classes);
}

static bool is_label(struct str s)
{
    return shaped(s, LOWER | DIGIT, LOWER | DIGIT | DASH, LOWER | DIGIT);
}

static bool is_subdomain(struct str s)
{
    struct str part;

    while (str_split(&s, '.', &part))
        if (!is_label(part))
            return false;
    return true;
}

static void add(struct name_faults *f, const char *text)
{
    if (f->n < ARRAY_LEN(f->text))
        f->text[f->n++] = text;
}

static void add_unless(struct name_faults *f, bool good, const char *text)
{
    if (!good)
        add(f, text);
}

#define MAX_TEXT(n) "must be no more than " #n " characters"
#define MAX_BYTES(n) "must be no more than " #n " bytes"

static struct name_faults check_qualified(struct str s)
{
    struct name_faults f = {0};
    size_t slash = str_find(s, '/');
    struct str prefix = {s.p, slash};
    struct str name = s;

    if (slash < s.n) {
        name = (struct str){s.p + slash + 1, s.n - slash - 1};
        if (str_find(name, '/') < name.n) {
            add(&f, "a qualified name " QUALIFIED_TEXT " with an optional DNS subdomain prefix and "
                    "'/' (e.g. 'example.com/MyName')");
            return f;
        }
        if (prefix.n == 0)
            add(&f, "prefix part must be non-empty");
        else if (prefix.n > 253)
            add(&f, "prefix part " MAX_BYTES(253));
        if (prefix.n > 0)
            add_unless(&f, is_subdomain(prefix), "prefix part " SUBDOMAIN_TEXT);
    }
    if (name.n == 0)
        add(&f, "name part must be non-empty");
    else if (name.n > 63)
        add(&f, "name part " MAX_BYTES(63));
    add_unless(&f, shaped(name, ALNUM, ALNUM | DASH | UNDERSCORE | DOT, ALNUM),
               "name part " QUALIFIED_TEXT);
    return f;
}

/* Names that would climb out of the directory they become files in. */
static void check_climbing(struct name_faults *f, struct str s)
{
    if (str_eqz(s, "."))
        add(f, "must not be '.'");
    else if (str_eqz(s, ".."))
        add(f, "must not be '..'");
    else if (str_starts(s, ".."))
        add(f, "must not start with '..'");
}

static struct name_faults check_port_name(struct str s)
{
    struct name_faults f = {0};
    bool letter = false;
    bool twice = false;

    for (size_t i = 0; i < s.n; i++) {
        letter |= class_of(s.p[i]) == LOWER;
        twice |= i > 0 && s.p[i] == '-' && s.p[i - 1] == '-';
    }
    add_unless(&f, s.n <= 15, MAX_TEXT(15));
    add_unless(&f, made_of(s, LOWER | DIGIT | DASH),
               "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
    add_unless(&f, letter, "must contain at least one letter (a-z)");
    add_unless(&f, !twice, "must not contain consecutive hyphens");
    add_unless(&f, s.n == 0 || (s.p[0] != '-' && s.p[s.n - 1] != '-'),
               "must not begin or end with a hyphen");
    return f;
}

static struct name_faults check_segment(struct str s)
{
    struct name_faults f = {0};

    if (str_eqz(s, "."))
        add(&f, "may not be '.'");
    else if (str_eqz(s, ".."))
        add(&f, "may not be '..'");
    add_unless(&f, str_find(s, '/') == s.n, "may not contain '/'");
    add_unless(&f, str_find(s, '%') == s.n, "may not contain '%'");
    return f;
}

static bool is_ip(struct str s, int family)
{
    unsigned char bytes[16];
    char text[64];

    if (s.n == 0 || s.n >= sizeof(text))
        return false;
    memcpy(text, s.p, s.n);
    text[s.n] = '\0';
    return inet_pton(family, text, bytes) == 1;
}

static bool is_percent(struct str s)
{
    return s.n > 1 && s.p[s.n - 1] == '%' && made_of((struct str){s.p, s.n - 1}, DIGIT);
}

struct name_faults names_check(enum name_form form, struct str s)
{
    struct name_faults f = {0};

    switch (form) {
    case FORM_DNS_LABEL:
        add_unless(&f, s.n <= 63, MAX_TEXT(63));
        add_unless(&f, is_label(s), is_subdomain(s) ? "must not contain dots" : text_label);
        break;
    case FORM_DNS_SUBDOMAIN:
        add_unless(&f, s.n <= 253, MAX_TEXT(253));
        add_unless(&f, is_subdomain(s), SUBDOMAIN_TEXT);
        break;
    case FORM_DNS1035_LABEL:
        add_unless(&f, s.n <= 63, MAX_TEXT(63));
        add_unless(&f, shaped(s, LOWER, LOWER | DIGIT | DASH, LOWER | DIGIT), text_1035);
        break;
    case FORM_WILDCARD_SUBDOMAIN:
        add_unless(&f, s.n <= 253, MAX_TEXT(253));
        add_unless(&f, str_starts(s, "*.") && is_subdomain((struct str){s.p + 2, s.n - 2}),
                   text_wildcard);
        break;
    case FORM_PATH_SEGMENT:
        return check_segment(s);
    case FORM_QUALIFIED:
        return check_qualified(s);
    case FORM_LABEL_VALUE:
        add_unless(&f, s.n <= 63, MAX_BYTES(63));
        add_unless(&f, s.n == 0 || shaped(s, ALNUM, ALNUM | DASH | UNDERSCORE | DOT, ALNUM),
                   text_label_value);
        break;
    case FORM_ENV_NAME:
        add_unless(&f, made_of(s, ALNUM | DASH | UNDERSCORE | DOT) && class_of(s.p[0]) != DIGIT,
                   text_env);
        check_climbing(&f, s);
        break;
    case FORM_C_IDENTIFIER:
        add_unless(&f, made_of(s, ALNUM | UNDERSCORE) && class_of(s.p[0]) != DIGIT,
                   text_identifier);
        break;
    case FORM_CONFIG_KEY:
        add_unless(&f, s.n <= 253, MAX_TEXT(253));
        add_unless(&f, made_of(s, ALNUM | DASH | UNDERSCORE | DOT), text_config_key);
        check_climbing(&f, s);
        break;
    case FORM_PORT_NAME:
        return check_port_name(s);
    case FORM_HTTP_HEADER:
        add_unless(&f, made_of(s, ALNUM | DASH), text_header);
        break;
    case FORM_PERCENT:
        add_unless(&f, is_percent(s), text_percent);
        break;
    case FORM_IP:
        add_unless(&f, is_ip(s, AF_INET) || is_ip(s, AF_INET6),
                   "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
        break;
    case FORM_IPV4:
        add_unless(&f, is_ip(s, AF_INET), "must be a valid IPv4 address");
        break;
    }
    return f;
}

bool names_good(enum name_form form, const char *value)
{
    return names_check(form, str_of(value)).n == 0;
}
