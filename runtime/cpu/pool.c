/* pool.c - the thread pool below the cpu device and the parallel loops.
 *
 *   A thread that wants a range done (a "client") puts a job into the pool's list and works on it itself.
 *   Idle workers pick the first job that has chunks left and a seat free, take chunks by one atomic addition
 *   each, and leave. The client returns when no chunk is left and no worker is inside. So any number of
 *   clients share the workers, a job inside a job is simply one more client, and with no workers at all
 *   everything still gets done.
 *
 * An idle worker spins briefly (launches often come in bursts), then sleeps. An exception stops a job: no new
 * chunks, and chunks behind the one that raised end at their next poll. Those before it go on, since one of them may
 * raise, too: the exception of the lowest chunk is the job's, whoever was faster. Workers run on stacks of 16 MiB with a guard,
 * with signals blocked, so that Python's signals stay with Python's threads.
 *
 * fork(): the pool's lock is taken before and released after on both sides; the child has no workers and no
 * jobs of others, and starts anew on its first call. Process-wide state: threads belong to the process. */
#include "runtime/cpu/pool.h"
#include "frontend/base/environment.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAX_THREADS = 1024, STACK_BYTES = 16 << 20, GUARD_BYTES = 64 << 10 };
enum { SPIN_NS = 30 * 1000, POLL_NS = 50 * 1000 * 1000, CHUNKS_PER_THREAD = 8 };

typedef struct Job {
    struct Job *next, **link; /* in the pool's list; link NULL: not in it */
    RtRange fn;
    void *user;
    int64_t n, chunk;
    _Atomic int64_t taken;  /* first index nobody has taken */
    _Atomic int32_t inside; /* workers; changed under the lock */
    int32_t seats;          /* workers that may join */
    int32_t size, threads;  /* seats at the start; rt_threads of the client */
    _Atomic int32_t stop;   /* an interruption: everything ends */
    _Atomic int64_t raised; /* the lowest chunk that raised, by its first index; INT64_MAX: none */
    CallContext first;      /* its exception; changed under the lock */
    uint32_t generation;
    pthread_cond_t left; /* the last worker left */
} Job;

static struct Pool {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    Job *jobs, **tail;
    _Atomic uint32_t pushes; /* grows with every job: spinning workers watch it */
    int32_t workers, sleeping;
    bool stopping;
    pthread_t threads[MAX_THREADS];
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER, .tail = &pool.jobs};

static _Thread_local int32_t my_threads; /* 0: rt_threads_max() */
static _Thread_local int64_t my_chunk;   /* iterations of a chunk; 0: chosen */
static _Thread_local int32_t my_seat; /* in the job that this thread works on; its client's is 0 */
static const ParallelRunner inside_region; /* what is parallel inside of a chunk runs there */

/* -- how many ---------------------------------------------------------------------------------- */

/* A container's share of the processors, rounded up; 0: no limit. */
static int cgroup_limit(void) {
    FILE *f = fopen("/sys/fs/cgroup/cpu.max", "re");
    if (!f) return 0;
    long long quota = 0, period = 0;
    int n = fscanf(f, "%lld %lld", &quota, &period); /* "max 100000" gives 0 */
    fclose(f);
    return n == 2 && period > 0 && quota > 0
               ? (int)QN_MIN((quota + period - 1) / period, MAX_THREADS)
               : 0;
}

int32_t rt_threads_max(void) {
    static _Atomic int32_t known;
    int32_t n = atomic_load_explicit(&known, memory_order_relaxed);
    if (n) return n;
    const char *text = env_value(ENV_NUM_THREADS);
    long wish = text ? strtol(text, NULL, 10) : 0;
    if (wish >= 1) {
        n = (int32_t)QN_MIN(wish, MAX_THREADS);
    } else {
        n = QN_MIN(os_cpu_count(), MAX_THREADS);
        int limit = cgroup_limit();
        if (limit && limit < n) n = limit;
    }
    atomic_store(&known, n);
    return n;
}

int32_t rt_threads(void) {
    return my_threads ? my_threads : rt_threads_max();
}

bool rt_threads_set(int32_t n, RtError *err) {
    if (n < 1 || n > rt_threads_max())
        return rt_fail(err, RT_VALUE_ERROR,
                       "The number of threads must be between 1 and %d (QUERN_NUM_THREADS, or the "
                       "processors of "
                       "this process), not %d.",
                       rt_threads_max(), n);
    my_threads = n;
    return true;
}

int32_t rt_thread_id(void) {
    return my_seat;
}

int64_t rt_chunk_size(void) {
    return my_chunk;
}

