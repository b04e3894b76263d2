# SPDX-License-Identifier: GPL-2.0-or-later
"""Values for a key: good and odd ones by its kind, and hostile ones for every kind."""
import re

LONG = "x" * 10000

# Each kind: what is meant, and what is at its edges.
BY_KIND = {
    "text": ["abc", "/bin/true"],
    "word": ["none", "abc", "ABC"],
    "bool": ["YES", "NO", "true", "2"],
    "u16": ["0", "1", "17", "0x10", "65533", "65534", "65535", "65536"],
    "u32": ["0", "1", "1000", "2K", "4294967293", "4294967294"],
    "u64": ["0", "1", "1000", "2K", "9223372036854775807", "18446744073709551615"],
    "float": ["0", "1.5", "100", "1e3", "99999999999", "1.2.3"],
    "minutes": ["0", "90", "90:30", "24:00:00", "1-0", "365-0", "71582789", "99999-0"],
    "seconds": ["0", "90", "24:00:00", "1-0", "99999-0"],
    "suspend": ["0", "1", "600", "INFINITE", "NONE"],
    "overtime": ["0", "1", "65534"],
    "loglevel": ["quiet", "info", "debug5", "9", "10"],
    "ports": ["1", "7001", "7001-7004", "65535", "65536", "7004-7001"],
    "share": ["NO", "EXCLUSIVE", "YES", "YES:2", "FORCE", "FORCE:4", "FORCE:32767", "FORCE:32768", "YES:0"],
    "preempt": ["OFF", "CANCEL", "REQUEUE", "SUSPEND", "SUSPEND,GANG", "GANG", "WITHIN", "CANCEL,WITHIN", "PRIORITY"],
    "options": ["abc", "a=b", "a=1,b=-1"],
    "names": ["abc", "a,b", "cpu"],
    "weights": ["CPU=1.0", "CPU=1.0,Mem=0.25G", "GRES/gpu=2", "CPU=", "nothing=1", "CPU=1e9", "CPU=99999999999999999999"],
    "hosts": ["c0001", "c[0001-0003]", "nowhere", "/dev/null", "/dev/nothing[0-3]"],
    "nodes": ["c0001", "c[0001-0003]", "few", "few,blue", "nowhere", "ALL", "{a}", "c[1-100000]"],
    "hostaddr": ["localhost(127.0.0.1)", "nowhere.invalid", "localhost(no such address)", "a(b"],
}

# What no kind is meant to be.
HOSTILE = [
    "", "-1", "0", "4294967295", "4294967296", "18446744073709551616", "UNLIMITED", "NONE", "ALL", "DEFAULT",
    "/nonexistent/file", "/", "/dev/full", "/etc/passwd", "nothing/here", "none", "nobody-at-all", "root",
    '"x', '"a b"', "a b", "a#b", "é", "\x01", LONG, "\\", "%n", "%", "[1-", "a,b,,", ",", "=", "1:2:3:4",
    "a:b:c", "localhost", "cpu=1", "c0001",
]

