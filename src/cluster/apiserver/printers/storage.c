/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of claims, volumes and storage classes.
 *
 * Capacity and modes of a claim are those of the volume that it is bound to, and empty until then.
 * What is being deleted shows as Terminating.  The default storage class is marked after its name.
 */
#include "src/cluster/apiserver/printers/cells.h"

/* "RWO,ROX,RWX,RWOP": always in this order. */
static void cell_modes(struct cells *c, const struct jsn *modes)
{
    static const struct {
        const char *mode, *text;
    } known[] = {
        {"ReadWriteOnce", "RWO"},
        {"ReadOnlyMany", "ROX"},
        {"ReadWriteMany", "RWX"},
        {"ReadWriteOncePod", "RWOP"},
    };
    AUTO(buf_done) struct buf b = {0};

    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        bool has = false;

        JSN_FOR_ITEMS (mode, modes)
            has |= streq(jsn_text(mode), known[i].mode);
        if (has)
            buf_printf(&b, "%s%s", b.n > 0 ? "," : "", known[i].text);
    }
    cell_text(c, buf_str(&b));
}

static void cell_phase(struct cells *c)
{
    if (jsn_get_str(c->object, "metadata.deletionTimestamp"))
        cell_text(c, "Terminating");
    else
        cell_at(c, "status.phase", "");
}

/* The old annotation wins over the field, as it does in Kubernetes. */
static void cell_class(struct cells *c)
{
    const struct jsn *annotations = jsn_get(c->object, "metadata.annotations");
    const char *old = jsn_text(jsn_key(annotations, "volume.beta.kubernetes.io/storage-class"));

    if (old)
        cell_text(c, old);
    else
        cell_at(c, "spec.storageClassName", "");
}

static void print_claim(struct cells *c)
{
    bool bound = cells_text(c->object, "spec.volumeName")[0] != '\0';

    cell_name(c);
    cell_phase(c);
    cell_at(c, "spec.volumeName", "");
    if (bound)
        cell_at(c, "status.capacity.storage", "0");
    else
        cell_text(c, "");
    cell_modes(c, bound ? jsn_get(c->object, "status.accessModes") : NULL);
    cell_class(c);
    cell_at(c, "status.currentVolumeAttributesClassName", "<unset>");
    cell_age(c);
    cell_at(c, "spec.volumeMode", "<unset>");
}

static const struct printer_column claim_columns[] = {
    COLUMN_NAME,
    {"Status", "string", "", "Whether it has a volume.", 0},
    {"Volume", "string", "", "Volume that it is bound to.", 0},
    {"Capacity", "string", "", "Size of the volume.", 0},
    {"Access Modes", "string", "", "How the volume can be mounted.", 0},
    {"StorageClass", "string", "", "Class of storage that is asked for.", 0},
    {"VolumeAttributesClass", "string", "", "Class of volume attributes in effect.", 0},
    COLUMN_AGE,
    {"VolumeMode", "string", "", "File system or block device.", 1},
};

const struct printer printer_persistentvolumeclaims = {
    .resource = "persistentvolumeclaims",
    .columns = claim_columns,
    .n_columns = ARRAY_LEN(claim_columns),
    .print = print_claim,
};

static void print_volume(struct cells *c)
{
    const struct jsn *claim = jsn_get(c->object, "spec.claimRef");

    cell_name(c);
    cell_at(c, "spec.capacity.storage", "0");
    cell_modes(c, jsn_get(c->object, "spec.accessModes"));
    cell_at(c, "spec.persistentVolumeReclaimPolicy", "");
    cell_phase(c);
    if (claim)
        cell_textf(c, "%s/%s", cells_text(claim, "namespace"), cells_text(claim, "name"));
    else
        cell_text(c, "");
    cell_class(c);
    cell_at(c, "spec.volumeAttributesClassName", "<unset>");
    cell_at(c, "status.reason", "");
    cell_age(c);
    cell_at(c, "spec.volumeMode", "<unset>");
}

static const struct printer_column volume_columns[] = {
    COLUMN_NAME,
    {"Capacity", "string", "", "Size of the volume.", 0},
    {"Access Modes", "string", "", "How the volume can be mounted.", 0},
    {"Reclaim Policy", "string", "", "What happens to it when its claim goes.", 0},
    {"Status", "string", "", "Whether a claim holds it.", 0},
    {"Claim", "string", "", "Claim that holds it.", 0},
    {"StorageClass", "string", "", "Class of storage that it is of.", 0},
    {"VolumeAttributesClass", "string", "", "Class of volume attributes that it has.", 0},
    {"Reason", "string", "", "Why it is in this state.", 0},
    COLUMN_AGE,
    {"VolumeMode", "string", "", "File system or block device.", 1},
};

const struct printer printer_persistentvolumes = {
    .resource = "persistentvolumes",
    .columns = volume_columns,
    .n_columns = ARRAY_LEN(volume_columns),
    .print = print_volume,
};

static void print_class(struct cells *c)
{
    const struct jsn *annotations = jsn_get(c->object, "metadata.annotations");
    const char *is_default =
        jsn_text(jsn_key(annotations, "storageclass.kubernetes.io/is-default-class"));

    cell_textf(c, "%s%s", cells_text(c->object, "metadata.name"),
               streq(is_default, "true") ? " (default)" : "");
    cell_at(c, "provisioner", "");
    cell_at(c, "reclaimPolicy", "Delete");
    cell_at(c, "volumeBindingMode", "Immediate");
    cell_bool(c, jsn_get_bool(c->object, "allowVolumeExpansion", false));
    cell_age(c);
}

static const struct printer_column class_columns[] = {
    COLUMN_NAME,
    {"Provisioner", "string", "", "What makes volumes of this class.", 0},
    {"ReclaimPolicy", "string", "", "What happens to a volume when its claim goes.", 0},
    {"VolumeBindingMode", "string", "", "Whether to wait for the first pod.", 0},
    {"AllowVolumeExpansion", "string", "", "Whether volumes can grow.", 0},
    COLUMN_AGE,
};

const struct printer printer_storageclasses = {
    .resource = "storageclasses.storage.k8s.io",
    .columns = class_columns,
    .n_columns = ARRAY_LEN(class_columns),
    .print = print_class,
};
