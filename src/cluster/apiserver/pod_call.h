/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests that the machine of a pod answers: logs, exec, attach, port-forward. */
#pragma once

#include "src/cluster/apiserver/call.h"

/* Each answers, or hands the call to the registered hook. */
void pod_log_serve(struct api_call *c);
void pod_exec_serve(struct api_call *c);
void pod_port_forward_serve(struct api_call *c);
