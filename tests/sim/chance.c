/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers that look random and are the same each time (splitmix64). */
#include "tests/sim/sim.h"

uint64_t chance_next(struct chance *c)
{
    uint64_t z = c->state += 0x9e3779b97f4a7c15U;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

unsigned chance_below(struct chance *c, unsigned n)
{
    return (unsigned)((chance_next(c) >> 33) % n);
}

bool chance_one_in(struct chance *c, unsigned n)
{
    return chance_below(c, n) == 0;
}
