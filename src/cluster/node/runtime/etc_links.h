/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A container's /etc that follows the machine's: a directory of its own, full of links. */
#pragma once

#include "src/base/str.h"

/* Where containers see the image of the machine's /etc, read-only.  As deep as /etc itself, so that
 * relative links in it lead where they should. */
#define ETC_LINKS_IMAGE "/.etc"

/*
 * Make the directory `to`: a link to ETC_LINKS_IMAGE for each entry of `image`.  What `targets`
 * (paths, NULL-terminated) are mounted on is left out; directories on the way to one are copied,
 * so that a place for the mount can be made in them.
 */
int etc_links_make(const char *image, const char *to, const char *const *targets,
                   struct err *e) MUST_CHECK;

/* Entries that came to `image` since, or went.  What the container has made itself stays.  Never
 * follows a link in `to`: who writes there may be anybody. */
int etc_links_update(const char *image, const char *to, struct err *e) MUST_CHECK;
