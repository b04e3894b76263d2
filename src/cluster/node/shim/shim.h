/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of slurmkeeper-shim share: the small process behind each pod and container. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/buf.h"

/* Ends the process with a sentence on standard error. */
void shim_die(int errnum, const char *fmt, ...) PRINTF(2, 3) NORETURN;

/* What a shim can be; each returns the exit status of the process. */
int shim_pause(int argc, char **argv);
int shim_run(int argc, char **argv);
int shim_filtered(int argc, char **argv);

/* Refuse this process, and all that it starts, the calls that the runtime may not know.  Ends the
 * process where that cannot be. */
void shim_filter(void);

/* Leave the terminal, the session and the control groups of who started us; `procs` are paths of
 * cgroup.procs files.  Descriptors above standard error are closed. */
void shim_detach(const char *const *procs, size_t n_procs);

/* An option "--name value": takes it if argv[*i] is that, else NULL. */
const char *shim_option(int argc, char **argv, int *i, const char *name);

/* Configure the interfaces of this network namespace: lo, and eth0 with a /32 behind a gateway. */
int shim_net_up(const char *ip, const char *gateway, struct err *e) MUST_CHECK;

/* The log of a container, in the format of the CRI, rotated by size. */
struct shim_log {
    const char *path;
    int64_t max_bytes;
    unsigned int max_files;
    int fd;
    int64_t size;
    struct buf partial[2]; /* of stdout and stderr: a line that has not ended yet */
    int64_t room;          /* how many more bytes may be written now */
    int64_t filled_us;     /* when that was reckoned; 0: never */
    int64_t dropped;       /* bytes since then that were not written */
};
/* -1 stands for "cannot be opened": output is dropped, the container runs on. */
void shim_log_open(struct shim_log *l);
/* `stream` is 1 (stdout) or 2 (stderr). */
void shim_log_write(struct shim_log *l, int stream, struct str data, int64_t wall_us);
/* Lines without an end are written now. */
void shim_log_close(struct shim_log *l, int64_t wall_us);

/* What is known about the container, as its status file says it. */
struct shim_status {
    pid_t pid;
    int64_t started_us;
    int64_t finished_us;
    int wait_status;
    bool exited;
    bool oom;
    char error[480]; /* why it did not start; empty if it did */
};
void shim_status_write(const char *dir, const struct shim_status *s);

/* Who is connected: watchers, and who is attached to the container's streams. */
struct shim_peers;
struct pollfd;
typedef void (*shim_input_fn)(void *arg, struct str data, bool end);
typedef void (*shim_resize_fn)(void *arg, unsigned int width, unsigned int height);
struct shim_peers *shim_peers_new(const char *dir, shim_input_fn input, shim_resize_fn resize,
                                  void *arg);
/* Closes everything; what still waits for somebody is lost. */
struct shim_peers *shim_peers_free(struct shim_peers *p);
/* Somebody who is connected already, and watches. */
void shim_peers_add_watcher(struct shim_peers *p, int fd);
/* Append what to wait for; then, with the results, serve it. */
size_t shim_peers_poll(const struct shim_peers *p, struct pollfd *fds, size_t max);
void shim_peers_serve(struct shim_peers *p, const struct pollfd *fds, size_t n);
/* A line for watchers; a piece of output for those who are attached. */
void shim_peers_tell(struct shim_peers *p, const char *line);
void shim_peers_output(struct shim_peers *p, int stream, struct str data);
/* Is anybody behind with reading output?  Then the container waits. */
bool shim_peers_full(const struct shim_peers *p);
void shim_peers_flush(struct shim_peers *p);
