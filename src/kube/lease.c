/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Leader election, by the rules of client-go, so that both can campaign for one Lease.
 *
 *   FOLLOWING --lease free, expired or ours: written--> LEADING
 *   LEADING   --another holds it, or no renewal in renew_ms--> FOLLOWING
 *   either    --stop--> RELEASING --> STOPPED
 *
 * An attempt reads the Lease and, if it may be had, writes it with the version that was read: of
 * two who try, one gets a conflict.  A leader writes at once with the version it knows, and reads
 * only if that fails.  Whether another's lease has expired is judged by our own clock, from when we
 * first saw the spec as it stands; clocks of different machines are never compared.  A holder whose
 * name begins as that of all our predecessors is dead: only one of them lives at a time.
 *
 * Fencing: a leader counts renew_ms from before the renewal was sent, others count lease_ms, which
 * is longer, from after it was written.  The clock is that of the boot, which goes on while the
 * machine sleeps.
 */
#include "src/kube/lease.h"

#include <time.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/kube/lease_record.h"
#include "src/kube/pace.h"

/* A dead leader is followed in less than five seconds.  client-go takes 15, 10 and 2 seconds, for
 * its processes end when they lose the lead; ours waits and goes on. */
#define LEASE_MS 4000
#define RENEW_MS 3000
#define RETRY_MS 750
#define RELEASE_DEADLINE_MS 3000

enum role { FOLLOWING, LEADING, RELEASING, STOPPED };

struct kube_election {
    struct kube_client *client;
    struct kube_election_options o; /* with strings of our own */
    char *namespace;
    char *name;
    char *identity;
    char *predecessors; /* what their identities begin with; NULL: there are none */
    enum role role;
    struct lease_record seen;
    int64_t seen_ms;    /* since when the spec stands as it does */
    char *leader;       /* that was told last */
    int64_t sent_ms;    /* when the attempt under way began to write */
    int64_t renewed_ms; /* sent_ms of the last success */
    struct kube_call *call;
    struct loop_source *retry;
    struct loop_source *fence;
    void (*done)(void *arg);
    void *done_arg;
    bool dead;
};

static const struct kube_resource leases = {"coordination.k8s.io", "v1", "leases"};

static void attempt(void *arg);

static int64_t boot_ms(void)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_BOOTTIME, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

bool kube_election_leads(const struct kube_election *el)
{
    return el->role == LEADING && boot_ms() < el->renewed_ms + el->o.renew_ms;
}

/* The one place where the role changes. */
static void set_role(struct kube_election *el, enum role role)
{
    enum role before = el->role;

    el->role = role;
    if (role != LEADING)
        loop_timer_disarm(el->fence);
    if (role == LEADING && before == FOLLOWING)
        el->o.started(el->o.arg);
    else if (before == LEADING && role != LEADING)
        el->o.stopped(el->o.arg);
}

static void tell_leader(struct kube_election *el)
{
    AUTO(free) char *before = el->leader;

    el->leader = xstrdup(el->seen.holder);
    if (!streq(before, el->leader) && *el->leader && el->o.leader)
        el->o.leader(el->o.arg, el->leader);
}

/* Until another's lease runs out; 0 where it has, or where there is none. */
static int64_t left_of_lease_ms(const struct kube_election *el)
{
    if (!*el->seen.holder || streq(el->seen.holder, el->identity))
        return 0;
    return MAX(el->seen_ms + el->seen.lease_ms - boot_ms(), (int64_t)0);
}

/* A leader keeps time.  Followers look oftener than it renews, each in its own time, and at once
 * when the lease has run out. */
static void try_later(struct kube_election *el)
{
    int64_t wait_ms = el->o.retry_ms;
    int64_t left_ms = el->seen.holder ? left_of_lease_ms(el) : 0;

    if (el->role != LEADING) {
        wait_ms = wait_ms / 2 + pace_random(0, wait_ms / 4);
        if (left_ms > 0)
            wait_ms = MIN(wait_ms, left_ms + pace_random(1, el->o.retry_ms / 10));
    }
    loop_timer_arm(el->retry, wait_ms);
}

static void failed(struct kube_election *el, const struct kube_failure *f)
{
    if (el->o.trouble)
        el->o.trouble(el->o.arg, f);
    if (el->dead)
        return;
    if (el->role == LEADING)
        loop_timer_arm(el->retry, el->o.retry_ms / 4); /* while the lease lasts */
    else
        try_later(el);
}

