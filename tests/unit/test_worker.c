/* test_worker.c - the threads of code generation: how many run at once, what a fatal error, a fork or somebody who waits no
 * longer does to the others. */
#include "codegen/llvm_start.h"
#include "codegen/worker.h"
#include "frontend/base/os.h"
#include "tests/unit/cg_test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

/* -- jobs that sleep ------------------------------------------------------------------------------ */

typedef struct Sleeper {
    int64_t ns;
    const void *alone;
    atomic_int began, ran, dropped, looked;
    atomic_int held; /* it sleeps on while this is set */
    int patience;    /* looks before it gives up */
} Sleeper;

static void sleep_job(LlvmState *llvm, void *user) {
    (void)llvm;
    Sleeper *s = user;
    atomic_store(&s->began, 1);
    os_sleep_ns(s->ns);
    for (int i = 0; i < 10000 && atomic_load(&s->held); i++)
        os_sleep_ns(1000000);
    atomic_fetch_add(&s->ran, 1);
}

static bool sleeper_looks(void *user) {
    Sleeper *s = user;
    return atomic_fetch_add(&s->looked, 1) + 1 >= s->patience;
}

static void sleeper_drops(void *user) {
    atomic_fetch_add(&((Sleeper *)user)->dropped, 1);
}

static WorkerOutcome run_sleeper(Sleeper *s, bool may_leave) {
    WorkerWait wait = {sleeper_looks, may_leave ? sleeper_drops : NULL, s, s->alone};
    char error[128];
    return worker_run(&llvm_hooks, sleep_job, s, &wait, error, sizeof error);
}

static void *sleep_through(void *user) {
    Sleeper *s = user;
    WorkerWait wait = {.alone = s->alone};
    char error[128];
    CHECK(worker_run(&llvm_hooks, sleep_job, user, &wait, error, sizeof error) == WORKER_DONE);
    return NULL;
}

static void wait_for(atomic_int *count) {
    for (int i = 0; i < 1000 && !atomic_load(count); i++)
        os_sleep_ns(10000000);
}

/* Who waits may stop: what has not begun never runs, what runs is dropped at its end, or waited for. */
static void test_R7_a_wait_can_be_left(void) {
    int one;
    Sleeper busy = {.held = 1, .alone = &one}, queued = {.patience = 1, .alone = &one},
            left = {.held = 1, .patience = 1}, stays = {.ns = 300000000, .patience = 1},
            patient = {.ns = 200000000, .patience = 100};
    pthread_t thread;
    pthread_create(&thread, NULL, sleep_through, &busy);
    wait_for(&busy.began);
    CHECK_INT(run_sleeper(&queued, true), WORKER_LEFT);
    CHECK_INT(atomic_load(&queued.ran), 0);
    CHECK_INT(atomic_load(&queued.dropped), 1);
    atomic_store(&busy.held, 0);
    pthread_join(thread, NULL);
    CHECK_INT(atomic_load(&busy.ran), 1);
    CHECK_INT(run_sleeper(&left, true), WORKER_LEFT);
    CHECK_INT(atomic_load(&left.dropped), 0);
    atomic_store(&left.held, 0);
    wait_for(&left.dropped);
    CHECK_INT(atomic_load(&left.dropped), 1);
    CHECK_INT(atomic_load(&left.ran), 1);
    CHECK_INT(run_sleeper(&stays, false), WORKER_DONE);
    CHECK_INT(atomic_load(&stays.ran), 1);
    CHECK_INT(atomic_load(&stays.looked), 1);
    CHECK_INT(run_sleeper(&patient, true), WORKER_DONE);
    CHECK(atomic_load(&patient.looked) > 0);
    CHECK_INT(atomic_load(&patient.dropped), 0);
    check_add(1);
}

