/* worker.c - one code-generation thread with a queue of one: see worker.h. */
#include "codegen/worker.h"
#include "frontend/base/os.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef enum RequestState { QUEUED, RUNNING, DONE, LOST } RequestState;

typedef struct Request {
    WorkerJob job;
    void (*drop)(void *job);
    void *user;
    RequestState state;
    bool left; /* nobody waits: the worker frees it */
    char error[1024];
    struct Request *next;
} Request;

/* The one process-wide worker; every field is guarded by the lock. */
typedef struct Worker {
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    Request *first, *last;
    Request *current; /* being run */
    pthread_t thread;
    bool running; /* a thread serves the queue */
    bool paused;  /* the process forks: no job begins */
    bool started; /* LLVM was initialised in this process or its parent */
    LlvmState *llvm;
    const WorkerHooks *hooks; /* NULL: no request was made yet */
} Worker;

/* START_ROOM: what the thread and LLVM allocate before the first job looks for room itself; neither glibc (memory of the
 * thread's variables) nor LLVM survives an allocation that fails there. */
enum { WORKER_STACK = 64 << 20, START_ROOM = 24 << 20 };
#define LOOK_NS      INT64_C(50000000)   /* between two questions whether to wait on */
#define FORK_WAIT_NS INT64_C(2000000000) /* for the job at hand, before a fork */

static Worker worker = {.lock = PTHREAD_MUTEX_INITIALIZER,
                        .wake = PTHREAD_COND_INITIALIZER,
                        .done = PTHREAD_COND_INITIALIZER};
static _Atomic uint32_t generation;
static pthread_once_t process_once = PTHREAD_ONCE_INIT;

/* false: it is later than `until`, by os_now_ns. */
static bool wait_done(int64_t until) {
    struct timespec time = {.tv_sec = until / 1000000000, .tv_nsec = until % 1000000000};
    return pthread_cond_clockwait(&worker.done, &worker.lock, CLOCK_MONOTONIC, &time) != ETIMEDOUT;
}

/* -- the thread ------------------------------------------------------------------------------- */

/* The fatal-error handler. */
static void fatal(const char *reason) {
    pthread_mutex_lock(&worker.lock);
    Request *request = worker.current;
    if (!worker.running || !request || !pthread_equal(worker.thread, pthread_self())) {
        pthread_mutex_unlock(&worker.lock);
        return; /* not ours: LLVM goes on to end the process */
    }
    snprintf(request->error, sizeof request->error, "%s", reason ? reason : "unknown");
    request->state = LOST;
    worker.current = NULL;
    worker.running = false; /* the next request starts another thread */
    pthread_cond_broadcast(&worker.done);
    pthread_mutex_unlock(&worker.lock);
    for (;;)
        pause();
}

static LlvmState *llvm_state(void) {
    const WorkerHooks *hooks = worker.hooks;
    if (!worker.llvm) worker.llvm = worker.started ? hooks->fresh() : hooks->start(fatal);
    worker.started |= worker.llvm != NULL;
    return worker.llvm;
}

static void *serve(void *unused) {
    (void)unused;
    pthread_mutex_lock(&worker.lock);
    for (;;) {
        while (!worker.first || worker.paused)
            pthread_cond_wait(&worker.wake, &worker.lock);
        Request *request = worker.current = worker.first;
        worker.first = request->next;
        request->state = RUNNING;
        LlvmState *llvm = llvm_state();
        pthread_mutex_unlock(&worker.lock);
        request->job(llvm, request->user);
        pthread_mutex_lock(&worker.lock);
        request->state = DONE;
        if (request->left) { /* its place is taken until all is freed: a fork waits for that, too */
            pthread_mutex_unlock(&worker.lock);
            request->drop(request->user);
            free(request);
            pthread_mutex_lock(&worker.lock);
        }
        worker.current = NULL;
        pthread_cond_broadcast(&worker.done);
    }
    return NULL;
}

/* With the lock held. WORKER_DONE: there is a thread. */
static WorkerOutcome ensure_thread(void) {
    if (worker.running) return WORKER_DONE;
    if (!os_has_memory((size_t)WORKER_STACK + START_ROOM)) return WORKER_NO_MEMORY;
    if (!os_thread_start(&worker.thread, serve, NULL, WORKER_STACK)) return WORKER_FAILED;
    os_thread_detach(worker.thread);
    worker.running = true;
    return WORKER_DONE;
}

/* -- fork ------------------------------------------------------------------------------------- */

