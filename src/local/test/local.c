/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the local cluster: its directory, its processes, its commands' configuration. */
#include "src/base/test/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/local/client_conf.h"
#include "src/local/command.h"
#include "src/local/daemon.h"
#include "src/local/layout.h"

static char *make_dir(void)
{
    char *dir = xstrdup("/tmp/sk-local-XXXXXX");

    assert_non_null(mkdtemp(dir));
    return dir;
}

static void remove_dir(char *dir)
{
    struct err e = {0};

    assert_int_equal(file_remove_tree(dir, &e), 0);
    free(dir);
}

static void print_client(const char *cluster, const char *socket, struct buf *out)
{
    AUTO(faults_done) struct faults faults = {0};
    AUTO(conf_free) struct conf *conf = NULL;
    struct conf_input in = {.kind = CONF_SLURM, .name = "slurm.conf", .text = str_of(cluster)};
    struct client_place place = {.host = "slurm-controller-0",
                                 .address = "10.96.0.9",
                                 .slurmdbd = "10.96.0.7",
                                 .munge_socket = socket};
    struct err e = {0};

    assert_int_equal(conf_parse(&in, &faults, &conf, &e), 0);
    client_conf_print(conf, &place, out);
}

static void client_file_has_the_address_and_the_socket(void **state)
{
    static const struct {
        const char *cluster;
        const char *socket;
        const char *expected; /* after the comment */
    } cases[] = {
        {"ClusterName=a\nSlurmctldHost=x(y.z)\nSlurmctldAddr=y\nAuthType=auth/munge\n", "/s/munge",
         "SlurmctldHost=slurm-controller-0(10.96.0.9)\nAuthInfo=socket=/s/munge\n"
         "ClusterName=a\nAuthType=auth/munge\n"},
        {"ClusterName=a\nAuthInfo=ttl=5,socket=/other\n", "/s/munge",
         "SlurmctldHost=slurm-controller-0(10.96.0.9)\nAuthInfo=socket=/s/munge,ttl=5\n"
         "ClusterName=a\n"},
        {"ClusterName=a\nauthinfo=use_client_ids\n", NULL,
         "SlurmctldHost=slurm-controller-0(10.96.0.9)\nAuthInfo=use_client_ids\nClusterName=a\n"},
        {"ClusterName=a\nAccountingStorageType=accounting_storage/slurmdbd\n"
         "AccountingStorageHost=acct\nAccountingStoragePort=6819\n",
         "/s/munge",
         "SlurmctldHost=slurm-controller-0(10.96.0.9)\nAuthInfo=socket=/s/munge\n"
         "AccountingStorageHost=10.96.0.7\nAccountingStoragePass=/s/munge\nClusterName=a\n"
         "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStoragePort=6819\n"},
        {"NodeName=n[1-2] CPUs=4\nNodeSet=c Feature=c\nPartitionName=p Nodes=ALL\nDownNodes=n1\n",
         NULL,
         "SlurmctldHost=slurm-controller-0(10.96.0.9)\nNodeName=n[1-2] CPUs=4\n"
         "NodeSet=c Feature=c\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(buf_done) struct buf b = {0};
        const char *behind;

        print_client(cases[i].cluster, cases[i].socket, &b);
        behind = strchr(buf_str(&b), '\n') + 1;
        assert_string_equal(behind, cases[i].expected);
    }
}

static void client_file_names_dynamic_nodes_once_and_safely(void **state)
{
    static const char cluster[] = "ClusterName=a\nNodeName=n[1-2] CPUs=4\n";
    struct client_node nodes[] = {{"c-10", "10.1.0.3"}, {"c-9", "10.1.0.2"},
                                  {"n2", "10.1.0.4"},   {"c-9", "10.1.0.9"},
                                  {NULL, "10.1.0.5"},   {"c-1 State=DOWN", "10.1.0.6"},
                                  {"default", "::1"},   {"c-1", "10.1.0.6\nInclude=/x"},
                                  {"d", "fd00::2"}};
    struct client_place place = {
        .host = "h", .address = "10.96.0.9", .nodes = nodes, .n_nodes = ARRAY_LEN(nodes)};
    AUTO(faults_done) struct faults faults = {0};
    AUTO(conf_free) struct conf *conf = NULL;
    AUTO(buf_done) struct buf b = {0};
    struct conf_input in = {.kind = CONF_SLURM, .name = "slurm.conf", .text = str_of(cluster)};
    struct err e = {0};

    (void)state;
    assert_int_equal(conf_parse(&in, &faults, &conf, &e), 0);
    client_conf_print(conf, &place, &b);
    assert_string_equal(strstr(buf_str(&b), "ClusterName"),
                        "ClusterName=a\nNodeName=n[1-2] CPUs=4\n"
                        "NodeName=c-9 NodeAddr=10.1.0.2\nNodeName=c-10 NodeAddr=10.1.0.3\n"
                        "NodeName=d NodeAddr=fd00::2\n");
}

static bool uses_munge(const char *text)
{
    AUTO(faults_done) struct faults faults = {0};
    AUTO(conf_free) struct conf *conf = NULL;
    struct conf_input in = {.kind = CONF_SLURM, .name = "slurm.conf", .text = str_of(text)};

    assert_int_equal(conf_parse(&in, &faults, &conf, NULL), 0);
    return client_conf_uses_munge(conf);
}

static void munge_is_what_slurm_takes_without_a_word(void **state)
{
    (void)state;
    assert_true(uses_munge("ClusterName=a\n"));
    assert_true(uses_munge("authtype=AUTH/MUNGE\n"));
    assert_false(uses_munge("AuthType=auth/slurm\n"));
}

static void one_process_holds_a_directory(void **state)
{
    char *dir = make_dir();
    AUTO(layout_done) struct layout l = {0};
    struct err e = {0};
    int first = -1;
    int second = -1;

    (void)state;
    assert_int_equal(layout_init(&l, dir, &e), 0);
    assert_int_equal(layout_make(&l, &e), 0);
    assert_int_equal(layout_holder(&l), 0);
    assert_int_equal(layout_lock(&l, &first, &e), 0);
    assert_int_equal(layout_holder(&l), getpid());
    assert_int_equal(layout_lock(&l, &second, &e), -EBUSY);
    assert_non_null(strstr(e.text, "serves"));
    assert_non_null(strstr(e.text, "test-local"));
    assert_non_null(strstr(e.text, "since 20"));
    (void)close(first);
    assert_int_equal(layout_holder(&l), 0);
    assert_int_equal(layout_lock(&l, &second, &e), 0);
    (void)close(second);
    remove_dir(dir);
}

/* Another user holds whatever he can open for as long as he likes. */
static NORETURN void grab_as_stranger(const char *state)
{
    static const char *const names[] = {"serve.lock", "serve.json", "serve", "serve/lock"};

    if (setgid(65534) < 0 || setuid(65534) < 0)
        _exit(2);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        AUTO(free) char *path = xasprintf("%s/%s", state, names[i]);
        int fd = open(path, O_RDONLY | O_CLOEXEC);

        if (fd >= 0)
            (void)flock(fd, LOCK_SH);
    }
    (void)pause();
    _exit(0);
}

