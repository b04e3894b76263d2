/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests: the schema of a kind that has every sort of list and object. */
#pragma once

#include "src/json/test/schema_from.h"

static inline const struct schema *widget_schema(struct arena *a)
{
    static const char text[] =
        "{\"type\":\"object\",\"properties\":{"
        "\"apiVersion\":{\"type\":\"string\"},\"kind\":{\"type\":\"string\"},"
        "\"metadata\":{\"type\":\"object\",\"properties\":{"
        "\"name\":{\"type\":\"string\"},\"namespace\":{\"type\":\"string\"},"
        "\"uid\":{\"type\":\"string\"},"
        "\"labels\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}},"
        "\"annotations\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}},"
        "\"finalizers\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},"
        "\"x-kubernetes-patch-strategy\":\"merge\"},"
        "\"managedFields\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}}}},"
        "\"spec\":{\"type\":\"object\",\"properties\":{"
        "\"replicas\":{\"type\":\"integer\"},\"name\":{\"type\":\"string\"},"
        "\"on\":{\"type\":\"boolean\"},"
        "\"tags\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"set\","
        "\"items\":{\"type\":\"string\"}},"
        "\"ports\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"map\","
        "\"x-kubernetes-list-map-keys\":[\"port\",\"protocol\"],"
        "\"items\":{\"type\":\"object\",\"properties\":{"
        "\"port\":{\"type\":\"integer\"},\"name\":{\"type\":\"string\"},"
        "\"protocol\":{\"type\":\"string\",\"default\":\"TCP\"}}}},"
        "\"atom\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
        "\"atomMap\":{\"type\":\"object\",\"x-kubernetes-map-type\":\"atomic\","
        "\"additionalProperties\":{\"type\":\"string\"}},"
        "\"map\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}},"
        "\"free\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true},"
        "\"nested\":{\"type\":\"object\",\"properties\":{"
        "\"a\":{\"type\":\"string\"},\"b\":{\"type\":\"integer\"}}},"
        "\"any\":{}}},"
        "\"status\":{\"type\":\"object\",\"properties\":{\"phase\":{\"type\":\"string\"}}}}}";

    return schema_from_text(a, text);
}
