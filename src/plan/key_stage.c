/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stages of a change of a cluster's key.
 *
 *   REST --a new key--> ACCEPT --all accept it--> SIGN --all sign with it--> SETTLE --time--> REST
 *
 * At every moment each holder accepts what any other signs with, although they change one after the
 * other: in ACCEPT everybody signs with the old key, which all know; in SIGN some sign with the old
 * one and some with the new one, and all know both.  Where a daemon can have one key only, ACCEPT
 * is left out, and holders do not understand each other until all have the new one.
 *
 * A key that changes again: before SIGN nobody has used the new one, and another takes its place.
 * From SIGN on the change is brought to its end first.  One that is taken back before SIGN is
 * forgotten.
 */
#include "src/plan/key_stage.h"

#include "src/base/str.h"

static const char *const names[] = {
    [KEY_REST] = "rest",
    [KEY_ACCEPT] = "accept",
    [KEY_SIGN] = "sign",
    [KEY_SETTLE] = "settle",
};

static struct key_state begin(const struct key_state *now, const struct key_facts *f)
{
    struct key_state s = {.round = now->round + 1, .since_us = f->now_us};

    s.stage = f->overlaps ? KEY_ACCEPT : KEY_SIGN;
    s.current = f->overlaps ? now->current : f->wanted;
    s.other = f->overlaps ? f->wanted : now->current;
    return s;
}

static struct key_state enter(const struct key_state *now, enum key_stage stage, int64_t now_us)
{
    struct key_state s = *now;

    s.stage = stage;
    s.since_us = now_us;
    if (stage == KEY_REST)
        s.other = (struct str){0};
    return s;
}

static struct key_state accept_next(const struct key_state *now, const struct key_facts *f)
{
    struct key_state s;

    if (f->wanted.n && str_eq(f->wanted, now->current))
        return enter(now, KEY_REST, f->now_us);
    if (f->wanted.n && !str_eq(f->wanted, now->other))
        return begin(now, f);
    if (!f->all_have)
        return *now;
    s = enter(now, KEY_SIGN, f->now_us);
    s.current = now->other;
    s.other = now->current;
    return s;
}

struct key_state key_stage_next(const struct key_state *now, const struct key_facts *f)
{
    switch (now->stage) {
    case KEY_REST:
        return f->wanted.n && !str_eq(f->wanted, now->current) ? begin(now, f) : *now;
    case KEY_ACCEPT:
        return accept_next(now, f);
    case KEY_SIGN:
        return f->all_have ? enter(now, KEY_SETTLE, f->now_us) : *now;
    case KEY_SETTLE:
        break;
    }
    return f->now_us >= now->since_us + f->overlap_us ? enter(now, KEY_REST, f->now_us) : *now;
}

const char *key_stage_text(struct arena *a, const struct key_state *s)
{
    return arena_printf(a, "%u-%s", s->round, names[s->stage]);
}

const char *key_stage_told(struct arena *a, const struct key_state *s)
{
    return arena_printf(a, "%u-%s", s->round, names[s->stage == KEY_SETTLE ? KEY_SIGN : s->stage]);
}

bool key_stage_parse(const char *text, struct key_state *ret)
{
    struct str rest = str_of(text ? text : "");
    struct str number;
    uint64_t round;

    if (!str_split(&rest, '-', &number) || str_to_u64(number, &round) < 0 || round > UINT32_MAX)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eqz(rest, names[i])) {
            ret->round = (unsigned)round;
            ret->stage = (enum key_stage)i;
            return true;
        }
    return false;
}