static void no_other_user_can_take_the_lock(void **state)
{
    char *dir = make_dir();
    AUTO(layout_done) struct layout l = {0};
    struct err e = {0};
    pid_t stranger;
    int fd = -1;

    (void)state;
    if (geteuid() != 0)
        skip();
    assert_int_equal(layout_init(&l, dir, &e), 0);
    assert_int_equal(layout_make(&l, &e), 0);
    assert_int_equal(layout_lock(&l, &fd, &e), 0);
    (void)close(fd);
    stranger = fork();
    if (stranger == 0)
        grab_as_stranger(dir);
    (void)usleep(100000);
    assert_int_equal(layout_holder(&l), 0);
    assert_int_equal(layout_lock(&l, &fd, &e), 0);
    (void)close(fd);
    (void)kill(stranger, SIGKILL);
    (void)waitpid(stranger, NULL, 0);
    remove_dir(dir);
}

static void a_link_in_place_of_the_lock_is_refused(void **state)
{
    char *dir = make_dir();
    AUTO(layout_done) struct layout l = {0};
    AUTO(free) char *lock = NULL;
    struct err e = {0};
    int fd = -1;

    (void)state;
    assert_int_equal(layout_init(&l, dir, &e), 0);
    assert_int_equal(layout_make(&l, &e), 0);
    assert_int_equal(symlink("/tmp", l.held), 0);
    assert_int_equal(layout_lock(&l, &fd, &e), -EPERM);
    assert_non_null(strstr(e.text, "directory of our own"));
    assert_int_equal(unlink(l.held), 0);
    assert_int_equal(mkdir(l.held, 0777), 0);
    lock = xasprintf("%s/lock", l.held);
    assert_int_equal(symlink("/etc/passwd", lock), 0);
    assert_int_equal(layout_lock(&l, &fd, &e), -ELOOP);
    remove_dir(dir);
}

