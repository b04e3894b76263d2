/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of processes by number and start time, and of files that are ours alone. */
#include "src/base/test/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/base/process.h"

static pid_t sleeper(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        (void)pause();
        _exit(0);
    }
    return pid;
}

static void end(pid_t pid)
{
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
}

static void a_process_is_known_by_more_than_its_number(void **state)
{
    pid_t pid = sleeper();
    struct process_id id = process_identify(pid);
    struct process_id cases[] = {id, id, id, {.pid = pid}};
    int status;

    (void)state;
    assert_true(process_runs(&id));
    cases[0].start++;
    (void)snprintf(cases[1].boot, sizeof(cases[1].boot), "another");
    cases[2].boot[0] = '\0';
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_false(process_runs(&cases[i]));
        assert_int_equal(process_signal(&cases[i], SIGKILL), -ESRCH);
    }
    assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
    assert_int_equal(process_signal(&id, SIGKILL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_false(process_runs(&id));
    assert_int_equal(process_signal(&id, SIGKILL), -ESRCH);
}

static void nobody_is_no_process(void **state)
{
    struct process_id none = process_identify(0);

    (void)state;
    assert_int_equal(none.pid, 0);
    assert_int_equal(process_signal(&none, SIGKILL), -ESRCH);
    none.pid = 1; /* init is never ours to signal */
    none.start = process_start_time(1);
    (void)snprintf(none.boot, sizeof(none.boot), "%s", process_boot_id());
    assert_int_equal(process_signal(&none, 0), -ESRCH);
}

static void a_command_is_shown_in_one_line(void **state)
{
    AUTO(buf_done) struct buf whole = {0};
    AUTO(buf_done) struct buf cut = {0};
    pid_t pid = sleeper();

    (void)state;
    process_command(pid, 4096, &whole);
    assert_non_null(strstr(buf_str(&whole), "test-base-process"));
    process_command(pid, 4, &cut);
    assert_int_equal(cut.n, 7);
    end(pid);
}

static void a_private_directory_is_closed_to_others(void **state)
{
    char dir[] = "/tmp/sk-process-XXXXXX";
    AUTO(free) char *own = NULL;
    AUTO(free) char *file = NULL;
    struct err e = {0};
    struct stat st;
    int fd = -1;

    (void)state;
    assert_non_null(mkdtemp(dir));
    own = xasprintf("%s/own", dir);
    file = xasprintf("%s/lock", own);
    assert_int_equal(mkdir(own, 0777), 0);
    assert_int_equal(file_private_dir(own, &e), 0);
    assert_int_equal(stat(own, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_int_equal(file_private_open(file, &fd, &e), 0);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    (void)close(fd);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(mkfifo(file, 0600), 0);
    assert_int_equal(file_private_open(file, &fd, &e), -EPERM);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(symlink("/etc/passwd", file), 0);
    assert_int_equal(file_private_open(file, &fd, &e), -ELOOP);
    if (geteuid() == 0) {
        assert_int_equal(chown(own, 65534, 65534), 0);
        assert_int_equal(file_private_dir(own, &e), -EPERM);
        assert_non_null(strstr(e.text, "belongs to user 65534"));
    }
    assert_int_equal(file_remove_tree(dir, &e), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_is_known_by_more_than_its_number),
        cmocka_unit_test(nobody_is_no_process),
        cmocka_unit_test(a_command_is_shown_in_one_line),
        cmocka_unit_test(a_private_directory_is_closed_to_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
