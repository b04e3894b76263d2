# SPDX-License-Identifier: GPL-2.0-or-later
def test_operators_run(kubernetes):
    print(kubernetes.kubectl("get", "pods", "-A", "-o", "wide"))