/* The job takes longer than a fork waits. */
static void test_R4_fork_in_the_middle_of_a_job(void) {
    check_add(1);
    Sleeper busy = {.ns = 3000000000};
    pthread_t thread;
    pthread_create(&thread, NULL, sleep_through, &busy);
    os_sleep_ns(100000000);
    uint32_t before = worker_generation();
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        check_failures = 0;
        CHECK(worker_generation() == before + 1);
        check_add(2);
        check_add(3);
        _exit(check_failures ? 1 : 0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(worker_generation() == before);
    wait_for(&busy.ran);
    pthread_join(thread, NULL);
    check_add(1);
}

/* -- several at once ------------------------------------------------------------------------------ */

enum { MANY = 12 };

typedef struct Crowd { /* jobs that count how many of them run at one time */
    atomic_int now, most, ran;
    const void *alone;
    int meet; /* a job waits until so many have been there together, or for two seconds */
} Crowd;

static void crowd_job(LlvmState *llvm, void *user) {
    Crowd *c = user;
    CHECK(llvm != NULL);
    int now = atomic_fetch_add(&c->now, 1) + 1, most = atomic_load(&c->most);
    while (most < now && !atomic_compare_exchange_weak(&c->most, &most, now))
        ;
    for (int i = 0; i < 200 && atomic_load(&c->most) < c->meet; i++)
        os_sleep_ns(10000000);
    os_sleep_ns(2000000);
    atomic_fetch_sub(&c->now, 1);
    atomic_fetch_add(&c->ran, 1);
}

static void *one_of_crowd(void *user) {
    Crowd *c = user;
    WorkerWait wait = {.alone = c->alone};
    char error[128];
    CHECK(worker_run(&llvm_hooks, crowd_job, c, &wait, error, sizeof error) == WORKER_DONE);
    return NULL;
}

static void run_crowd(Crowd *c) {
    pthread_t threads[MANY];
    for (int i = 0; i < MANY; i++)
        pthread_create(&threads[i], NULL, one_of_crowd, c);
    for (int i = 0; i < MANY; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(atomic_load(&c->ran), MANY);
}

static void test_COMP_04_as_many_jobs_at_once_as_processors(void) {
    int processors = QN_MIN(os_cpu_count(), MANY), one;
    Crowd all = {.meet = processors}, single = {.alone = &one};
    run_crowd(&all);
    CHECK_INT(atomic_load(&all.most), processors);
    run_crowd(&single);
    CHECK_INT(atomic_load(&single.most), 1);
}

static void *compile_often(void *user) {
    (void)user;
    for (int i = 0; i < 20; i++)
        check_add(i % 4);
    return NULL;
}

static void test_COMP_04_threads_that_compile_at_once(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, compile_often, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

/* A job that is at work while others run into fatal errors ends as if nothing had been. */
static void fatal_job(LlvmState *llvm, void *user) {
    (void)llvm, (void)user;
    llvm_provoke();
}

static void test_JIT_05_fatal_errors_leave_other_workers_alone(void) {
    int one;
    Sleeper busy = {.ns = 500000000};
    WorkerWait wait = {.alone = &one}; /* a lost job keeps nobody away */
    pthread_t thread;
    pthread_create(&thread, NULL, sleep_through, &busy);
    os_sleep_ns(50000000);
    for (int i = 0; i < 5; i++) {
        char error[128] = "";
        CHECK(worker_run(&llvm_hooks, fatal_job, NULL, &wait, error, sizeof error) ==
              WORKER_FAILED);
        CHECK(strlen(error) > 10);
        check_add(2);
    }
    if (os_cpu_count() > 1) CHECK_INT(atomic_load(&busy.ran), 0);
    pthread_join(thread, NULL);
    CHECK_INT(atomic_load(&busy.ran), 1);
}

static void sleep_and_fail(LlvmState *llvm, void *user) {
    sleep_job(llvm, user);
    llvm_provoke();
}

static void test_JIT_05_a_fatal_error_when_nobody_waits(void) {
    Sleeper s = {.ns = 200000000, .patience = 1};
    WorkerWait wait = {sleeper_looks, sleeper_drops, &s, NULL};
    char error[128];
    CHECK(worker_run(&llvm_hooks, sleep_and_fail, &s, &wait, error, sizeof error) == WORKER_LEFT);
    wait_for(&s.dropped);
    CHECK_INT(atomic_load(&s.ran), 1);
    CHECK_INT(atomic_load(&s.dropped), 1);
    check_add(1);
}

static atomic_bool enough;

static void *compile_on(void *user) {
    (void)user;
    while (!atomic_load(&enough))
        check_add(3);
    return NULL;
}

/* Forks come at any moment of the work of several threads, and the children compile. */
static void test_FRK_forks_while_threads_compile(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, compile_on, NULL);
    for (int i = 0; i < 20; i++) {
        os_sleep_ns(1000000 * (i % 7));
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            alarm(60);
            check_failures = 0;
            check_add(i % 4);
            _exit(check_failures ? 1 : 0);
        }
        int status = -1;
        waitpid(child, &status, 0);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    atomic_store(&enough, true);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

int main(void) {
    RUN(test_R7_a_wait_can_be_left);
    RUN(test_COMP_04_as_many_jobs_at_once_as_processors);
    RUN(test_COMP_04_threads_that_compile_at_once);
    RUN(test_JIT_05_fatal_errors_leave_other_workers_alone);
    RUN(test_JIT_05_a_fatal_error_when_nobody_waits);
    RUN(test_FRK_forks_while_threads_compile);
    RUN(test_R4_fork_in_the_middle_of_a_job);
    return check_report();
}