/* The lock is held, and no job begins, until fork_parent or fork_child. LLVM's own locks and tables are whole where no
 * job is at work; a job that takes long, or a worker that forks, is not waited for. */
static void fork_prepare(void) {
    pthread_mutex_lock(&worker.lock);
    worker.paused = true;
    bool own = worker.running && pthread_equal(worker.thread, pthread_self());
    int64_t until = os_now_ns() + FORK_WAIT_NS;
    while (worker.current && !own && wait_done(until))
        ;
}

static void fork_parent(void) {
    worker.paused = false;
    pthread_cond_broadcast(&worker.wake);
    pthread_mutex_unlock(&worker.lock);
}

static void fork_child(void) {
    bool midway = worker.current != NULL;
    worker = (Worker){.lock = PTHREAD_MUTEX_INITIALIZER,
                      .wake = PTHREAD_COND_INITIALIZER,
                      .done = PTHREAD_COND_INITIALIZER,
                      .started = worker.started,
                      .hooks = worker.hooks,
                      .llvm = midway ? NULL : worker.llvm};
    atomic_fetch_add(&generation, 1);
}

static void install(void) {
    pthread_atfork(fork_prepare, fork_parent, fork_child);
}

uint32_t worker_generation(void) {
    pthread_once(&process_once, install);
    return atomic_load_explicit(&generation, memory_order_relaxed);
}

/* -- requests --------------------------------------------------------------------------------- */

static void enqueue(Request *request) {
    if (worker.first)
        worker.last->next = request;
    else
        worker.first = request;
    worker.last = request;
    pthread_cond_signal(&worker.wake);
}

static void dequeue(const Request *request) {
    Request **at = &worker.first, *before = NULL;
    while (*at && *at != request)
        at = &(before = *at)->next;
    if (!*at) return;
    *at = request->next;
    if (worker.last == request) worker.last = before;
}

/* With the lock held. True: the request is left to itself. */
static bool leave(Request *request) {
    if (request->state == QUEUED) {
        dequeue(request);
        return true;
    }
    if (request->state != RUNNING || !request->drop) return false;
    return request->left = true;
}

/* Asks whether to wait on, with the lock given up. */
static bool asked_to_stop(const WorkerWait *wait) {
    pthread_mutex_unlock(&worker.lock);
    bool stop = wait->look(wait->user);
    pthread_mutex_lock(&worker.lock);
    return stop;
}

/* With the lock held. True: the request was left. */
static bool await(Request *request, const WorkerWait *wait) {
    uint32_t born = atomic_load(&generation);
    int64_t next = wait && wait->look ? os_now_ns() + LOOK_NS : INT64_MAX;
    while (request->state == QUEUED || request->state == RUNNING) {
        bool changed = wait_done(next);
        if (!worker.running && worker.first) /* those behind a lost request need a thread */
            ensure_thread();
        if (changed) continue;
        next = os_now_ns() + LOOK_NS;
        bool stop = asked_to_stop(wait);
        if (atomic_load(&generation) != born) { /* `look` forked: the request is the parent's */
            snprintf(request->error, sizeof request->error,
                     "the process was forked while it waited for code generation");
            request->state = request->state == DONE ? DONE : LOST;
        } else if (stop && leave(request)) {
            return true;
        } else if (stop) {
            next = INT64_MAX; /* the answer was given: it takes effect when the job has ended */
        }
    }
    return false;
}

WorkerOutcome worker_run(const WorkerHooks *hooks, WorkerJob job, void *user,
                         const WorkerWait *wait, char *error, size_t error_size) {
    worker_generation(); /* what forks need is installed */
    Request *request = calloc(1, sizeof *request);
    if (!request) return WORKER_NO_MEMORY;
    *request = (Request){.job = job, .user = user, .drop = wait ? wait->drop : NULL};
    pthread_mutex_lock(&worker.lock);
    worker.hooks = hooks;
    WorkerOutcome outcome = ensure_thread();
    if (outcome == WORKER_FAILED)
        snprintf(error, error_size, "no thread could be started for code generation");
    if (outcome == WORKER_DONE) {
        enqueue(request);
        if (await(request, wait)) outcome = WORKER_LEFT;
        if (outcome == WORKER_DONE && request->state == LOST) {
            outcome = WORKER_FAILED;
            snprintf(error, error_size, "%s", request->error);
        }
    }
    bool running = outcome == WORKER_LEFT && request->left; /* the request is the worker's */
    pthread_mutex_unlock(&worker.lock);
    if (running) return outcome;
    if (outcome == WORKER_LEFT && request->drop) request->drop(user);
    free(request);
    return outcome;
}
