# SPDX-License-Identifier: GPL-2.0-or-later
"""Names and addresses: pods, Services, the machine and the world."""
import shutil
import subprocess
import uuid

import pytest

from cluster import container, pod, service, sleeper, wait_for


def resolve(cluster, name, host):
    out = cluster.sh(name, f"getent ahostsv4 {host} | awk '{{print $1}}' | sort -u")
    return set(out.split())


def web(name, **fields):
    return pod(name, container(["python3", "-m", "http.server", "8080"],
                               ports=[{"name": "http", "containerPort": 8080}],
                               readinessProbe={"tcpSocket": {"port": 8080}, "periodSeconds": 1}),
               **fields)


def test_pods_have_names_and_find_each_other(cluster, pods):
    a, b = pods("a"), pods("b")
    svc = f"hl-{uuid.uuid4().hex[:5]}"
    cluster.apply(service(svc, {"group": svc}, {"port": 80}, clusterIP="None"),
                  sleeper(a, hostname="first", subdomain=svc, labels={"group": svc}),
                  sleeper(b, hostname="second", subdomain=svc, labels={"group": svc}))
    ips = {n: cluster.wait_ready(n)["status"]["podIP"] for n in (a, b)}
    assert cluster.sh(a, "hostname").strip() == "first"
    assert cluster.sh(a, "hostname -f").strip() == f"first.{svc}.default.svc.cluster.local"
    for name in (f"second.{svc}", f"second.{svc}.default.svc.cluster.local", b, "second"):
        assert resolve(cluster, a, name) == {ips[b]}, name
    wait_for(lambda: resolve(cluster, a, svc) == set(ips.values()), "the headless Service", 5)
    assert cluster.sh(a, f"getent hosts {ips[b]}").split()[1] == f"second.{svc}.default.svc.cluster.local"
    assert cluster.exec(a, "getent", "hosts", f"nobody.{svc}", check=False).returncode == 2
    cluster.sh(a, f"ping -c1 -W2 second.{svc} >/dev/null || python3 -c 'import socket; socket.create_connection((\"{ips[b]}\", 1), 2)' 2>&1 | grep -q refused")


def test_a_service_leads_to_ready_pods_from_pods_and_from_the_machine(cluster, pods):
    if not shutil.which("nft"):
        pytest.skip("addresses of Services need nft")
    a, b, client = pods("wa"), pods("wb"), pods("client")
    svc = f"web-{uuid.uuid4().hex[:5]}"
    cluster.apply(service(svc, {"group": svc}, {"name": "http", "port": 80, "targetPort": "http"}),
                  web(a, labels={"group": svc}), web(b, labels={"group": svc}), sleeper(client))
    for n in (a, b, client):
        cluster.wait_ready(n)
    ip = cluster.get("service", svc)["spec"]["clusterIP"]
    assert resolve(cluster, client, svc) == {ip}
    get = f"curl -s -m 3 http://{svc}/etc/hostname"
    wait_for(lambda: {cluster.sh(client, get).strip() for _ in range(8)} == {a, b}, "both answer", 10)
    wait_for(lambda: cluster.sh(a, get).strip() in (a, b), "also to themselves", 5)
    done = subprocess.run(["curl", "-s", "-m", "3", f"http://{ip}/etc/hostname"], check=True,
                          capture_output=True, text=True)
    assert done.stdout.strip() in (a, b)
    cluster.kubectl("delete", "pod", a, b)
    code = wait_for(lambda: cluster.exec(client, "curl", "-s", "-m", "5", f"http://{svc}/", check=False).returncode == 7,
                    "without pods it is refused", 5)
    assert code


def test_pods_keep_their_source_address_through_a_service(cluster, pods):
    if not shutil.which("nft"):
        pytest.skip("addresses of Services need nft")
    server, client = pods("peer"), pods("cli")
    svc = f"peer-{uuid.uuid4().hex[:5]}"
    code = ("import socket; s = socket.create_server(('', 7000))\n"
            "while 1:\n c, a = s.accept(); c.sendall(a[0].encode()); c.close()")
    cluster.apply(service(svc, {"app": server}, {"port": 7000}),
                  pod(server, container(["python3", "-c", code])), sleeper(client))
    cluster.wait_ready(server)
    ip = cluster.wait_ready(client)["status"]["podIP"]
    ask = f"python3 -c \"import socket; print(socket.create_connection(('{svc}', 7000), 3).recv(99).decode())\""
    assert wait_for(lambda: cluster.exec(client, "sh", "-c", ask, check=False).stdout.strip(), "an answer", 5) == ip


def test_srv_records_name_ports(cluster, pods):
    if not shutil.which("dig"):
        pytest.skip("dig is not installed")
    name = pods("srv")
    cluster.apply(service(name, {"app": name}, {"name": "main", "port": 6817}), sleeper(name))
    cluster.wait_ready(name)
    out = cluster.sh(name, f"dig +short SRV _main._tcp.{name}.default.svc.cluster.local")
    assert out.split() == ["0", "100", "6817", f"{name}.default.svc.cluster.local."]
    out = cluster.sh(name, f"dig +tcp +short {name}.default.svc.cluster.local")
    assert out.strip() == cluster.get("service", name)["spec"]["clusterIP"]


def test_dns_settings_of_the_pod_are_honoured(cluster, pods):
    name = pods("dns")
    cluster.apply(sleeper(name, dnsPolicy="None", dnsConfig={
        "nameservers": ["192.0.2.53"], "searches": ["lab"], "options": [{"name": "ndots", "value": "2"}]},
        hostAliases=[{"ip": "192.0.2.7", "hostnames": ["alias", "other"]}]))
    cluster.wait_ready(name)
    assert cluster.sh(name, "cat /etc/resolv.conf") == "search lab\nnameserver 192.0.2.53\noptions ndots:2\n"
    assert cluster.sh(name, "getent hosts alias").split() == ["192.0.2.7", "alias", "other"]


def test_addresses_are_not_reused_at_once(cluster, pods):
    seen = []
    for _ in range(3):
        name = pods("ip")
        cluster.apply(sleeper(name))
        seen.append(cluster.wait_ready(name)["status"]["podIP"])
        cluster.kubectl("delete", "pod", name)
    assert len(set(seen)) == 3


def test_ports_of_the_machine_lead_to_pods(cluster, pods):
    if not shutil.which("nft"):
        pytest.skip("ports of the machine need nft")
    name = pods("port")
    wanted = web(name)
    wanted["spec"]["containers"][0]["ports"][0]["hostPort"] = 38080
    cluster.apply(service(name, {"app": name}, {"port": 80, "targetPort": 8080, "nodePort": 31080}, type="NodePort"),
                  wanted)
    host = cluster.wait_ready(name)["status"]["hostIP"]

    def get(port):
        done = subprocess.run(["curl", "-s", "-m", "3", f"http://{host}:{port}/etc/hostname"], check=False,
                              capture_output=True, text=True)
        return done.stdout.strip() == name
    wait_for(lambda: get(31080), "the node port", 5)
    wait_for(lambda: get(38080), "the host port", 5)
    cluster.kubectl("delete", "service", name)
