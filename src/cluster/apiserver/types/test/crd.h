/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A CustomResourceDefinition that several tests use, and help to parse JSON in tests. */
#pragma once

#include "src/base/test/unit.h"

#include "src/json/jsn.h"

#define TEST_CRD_NAME "nodesets.slinky.slurm.net"

/* Two served versions, one that is not; status and scale; a bit of everything in the schema. */
static const char test_crd[] =
    "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
    "\"metadata\":{\"name\":\"" TEST_CRD_NAME "\"},"
    "\"spec\":{\"group\":\"slinky.slurm.net\",\"scope\":\"Namespaced\","
    "\"names\":{\"plural\":\"nodesets\",\"kind\":\"NodeSet\",\"singular\":\"nodeset\","
    "\"listKind\":\"NodeSetList\",\"shortNames\":[\"nss\"],\"categories\":[\"slurm\"]},"
    "\"versions\":["
    "{\"name\":\"v1alpha1\",\"served\":true,\"storage\":false,"
    "\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\","
    "\"x-kubernetes-preserve-unknown-fields\":true}}},"
    "{\"name\":\"v1beta1\",\"served\":true,\"storage\":true,"
    "\"subresources\":{\"status\":{},\"scale\":{\"specReplicasPath\":\".spec.replicas\","
    "\"statusReplicasPath\":\".status.replicas\"}},"
    "\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\",\"description\":\"Slurm nodes.\","
    "\"properties\":{\"metadata\":{\"type\":\"object\"},"
    "\"spec\":{\"type\":\"object\",\"required\":[\"replicas\",\"maybe\"],\"properties\":{"
    "\"replicas\":{\"type\":\"integer\",\"format\":\"int32\",\"minimum\":0,\"default\":1},"
    "\"maybe\":{\"type\":\"object\",\"nullable\":true,\"properties\":{\"x\":{\"type\":\"string\"}}}"
    ","
    "\"port\":{\"x-kubernetes-int-or-string\":true,"
    "\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"string\"}]},"
    "\"free\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true,"
    "\"properties\":{\"y\":{\"type\":\"string\"}}},"
    "\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},"
    "\"x-kubernetes-list-type\":\"set\"},"
    "\"labels\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}}},"
    "\"status\":{\"type\":\"object\",\"properties\":{\"replicas\":{\"type\":\"integer\"}}}}}}},"
    "{\"name\":\"v1\",\"served\":false,\"storage\":false}"
    "]}}";

static UNUSED struct jsn *parse(struct arena *a, const char *text)
{
    struct err e = {0};
    struct jsn *v = NULL;

    if (jsn_parse(a, str_of(text), NULL, &v, &e) < 0)
        fail_msg("%s in %s", e.text, text);
    return v;
}

static UNUSED const char *print(struct arena *a, const struct jsn *v)
{
    AUTO(buf_done) struct buf b = {0};

    jsn_print(&b, v);
    return arena_str(a, buf_view(&b));
}
