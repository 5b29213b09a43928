/* worker.c - one code-generation thread with a queue of one: see worker.h. */
#include "codegen/worker.h"
#include "codegen/host_code.h"
#include "frontend/base/os.h"
#include <stdio.h>
#include <unistd.h>

typedef enum RequestState { QUEUED, DONE, LOST } RequestState;

typedef struct Request {
    WorkerJob job;
    void *user;
    RequestState state;
    char *error;
    size_t error_size;
    struct Request *next;
} Request;

/* The one process-wide worker; every field is guarded by the lock. */
typedef struct Worker {
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    Request *first, *last;
    Request *current; /* being run */
    pthread_t thread;
    bool running;    /* a thread serves the queue */
    LlvmState *llvm; /* once LLVM was initialised in this process; the thread's */
} Worker;

enum { WORKER_STACK = 64 << 20 };

static Worker worker = {.lock = PTHREAD_MUTEX_INITIALIZER,
                        .wake = PTHREAD_COND_INITIALIZER,
                        .done = PTHREAD_COND_INITIALIZER};

static void *serve(void *unused) {
    (void)unused;
    pthread_mutex_lock(&worker.lock);
    for (;;) {
        while (!worker.first)
            pthread_cond_wait(&worker.wake, &worker.lock);
        Request *request = worker.current = worker.first;
        worker.first = request->next;
        if (!worker.llvm) worker.llvm = llvm_start();
        LlvmState *llvm = worker.llvm;
        pthread_mutex_unlock(&worker.lock);
        request->job(llvm, request->user);
        pthread_mutex_lock(&worker.lock);
        worker.current = NULL;
        request->state = DONE;
        pthread_cond_broadcast(&worker.done);
    }
    return NULL;
}

void worker_fatal(const char *reason) {
    pthread_mutex_lock(&worker.lock);
    Request *request = worker.current;
    if (!worker.running || !request || !pthread_equal(worker.thread, pthread_self())) {
        pthread_mutex_unlock(&worker.lock);
        return; /* not ours: LLVM goes on to end the process */
    }
    host_code_fatal();
    snprintf(request->error, request->error_size, "%s", reason ? reason : "unknown");
    request->state = LOST;
    worker.current = NULL;
    worker.running = false; /* the next request starts another thread */
    pthread_cond_broadcast(&worker.done);
    pthread_mutex_unlock(&worker.lock);
    for (;;)
        pause();
}

/* With the lock held. */
static bool ensure_thread(void) {
    if (worker.running) return true;
    if (!os_thread_start(&worker.thread, serve, NULL, WORKER_STACK)) return false;
    os_thread_detach(worker.thread);
    worker.running = true;
    return true;
}

bool worker_run(WorkerJob job, void *user, char *error, size_t error_size) {
    Request request = {.job = job, .user = user, .error = error, .error_size = error_size};
    pthread_mutex_lock(&worker.lock);
    if (!ensure_thread()) {
        pthread_mutex_unlock(&worker.lock);
        snprintf(error, error_size, "no thread could be started for code generation");
        return false;
    }
    if (worker.first)
        worker.last->next = &request;
    else
        worker.first = &request;
    worker.last = &request;
    pthread_cond_signal(&worker.wake);
    while (request.state == QUEUED) {
        pthread_cond_wait(&worker.done, &worker.lock);
        if (!worker.running && worker.first) /* those behind a lost request need a thread */
            ensure_thread();
    }
    pthread_mutex_unlock(&worker.lock);
    return request.state == DONE;
}

void worker_after_fork(void) {
    LlvmState *llvm = worker.llvm;
    worker = (Worker){.lock = PTHREAD_MUTEX_INITIALIZER,
                      .wake = PTHREAD_COND_INITIALIZER,
                      .done = PTHREAD_COND_INITIALIZER,
                      .llvm = llvm};
    host_code_after_fork();
}
