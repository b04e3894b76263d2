# SPDX-License-Identifier: GPL-2.0-or-later
"""A directory of users in the cluster's own network: slapd with TLS in a pod, and the sssd.conf that leads to it."""
import base64
import json
import os

import pytest

from local import run, wait_for

BASE = "dc=example,dc=org"
PASSWORD = "correct horse"
UID = {"alice": 21001, "bob": 21002}
GID = {"alice": 21001, "bob": 21002, "physics": 31001}

SCHEMA = """attributetype ( 1.3.6.1.4.1.24552.500.1.1.1.13 NAME 'sshPublicKey'
    EQUALITY octetStringMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.40 )
objectclass ( 1.3.6.1.4.1.24552.500.1.1.2.0 NAME 'ldapPublicKey' SUP top AUXILIARY
    MAY ( sshPublicKey $ uid ) )
"""
SLAPD = f"""include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/nis.schema
include /etc/ldap/schema/inetorgperson.schema
include /config/keys.schema
pidfile /tmp/slapd.pid
modulepath /usr/lib/ldap
moduleload back_mdb
TLSCACertificateFile /tls/ca.crt
TLSCertificateFile /tls/tls.crt
TLSCertificateKeyFile /tls/tls.key
database mdb
suffix "{BASE}"
rootdn "cn=admin,{BASE}"
rootpw admin
directory /tmp/data
maxsize 16777216
access to attrs=userPassword by anonymous auth by * none
access to * by * read
"""
START = """mkdir -p /tmp/data /run/slapd && cd /tmp
slapadd -f /config/slapd.conf -l /config/people.ldif
exec slapd -f /config/slapd.conf -h 'ldap:/// ldaps:///' -d 0
"""
SSSD = f"""[sssd]
services = nss, pam, ssh
domains = example
[nss]
filter_users = root, slurm
filter_groups = root, slurm
[domain/example]
id_provider = ldap
auth_provider = ldap
access_provider = permit
cache_credentials = true
ldap_uri = ldaps://ldap.default.svc
ldap_search_base = {BASE}
ldap_tls_reqcert = demand
ldap_tls_cacert = /etc/directory/ca.crt
"""


def people(home, keys):
    text = f"dn: {BASE}\nobjectClass: dcObject\nobjectClass: organization\no: example\ndc: example\n\n"
    for name, number in UID.items():
        text += f"""dn: uid={name},{BASE}
objectClass: inetOrgPerson
objectClass: posixAccount
objectClass: ldapPublicKey
uid: {name}
cn: {name}
sn: {name}
uidNumber: {number}
gidNumber: {GID[name]}
homeDirectory: {home}/{name}
loginShell: /bin/bash
userPassword: {PASSWORD}
sshPublicKey: {keys.get(name, "none")}

dn: cn={name},{BASE}
objectClass: posixGroup
cn: {name}
gidNumber: {GID[name]}

"""
    return text + f"""dn: cn=physics,{BASE}
objectClass: posixGroup
cn: physics
gidNumber: {GID["physics"]}
memberUid: alice
"""


def make_tls(where):
    """An authority and the server's certificate."""
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
        "-subj", "/CN=directory authority", "-keyout", f"{where}/ca.key", "-out", f"{where}/ca.crt")
    run("openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
        "/CN=ldap.default.svc", "-keyout", f"{where}/tls.key", "-out", f"{where}/tls.csr")
    with open(f"{where}/names", "w", encoding="utf-8") as f:
        f.write("subjectAltName=DNS:ldap.default.svc\n")
    run("openssl", "x509", "-req", "-in", f"{where}/tls.csr", "-CA", f"{where}/ca.crt", "-CAkey", f"{where}/ca.key",
        "-days", "2", "-extfile", f"{where}/names", "-out", f"{where}/tls.crt")


def make_key(where, name):
    path = f"{where}/{name}"
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", path)
    with open(f"{path}.pub", encoding="utf-8") as f:
        return f.read().strip()


def item(kind, name, **more):
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "labels": {"app": name}}, **more}


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def start(c, home, where, keys):
    """slapd with alice (a key, the group physics besides her own) and bob; Secret `sssd-conf`, ConfigMap `directory`."""
    make_tls(where)
    files = {"slapd.conf": SLAPD, "keys.schema": SCHEMA, "people.ldif": people(home, keys), "start": START}
    tls = {n: base64.b64encode(read(f"{where}/{n}").encode()).decode() for n in ("ca.crt", "tls.crt", "tls.key")}
    port = [{"name": "ldaps", "port": 636}, {"name": "ldap", "port": 389}]
    c.apply(json.dumps({"apiVersion": "v1", "kind": "List", "items": [
        item("ConfigMap", "ldap", data=files),
        item("ConfigMap", "directory", data={"ca.crt": read(f"{where}/ca.crt")}),
        item("Secret", "ldap-tls", data=tls),
        item("Secret", "sssd-conf", stringData={"sssd.conf": SSSD}),
        item("Service", "ldap", spec={"selector": {"app": "ldap"}, "ports": port}),
        item("Pod", "ldap", spec={
            "containers": [{"name": "slapd", "image": "slapd", "command": ["sh", "/config/start"],
                            "volumeMounts": [{"name": "config", "mountPath": "/config"},
                                             {"name": "tls", "mountPath": "/tls"}]}],
            "volumes": [{"name": "config", "configMap": {"name": "ldap"}},
                        {"name": "tls", "secret": {"secretName": "ldap-tls"}}]})]}))
    c.wait_ready("ldap", seconds=60)
    wait_for(lambda: c.exec("ldap", "ldapsearch", "-x", "-H", "ldap://localhost", "-b", BASE, "uid=alice",
                            check=False).returncode == 0, "slapd answers", 60)


def stop(c):
    c.kubectl("delete", "pod", "ldap", "--grace-period=1")


def mounts():
    """For login and slurmd containers: the certificate that sssd.conf names."""
    return [{"name": "directory", "mountPath": "/etc/directory", "readOnly": True}]


def volumes():
    return [{"name": "directory", "configMap": {"name": "directory"}}]


def missing():
    for program in ("slapd", "sssd", "sshd", "sshpass", "ldapsearch"):
        path = os.environ["PATH"] + ":/usr/sbin:/sbin"
        if run("sh", "-c", f"command -v {program}", check=False, env={"PATH": path}).returncode:
            return f"{program} is not installed (tools/packages run test)"
    return None


def is_in_this_debian(package):
    """Testing has to do without a package now and then."""
    shown = run("apt-cache", "show", package, check=False).stdout
    return "\nFilename:" in shown


def need():
    """Skip where Debian has no sssd; a machine that only lacks it is not ready for the suite."""
    why = missing()
    if why and not is_in_this_debian("sssd-ldap"):
        pytest.skip("this Debian has no sssd")
    if why:
        pytest.exit(f"cannot run: {why}", returncode=1)