static void observe(struct kube_election *el, const struct jsn *lease)
{
    AUTO(free) char *before = xstrdup_null(el->seen.spec);

    lease_record_read(&el->seen, lease);
    if (!streq(before, el->seen.spec))
        el->seen_ms = boot_ms();
    tell_leader(el);
}

/* A write was carried out: the lease is ours from when it was sent. */
static void won(struct kube_election *el, const struct jsn *lease)
{
    int64_t left_ms;

    observe(el, lease);
    if (el->dead)
        return;
    el->renewed_ms = el->sent_ms;
    left_ms = el->renewed_ms + el->o.renew_ms - boot_ms();
    if (left_ms > 0)
        loop_timer_arm(el->fence, left_ms);
    if (left_ms > 0 && el->role == FOLLOWING)
        set_role(el, LEADING);
    if (!el->dead && (el->role == LEADING || el->role == FOLLOWING))
        try_later(el);
}

static void call(struct kube_election *el, enum kube_verb verb, const struct jsn *body,
                 int64_t deadline_ms, kube_done_fn fn)
{
    struct kube_request r = {
        .verb = verb,
        .resource = leases,
        .namespace = el->namespace,
        .name = verb == KUBE_CREATE ? NULL : el->name,
        .body = body,
        .deadline_ms = deadline_ms,
        .urgent = true,
        .once = true,
        .fn = fn,
        .arg = el,
    };

    el->call = kube_call_start(el->client, &r);
}

/* Room for two attempts before a leader has to give up. */
static int64_t attempt_deadline(const struct kube_election *el)
{
    return MAX(el->o.renew_ms / 2 - el->o.retry_ms / 2, (int64_t)1);
}

static void read_lease(struct kube_election *el);

static void written(void *arg, const struct kube_answer *a, const struct kube_failure *f)
{
    struct kube_election *el = arg;

    el->call = NULL;
    if (a) {
        won(el, a->value);
        return;
    }
    free(TAKE(el->seen.object)); /* its version is of no more use */
    if (f->err.class == ERR_CONFLICT && el->role == LEADING)
        read_lease(el);
    else
        failed(el, f);
}

static void write_lease(struct kube_election *el, bool create)
{
    AUTO(arena_done) struct arena a = {0};
    int64_t now_us = clock_wall_us();
    struct jsn *lease;

    if (create)
        lease =
            lease_record_create(&a, el->namespace, el->name, el->identity, el->o.lease_ms, now_us);
    else
        lease = lease_record_hold(&el->seen, &a, el->identity, el->o.lease_ms, now_us);
    if (!lease) {
        struct kube_failure f = {0};

        (void)err_set(&f.err, -EBADMSG, ERR_RETRY, "lease '%s/%s': the server's answer is no Lease",
                      el->namespace, el->name);
        failed(el, &f);
        return;
    }
    el->sent_ms = boot_ms();
    call(el, create ? KUBE_CREATE : KUBE_UPDATE, lease, attempt_deadline(el), written);
}

/* Somebody else's who may live, and not yet expired? */
static bool taken(const struct kube_election *el)
{
    if (el->predecessors && starts_with(el->seen.holder, el->predecessors))
        return false;
    return left_of_lease_ms(el) > 0;
}

static void lease_read(void *arg, const struct kube_answer *a, const struct kube_failure *f)
{
    struct kube_election *el = arg;

    el->call = NULL;
    if (f && f->err.num == -ENOENT) {
        write_lease(el, true);
        return;
    }
    if (f) {
        failed(el, f);
        return;
    }
    observe(el, a->value);
    if (el->dead)
        return;
    if (el->role == LEADING && !streq(el->seen.holder, el->identity)) {
        set_role(el, FOLLOWING); /* even if it is free: somebody else had it */
        if (!el->dead)
            try_later(el);
    } else if (taken(el)) {
        try_later(el);
    } else {
        write_lease(el, false);
    }
}

static void read_lease(struct kube_election *el)
{
    call(el, KUBE_GET, NULL, attempt_deadline(el), lease_read);
}

static void attempt(void *arg)
{
    struct kube_election *el = arg;

    if (el->role == LEADING && el->seen.object)
        write_lease(el, false);
    else
        read_lease(el);
}

