/* worker.c - the threads of code generation and their queue: see worker.h. */
#include "codegen/worker.h"
#include "frontend/base/os.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef enum RequestState { QUEUED, RUNNING, DONE, LOST } RequestState;

typedef struct WorkerRequest {
    WorkerJob job;
    void (*drop)(void *job);
    void *user;
    const void *alone; /* no other job with it runs at the same time; NULL: any may */
    uint32_t born;     /* the generation of the process that it is a request of */
    RequestState state;
    bool left; /* nobody waits: the worker frees it */
    char error[1024];
    struct WorkerRequest *next;
} Request;

enum { MAX_WORKERS = 64 };

typedef struct Worker { /* a thread, or the place for one */
    pthread_t thread;
    bool running;
    Request *current; /* being run */
} Worker;

/* All that is process-wide; every field is guarded by the lock. */
typedef struct Pool {
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    Request *first, *last;
    Worker workers[MAX_WORKERS];
    bool paused;                  /* the process forks: no job begins */
    bool started;                 /* LLVM was initialised in this process or its parent */
    LlvmState *idle[MAX_WORKERS]; /* what no job uses now; the last one is the warmest */
    int nstates;
    const WorkerHooks *hooks; /* NULL: no request was made yet */
} Pool;

/* START_ROOM: what the thread and LLVM allocate before the first job looks for room itself; neither glibc (memory of the
 * thread's variables) nor LLVM survives an allocation that fails there. */
enum { WORKER_STACK = 64 << 20, START_ROOM = 24 << 20 };
#define LOOK_NS      INT64_C(50000000)   /* between two questions whether to wait on */
#define FORK_WAIT_NS INT64_C(2000000000) /* for the jobs at hand, before a fork */

static Pool pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
                    .wake = PTHREAD_COND_INITIALIZER,
                    .done = PTHREAD_COND_INITIALIZER};
static _Atomic uint32_t generation;
static pthread_once_t process_once = PTHREAD_ONCE_INIT;

/* false: it is later than `until`, by os_now_ns. */
static bool wait_done(int64_t until) {
    struct timespec time = {.tv_sec = until / 1000000000, .tv_nsec = until % 1000000000};
    return pthread_cond_clockwait(&pool.done, &pool.lock, CLOCK_MONOTONIC, &time) != ETIMEDOUT;
}

/* The worker that the calling thread is, or NULL. With the lock held. */
static Worker *myself(void) {
    for (int i = 0; i < MAX_WORKERS; i++)
        if (pool.workers[i].running && pthread_equal(pool.workers[i].thread, pthread_self()))
            return &pool.workers[i];
    return NULL;
}

/* -- the threads ------------------------------------------------------------------------------ */

/* The fatal-error handler. The LLVM state that the job had is lost with it. */
static void fatal(const char *reason) {
    pthread_mutex_lock(&pool.lock);
    Worker *me = myself();
    if (!me || !me->current) {
        pthread_mutex_unlock(&pool.lock);
        return; /* not ours: LLVM goes on to end the process */
    }
    Request *request = me->current;
    snprintf(request->error, sizeof request->error, "%s", reason ? reason : "unknown");
    request->state = LOST;
    me->current = NULL;
    me->running = false; /* whoever waits starts another thread */
    bool left = request->left;
    pthread_cond_broadcast(&pool.done);
    pthread_mutex_unlock(&pool.lock);
    if (left) request->drop(request->user); /* nobody else will */
    for (;;)
        pause();
}

static LlvmState *take_state(void) {
    if (pool.nstates) return pool.idle[--pool.nstates];
    LlvmState *state = pool.started ? pool.hooks->fresh() : pool.hooks->start(fatal);
    pool.started |= state != NULL;
    return state;
}

/* There are never more than workers: what a thread took and never gave back went with it. */
static void give_state(LlvmState *state) {
    if (state && pool.nstates < MAX_WORKERS) pool.idle[pool.nstates++] = state;
}