/* The note says a number that another process has by now: that one gets no signal. */
static void a_stale_number_is_nobody(void **state)
{
    char *dir = make_dir();
    AUTO(layout_done) struct layout l = {0};
    AUTO(free) char *note = xasprintf("%s/serve.json", dir);
    AUTO(free) char *text = NULL;
    pid_t other = fork();
    struct err e = {0};
    int status;
    int fd = -1;

    (void)state;
    if (other == 0) {
        (void)pause();
        _exit(0);
    }
    assert_int_equal(layout_init(&l, dir, &e), 0);
    assert_int_equal(layout_make(&l, &e), 0);
    assert_int_equal(layout_lock(&l, &fd, &e), 0);
    text = xasprintf("{\"pid\":%d,\"pidStart\":1,\"boot\":\"x\",\"sinceUs\":0}", (int)other);
    assert_int_equal(file_write(note, str_of(text), 0644, &e), 0);
    assert_int_equal(layout_holder(&l), -1);
    assert_int_equal(layout_end_holder(&l, 1000, &e), -EBUSY);
    assert_non_null(strstr(e.text, "fuser"));
    (void)close(fd);
    assert_int_equal(layout_holder(&l), 0);
    assert_int_equal(layout_end_holder(&l, 1000, &e), 0);
    assert_int_equal(waitpid(other, &status, WNOHANG), 0);
    (void)kill(other, SIGKILL);
    (void)waitpid(other, NULL, 0);
    remove_dir(dir);
}

