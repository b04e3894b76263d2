/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of verbs.  Each verb has a file of its own; here is what the command line, the help,
 * the manual and the completion know about it.
 */
#include "src/cli/verbs.h"

#include "src/api/meta.h"

const struct cli_option cli_common_options[] = {
    {"help", NULL, "Show what the verb does and takes", NULL, false},
    {NULL},
};

static const struct cli_option adopt_options[] = {
    {"from", "WHOM", "Whose clusters: slinky", NULL, false},
    {"state", "DIR",
     "The cluster of this machine that is kept there; SLURMKEEPER_STATE may name it, too",
     "/var/lib/slurmkeeper, where nothing names an API server", false},
    {"kubeconfig", "FILE",
     "Which API server, and as whom; else KUBECONFIG, the pod's own, ~/.kube/config", NULL, false},
    {"namespace", "NAME", "Look at this namespace alone", "all", false},
    {NULL},
};

static const struct cli_option apiserver_options[] = {
    {"state", "DIR", "Where objects, certificates and admin.kubeconfig are kept",
     "/var/lib/slurmkeeper", false},
    {"listen", "ADDRESS:PORT", "Where to serve; port 0 takes a free one", "127.0.0.1:6443", false},
    {"allow-remote", NULL, "Let --listen name an address that other machines reach", NULL, false},
    {"history", "SECONDS", "How long watches and paged lists may look back", "300", false},
    {"slurm-version", "RELEASE", "Check our kinds for this Slurm where a Controller names none",
     "any known", false},
    {"host-slurm", NULL, "Pods run the machine's Slurm: tags of images tell nothing of its release",
     NULL, false},
    {"no-controllers", NULL, "Only store workloads: make no pods, endpoints or statuses of them",
     NULL, false},
    {NULL},
};

static const struct cli_option node_options[] = {
    {"state", "DIR", "Where pods, claims and logs are kept; the same as the API server's",
     "/var/lib/slurmkeeper", false},
    {"kubeconfig", "FILE", "Which API server to follow", "DIR/node.kubeconfig", false},
    {"name", "NAME", "Name of the cluster: of its bridge and its control groups", "default", false},
    {"node-name", "NAME", "Name of the Node object", "the machine's host name", false},
    {"pod-cidr", "RANGE", "Addresses of the pods", "a free /16 from 10.131.0.0 on", false},
    {"slurm", "PREFIX", "The Slurm whose programs pods find first", "the usual directories", false},
    {"share", "DIR", "A directory of the machine that all pods see and may write", NULL, true},
    {"purge", NULL, "Stop all pods and remove bridge, mounts, namespaces and groups, then end",
     NULL, false},
    {"grace", "SECONDS", "How long containers may take to end with --purge", "30", false},
    {NULL},
};

/* Of every verb that works with the cluster of this machine. */
#define STATE_OPTION                                                                               \
    {"state", "DIR", "Where the cluster is kept; SLURMKEEPER_STATE may name it, too",              \
     "/var/lib/slurmkeeper", false}
#define PLACE_OPTIONS                                                                              \
    STATE_OPTION,                                                                                  \
        {"name", "NAME", "Name of the cluster: of its bridge and its control groups", "default",   \
         false},                                                                                   \
        {"pod-cidr", "RANGE", "Addresses of the pods", "a free /16 from 10.131.0.0 on", false},    \
        {"slurm", "PREFIX",                                                                        \
         "Which Slurm of the machine, by its prefix, such as /opt/slurm-26.05; kept until "        \
         "another is named",                                                                       \
         "the first slurmctld of PATH", false},                                                    \
        {"share", "DIR",                                                                           \
         "A directory of the machine that all pods see and may write; kept until others are "      \
         "named",                                                                                  \
         NULL, true},                                                                              \
    {                                                                                              \
        "no-agent", NULL,                                                                          \
            "Apply changes by files and reconfigure alone, without slurmkeeper-agent", NULL, false \
    }

static const struct cli_option serve_options[] = {
    PLACE_OPTIONS,
    {"share-now", "DIR", "As --share, but not kept: only until this process ends", NULL, true},
    {NULL},
};

static const struct cli_option up_options[] = {
    PLACE_OPTIONS,
    {"filename", "FILE", "Manifests to apply: a file, a directory, or - for standard input",
     "a Controller and a NodeSet of three, in a cluster that has no Controller", true},
    {"accounting", NULL,
     "Give every Controller that names no Accounting one of its own, with a database", NULL, false},
    {"timeout", "SECONDS", "How long to wait for the nodes", "120", false},
    {NULL},
};

