/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A container's /etc that follows the machine's: a directory of its own, full of links. */
#pragma once

#include "src/base/str.h"

/* Where containers see the image of the machine's /etc, read-only.  As deep as /etc itself, so that
 * relative links in it lead where they should. */
#define ETC_LINKS_IMAGE "/.etc"
/* A container's /etc, in its directory. */
#define ETC_LINKS_OWN "layers/.etc"

/*
 * Make the directory `to`: a link to ETC_LINKS_IMAGE for each entry of `image`.  What `targets`
 * (paths, NULL-terminated) are mounted on is left out; directories on the way to one are copied,
 * so that a place for the mount can be made in them.
 */
int etc_links_make(const char *image, const char *to, const char *const *targets,
                   struct err *e) MUST_CHECK;

/* Entries that came to `image` since, or went, for the container in `dir`, if its /etc is such a
 * directory.  What the container has made itself stays.  Never follows a link in its /etc: who
 * writes there may be anybody.
 *
 * Nothing before the runtime has made the container.  It makes the places of volumes in /etc, and
 * would mount a volume somewhere else if it found a link there. */
int etc_links_follow(const char *image, const char *dir, struct err *e) MUST_CHECK;
