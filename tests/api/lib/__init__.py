# SPDX-License-Identifier: GPL-2.0-or-later
"""Helpers of the API suite: a raw client, kubectl, protobuf, object makers."""
