/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A throw-away certificate authority, for the tests. */
#pragma once

/* All PEM, owned. */
struct pki {
    char *ca;
    char *cert;
    char *key;
    char *client_cert;
    char *client_key;
    char *other_ca; /* a stranger's, and what it signed */
    char *other_cert;
    char *other_key;
};

/* Server certificate for 127.0.0.1 and localhost; client: CN `alice`, O `admins` and `users`. */
void pki_init(struct pki *p);
void pki_done(struct pki *p);

/* One for all tests of a program: what cmocka calls before and after a group. */
extern struct pki pki;
int pki_set_up(void **state);
int pki_tear_down(void **state);