static bool is_kept_waiting(const Request *request) {
    for (int i = 0; request->alone && i < MAX_WORKERS; i++) {
        const Request *other = pool.workers[i].current;
        if (other && other->alone == request->alone) return true;
    }
    return false;
}

static void dequeue(const Request *request) {
    Request **at = &pool.first, *before = NULL;
    while (*at && *at != request)
        at = &(before = *at)->next;
    if (!*at) return;
    *at = request->next;
    if (pool.last == request) pool.last = before;
}

/* The first request that may run now, taken out of the queue; or NULL. */
static Request *next_request(void) {
    Request *request = pool.paused ? NULL : pool.first;
    while (request && is_kept_waiting(request))
        request = request->next;
    if (request) dequeue(request);
    return request;
}

static void run(Worker *me, Request *request) {
    me->current = request;
    request->state = RUNNING;
    LlvmState *llvm = take_state();
    pthread_mutex_unlock(&pool.lock);
    request->job(llvm, request->user);
    pthread_mutex_lock(&pool.lock);
    give_state(llvm);
    request->state = DONE;
    if (request->left) { /* its place is taken until all is freed: a fork waits for that, too */
        pthread_mutex_unlock(&pool.lock);
        request->drop(request->user);
        free(request);
        pthread_mutex_lock(&pool.lock);
    }
    me->current = NULL;
    pthread_cond_broadcast(&pool.done);
}

static void *serve(void *user) {
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        Request *request;
        while (!(request = next_request()))
            pthread_cond_wait(&pool.wake, &pool.lock);
        run(user, request);
    }
    return NULL;
}

/* With the lock held. */
static WorkerOutcome start_thread(void) {
    if (!os_has_memory((size_t)WORKER_STACK + START_ROOM)) return WORKER_NO_MEMORY;
    Worker *worker = pool.workers;
    while (worker->running)
        worker++;
    if (!os_thread_start(&worker->thread, serve, worker, WORKER_STACK)) return WORKER_FAILED;
    os_thread_detach(worker->thread);
    worker->running = true;
    return WORKER_DONE;
}

/* With the lock held: one thread more where `extra` requests, beside those in the queue, want more than there are, and no
 * more than there are processors. WORKER_DONE: there is one at least. */
static WorkerOutcome ensure_threads(int extra) {
    int wanted = extra, running = 0, idle = 0;
    for (const Request *r = pool.first; r; r = r->next)
        wanted += !is_kept_waiting(r);
    for (int i = 0; i < MAX_WORKERS; i++) {
        running += pool.workers[i].running;
        idle += pool.workers[i].running && !pool.workers[i].current;
    }
    if (running && wanted <= idle) return WORKER_DONE;
    if (running && running >= QN_MIN(os_cpu_count(), MAX_WORKERS)) return WORKER_DONE;
    WorkerOutcome outcome = start_thread();
    return running ? WORKER_DONE : outcome;
}

/* -- fork ------------------------------------------------------------------------------------- */

static bool others_at_work(const Worker *me) {
    for (int i = 0; i < MAX_WORKERS; i++)
        if (pool.workers[i].current && &pool.workers[i] != me) return true;
    return false;
}

/* The lock is held, and no job begins, until fork_parent or fork_child. LLVM's own locks and tables are whole where no
 * job is at work; jobs that take long, or a worker that forks, are not waited for. */
static void fork_prepare(void) {
    pthread_mutex_lock(&pool.lock);
    pool.paused = true;
    const Worker *me = myself();
    int64_t until = os_now_ns() + FORK_WAIT_NS;
    while (others_at_work(me) && wait_done(until))
        ;
}

static void fork_parent(void) {
    pool.paused = false;
    pthread_cond_broadcast(&pool.wake);
    pthread_mutex_unlock(&pool.lock);
}