int64_t rt_chunk_size_set(int64_t n) {
    int64_t before = my_chunk;
    my_chunk = n;
    return before;
}

/* -- running chunks ---------------------------------------------------------------------------- */

/* What stands behind CallContext.user while a chunk runs. */
typedef struct Seat {
    Job *job;
    CallContext *client; /* the client's own context; NULL in workers */
    int64_t first;       /* of the chunk that runs */
    bool interrupted;    /* the client's poll said so */
} Seat;

static int32_t poll_seat(CallContext *ctx) {
    Seat *seat = ctx->user;
    if (atomic_load_explicit(&seat->job->stop, memory_order_relaxed)) return 1;
    if (atomic_load_explicit(&seat->job->raised, memory_order_relaxed) < seat->first) return 1;
    CallContext *client = seat->client;
    if (client && client->poll && client->poll(client)) seat->interrupted = true;
    return seat->interrupted;
}

static void stop_all(Job *job) {
    atomic_store_explicit(&job->stop, 1, memory_order_relaxed);
}

static void report(Job *job, const Seat *seat, CallContext *ctx, int status) {
    if (status == CALL_PENDING) { /* if nobody interrupted this seat, it only echoes another one */
        if (seat->interrupted) stop_all(job);
        return;
    }
    pthread_mutex_lock(&pool.lock);
    if (seat->first < atomic_load(&job->raised)) {
        context_end(&job->first); /* of a later chunk */
        job->first = *ctx;
        job->first.kept = NULL; /* the chunk's */
        ctx->texts = NULL;
        atomic_store(&job->raised, seat->first);
    }
    pthread_mutex_unlock(&pool.lock);
}

static bool has_work(const Job *job) {
    return !atomic_load_explicit(&job->stop, memory_order_relaxed) &&
           atomic_load_explicit(&job->raised, memory_order_relaxed) == INT64_MAX &&
           atomic_load_explicit(&job->taken, memory_order_relaxed) < job->n;
}

static void work(Job *job, CallContext *client) {
    Seat seat = {job, client, 0, false};
    CallContext ctx;
    memset(&ctx, 0, sizeof ctx);
    ctx.stack_limit = client && client->stack_limit ? client->stack_limit : os_stack_limit();
    ctx.poll = poll_seat;
    ctx.user = &seat;
    ctx.parallel = &inside_region;
    while (has_work(job)) {
        seat.first = atomic_fetch_add_explicit(&job->taken, job->chunk, memory_order_relaxed);
        if (seat.first >= job->n) break;
        int64_t last = QN_MIN(seat.first + job->chunk, job->n);
        int status = job->fn(&ctx, seat.first, last, job->user);
        if (status == CALL_OK && client && poll_seat(&ctx))
            status = CALL_PENDING; /* chunks may be short */
        if (status != CALL_OK) report(job, &seat, &ctx, status);
    }
    context_end(&ctx);
}

static void work_as(Job *job, int32_t id) {
    int32_t threads = my_threads, seat = my_seat;
    my_threads = job->threads;
    my_seat = id;
    work(job, NULL);
    my_threads = threads;
    my_seat = seat;
}

/* -- workers ----------------------------------------------------------------------------------- */

static Job *next_job(void) {
    for (Job *job = pool.jobs; job; job = job->next)
        if (job->seats > 0 && has_work(job)) return job;
    return NULL;
}

static void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Without the lock: until a job comes or the time is over. */
static void spin(uint32_t seen) {
    int64_t end = os_now_ns() + SPIN_NS;
    for (int i = 0; atomic_load_explicit(&pool.pushes, memory_order_acquire) == seen; i++) {
        pause_briefly();
        if (i % 32 == 31 && os_now_ns() > end) return;
    }
}

static void *worker_main(void *unused) {
    (void)unused;
    pthread_setname_np(pthread_self(), "quern-worker");
    pthread_mutex_lock(&pool.lock);
    bool spun = false;
    while (!pool.stopping) {
        Job *job = next_job();
        if (job) {
            int32_t id = job->size - --job->seats;
            atomic_fetch_add_explicit(&job->inside, 1, memory_order_relaxed);
            pthread_mutex_unlock(&pool.lock);
            work_as(job, id);
            pthread_mutex_lock(&pool.lock);
            if (atomic_fetch_sub_explicit(&job->inside, 1, memory_order_release) == 1)
                pthread_cond_signal(&job->left);
            spun = false;
        } else if (!spun) {
            uint32_t seen = atomic_load(&pool.pushes);
            pthread_mutex_unlock(&pool.lock);
            spin(seen);
            pthread_mutex_lock(&pool.lock);
            spun = true;
        } else {
            pool.sleeping++;
            pthread_cond_wait(&pool.wake, &pool.lock);
            pool.sleeping--;
            spun = false;
        }
    }
    pthread_mutex_unlock(&pool.lock);
    return NULL;
}