# Words that some keys look for, with numbers at their edges.
NUMBERS = ["", "=", "=0", "=-1", "=x", "=1", "=4294967296"]
OPTIONS = {
    "SchedulerParameters": "bf_interval bf_window bf_resolution bf_max_job_test bf_max_job_user bf_min_prio_reserve "
                           "bf_yield_interval bf_yield_sleep bf_max_time bf_node_space_size bf_running_job_reserve "
                           "batch_sched_delay default_queue_depth defer max_rpc_cnt max_array_tasks partition_job_depth "
                           "preempt_youngest_first preempt_reorder_count sched_interval sched_min_interval sched_max_job_start "
                           "salloc_wait_nodes max_script_size build_queue_timeout correspond_after_task_cnt "
                           "bf_licenses max_switch_wait pack_serial_at_end delay_boot enable_user_top",
    "SlurmctldParameters": "enable_configless cloud_dns idle_on_node_suspend node_reg_mem_percent power_save_interval "
                           "power_save_min_interval max_dbd_msg_action rl_enable,rl_bucket_size rl_enable,rl_refill_rate "
                           "rl_enable,rl_table_size conmgr_threads conmgr_max_connections validate_nodeaddr_threads "
                           "max_powered_nodes enable_stepmgr reconfig_on_restart conmgr_quiesce_timeout no_quick_restart",
    "CommunicationParameters": "CheckGhalQuiesce DisableIPv4 EnableIPv6 NoCtldInAddrAny NoInAddrAny block_null_hash "
                               "getnameinfo_cache_timeout keepaliveinterval keepalivetime keepaliveprobes disable_http",
    "PriorityFlags": "ACCRUE_ALWAYS CALCULATE_RUNNING DEPTH_OBLIVIOUS NO_FAIR_TREE INCR_ONLY MAX_TRES SMALL_RELATIVE_TO_TIME",
    "PrivateData": "accounts cloud jobs nodes partitions reservations usage users events",
    "LaunchParameters": "batch_step_set_cpu_freq enable_nss_slurm,disable_send_gids lustre_no_flush mem_sort "
                        "mpir_use_nodeaddr send_gids slurmstepd_memlock slurmstepd_memlock_all test_exec use_interactive_step",
    "JobAcctGatherFrequency": "task energy network filesystem",
    "AuthInfo": "ttl use_client_ids cred_expire",
    "AuthAltParameters": "jwt_key=/nonexistent jwks=/nonexistent jwt_key=/etc/passwd disable_token_creation max_token_lifespan",
    "TopologyParam": "Dragonfly RoutePart SwitchAsNodeRank RouteTree TopoOptional TopoMaxSizeUnroll BlockAsNodeRank",
    "PreemptParameters": "min_exempt_priority reclaim_licenses reorder_count send_user_signal strict_order youngest_first",
    "AccountingStorageTRES": "cpu gres/gpu gres/gpu:a100 license/x bb/x fs/lustre ic/ofed",
    "AccountingStoreFlags": "job_comment job_env job_extra job_script no_stdio",
    "Licenses": "a:1 a:0 a*3 a:1,a:2 a;b a:4294967296 a@b:1 a:-1",
    "GresTypes": "gpu gpu,nothing gpu,gpu mps shard gpu,mps,shard craynetwork nic",
    "MpiDefault": "none pmi2 pmix cray_shasta nothing",
    "MpiParams": "ports=20000-30000 ports=1 ports=x ports=30000-20000 ports=0-70000",
    "CpuFreqDef": "performance Performance ondemand 1000 nothing",
    "CpuFreqGovernors": "Performance,PowerSave OnDemand nothing",
    "RequeueExit": "1 1-3 1,256 -5 x 300 1-999999999",
    "RequeueExitHold": "1 1-3 1,256 -5 x 300 1-999999999",
    "HealthCheckNodeState": "ALLOC ANY CYCLE IDLE MIXED NONDRAINED_IDLE nothing START_ONLY",
    "LogTimeFormat": "iso8601 iso8601_ms rfc5424 rfc5424_ms clock short thread_id format_stderr nothing",
    "MCSParameters": "enforced,select,privatedata ondemand,ondemandselect: nothing ondemand,select,privatedata:a|b",
    "SuspendExcNodes": "c0001 c0001:4 few nowhere c0001,nowhere:2 blue:1 c[0001-0003]:x",
    "SuspendExcParts": "all debug nowhere",
    "SuspendExcStates": "CLOUD DOWN DRAIN nothing",
    "LaunchType": "launch/slurm slurm nothing",
    "RoutePlugin": "route/default route/topology route/nothing",
    "PowerPlugin": "power/none none power/nothing",
    "PrEpParameters": "a=b",
    "DataParserParameters": "+fast +complex nothing",
    "MetricsParameters": "a=b",
    "HashPlugin": "hash/k12 hash/sha3",
    "TLSParameters": "ca_cert_file=/nonexistent ctld_cert_file=/nonexistent",
    "CertmgrParameters": "validate_node_script=/nonexistent generate_csr_script=/nonexistent",
    "JobSubmitPlugins": "lua nothing all_partitions,nothing",
    "Gres": "gpu:1 gpu gpu:x gpu:a:1 nothing:1 gpu:4294967296 gpu:1,gpu:2 gpu:-1",
    "Features": "a a,b a&b a|b a(b) [a]",
    "Reason": '"a b"',
    "CPUSpecList": "0 0-1 99 x 0-99999",
    "Port": "7000 7000-7001 0 70000 [7000-7001]",
    "Topology": "default:s1 nothing:nothing default",
    "CpuBind": "none socket cores nothing",
    "GpuFreqDef": "high medium,memory=high nothing",
    "JobCompLoc": "/nonexistent/dir/file",
    "InteractiveStepOptions": '"--pty x"',
    "BlockSizes": "1 2,4 0 3 x",
    "AutoDetect": "off nvml nvidia rsmi oneapi nrt nothing",
    "Flags": "CountOnly one_sharing nvidia_gpu_env nothing",
    "Count": "0 1 4K 4294967296 -1 x",
    "Links": "0,-1 -1 x",
    "Type": "a a100 a,b",
    "LinkSpeed": "0 1 4294967295",
    "QOS": "normal nothing",
    "AllowQos": "normal,nothing",
    "DenyQos": "normal,nothing",
}


def of_release(word, release):
    """A choice of the table without its marks; None where the release has it not."""
    found = re.match(r"([^<>:]*)(?::[^<>]*)?(?:([<>])(\d+\.\d+))?$", word)
    name, sign, series = found.groups()
    if sign == ">" and release < series or sign == "<" and release >= series:
        return None
    return name


def chosen(key, release):
    """Of a key with choices: each of them, all, some twice, one of another release, one that nobody has."""
    words = key.choices.split()
    mine = [w for w in (of_release(w, release) for w in words) if w]
    other = [re.split("[<>:]", w)[0] for w in words if not of_release(w, release)]
    more = []
    if key.kind in ("flags", "plugins"):
        more = [",".join(mine), ",".join(mine[:1] * 2), ",".join(mine[:2]) + ","]
    if key.kind in ("plugin", "plugins"):
        cls = words[0].split("/")[0]
        more += [f"{cls}/nothing", f"{cls}/", f"{cls}/../../x", mine[0].split("/")[1], mine[0].upper()]
    return mine + other + more


def with_options(key):
    out = []
    for word in OPTIONS.get(key.name, "").split(" "):
        if not word:
            continue
        if key.kind == "options" and re.fullmatch(r"[A-Za-z_,]+", word):
            out += [word + n for n in NUMBERS]
        else:
            out.append(word)
    return out


def values(key, release):
    """(kind of value, value): "good" means by its kind, "known" by its name, "bad" what it is not meant to be."""
    out = [("good", v) for v in (chosen(key, release) if key.choices else BY_KIND.get(key.kind, []))]
    out += [("known", v) for v in with_options(key)]
    out += [("bad", v) for v in HOSTILE]
    seen = set()
    return [(how, v) for how, v in out if not (v in seen or seen.add(v))]
