/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which store this server has.
 *
 * The uid of kube-system names a cluster; a restored backup has the same uid, though.  So the
 * namespace carries an annotation with the store's id and its epoch, which is another after every
 * restore and every accepted loss.  The node compares it with what it saw before it takes a missing
 * pod for a deleted one.
 */
#include "src/cluster/apiserver/identity.h"

#include "src/base/groups.h"
#include "src/cluster/apiserver/object.h"
#include "src/cluster/apiserver/status.h"
#include "src/cluster/apiserver/write.h"

int identity_tell(struct apiserver *s, struct err *e)
{
    AUTO(call_done_inner) struct api_call c;
    struct write_update how = {.unconditional = true};
    struct jsn *object = NULL;
    struct jsn *changed;
    struct jsn *notes;
    struct jsn *text;

    call_init_inner(&c, s, registry_find(s->registry, STR(""), STR("v1"), STR("namespaces")));
    text = jsn_stringf(&c.arena, "%s/%lld", store_id(s->store), (long long)store_epoch(s->store));
    if (object_find(&c, "", "kube-system", &object) < 0)
        return err_set(e, -EIO, ERR_RETRY, "namespace 'kube-system' cannot be read");
    notes = jsn_get(object, "metadata.annotations");
    if (object_deleting(object) ||
        streq(jsn_text(jsn_key(notes, API_STORE_ANNOTATION)), jsn_text(text)))
        return 0;
    changed = jsn_clone(&c.arena, object);
    notes = jsn_get(changed, "metadata.annotations");
    if (!notes) {
        notes = jsn_object(&c.arena);
        jsn_set_path(&c.arena, changed, "metadata.annotations", notes);
    }
    jsn_set(&c.arena, notes, API_STORE_ANNOTATION, text);
    if (write_update(&c, object, changed, &how) < 0)
        return err_set(e, -EIO, ERR_RETRY, "namespace 'kube-system' cannot be written: %s",
                       jsn_get_str(c.failure, "message"));
    return 0;
}