static const struct cli_option down_options[] = {
    STATE_OPTION,
    {"purge", NULL, "Also remove the declared objects, slurmctld's state and the logs", NULL,
     false},
    {"force", NULL, "Even if jobs are running: they die", NULL, false},
    {"grace", "SECONDS", "How long containers may take to end", "5", false},
    {NULL},
};

static const struct cli_option env_options[] = {
    STATE_OPTION,
    {"controller", "NAME", "Whose Slurm, where there are several; NAMESPACE/NAME is fine, too",
     NULL, false},
    {NULL},
};

static const struct cli_option status_options[] = {STATE_OPTION, {NULL}};

static const struct cli_option restore_options[] = {
    STATE_OPTION,
    {"moved", NULL,
     "The cluster was in another directory, which is not used any more: bring it back in this one",
     NULL, false},
    {NULL},
};

static const struct cli_option backup_options[] = {
    STATE_OPTION,
    {"no-claims", NULL, "Leave out what claims hold, slurmctld's state among it", NULL, false},
    {NULL},
};

static const struct cli_option crds_options[] = {
    {"plain", NULL, "Leave out validation rules in CEL, which Kubernetes has from 1.25 on", NULL,
     false},
    {"directory", "DIR", "Print nothing, but write a file for each kind there", NULL, false},
    {NULL},
};

static const struct cli_option rbac_options[] = {
    {"namespace", "NAME", "Where the operator runs", "slurmkeeper", false},
    {"watch", "NAME", "It looks after this namespace alone; may be given again", "all", true},
    {NULL},
};

static const struct cli_option operator_options[] = {
    {"kubeconfig", "FILE",
     "Which API server, and as whom; else KUBECONFIG, the pod's own, "
     "~/.kube/config",
     NULL, false},
    {"namespace", "NAME", "Look after this namespace alone; may be given again", "all", true},
    {"leader-elect", NULL, "Of several operators let only one work, by a Lease", NULL, false},
    {"lease-namespace", "NAME", "Where the Lease is", "the pod's; outside of a pod slurmkeeper",
     false},
    {"metrics", "ADDRESS:PORT", "Serve /healthz, /readyz and /metrics there", NULL, false},
    {"webhook", "ADDRESS:PORT",
     "Serve a validating webhook there (HTTPS, path /validate): the API refuses what Slurm would",
     NULL, false},
    {"webhook-name", "NAME",
     "Name of the webhook's Service, of the Secret with its certificate (made where it is missing, "
     "renewed in time), and of the ValidatingWebhookConfiguration that is to trust it",
     "slurmkeeper-webhook", false},
    {"webhook-client-ca", "FILE", "Answer only clients with a certificate of this authority",
     "answer everybody", false},
    {"slurm-version", "RELEASE", "The Slurm release where no image or annotation names one",
     "the newest known", false},
    {"cgroup", "KIND",
     "How nodes arrange control groups: v2, v1, hybrid, none, or auto (each slurmd looks)", "v2",
     false},
    {"cluster-domain", "DOMAIN", "What names of Services end with", "cluster.local", false},
    {"slurm-uid", "UID", "Of the user slurm in the images", "401", false},
    {"slurm-gid", "GID", "Of its group", "401", false},
    {"host-slurm", NULL, "Pods run the machine's Slurm: tags of images tell nothing of its release",
     NULL, false},
    {"munge", NULL, "Authenticate by munge where a Controller declares no AuthType", NULL, false},
    {"propagated-node-conditions", "TYPES",
     "Conditions of Kubernetes nodes, with commas between, that drain the Slurm nodes there while "
     "they are True; a cordoned node does in any case",
     NULL, false},
    {"no-http-probes", NULL,
     "Slurm's daemons do not answer HTTP, though their release could: probes run scontrol", NULL,
     false},
    {"no-sidecars", NULL, "The cluster's init containers cannot stay (Kubernetes before 1.29)",
     NULL, false},
    {"no-agent", NULL,
     "Have slurmctld looked after by a script that runs scontrol reconfigure, and not by "
     "slurmkeeper-agent",
     NULL, false},
    {NULL},
};

