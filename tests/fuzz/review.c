/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: AdmissionReviews, as the webhook gets them from whoever reaches its port.
 *
 * Every answer has the uid of its question, and a refusal says why; the same question gets the same
 * answer.  What is no review is refused with a sentence.
 */
#include "src/admission/review.h"
#include "src/api/test/lookup_over.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define META(name) "\"metadata\":{\"name\":\"" name "\",\"namespace\":\"slurm\"}"
#define SLINKY "{\"apiVersion\":\"slinky.slurm.net/v1beta1\",\"kind\":"

/* What is there already. */
static const char others[] = "[" SLINKY "\"Controller\"," META(
    "main") ",\"spec\":{\"extraConf\":\"PartitionName=taken Nodes=ALL\"}}," SLINKY
            "\"NodeSet\"," META("gpu") ",\"spec\":{\"controllerRef\":{\"name\":\"main\"}}}]";

static struct jsn *answer_of(struct arena *a, const struct jsn *body, struct err *e)
{
    struct jsn *list = NULL;
    struct api_lookup lookup;
    struct review_context context = {.lookup = &lookup};
    struct jsn *answer = NULL;

    if (jsn_parse(a, str_of(others), NULL, &list, e) < 0)
        abort();
    lookup = api_lookup_over(list);
    return review_answer(a, body, &context, &answer, e) < 0 ? NULL : answer;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *body = NULL;
    struct jsn *answer;
    struct err e = {0};

    if (jsn_parse(&a, (struct str){(const char *)data, size}, NULL, &body, NULL) < 0)
        return 0;
    answer = answer_of(&a, body, &e);
    if (!answer && !e.text[0])
        abort();
    if (!answer)
        return 0;
    if (!streq(jsn_get_str(answer, "response.uid"), jsn_get_str(body, "request.uid")) ||
        !jsn_is(jsn_get(answer, "response.allowed"), JSN_BOOL))
        abort();
    if (!jsn_get_bool(answer, "response.allowed", true) &&
        (!jsn_get_str(answer, "response.status.message") ||
         jsn_len(jsn_get(answer, "response.status.details.causes")) == 0))
        abort();
    if (!jsn_equal(answer, answer_of(&a, body, &e)))
        abort();
    return 0;
}