/* Lock held. Fewer threads than wished is no failure: the client works in any case. */
static void start_workers(int32_t wish) {
    if (pool.workers >= wish || pool.stopping) return;
    pthread_attr_t attr;
    if (pthread_attr_init(&attr)) return;
    pthread_attr_setstacksize(&attr, STACK_BYTES + GUARD_BYTES);
    pthread_attr_setguardsize(&attr, GUARD_BYTES);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool.workers < wish &&
           pthread_create(&pool.threads[pool.workers], &attr, worker_main, NULL) == 0)
        pool.workers++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
}

static atomic_bool leaving;

void rt_leave(void) {
    atomic_store(&leaving, true);
    pthread_mutex_lock(&pool.lock);
    for (Job *job = pool.jobs; job; job = job->next)
        stop_all(job);
    pthread_mutex_unlock(&pool.lock);
}

bool rt_leaving(void) {
    return atomic_load_explicit(&leaving, memory_order_relaxed);
}

void rt_pool_threads_stop(void) {
    pthread_mutex_lock(&pool.lock);
    pool.stopping = true;
    pthread_cond_broadcast(&pool.wake);
    atomic_fetch_add(&pool.pushes, 1);
    int32_t n = pool.workers;
    pthread_mutex_unlock(&pool.lock);
    for (int i = 0; i < n; i++)
        pthread_join(pool.threads[i], NULL);
    pthread_mutex_lock(&pool.lock);
    pool.workers = 0;
    pool.stopping = false;
    pthread_mutex_unlock(&pool.lock);
    cpu_scratch_drop();
}

void rt_pool_threads_prepare(void) {
    pthread_mutex_lock(&pool.lock);
}
void rt_pool_threads_parent(void) {
    pthread_mutex_unlock(&pool.lock);
}

void rt_pool_threads_child(void) {
    pool.jobs = NULL;
    pool.tail = &pool.jobs;
    pool.workers = pool.sleeping = 0;
    pool.stopping = false;
    pthread_cond_init(&pool.wake, NULL);
    pthread_mutex_unlock(&pool.lock); /* this thread took it in prepare */
}

/* -- clients ----------------------------------------------------------------------------------- */

static void push(Job *job) {
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&job->left, &attr);
    pthread_condattr_destroy(&attr);
    pthread_mutex_lock(&pool.lock);
    start_workers(QN_MIN(job->seats, MAX_THREADS - 1));
    job->link = pool.tail;
    *pool.tail = job;
    pool.tail = &job->next;
    atomic_fetch_add_explicit(&pool.pushes, 1, memory_order_release);
    int32_t spinning = pool.workers - pool.sleeping;
    for (int i = QN_MIN(job->seats - spinning, pool.sleeping); i > 0; i--)
        pthread_cond_signal(&pool.wake);
    pthread_mutex_unlock(&pool.lock);
}

/* Lock held. */
static void unlist(Job *job) {
    *job->link = job->next;
    if (job->next)
        job->next->link = job->link;
    else
        pool.tail = job->link;
}

static void wait_a_while(Job *job) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += POLL_NS;
    if (t.tv_nsec >= 1000000000) {
        t.tv_nsec -= 1000000000;
        t.tv_sec++;
    }
    pthread_cond_timedwait(&job->left, &pool.lock, &t);
}

/* No chunk is left for us; workers may still be inside theirs. */
static void finish(Job *job, CallContext *client) {
    int64_t end = os_now_ns() + SPIN_NS;
    while (atomic_load_explicit(&job->inside, memory_order_acquire) && os_now_ns() < end)
        pause_briefly();
    pthread_mutex_lock(&pool.lock);
    bool forked = job->generation != rt_generation();
    if (!forked) unlist(job);
    while (!forked && atomic_load(&job->inside)) {
        if (!client || !client->poll) {
            pthread_cond_wait(&job->left, &pool.lock);
            continue;
        }
        wait_a_while(job);
        if (!atomic_load(&job->inside) || atomic_load(&job->stop)) continue;
        pthread_mutex_unlock(&pool.lock);
        if (client->poll(client)) stop_all(job);
        pthread_mutex_lock(&pool.lock);
        forked = job->generation != rt_generation();
    }
    pthread_mutex_unlock(&pool.lock);
    if (!forked) pthread_cond_destroy(&job->left);
    /* This is the child of a fork() made inside the loop: chunks of the parent's workers are lost. */
    if (forked && atomic_exchange(&job->raised, 0) == INT64_MAX) {
        memset(&job->first, 0, sizeof job->first);
        job->first.exception = -1 - GUARD_interrupted;
        job->first.site = -1;
    }
}

