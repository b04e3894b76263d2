/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The database of an Accounting that names none: MariaDB in a pod of its own, with a claim.
 *
 * The claim outlives the Accounting, as claims of StatefulSets do: a new Accounting of the same
 * name finds its records again.  The password is set again at each start of the server, so that its
 * Secret may be another one than before.
 */
#include "src/base/encode.h"
#include "src/build/accounting.h"
#include "src/build/labels.h"

#define CLAIM_SIZE "8Gi"
#define GRACE_SECONDS 120 /* until everything is on disk */

/* Ready is who lets slurmdbd in, and has room to write. */
#define PROBE                                                                                      \
    "echo probe >/var/lib/mysql/probe && mariadb --defaults-file=/run/mysqld/client.cnf "          \
    "--connect-timeout=5 -e 'SELECT 1' >/dev/null"

static struct jsn *make_meta(struct arena *a, const struct build_accounting *b)
{
    const struct api_meta *m = &b->acct->meta;

    return labels_meta(a, labels_database(a, m->name), api_namespace(m),
                       labels_all(a, APP_DATABASE, m->name), NULL,
                       labels_owner(a, "Accounting", m, true));
}

struct jsn *build_database_secret(struct arena *a, const struct build_accounting *b,
                                  const unsigned char random[ACCOUNTING_PASSWORD_RANDOM])
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    char password[ACCOUNTING_PASSWORD_RANDOM];
    AUTO(buf_done) struct buf text = {0};
    struct jsn *data = jsn_object(a);

    if (b->acct->spec.storage)
        return NULL;
    for (size_t i = 0; i < sizeof(password); i++)
        password[i] = letters[random[i] & 63];
    encode_base64(&text, (struct str){password, sizeof(password)});
    explicit_bzero(password, sizeof(password));
    jsn_set(a, data, ACCOUNTING_PASSWORD_KEY, jsn_str(a, buf_view(&text)));
    return build_tree(
        a, "{'apiVersion':'v1','kind':'Secret','type':'Opaque','metadata':'$meta','data':'$data'}",
        SLOTS({"meta", make_meta(a, b)}, {"data", data}));
}

struct jsn *build_database_service(struct arena *a, const struct build_accounting *b)
{
    if (b->acct->spec.storage)
        return NULL;
    return build_tree(
        a,
        "{'apiVersion':'v1','kind':'Service','metadata':'$meta','spec':{'selector':'$selector',"
        "'ports':[{'name':'mysql','protocol':'TCP','port':3306,'targetPort':'mysql'}]}}",
        SLOTS({"meta", make_meta(a, b)},
              {"selector", labels_selector(a, APP_DATABASE, b->acct->meta.name)}));
}

static struct jsn *make_container(struct arena *a, const struct build_accounting *b)
{
    const char *image = api_annotation(&b->acct->meta, ACCOUNTING_IMAGE_ANNOTATION);

    return build_tree(
        a,
        "{'name':'mariadb','image':'$image',"
        "'ports':[{'name':'mysql','containerPort':3306,'protocol':'TCP'}],"
        "'env':[{'name':'DATABASE','value':'" ACCOUNTING_DATABASE "'},"
        "{'name':'DATABASE_USER','value':'" ACCOUNTING_DATABASE_USER "'}],"
        "'readinessProbe':{'exec':{'command':['bash','-c','$probe']},'timeoutSeconds':10,"
        "'periodSeconds':2,'failureThreshold':2},"
        "'resources':{},'terminationMessagePolicy':'FallbackToLogsOnError',"
        "'securityContext':{'runAsNonRoot':true,'runAsUser':'$uid','runAsGroup':'$gid'},"
        "'volumeMounts':[{'name':'data','mountPath':'/var/lib/mysql'},"
        "{'name':'password','mountPath':'" DATABASE_PASSWORD_DIR "','readOnly':true},"
        "{'name':'run','mountPath':'/run/mysqld'},{'name':'tmp','mountPath':'/tmp'}]}",
        SLOTS(
            {"image", jsn_string(a, image ? image : build_default_image(a, b->cluster, "mariadb"))},
            {"probe", jsn_string(a, PROBE)}, {"uid", jsn_int(a, build_slurm_uid(b->cluster))},
            {"gid", jsn_int(a, build_slurm_gid(b->cluster))}));
}

static struct jsn *make_pod(struct arena *a, const struct build_accounting *b)
{
    struct jsn *gid = jsn_int(a, build_slurm_gid(b->cluster));

    return build_tree(
        a,
        "{'automountServiceAccountToken':false,'terminationGracePeriodSeconds':'$grace',"
        "'securityContext':{'runAsNonRoot':true,'runAsUser':'$uid','runAsGroup':'$gid',"
        "'fsGroup':'$gid'},'containers':['$mariadb'],'volumes':["
        "{'name':'password','secret':{'secretName':'$name','defaultMode':'$mode'}},"
        "{'name':'run','emptyDir':{'medium':'Memory'}},{'name':'tmp','emptyDir':{}}]}",
        SLOTS({"grace", jsn_int(a, GRACE_SECONDS)},
              {"uid", jsn_int(a, build_slurm_uid(b->cluster))}, {"gid", gid},
              {"mariadb", make_container(a, b)},
              {"name", jsn_string(a, labels_database(a, b->acct->meta.name))},
              {"mode", jsn_int(a, 0600)}));
}

static struct jsn *make_claims(struct arena *a, const struct build_accounting *b)
{
    const char *size = api_annotation(&b->acct->meta, ACCOUNTING_SIZE_ANNOTATION);
    const char *class = api_annotation(&b->acct->meta, ACCOUNTING_CLASS_ANNOTATION);

    return build_tree(a,
                      "[{'apiVersion':'v1','kind':'PersistentVolumeClaim',"
                      "'metadata':{'name':'data'},'spec':{'accessModes':['ReadWriteOnce'],"
                      "'storageClassName':'$class','resources':{'requests':{'storage':'$size'}}}}]",
                      SLOTS({"class", class ? jsn_string(a, class) : NULL},
                            {"size", jsn_string(a, size ? size : CLAIM_SIZE)}));
}

/* Where storageConfig names another database by now, ours rests: its claim may still be needed. */
struct jsn *build_database_app(struct arena *a, const struct build_accounting *b)
{
    const char *name = labels_database(a, b->acct->meta.name);

    return build_tree(
        a,
        "{'apiVersion':'apps/v1','kind':'StatefulSet','metadata':'$meta','spec':{"
        "'podManagementPolicy':'Parallel','replicas':'$replicas','revisionHistoryLimit':0,"
        "'serviceName':'$service','selector':{'matchLabels':'$selector'},"
        "'template':{'metadata':{'labels':'$labels','annotations':{"
        "'" ANNOTATION_DEFAULT_CONTAINER "':'mariadb'}},'spec':'$pod'},"
        "'volumeClaimTemplates':'$claims'}}",
        SLOTS({"meta", make_meta(a, b)}, {"replicas", jsn_int(a, b->acct->spec.storage ? 0 : 1)},
              {"service", jsn_string(a, name)},
              {"selector", labels_selector(a, APP_DATABASE, b->acct->meta.name)},
              {"labels", labels_all(a, APP_DATABASE, b->acct->meta.name)}, {"pod", make_pod(a, b)},
              {"claims", make_claims(a, b)}));
}
