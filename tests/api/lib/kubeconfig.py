# SPDX-License-Identifier: GPL-2.0-or-later
"""Read the current context of a kubeconfig: server address, trust and credentials.

Only what a test cluster uses is understood: inline data or files, a client certificate or a
bearer token.  Inline data are written to a private directory because ssl and curl want files.
"""
import base64
import os
import ssl
from urllib.parse import urlsplit

import yaml


def _named(items, name):
    for item in items or []:
        if item["name"] == name:
            return item
    raise KeyError(f"kubeconfig: nothing is named '{name}'")


class Kubeconfig:
    def __init__(self, path, scratch):
        with open(path, encoding="utf-8") as f:
            doc = yaml.safe_load(f)
        self.path = os.path.abspath(path)
        self._scratch = scratch
        context = _named(doc["contexts"], doc["current-context"])["context"]
        cluster = _named(doc["clusters"], context["cluster"])["cluster"]
        user = _named(doc["users"], context["user"])["user"]
        url = urlsplit(cluster["server"])
        self.server = cluster["server"].rstrip("/")
        self.host = url.hostname
        self.port = url.port or 443
        self.ca_file = self._file(cluster, "certificate-authority")
        self.cert_file = self._file(user, "client-certificate")
        self.key_file = self._file(user, "client-key")
        self.token = user.get("token")

    def _file(self, entry, key):
        data = entry.get(key + "-data")
        if data is None:
            name = entry.get(key)
            return name and os.path.join(os.path.dirname(self.path), name)
        path = os.path.join(self._scratch, key + ".pem")
        with open(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as f:
            f.write(base64.b64decode(data))
        return path

    def tls(self, identity=True):
        """A TLS context; without identity it carries no client certificate."""
        context = ssl.create_default_context(cafile=self.ca_file)
        if identity and self.cert_file:
            context.load_cert_chain(self.cert_file, self.key_file)
        return context

    def curl_args(self):
        args = ["--cacert", self.ca_file]
        if self.cert_file:
            args += ["--cert", self.cert_file, "--key", self.key_file]
        if self.token:
            args += ["-H", "Authorization: Bearer " + self.token]
        return args
