/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A list on its way to the client: what the files of lists share. */
#pragma once

#include "src/cluster/apiserver/answer.h"
#include "src/cluster/apiserver/list_page.h"
#include "src/cluster/apiserver/pump.h"
#include "src/cluster/apiserver/select.h"
#include "src/json/indent.h"

struct listing {
    struct api_call *call;
    struct selection sel;
    struct answer_wish wish;
    enum row_object row;
    struct page page;
    struct jsn_indent indent; /* how far a stream is laid out, if it is */
    struct buf items;         /* printed objects or table rows, JSON joined by commas */
    size_t most;              /* collecting stops when there is more than that in `items` */
    int64_t n;                /* objects so far */
    bool full;                /* it has stopped; `after_*` say where */
    bool more;                /* there are objects after the limit of the page */
    char *after_ns;
    char *after_name;
    char *last_ns; /* of the page, where there are more */
    char *last_name;
    struct pump pump; /* of a stream */
    struct loop_source *stall;
};

/* Frees the listing, and not its call. */
void listing_free(struct listing *l);
/* Collect objects after after_* into `items`; fails the call. */
int listing_collect(struct listing *l);

/* list_print.c */
/* One object; `object` is its tree where the form needs one. */
int listing_add(struct listing *l, const struct store_row *row, struct jsn *object);
const char *listing_type(const struct listing *l);
/* What stands around the items: with the metadata in front, if they are known by then. */
void listing_print_head(struct listing *l, struct buf *b, bool metadata);
void listing_print_tail(struct listing *l, struct buf *b, bool metadata);

/* list_stream.c: the list is too long to be answered whole.  Takes the listing and its call. */
void listing_stream(struct listing *l);
