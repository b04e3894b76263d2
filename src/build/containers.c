/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What pods have in common: the log sidecar, probes, projected sources.
 *
 * Probes follow the release: where Slurm answers HTTP (25.11) they are Slinky's to the letter;
 * before that, and where HTTP is turned off or its parser is missing, a client command is run
 * inside of the container, since a bare connection leaves an error in the daemon's log each time.
 * Those have no liveness probe: a daemon that is slow to answer must not be killed for it.
 */
#include "src/build/containers.h"

#include "src/build/labels.h"
#include "src/build/live_keys.h"
#include "src/build/merge.h"
#include "src/build/scripts.h"

struct jsn *container_logfile(struct arena *a, const struct build_cluster *c, const char *daemon,
                              const char *image, const struct jsn *user, struct api_problems *p)
{
    struct jsn *base = build_tree(
        a,
        "{'name':'logfile','image':'$image','command':['sh','-c','$script'],"
        "'env':[{'name':'SOCKET','value':'$socket'}],'resources':{},'restartPolicy':'$restart',"
        "'volumeMounts':[{'name':'slurm-logfile','mountPath':'/var/log/slurm'}]}",
        SLOTS({"image", jsn_string(a, image)}, {"script", jsn_string(a, script_logfile)},
              {"socket", jsn_stringf(a, "/var/log/slurm/%s.log", daemon)},
              {"restart", c->env->no_sidecars ? NULL : jsn_string(a, "Always")}));

    return merge_container(a, base, user, "spec.logfile", p);
}

struct jsn *container_probe(struct arena *a, const struct build_cluster *c,
                            enum container_probe which, const char *path, const char *port,
                            const char *command)
{
    bool http = build_has(c, PROFILE_HEALTH_HTTP) && !c->env->no_http &&
                !controller_disables_http(c->controller);
    struct jsn *probe = jsn_object(a);

    if (http) {
        struct jsn *get = jsn_ensure_object(a, probe, "httpGet");

        jsn_set_str(a, get, "path", path);
        jsn_set_str(a, get, "port", port);
    } else if (which == PROBE_LIVE) {
        return NULL;
    } else {
        jsn_set(a, jsn_ensure_object(a, probe, "exec"), "command", build_tree(a, command, NULL));
        jsn_set_int(a, probe, "timeoutSeconds", 10);
    }
    if (which != PROBE_READY) {
        jsn_set_int(a, probe, "failureThreshold", http ? 6 : 60);
        jsn_set_int(a, probe, "periodSeconds", http ? 10 : 1);
    }
    return probe;
}

void container_add_sidecars(struct arena *a, const struct build_cluster *c, struct jsn *pod_spec,
                            const struct jsn *sidecars)
{
    const char *list = c->env->no_sidecars ? "containers" : "initContainers";

    if (jsn_is(jsn_key(pod_spec, list), JSN_ARRAY))
        build_append_all(a, jsn_key(pod_spec, list), sidecars);
    else
        jsn_set(a, pod_spec, list, jsn_clone(a, sidecars));
}

struct jsn *volume_key_source(struct arena *a, const char *kind, const struct api_key_ref *ref,
                              const char *path)
{
    struct jsn *source = jsn_object(a);

    jsn_set(a, source, kind,
            build_tree(a, "{'name':'$name','items':[{'key':'$key','path':'$path'}]}",
                       SLOTS({"name", jsn_string(a, ref->name)}, {"key", jsn_string(a, ref->key)},
                             {"path", jsn_string(a, path)})));
    if (ref->optional)
        jsn_set_bool(a, jsn_key(source, kind), "optional", true);
    return source;
}

struct jsn *volume_map_source(struct arena *a, const char *name)
{
    return build_tree(a, "{'configMap':{'name':'$name'}}", SLOTS({"name", jsn_string(a, name)}));
}

void volume_add_live(struct arena *a, const struct build_cluster *c, const char *file,
                     bool optional, struct jsn *sources)
{
    struct api_key_ref key = {
        .name = labels_keys(a, c->controller->meta.name), .key = file, .optional = optional};

    jsn_append(a, sources, volume_key_source(a, "secret", &key, file));
}

void volume_add_auth(struct arena *a, const struct build_cluster *c, struct jsn *sources)
{
    for (const char *const *file = build_key_files(c); *file; file++)
        volume_add_live(a, c, *file, false, sources);
}
