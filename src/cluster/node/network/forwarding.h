/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machine's forwarding of packets: turned on for pods, and off again after the last cluster.
 */
#pragma once

/* Where things are; a test has its own. */
struct forwarding {
    const char *setting;    /* net.ipv4.ip_forward */
    const char *record;     /* there while it is on by our doing: one line an interface */
    const char *interfaces; /* /sys/class/net */
};

/* Have it on for a bridge that is there.  Calls for one machine must not overlap. */
void forwarding_begin(const struct forwarding *f, const char *bridge);

/*
 * That bridge is gone.  With the last of ours it is turned off, if it was off before and nobody
 * else seems to need it: it is still as we left it, and no bridge of others has come since.
 */
void forwarding_end(const struct forwarding *f, const char *bridge);