static int outcome(Job *job, CallContext *raised) {
    if (atomic_load(&job->stop)) return CALL_PENDING;
    if (atomic_load(&job->raised) == INT64_MAX) return CALL_OK;
    raised->raised = job->first.raised;
    context_move_texts(&job->first, raised);
    raised->id = raised->context = raised->cause =
        0; /* exceptions that came before it were the chunk's */
    raised->has_item = job->first.has_item;
    memcpy(raised->block, job->first.block, sizeof raised->block);
    memcpy(raised->thread, job->first.thread, sizeof raised->thread);
    return CALL_EXCEPTION;
}

int cpu_parallel(CallContext *client, CallContext *raised, int64_t n, int64_t chunk, RtRange fn,
                 void *user) {
    if (n <= 0) return CALL_OK;
    int32_t threads = rt_threads();
    if (chunk <= 0) chunk = QN_MAX(n / ((int64_t)threads * CHUNKS_PER_THREAD), 1);
    int64_t chunks = (n - 1) / chunk + 1;
    Job job;
    memset(&job, 0, offsetof(Job, left));
    job.fn = fn;
    job.user = user;
    job.n = n;
    job.chunk = chunk;
    job.generation = rt_generation();
    atomic_init(&job.raised, INT64_MAX);
    job.threads = threads;
    job.size = job.seats = (int32_t)QN_MIN(chunks, threads) - 1;
    bool shared = job.seats > 0;
    if (shared) push(&job);
    work(&job, client);
    if (shared) finish(&job, client);
    int status = outcome(&job, raised);
    context_end(&job.first); /* of an exception that nobody sees */
    return status;
}

int rt_parallel_for(CallContext *ctx, int64_t n, int64_t chunk, RtRange fn, void *user) {
    return cpu_parallel(ctx, ctx, n, chunk, fn, user);
}

/* -- parallel loops of compiled code ----------------------------------------------------------- */

static int64_t choose_chunks(int64_t n, bool few) {
    int64_t threads = rt_threads(), parts = few ? threads : threads * CHUNKS_PER_THREAD;
    if (n <= 0) return 0;
    if (threads == 1) return 1;
    if (my_chunk > 0 && !few) return (n - 1) / my_chunk + 1;
    return QN_MIN(n, parts);
}

typedef struct ChunkedLoop {
    ParallelBody body;
    void *env;
    int64_t n, chunks;
} ChunkedLoop;

/* Where chunk `k` begins: sizes differ by one at most. */
static int64_t chunk_start(const ChunkedLoop *loop, int64_t k) {
    return loop->n / loop->chunks * k + QN_MIN(k, loop->n % loop->chunks);
}

/* The size of chunks that the caller has set is that of this loop, not of those that its iterations begin. */
static int run_chunks(CallContext *ctx, int64_t first, int64_t last, void *user) {
    const ChunkedLoop *loop = user;
    int status = CALL_OK;
    int64_t outer = rt_chunk_size_set(0);
    for (int64_t k = first; k < last && status == CALL_OK; k++)
        status = loop->body(ctx, chunk_start(loop, k), chunk_start(loop, k + 1), k, loop->env);
    rt_chunk_size_set(outer);
    return status;
}

static int run_loop(CallContext *ctx, int64_t n, int64_t chunks, ParallelBody body, void *env) {
    ChunkedLoop loop = {body, env, n, chunks};
    return cpu_parallel(ctx, ctx, chunks, 1, run_chunks, &loop);
}

static int64_t ask_threads(enum ThreadQuestion question, int64_t value) {
    switch (question) {
    case THREAD_ID: return rt_thread_id();
    case THREAD_COUNT: return rt_threads();
    case THREAD_SET_COUNT:
        if (value < 1 || value > rt_threads_max()) return -1;
        my_threads = (int32_t)value;
        return 0;
    case THREAD_CHUNK: return rt_chunk_size();
    case THREAD_SET_CHUNK: return value < 0 ? -1 : rt_chunk_size_set(value);
    default: return rt_threads_max();
    }
}

const ParallelRunner rt_parallel = {choose_chunks, run_loop, ask_threads};

static int64_t one_chunk(int64_t n, bool few) {
    (void)few;
    return n > 0;
}

static int run_here(CallContext *ctx, int64_t n, int64_t chunks, ParallelBody body, void *env) {
    ChunkedLoop loop = {body, env, n, chunks};
    return run_chunks(ctx, 0, chunks, &loop);
}

static const ParallelRunner inside_region = {one_chunk, run_here, ask_threads};
