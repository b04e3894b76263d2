/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the filter that goes by numbers.  It cannot be taken off: each try is a child. */
#include "src/cluster/node/test/parse.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "src/cluster/node/shim/shim.h"

#define FCHMODAT2 452L
#define X32_BIT 0x40000000L

void shim_die(int errnum, const char *fmt, ...)
{
    (void)fmt;
    _exit(errnum ? errnum : 255);
}

/* The error of a call under the filter; 0: it was done. */
static int try_under_filter(long call, const char *path, long mode)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); /* who is not root may filter himself, then */
        shim_filter();
        _exit(syscall(call, AT_FDCWD, path, mode, 0) < 0 ? errno : 0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void later_calls_make_no_set_user_id_files(void **state)
{
    char path[] = "/tmp/sk-filter-XXXXXX";
    int fd = mkstemp(path);
    int plain;
    struct stat st;

    (void)state;
    assert_true(fd >= 0);
    (void)close(fd);
    plain = try_under_filter(FCHMODAT2, path, 0755);
    assert_true(plain == 0 || plain == ENOSYS); /* kernels before 6.6 */
    assert_int_equal(try_under_filter(FCHMODAT2, path, 04755), EPERM);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & S_ISUID, 0);
    assert_int_equal(unlink(path), 0);
#if defined(__x86_64__)
    assert_int_equal(try_under_filter(FCHMODAT2 | X32_BIT, "/nonexistent", 04755), EPERM);
#endif
}

static void calls_that_nobody_knows_do_not_exist(void **state)
{
    (void)state;
    assert_int_equal(try_under_filter(470, "", 0), ENOSYS);
    assert_int_equal(try_under_filter(100000, "", 0), ENOSYS);
    assert_int_equal(try_under_filter(SYS_faccessat, "/", R_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(later_calls_make_no_set_user_id_files),
        cmocka_unit_test(calls_that_nobody_knows_do_not_exist),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