static const struct cli_option export_options[] = {
    {"state", "DIR",
     "The cluster of this machine that is kept there; SLURMKEEPER_STATE may name it, too",
     "/var/lib/slurmkeeper, where nothing names an API server", false},
    {"kubeconfig", "FILE",
     "Which API server, and as whom; else KUBECONFIG, the pod's own, ~/.kube/config", NULL, false},
    {"namespace", "NAME", "Look at this namespace alone", "all", false},
    {"output", "FORM", "Print manifests, or values for the Helm chart slurm", "manifests", false},
    {"controller", "NAME", "Whose values, where there are several; NAMESPACE/NAME is fine, too",
     NULL, false},
    {"images", "TAG", "Name slurmkeeper's images of this tag where an object names none", NULL,
     false},
    {"secrets", NULL, "Also print Secrets: keys of the clusters, and what objects name", NULL,
     false},
    {NULL},
};

static const struct cli_option partition_options[] = {
    {"state", "DIR",
     "The cluster of this machine that is kept there; SLURMKEEPER_STATE may name it, too",
     "/var/lib/slurmkeeper, where nothing names an API server", false},
    {"kubeconfig", "FILE",
     "Which API server, and as whom; else KUBECONFIG, the pod's own, ~/.kube/config", NULL, false},
    {"namespace", "NAME", "Where the Partition is", "the context's", false},
    {NULL},
};

static const struct cli_option plan_options[] = {
    {"state", "DIR",
     "The cluster of this machine that is kept there; SLURMKEEPER_STATE may name it, too",
     "/var/lib/slurmkeeper, where nothing names an API server", false},
    {"filename", "FILE", "Manifests: a file, a directory, or - for standard input", NULL, true},
    {"kubeconfig", "FILE",
     "Which API server, and as whom; else KUBECONFIG, the pod's own, ~/.kube/config", NULL, false},
    {"namespace", "NAME", "Look at this namespace alone, also for objects that name none",
     "all; the context's", false},
    {"output", "FORM", "Print text or json", "text", false},
    {"slurm-version", "VERSION", "Slurm release where neither a Controller nor its agent tells",
     "what the written files fit", false},
    {NULL},
};

static const struct cli_option recover_options[] = {
    STATE_OPTION,
    {"adopt", NULL, "Put pods back into the store as they are: their jobs live on", NULL, false},
    {"give-up", NULL, "End pods that the store does not know: their jobs die", NULL, false},
    {"all", NULL, "Every pod that the store does not know", NULL, false},
    {"accept-loss", NULL,
     "Serve what is left of a store that lacks acknowledged writes; keeps a copy of it", NULL,
     false},
    {NULL},
};

static const struct cli_option render_options[] = {
    {"filename", "FILE", "Manifests: a file, a directory, or - for standard input", NULL, true},
    {"slurm-version", "VERSION", "Slurm release to render for, where no Controller names one",
     "the newest", false},
    {"cgroup", "KIND", "Control groups of the nodes: v2, v1, hybrid, none or auto", "v2", false},
    {"only", "NAME", "Print this file only, such as slurm.conf", NULL, false},
    {NULL},
};

static const struct cli_option user_options[] = {
    STATE_OPTION,
    {"kubeconfig", "FILE", "Another API server, and as whom", "DIR/admin.kubeconfig", false},
    {"role", "ROLE", "What the user may do: admin, edit, slurm-edit, view or cluster-admin", NULL,
     false},
    {"cluster-role", "NAME", "Any other ClusterRole, instead of --role", NULL, false},
    {"namespace", "NAME", "Where the role holds", "default; everywhere for cluster-admin", false},
    {"all-namespaces", NULL, "The role holds in the whole cluster", NULL, false},
    {"days", "N", "How long the kubeconfig is good, at most 365", "90", false},
    {"file", "FILE", "Write the kubeconfig to a new file instead of standard output", NULL, false},
    {NULL},
};