static void others_reach_the_clients_alone(void **state)
{
    char *dir = make_dir();
    AUTO(layout_done) struct layout l = {0};
    struct err e = {0};
    struct stat st;

    (void)state;
    assert_int_equal(layout_init(&l, dir, &e), 0);
    assert_int_equal(layout_make(&l, &e), 0);
    assert_int_equal(stat(l.state, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0711);
    assert_int_equal(stat(l.clients, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0755);
    assert_int_equal(stat(l.logs, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    remove_dir(dir);
}

static void choices_come_back_as_they_were_made(void **state)
{
    char *dir = make_dir();
    AUTO(layout_done) struct layout l = {0};
    AUTO(choices_done) struct choices read = {0};
    char *shares[] = {xstrdup("/home"), xstrdup("/srv/with 'quotes\""), NULL};
    struct choices c = {.name = xstrdup("lab"), .port = 6450, .shares = shares, .no_agent = true};
    struct err e = {0};

    (void)state;
    assert_int_equal(layout_init(&l, dir, &e), 0);
    assert_int_equal(choices_read(&l, &read, &e), -ENOENT);
    assert_int_equal(choices_write(&l, &c, &e), 0);
    assert_int_equal(choices_read(&l, &read, &e), 0);
    assert_string_equal(read.name, "lab");
    assert_int_equal(read.port, 6450);
    assert_null(read.pod_cidr);
    assert_string_equal(read.shares[1], shares[1]);
    assert_null(read.shares[2]);
    assert_true(read.no_agent);
    free(c.name);
    free(shares[0]);
    free(shares[1]);
    remove_dir(dir);
}

static void a_running_cluster_does_not_lose_its_agent(void **state)
{
    static const struct {
        bool runs_without;
        bool without;
        int result;
    } cases[] = {{false, false, 0}, {false, true, -EBUSY}, {true, true, 0}, {true, false, 0}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct choices c = {.no_agent = cases[i].runs_without};
        struct err e = {0};

        assert_int_equal(choices_check_agent(&c, cases[i].without, &e), cases[i].result);
        assert_int_equal(strstr(e.text, "slurmkeeper down") != NULL, cases[i].result < 0);
    }
}

static void names_of_clusters(void **state)
{
    (void)state;
    assert_true(choices_name_ok("lab-2"));
    assert_false(choices_name_ok(""));
    assert_false(choices_name_ok("Lab"));
    assert_false(choices_name_ok("a/b"));
    assert_false(choices_name_ok("a234567890123456789012345678901234567890x"));
}

static void a_command_gives_its_output_or_its_complaint(void **state)
{
    static const struct {
        const char *argv[4];
        int result;
        const char *text; /* of the output, or in the error */
    } cases[] = {
        {{"sh", "-c", "echo hello; echo noise >&2"}, 0, "hello\n"},
        {{"sh", "-c", "echo $GREETING"}, 0, "from the environment\n"},
        {{"sh", "-c", "echo first >&2; echo the reason >&2; exit 3"}, -EREMOTEIO, "the reason"},
        {{"sh", "-c", "kill -9 $$"}, -EREMOTEIO, "status 137"},
        {{"/nonexistent/program"}, -ENOENT, "not installed"},
        {{"sleep", "30"}, -ETIMEDOUT, "did not end"},
    };
    const char *const env[] = {"GREETING=from the environment", NULL};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(free) char *out = NULL;
        struct err e = {0};
        int r = command_output(cases[i].argv, env, 300, &out, &e);

        assert_int_equal(r, cases[i].result);
        if (r == 0)
            assert_string_equal(out, cases[i].text);
        else
            assert_non_null(strstr(e.text, cases[i].text));
    }
}

static void stop_loop(void *arg)
{
    loop_stop(arg, 0);
}

/* How often the program of a test has been started: one line each in its log. */
static size_t lives(const char *log)
{
    AUTO(free) char *text = NULL;
    size_t n = 0;
    size_t size;

    if (file_read(log, 1 << 20, &text, &size, NULL) < 0)
        return 0;
    for (const char *p = text; *p; p++)
        n += *p == '\n';
    return n;
}

static void a_daemon_that_dies_lives_again(void **state)
{
    char *dir = make_dir();
    AUTO(free) char *log = xasprintf("%s/log", dir);
    const char *const argv[] = {"sh", "-c", "echo life; exec sleep 60", NULL};
    struct daemon_options o = {.name = "test", .argv = argv, .log = log};
    AUTO(loop_free) struct loop *l = NULL;
    struct daemon *d;
    struct err e = {0};
    pid_t first;
    int64_t until = clock_mono_ms() + 20000;

    (void)state;
    assert_int_equal(loop_new(&l, &e), 0);
    d = daemon_new(l, &o);
    while (lives(log) < 1 && clock_mono_ms() < until)
        (void)loop_turn(l, 10);
    first = daemon_pid(d);
    assert_true(first > 0);
    assert_int_equal(kill(first, SIGKILL), 0);
    while (lives(log) < 2 && clock_mono_ms() < until)
        (void)loop_turn(l, 10);
    assert_int_equal(lives(log), 2);
    assert_true(daemon_pid(d) > 0);
    assert_int_not_equal(daemon_pid(d), first);
    daemon_stop(d, 1000, stop_loop, l);
    (void)loop_run(l);
    assert_int_equal(daemon_pid(d), 0);
    daemon_free(d);
    remove_dir(dir);
}

static void a_daemon_that_will_not_end_is_killed(void **state)
{
    char *dir = make_dir();
    AUTO(free) char *log = xasprintf("%s/log", dir);
    const char *const argv[] = {"sh", "-c", "trap '' TERM; echo life; while :; do sleep 0.05; done",
                                NULL};
    struct daemon_options o = {.name = "test", .argv = argv, .log = log};
    AUTO(loop_free) struct loop *l = NULL;
    struct daemon *d;
    struct err e = {0};
    int64_t until = clock_mono_ms() + 20000;

    (void)state;
    assert_int_equal(loop_new(&l, &e), 0);
    d = daemon_new(l, &o);
    while (lives(log) < 1 && clock_mono_ms() < until)
        (void)loop_turn(l, 10);
    daemon_stop(d, 100, stop_loop, l);
    (void)loop_run(l);
    assert_int_equal(daemon_pid(d), 0);
    daemon_free(d);
    remove_dir(dir);
}

static void a_daemon_that_cannot_live_is_told_with_its_last_words(void **state)
{
    char *dir = make_dir();
    AUTO(free) char *log = xasprintf("%s/node.log", dir);
    AUTO(free) char *cure = xasprintf("%s/cure", dir);
    AUTO(free)
    char *script = xasprintf("test -e %s && exec sleep 60\n"
                             "echo first words\necho 'slurmkeeper: node: no luck'; exit 1",
                             cure);
    const char *const argv[] = {"sh", "-c", script, NULL};
    struct daemon_options o = {.name = "node", .argv = argv, .log = log};
    AUTO(loop_free) struct loop *l = NULL;
    char *words = NULL;
    const char *name = NULL;
    struct daemon *d;
    struct err e = {0};
    int64_t until = clock_mono_ms() + 20000;

    (void)state;
    assert_int_equal(loop_new(&l, &e), 0);
    d = daemon_new(l, &o);
    assert_null(daemon_ailing(dir, &name));
    while (!(words = daemon_ailing(dir, &name)) && clock_mono_ms() < until)
        (void)loop_turn(l, 10);
    assert_string_equal(words, "no luck");
    assert_string_equal(name, "node");
    assert_int_equal(file_write(cure, STR(""), 0644, &e), 0);
    while (words && clock_mono_ms() < until) {
        (void)loop_turn(l, 10);
        free(words);
        words = daemon_ailing(dir, &name);
    }
    assert_null(words);
    assert_true(daemon_pid(d) > 0);
    daemon_free(d);
    remove_dir(dir);
}

static void another_name_or_range_is_refused(void **state)
{
    char name[] = "a";
    char range[] = "10.1.0.0/16";
    const struct choices kept = {.name = name, .pod_cidr = range};
    struct err e = {0};

    (void)state;
    assert_int_equal(choices_check(&kept, "/s", NULL, NULL, &e), 0);
    assert_int_equal(choices_check(&kept, "/s", "a", "10.1.0.0/16", &e), 0);
    assert_int_equal(choices_check(&(struct choices){0}, "/s", "b", "10.2.0.0/16", &e), 0);
    assert_int_equal(choices_check(&kept, "/s", "b", NULL, &e), -EINVAL);
    assert_non_null(strstr(e.text, "is called 'a', not 'b'"));
    assert_int_equal(choices_check(&kept, "/s", NULL, "10.2.0.0/16", &e), -EINVAL);
    assert_non_null(strstr(e.text, "in 10.1.0.0/16, not in 10.2.0.0/16"));
}

static void pods_keep_a_range_that_the_node_chose(void **state)
{
    char dir[] = "/tmp/sk-range-XXXXXX";
    struct err e = {0};

    (void)state;
    assert_non_null(mkdtemp(dir));
    AUTO(free) char *pod = xasprintf("%s/node/pods/1", dir);
    AUTO(free) char *range = xasprintf("%s/node/pod-cidr", dir);
    assert_int_equal(file_make_dirs(pod, 0700, &e), 0);
    assert_int_equal(file_write(range, str_of("10.1.0.0/16"), 0600, &e), 0);
    assert_int_equal(choices_check(&(struct choices){0}, dir, NULL, "10.1.0.0/16", &e), 0);
    assert_int_equal(choices_check(&(struct choices){0}, dir, NULL, "10.2.0.0/16", &e), -EINVAL);
    assert_int_equal(rmdir(pod), 0);
    assert_int_equal(choices_check(&(struct choices){0}, dir, NULL, "10.2.0.0/16", &e), 0);
    assert_int_equal(file_remove_tree(dir, &e), 0);
}

static void a_directory_of_another_user_is_refused(void **state)
{
    AUTO(free) char *dir = make_dir();
    AUTO(free) char *link = xasprintf("%s/link", dir);
    AUTO(free) char *slash = xasprintf("%s/link//", dir);
    AUTO(free) char *theirs = xasprintf("%s/theirs", dir);
    const struct {
        const char *path;
        int result;
    } cases[] = {{dir, 0}, {link, -EINVAL}, {slash, -EINVAL}, {theirs, -EINVAL}};

    (void)state;
    if (geteuid() != 0)
        skip();
    assert_int_equal(symlink("/", link), 0);
    assert_int_equal(mkdir(theirs, 0755), 0);
    assert_int_equal(lchown(link, 65534, 65534), 0);
    assert_int_equal(lchown(theirs, 65534, 65534), 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(layout_done) struct layout l = {0};
        struct err e = {0};

        assert_int_equal(layout_init(&l, cases[i].path, &e), cases[i].result);
        if (cases[i].result < 0)
            assert_non_null(strstr(e.text, "belongs to another user (65534)"));
    }
    remove_dir(TAKE(dir));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_keep_a_range_that_the_node_chose),
        cmocka_unit_test(client_file_has_the_address_and_the_socket),
        cmocka_unit_test(client_file_names_dynamic_nodes_once_and_safely),
        cmocka_unit_test(munge_is_what_slurm_takes_without_a_word),
        cmocka_unit_test(one_process_holds_a_directory),
        cmocka_unit_test(no_other_user_can_take_the_lock),
        cmocka_unit_test(a_link_in_place_of_the_lock_is_refused),
        cmocka_unit_test(a_stale_number_is_nobody),
        cmocka_unit_test(others_reach_the_clients_alone),
        cmocka_unit_test(choices_come_back_as_they_were_made),
        cmocka_unit_test(a_running_cluster_does_not_lose_its_agent),
        cmocka_unit_test(names_of_clusters),
        cmocka_unit_test(a_command_gives_its_output_or_its_complaint),
        cmocka_unit_test(a_daemon_that_dies_lives_again),
        cmocka_unit_test(a_daemon_that_will_not_end_is_killed),
        cmocka_unit_test(a_daemon_that_cannot_live_is_told_with_its_last_words),
        cmocka_unit_test(another_name_or_range_is_refused),
        cmocka_unit_test(a_directory_of_another_user_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