/* No renewal in time: others may take over soon. */
static void fence_reached(void *arg)
{
    struct kube_election *el = arg;

    if (el->call)
        kube_call_cancel(TAKE(el->call));
    free(TAKE(el->seen.object));
    set_role(el, FOLLOWING);
    if (!el->dead)
        try_later(el);
}

static int check(const struct kube_election_options *o, struct err *e)
{
    if (!o->namespace || !o->name || !o->identity || !*o->identity)
        return err_bad(e, "leader election needs a namespace, a name and an identity");
    if (o->lease_ms % 1000 != 0)
        return err_bad(e, "the lease duration must be whole seconds, not %d ms", (int)o->lease_ms);
    if (o->lease_ms <= o->renew_ms)
        return err_bad(e, "the lease duration must be longer than the renewal deadline");
    if (o->renew_ms <= o->retry_ms * 12 / 10)
        return err_bad(e, "the renewal deadline must be longer than 1.2 retry periods");
    return 0;
}

int kube_election_new(struct kube_client *c, const struct kube_election_options *o,
                      struct kube_election **ret_election, struct err *e)
{
    struct kube_election_options full = *o;
    struct kube_election *el;
    int r;

    full.lease_ms = o->lease_ms ? o->lease_ms : LEASE_MS;
    full.renew_ms = o->renew_ms ? o->renew_ms : RENEW_MS;
    full.retry_ms = o->retry_ms ? o->retry_ms : RETRY_MS;
    r = check(&full, e);
    if (r < 0)
        return r;
    el = xcalloc(1, sizeof(*el));
    el->client = c;
    el->o = full;
    el->namespace = xstrdup(o->namespace);
    el->name = xstrdup(o->name);
    el->identity = xstrdup(o->identity);
    el->predecessors = xstrdup_null(o->predecessors);
    el->retry = loop_add_timer(kube_client_loop(c), attempt, el);
    el->fence = loop_add_timer(kube_client_loop(c), fence_reached, el);
    loop_timer_arm(el->retry, 0);
    *ret_election = el;
    return 0;
}

static void bury(void *arg)
{
    struct kube_election *el = arg;

    lease_record_done(&el->seen);
    free(el->namespace);
    free(el->name);
    free(el->identity);
    free(el->predecessors);
    free(el->leader);
    free(el);
}

struct kube_election *kube_election_free(struct kube_election *el)
{
    if (!el || el->dead)
        return NULL;
    el->dead = true;
    if (el->call)
        kube_call_cancel(TAKE(el->call));
    el->retry = loop_source_free(el->retry);
    el->fence = loop_source_free(el->fence);
    loop_defer_free(kube_client_loop(el->client), bury, el);
    return NULL;
}

static void released(void *arg)
{
    struct kube_election *el = arg;

    set_role(el, STOPPED);
    el->done(el->done_arg);
}

static void release_written(void *arg, const struct kube_answer *a, const struct kube_failure *f)
{
    struct kube_election *el = arg;

    (void)a;
    (void)f; /* the lease runs out by itself */
    el->call = NULL;
    released(el);
}

static void release_read(void *arg, const struct kube_answer *a, const struct kube_failure *f)
{
    struct kube_election *el = arg;
    AUTO(arena_done) struct arena arena = {0};
    struct jsn *lease = NULL;

    el->call = NULL;
    if (!f) {
        lease_record_read(&el->seen, a->value);
        if (streq(el->seen.holder, el->identity))
            lease = lease_record_release(&el->seen, &arena, clock_wall_us());
    }
    if (lease)
        call(el, KUBE_UPDATE, lease, RELEASE_DEADLINE_MS, release_written);
    else
        released(el);
}

static void release_nothing(void *arg)
{
    released(arg);
}

void kube_election_stop(struct kube_election *el, void (*done)(void *arg), void *arg)
{
    bool writing = el->call != NULL;
    bool led = el->role == LEADING;

    assert(el->role == FOLLOWING || el->role == LEADING);
    el->done = done;
    el->done_arg = arg;
    if (el->call)
        kube_call_cancel(TAKE(el->call));
    loop_timer_disarm(el->retry);
    set_role(el, RELEASING);
    if (el->dead)
        return;
    if (led || writing) {
        call(el, KUBE_GET, NULL, RELEASE_DEADLINE_MS, release_read);
        return;
    }
    (void)loop_source_free(el->retry);
    el->retry = loop_add_timer(kube_client_loop(el->client), release_nothing, el);
    loop_timer_arm(el->retry, 0);
}
