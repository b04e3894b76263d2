/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: quantities and durations.
 *
 * What parses prints to a text that parses to an equal value.
 */
#include "src/json/quantity.h"
#include "src/json/duration.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_quantity(struct str text)
{
    char printed[QUANTITY_LEN];
    struct quantity again;
    struct quantity q;

    if (quantity_parse(text, &q, NULL) < 0)
        return;
    quantity_print(&q, printed);
    if (quantity_parse(str_of(printed), &again, NULL) < 0 || quantity_cmp(&q, &again) != 0)
        abort();
    (void)quantity_value(&q);
    (void)quantity_milli(&q);
    if (quantity_canonical(text, printed, NULL) < 0 ||
        quantity_parse(str_of(printed), &again, NULL) < 0 || quantity_cmp(&q, &again) != 0)
        abort();
}

static void check_duration(struct str text)
{
    AUTO(buf_done) struct buf b = {0};
    int64_t again;
    int64_t ms;

    if (duration_parse(text, &ms) < 0)
        return;
    duration_print(&b, ms);
    if (duration_parse(buf_view(&b), &again) < 0 || ms != again)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {(const char *)data, size};

    check_quantity(text);
    check_duration(text);
    return 0;
}
