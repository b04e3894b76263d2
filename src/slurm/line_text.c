/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reasons and comments of nodes.
 *
 * Slurm takes any bytes for a reason and shows them again in sinfo, in its log and in files that
 * programs read line by line: with a newline in it, one reason looks like two lines of which the
 * second can say anything, and an escape sequence changes somebody's terminal.  So what we hand to
 * Slurm is refused where it is not one line, and what others gave it is cleaned before it goes into
 * conditions and events.
 */
#include "src/slurm/line_text.h"

#include "src/base/buf.h"

static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f;
}

const char *line_text_fault(struct str text)
{
    if (!str_utf8_ok(text))
        return "is not UTF-8";
    for (size_t i = 0; i < text.n; i++)
        if (is_control(text.p[i]))
            return "has a line break or another control character, and must be one line";
    /* U+0080 to U+009F are control characters, too. */
    for (size_t i = 0; i + 1 < text.n; i++)
        if ((unsigned char)text.p[i] == 0xc2 && (unsigned char)text.p[i + 1] < 0xa0)
            return "has a line break or another control character, and must be one line";
    return NULL;
}

const char *line_text_reason_fault(struct str text)
{
    return text.n > LINE_TEXT_MAX_BYTES ? "is longer than 1024 bytes" : line_text_fault(text);
}

const char *line_text_clean(struct arena *a, const char *text)
{
    AUTO(buf_done) struct buf b = {0};
    size_t n = text ? strlen(text) : 0;
    size_t cut = n;

    if (!text || !line_text_reason_fault((struct str){text, n}))
        return text ? arena_strdup(a, text) : NULL;
    if (n > LINE_TEXT_MAX_BYTES) {
        cut = LINE_TEXT_MAX_BYTES;
        while (cut > 0 && ((unsigned char)text[cut] & 0xc0) == 0x80)
            cut--;
    }
    for (size_t i = 0; i < cut; i++) {
        bool late = (unsigned char)text[i] == 0xc2 && i + 1 < cut &&
                    (unsigned char)text[i + 1] >= 0x80 && (unsigned char)text[i + 1] < 0xa0;

        buf_addc(&b, is_control(text[i]) || late ? '?' : text[i]);
        i += late;
    }
    if (cut < n)
        buf_adds(&b, "...");
    return arena_str(a, buf_view(&b));
}