const struct cli_verb cli_verbs[] = {
    {"adopt", NULL, "Show what taking over a cluster of Slinky's operator would restart",
     "Makes the plans that our operator would make, carries none out, and says what they mean: "
     "which "
     "daemons are started again, which workers stay, which are replaced when no job can run on "
     "them; "
     "and who has to be stopped first, with the command for it. Nothing is changed: clusters are "
     "taken over by installing our operator and stopping the other one. The exit status is 0 if "
     "nothing is restarted or replaced, 2 if something is, 1 for an error.",
     adopt_options, verb_adopt_run},
    {"apiserver", NULL, "Serve the Kubernetes API on this machine, in the foreground",
     "Starts an API server that kubectl and client libraries take for a real one. Objects are kept "
     "in SQLite in the state directory; an acknowledged write survives a crash at any moment. At "
     "the first start certificates are made; DIR/admin.kubeconfig holds what a client needs.",
     apiserver_options, verb_apiserver_run},
    {"backup", "FILE", "Write everything that a cluster needs to come back into one file",
     "Objects, certificates, the keys of Secrets, the cluster's settings, and what claims hold, "
     "slurmctld's state among them. The cluster runs on; the objects are of one moment. The file "
     "is a tar archive with a checksum; - stands for standard output. Whoever has it has every "
     "Secret: it is made for root alone (0600); encrypt it before it leaves the machine. Copies of "
     "api.db made by other means lack what its write-ahead log holds.",
     backup_options, verb_backup_run},
    {"completion", NULL, "Print a completion script for bash",
     "Use it with: source <(slurmkeeper completion)", NULL, verb_completion_run},
    {"crds", "[KIND...]", "Print the definitions of our kinds for Kubernetes",
     "Prints CustomResourceDefinitions as YAML: all of them, or those of the kinds that are named. "
     "Use it with: slurmkeeper crds | kubectl apply -f -",
     crds_options, verb_crds_run},
    {"down", NULL, "Take the cluster of this machine down",
     "Ends what up started, stops the pods, and removes their network, mounts and control groups. "
     "The declared objects and the state of slurmctld stay: up brings the cluster back. Refuses "
     "while jobs run, or while nobody can tell.",
     down_options, verb_down_run},
    {"env", NULL, "Print what a shell needs for kubectl, sinfo, srun and sbatch",
     "Use it with: eval \"$(slurmkeeper env)\". The machine's own /etc/slurm and munge are not "
     "touched: SLURM_CONF names a file of the cluster's own, kept in step with it.",
     env_options, verb_env_run},
    {"export", NULL, "Print what is declared, as manifests or as values of the Helm chart",
     "Prints the objects of ours and the ConfigMaps, claims and accounts that they name, without "
     "what the API server and the operator have added: what kubectl apply -f - takes, on another "
     "Kubernetes, too. Secrets are left out, and named, unless --secrets is given: then keep the "
     "output as you keep keys. With -o values it prints one cluster as values for charts/slurm. "
     "What the other cluster will lack is said on standard error. Jobs and slurmctld's state do "
     "not go along.",
     export_options, verb_export_run},
    {"manual", NULL, "Print the source of the manual page (scdoc)", NULL, NULL, verb_manual_run},
    {"node", NULL, "Run the pods of a cluster on this machine, in the foreground",
     "Registers this machine as a Node, takes every pod that has none, and runs it with the "
     "software that is installed here: images are not used. Pods have their own network, names and "
     "process tree, and outlive this process; a new one takes them over. Needs root, runc and "
     "iproute2; addresses of Services need nftables.",
     node_options, verb_node_run},
    {"operator", NULL, "Make clusters match their Controllers and NodeSets, in the foreground",
     "Watches Controllers, LoginSets and NodeSets (" API_GROUP_VERSION "), Partitions "
     "(" API_OWN_GROUP "/" API_OWN_VERSION ") and what is made from them, and "
     "keeps Services, configuration, StatefulSets, logins and worker pods as declared. Where the "
     "definitions are missing it waits for them. A worker pod that may run a job is never deleted.",
     operator_options, verb_operator_run},
    {"partition", "NAME nodes+=NAMES|nodes-=NAMES...",
     "Add nodes to a Partition, or take nodes away",
     "NAME is what Slurm calls the partition of a Partition object. NAMES are NodeSets of its "
     "cluster "
     "(spec.nodeSetRefs), or nodes and node sets that slurm.conf names, as a host list "
     "(spec.nodes). "
     "What is declared is changed, so that it lasts; slurmctld has it milliseconds later. With "
     "kubectl: kubectl patch partition NAME --type=json -p "
     "'[{\"op\":\"add\",\"path\":\"/spec/nodeSetRefs/-\",\"value\":{\"name\":\"gpu\"}}]'",
     partition_options, verb_partition_run},
    {"plan", NULL, "Show what manifests would change in the running clusters, and how",
     "Lays manifests over the objects that the API server has, builds the configuration of each "
     "cluster concerned, and asks its agent what that would change: by a call (rpc), by reading "
     "the "
     "files again (reconfigure), or by a new start of slurmctld (restart). Nothing is changed. "
     "What slurmctld has otherwise than declared is listed as drift. "
     "Without manifests the declared objects are held against what runs. Where no agent can be "
     "reached, the files are compared with those that were written last, and that is said. The "
     "exit status is 0 for no change, 2 for changes or drift, 1 for an error.",
     plan_options, verb_plan_run},
    {"rbac", NULL, "Print the permissions that the operator needs on Kubernetes",
     "Prints a ServiceAccount, what it may do, and that it may, as YAML. The rules come from the "
     "tables by which the operator works: it is allowed what it does and nothing else. Use it "
     "with: slurmkeeper rbac | kubectl apply -f -",
     rbac_options, verb_rbac_run},
    {"recover", "[POD...]", "Adopt or give up pods that run and that the store does not know",
     "A store may be older than what runs: a backup was brought back, a disk has lost writes, or "
     "the "
     "database was removed. Pods that such a store does not know are kept, with their jobs, and no "
     "pod of the same name is started beside them; status, up and the Node's condition UnknownPods "
     "name them. Without options recover lists them with their jobs (exit status 3 if there are "
     "any). --adopt puts a pod back: its NodeSet or StatefulSet must be declared, and has it "
     "again. "
     "Where it then has more pods than replicas, pods are drained as in any scaling down. "
     "--give-up "
     "ends a pod and its jobs. "
     "An API server that finds acknowledged writes missing does not start, and says so. Bring a "
     "backup back (restore), or run recover --accept-loss to go on with what is left; "
     "resourceVersions then go on above all that clients have seen.",
     recover_options, verb_recover_run},
    {"render", NULL, "Print the configuration files that manifests give",
     "Reads Controllers, NodeSets, Partitions, and the ConfigMaps that they name, from YAML or "
     "JSON, and "
     "prints the configuration that the operator would make of them. Needs no cluster. What is "
     "wrong goes to standard error with file, document and field, and nothing is printed then.",
     render_options, verb_render_run},
    {"restore", "FILE", "Bring a backup back, onto this machine or a fresh one",
     "Refuses while the cluster is served, and refuses a damaged file. What was there is kept "
     "beside it, and what is lost between the backup and now is listed as far as that can be told. "
     "Pods that run are not touched: those that the backup does not know are kept after the next "
     "up (see recover). Claims that are there stay as they are, so that slurmctld's state of now "
     "is not exchanged for an older one; on a fresh machine they come from the backup. "
     "resourceVersions go on above all that clients have seen. A backup of a cluster in another "
     "directory is refused, for two clusters out of one would run the same jobs twice; with "
     "--moved its volumes move along, and its pods are made again.",
     restore_options, verb_restore_run},
    {"rotate-keys", NULL, "Encrypt all Secrets with a new key",
     "The data of Secrets is encrypted in the store (AES-256-GCM) with the key in "
     "DIR/keys/store.key, which root alone reads. A new key is made, everything is encrypted with "
     "it, also in a running API server, and the old key is removed. A server that does not find "
     "the key of its Secrets does not start, and changes nothing.",
     status_options, verb_rotate_keys_run},
    {"serve", NULL, "Run a whole cluster on this machine, in the foreground",
     "Starts API server, operator and node, starts each again that ends, and keeps the machine's "
     "Slurm commands working with what is declared. What up starts in the background; a service "
     "manager may start it instead. When it ends, pods run on.",
     serve_options, verb_serve_run},
    {"status", NULL, "Show the cluster of this machine: partitions, nodes, jobs, what is wrong",
     "The exit status is 0 if nothing is wrong and 3 if something is.", status_options,
     verb_status_run},
    {"up", NULL, "Bring a Slurm cluster up on this machine, in the background",
     "Starts everything that does not run yet, applies the manifests, and returns when sinfo shows "
     "the nodes ready, or fails with the reason. Pods see /home, /srv and what --share names, so "
     "that "
     "jobs find their files; and, until the cluster is taken down, the directory up is started in. "
     "root's home is never shared unless --share names it. May be run again at any time. Needs "
     "root.",
     up_options, verb_up_run},
    {"user", "add NAME | list | remove NAME", "Give people who share the machine their own access",
     "add makes an account with a role, and prints a kubeconfig for it; run again it gives a "
     "further role and another kubeconfig. list shows who there is and what they may do. remove "
     "ends every kubeconfig of somebody at once. Hand the kubeconfig over so that nobody else "
     "reads it: slurmkeeper user add ann --role view | install -m 600 -o ann /dev/stdin "
     "~ann/.kube/config. view reads everything but Secrets. slurm-edit adds Partitions and the "
     "number of nodes of NodeSets. Whoever may edit may make pods, which run as root in their "
     "containers and may mount directories of this machine: give edit and admin to people who may "
     "be root here. In the whole cluster they may also act as any other account.",
     user_options, verb_user_run},
    {"version", NULL, "Print the version", NULL, NULL, verb_version_run},
    {NULL},
};
