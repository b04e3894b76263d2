/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ring of munge's keys.
 *
 * munged knows one key.  While a cluster changes its key, each holder of it must accept two: the
 * one that it signs with, and the one that others sign with already, or still.  The operator
 * writes which two these are into one file, so that no reader ever sees half of a change:
 *
 *   stage 3-accept
 *   sign BASE64
 *   also BASE64
 *
 * The last line is missing while no change is under way.  The stage is reported back by those who
 * act on it.
 */
#include "src/slurm/keyring.h"

#include "src/base/encode.h"
#include "src/base/str.h"

void keyring_done(struct keyring *r)
{
    struct buf *keys[] = {&r->sign, &r->also};

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        if (keys[i]->p)
            explicit_bzero(keys[i]->p, keys[i]->n);
        buf_done(keys[i]);
    }
    *r = (struct keyring){0};
}

static int key_take(struct buf *to, struct str word, struct err *e)
{
    if (to->n > 0)
        return err_bad(e, "the ring of keys names a key twice");
    if (decode_base64(to, word) < 0)
        return err_bad(e, "the ring of keys has a key that is not base64");
    if (to->n < MUNGE_KEY_MIN_BYTES || to->n > MUNGE_KEY_MAX_BYTES)
        return err_bad(e, "the ring of keys has a key of %zu bytes", to->n);
    return 0;
}

static int line_take(struct keyring *r, struct str line, struct err *e)
{
    struct str word;

    (void)str_split(&line, ' ', &word);
    line = str_trim(line);
    if (str_eqz(word, "sign"))
        return key_take(&r->sign, line, e);
    if (str_eqz(word, "also"))
        return key_take(&r->also, line, e);
    if (!str_eqz(word, "stage") || line.n == 0 || line.n > KEYRING_STAGE_MAX)
        return err_bad(e, "the ring of keys has a line that is none of stage, sign, also");
    memcpy(r->stage, line.p, line.n);
    r->stage[line.n] = '\0';
    return 0;
}

int keyring_parse(struct str text, struct keyring *ret, struct err *e)
{
    AUTO(keyring_done) struct keyring r = {0};
    struct str line;

    while (text.n > 0 && str_split(&text, '\n', &line)) {
        int status = line.n == 0 ? 0 : line_take(&r, line, e);

        if (status < 0)
            return status;
    }
    if (r.sign.n == 0 || !r.stage[0])
        return err_bad(e, "the ring of keys lacks its stage or the key to sign with");
    *ret = r;
    r = (struct keyring){0};
    return 0;
}

void keyring_print(const struct keyring *r, struct buf *out)
{
    buf_printf(out, "stage %s\nsign ", r->stage);
    encode_base64(out, buf_view(&r->sign));
    if (r->also.n > 0) {
        buf_adds(out, "\nalso ");
        encode_base64(out, buf_view(&r->also));
    }
    buf_addc(out, '\n');
}
