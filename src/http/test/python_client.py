#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Hold the Python Kubernetes client against exec_server: exec with input and exit code, port-forward.

usage: python_client.py PORT FILE-PORT     (prints one line per check; 77 without the client)
"""
import sys

try:
    from kubernetes import client
    from kubernetes.stream import portforward, stream
except ImportError:
    sys.exit(77)


def check(name, expected, got):
    print("ok  " if expected == got else "FAIL", f"python: {name}", "" if expected == got else f": {got!r}")
    return expected == got


def main():
    configuration = client.Configuration()
    configuration.host = f"http://127.0.0.1:{sys.argv[1]}"
    api = client.CoreV1Api(client.ApiClient(configuration))
    port = int(sys.argv[2])

    def run(*command, **options):
        return stream(api.connect_get_namespaced_pod_exec, "p", "default", command=list(command),
                      stdout=True, stderr=True, tty=False, **options)

    good = check("output", "hi\n", run("echo", "hi", stdin=False))
    session = run("sh", "-c", "read x; echo got $x; exit 5", stdin=True, _preload_content=False)
    session.write_stdin("hello\n")
    session.run_forever(timeout=10)
    good &= check("input", "got hello\n", session.read_stdout())
    good &= check("exit code", 5, session.returncode)
    forward = portforward(api.connect_get_namespaced_pod_portforward, "p", "default", ports=str(port))
    wire = forward.socket(port)
    wire.settimeout(10)
    wire.sendall(b"HEAD / HTTP/1.0\r\n\r\n")
    good &= check("port-forward", b"HTTP/1.0 200", wire.recv(12))
    wire.close()
    return 0 if good else 1


sys.exit(main())