static void fork_child(void) {
    Pool parent = pool;
    pool = (Pool){.lock = PTHREAD_MUTEX_INITIALIZER,
                  .wake = PTHREAD_COND_INITIALIZER,
                  .done = PTHREAD_COND_INITIALIZER,
                  .started = parent.started,
                  .hooks = parent.hooks,
                  .nstates = parent.nstates};
    memcpy(pool.idle, parent.idle, sizeof pool.idle);
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
    if (pool.first)
        pool.last->next = request;
    else
        pool.first = request;
    pool.last = request;
    pthread_cond_signal(&pool.wake);
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
    pthread_mutex_unlock(&pool.lock);
    bool stop = wait->look(wait->user);
    pthread_mutex_lock(&pool.lock);
    return stop;
}

/* After a fork, in the child: the request is the parent's. Its memory is as it was when the process was copied. */
static void lose_to_parent(Request *request) {
    if (request->born == atomic_load(&generation) || request->state == DONE) return;
    snprintf(request->error, sizeof request->error,
             "the process was forked while it waited for code generation");
    request->state = LOST;
}

/* With the lock held. True: the request was left. */
static bool await(Request *request, const WorkerWait *wait) {
    int64_t next = wait && wait->look ? os_now_ns() + LOOK_NS : INT64_MAX;
    lose_to_parent(request);
    while (request->state == QUEUED || request->state == RUNNING) {
        bool changed = wait_done(next);
        if (pool.first) ensure_threads(0); /* those behind a lost request need a thread */
        if (changed) continue;
        next = os_now_ns() + LOOK_NS;
        bool stop = asked_to_stop(wait);
        lose_to_parent(request); /* `look` may have forked */
        if (stop && leave(request)) return true;
        if (stop) next = INT64_MAX; /* it takes effect when the job has ended */
    }
    return false;
}

WorkerOutcome worker_begin(const WorkerHooks *hooks, WorkerJob job, void *user,
                           const WorkerWait *wait, Request **out, char *error, size_t error_size) {
    uint32_t born = worker_generation(); /* what forks need is installed */
    Request *request = calloc(1, sizeof *request);
    if (!request) return WORKER_NO_MEMORY;
    *request = (Request){.job = job,
                         .user = user,
                         .drop = wait ? wait->drop : NULL,
                         .alone = wait ? wait->alone : NULL,
                         .born = born};
    pthread_mutex_lock(&pool.lock);
    pool.hooks = hooks;
    WorkerOutcome outcome = ensure_threads(1);
    if (outcome == WORKER_DONE) enqueue(request);
    pthread_mutex_unlock(&pool.lock);
    if (outcome == WORKER_FAILED)
        snprintf(error, error_size, "no thread could be started for code generation");
    if (outcome == WORKER_DONE)
        *out = request;
    else
        free(request);
    return outcome;
}

WorkerOutcome worker_end(Request *request, const WorkerWait *wait, char *error, size_t error_size) {
    pthread_mutex_lock(&pool.lock);
    WorkerOutcome outcome = await(request, wait) ? WORKER_LEFT : WORKER_DONE;
    if (outcome == WORKER_DONE && request->state == LOST) {
        outcome = WORKER_FAILED;
        snprintf(error, error_size, "%s", request->error);
    }
    bool running = outcome == WORKER_LEFT && request->left; /* the request is the worker's */
    pthread_mutex_unlock(&pool.lock);
    if (running) return outcome;
    if (outcome == WORKER_LEFT && request->drop) request->drop(request->user);
    free(request);
    return outcome;
}

WorkerOutcome worker_run(const WorkerHooks *hooks, WorkerJob job, void *user,
                         const WorkerWait *wait, char *error, size_t error_size) {
    Request *request;
    WorkerOutcome outcome = worker_begin(hooks, job, user, wait, &request, error, error_size);
    return outcome == WORKER_DONE ? worker_end(request, wait, error, error_size) : outcome;
}
