/* test_runtime_cpu.c - the cpu device and its thread pool, with kernels written by hand in C. */
#include "tests/unit/test_runtime.h"

#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <time.h>

static RtError err;

static Artifact kernel_artifact(KernelEntry entry, const ValueLayout *params, int nparams) {
    Artifact a;
    memset(&a, 0, sizeof a);
    a.target = TARGET_CPU;
    a.entry_kind = ENTRY_KERNEL;
    a.name = STR("probe");
    memcpy(&a.entry, &entry, sizeof entry);
    a.params = params;
    a.nparams = nparams;
    return a;
}

static RtDevice *cpu(void) {
    RtDevice *d;
    CHECK_OK(d = rt_device(RT_CPU, 0, &err));
    return d;
}

/* -- coverage ---------------------------------------------------------------------------------- */

static const ValueLayout i32_1d = ARRAY_LAYOUT(i32, 1);

/* Counts each block in its slot, and each item through the frames and the shared memory. */
static int count_blocks(CallContext *ctx, void **args, KernelGrid *g) {
    (void)ctx;
    _Atomic int32_t *hits = ((Packed *)args[0])->data;
    uint64_t threads = (uint64_t)g->block[0] * g->block[1] * g->block[2];
    for (uint64_t b = g->first; b < g->last; b++)
        atomic_fetch_add(&hits[b], (int32_t)threads);
    return CALL_OK;
}

static void test_every_block_runs_once(void) {
    Artifact a = kernel_artifact(count_blocks, &i32_1d, 1);
    RtKernel *k;
    CHECK_OK(k = rt_kernel(cpu(), &a, &err));
    int64_t shapes[][3] = {{1, 1, 1},  {7, 1, 1},  {1000, 1, 1},
                           {13, 5, 3}, {1, 1, 64}, {70000, 1, 1}};
    for (int s = 0; s < countof(shapes); s++) {
        int64_t n = shapes[s][0] * shapes[s][1] * shapes[s][2];
        int32_t *hits = calloc((size_t)n, 4);
        Packed p = packed_1d(hits, n, 4);
        void *args[] = {&p};
        RtLaunch l = launch_of(k, 1, 1, args);
        memcpy(l.grid, shapes[s], sizeof l.grid);
        l.block[0] = 4, l.block[1] = 3;
        CHECK_OK(rt_launch(&l, &err));
        int64_t wrong = 0;
        for (int64_t i = 0; i < n; i++)
            wrong += hits[i] != 12;
        CHECK(wrong == 0);
        free(hits);
    }
    rt_kernel_release(k);
}

static void test_same_artifact_same_kernel(void) {
    Artifact a = kernel_artifact(count_blocks, &i32_1d, 1), b = a;
    RtKernel *k1 = rt_kernel(cpu(), &a, &err), *k2 = rt_kernel(cpu(), &a, &err);
    RtKernel *k3 = rt_kernel(cpu(), &b, &err);
    CHECK(k1 && k1 == k2 && k3 && k3 != k1);
    CHECK(rt_kernel_artifact(k1) == &a && rt_kernel_device(k1) == cpu());
    rt_kernel_release(k1);
    rt_kernel_release(k2);
    rt_kernel_release(k3);
    CHECK(cpu()->kernels == NULL);
}

/* -- shared memory and frames ------------------------------------------------------------------ */

/* Shared memory belongs to the worker: nobody else writes while a block runs. */
static int use_shared(CallContext *ctx, void **args, KernelGrid *g) {
    (void)ctx;
    int32_t *out = ((Packed *)args[0])->data;
    if ((uintptr_t)g->shared % 128) return CALL_EXCEPTION;
    int32_t *shared = (int32_t *)g->shared;
    int n = (int)(1024 + g->dynamic_shared) / 4;
    for (uint64_t b = g->first; b < g->last; b++) {
        for (int i = 0; i < n; i++)
            shared[i] = (int32_t)b;
        int64_t sum = 0;
        for (int i = 0; i < n; i++)
            sum += shared[i];
        out[b] = (int32_t)(sum / n);
    }
    return CALL_OK;
}

static void test_shared_memory_is_private(void) {
    Artifact a = kernel_artifact(use_shared, &i32_1d, 1);
    a.shared_bytes = 1024;
    RtKernel *k = rt_kernel(cpu(), &a, &err);
    enum { N = 3000 };
    static int32_t out[N];
    Packed p = packed_1d(out, N, 4);
    void *args[] = {&p};
    RtLaunch l = launch_of(k, N, 32, args);
    l.dynamic_shared = 8000;
    CHECK_OK(rt_launch(&l, &err));
    int wrong = 0;
    for (int i = 0; i < N; i++)
        wrong += out[i] != i;
    CHECK(wrong == 0);
    rt_kernel_release(k);
}

/* Frames of many sizes, freed in another order than made; some stay behind. */
static int use_frames(CallContext *ctx, void **args, KernelGrid *g) {
    (void)ctx;
    _Atomic int32_t *bad = ((Packed *)args[0])->data;
    enum { FRAMES = 200 };
    for (uint64_t b = g->first; b < g->last; b++) {
        char *frames[FRAMES];
        for (int i = 0; i < FRAMES; i++) {
            int64_t size = i % 50 == 49 ? 100000 + i : 1 + i * 37 % 5000;
            frames[i] = g->frame_alloc(g, size);
            if (!frames[i] || (uintptr_t)frames[i] % 64) atomic_fetch_add(bad, 1);
            memset(frames[i], i, (size_t)size);
        }
        for (int i = 0; i < FRAMES; i++) {
            int k = i * 77 % FRAMES;
            int64_t size = k % 50 == 49 ? 100000 + k : 1 + k * 37 % 5000;
            for (int64_t j = 0; j < size; j++)
                if (frames[k][j] != (char)k) {
                    atomic_fetch_add(bad, 1);
                    break;
                }
            if (b % 7 != 3) g->frame_free(g, frames[k]);
        }
    }
    return CALL_OK;
}

static void test_frames(void) {
    Artifact a = kernel_artifact(use_frames, &i32_1d, 1);
    RtKernel *k = rt_kernel(cpu(), &a, &err);
    int32_t bad = 0;
    Packed p = packed_1d(&bad, 1, 4);
    void *args[] = {&p};
    RtLaunch l = launch_of(k, 40, 1, args);
    for (int i = 0; i < 3; i++)
        CHECK_OK(rt_launch(&l, &err));
    CHECK(bad == 0);
    rt_kernel_release(k);
}

/* -- exceptions and interruption --------------------------------------------------------------- */

static int raise_at(CallContext *ctx, void **args, KernelGrid *g) {
    int64_t where = *(int64_t *)args[1];
    _Atomic int32_t *ran = ((Packed *)args[0])->data;
    for (uint64_t b = g->first; b < g->last; b++) {
        atomic_fetch_add(ran, 1);
        if ((int64_t)b != where) continue;
        ctx->exception = -1 - GUARD_index_error;
        ctx->site = 5;
        ctx->args[0] = 42;
        ctx->args[1] = 1;
        return CALL_EXCEPTION;
    }
    return CALL_OK;
}

static const ValueLayout raise_params[] = {ARRAY_LAYOUT(i32, 1), SCALAR_LAYOUT(i64, 8)};

static void test_EXC_07_first_exception_wins(void) {
    Artifact a = kernel_artifact(raise_at, raise_params, 2);
    RtKernel *k = rt_kernel(cpu(), &a, &err);
    for (int64_t where = 0; where < 1000; where += 111) {
        int32_t ran = 0;
        Packed p = packed_1d(&ran, 1, 4);
        void *args[] = {&p, &where};
        RtLaunch l = launch_of(k, 1000, 8, args);
        CallContext ctx;
        memset(&ctx, 0, sizeof ctx);
        ctx.exception = 77;
        l.ctx = where % 2 ? &ctx : NULL;
        rt_error_init(&err);
        CHECK(!rt_launch(&l, &err));
        CHECK_ERROR(&err, RT_KERNEL_EXCEPTION, "probe");
        CHECK(err.raised.exception == -1 - GUARD_index_error && err.raised.site == 5);
        CHECK(err.raised.args[0] == 42 && err.raised.args[1] == 1 && err.artifact == &a);
        CHECK(err.launch.known && err.launch.grid[0] == 1000 && err.launch.block[0] == 8);
        CHECK(ctx.exception == 77); /* the caller's context is the caller's */
        CHECK(ran <= 1000);
        where += where == 0;
    }
    rt_kernel_release(k);
}

/* Loops until the poll says stop, as strip-mined code does. */
static int loop_for_ever(CallContext *ctx, void **args, KernelGrid *g) {
    (void)args, (void)g;
    for (;;)
        if (ctx->poll && ctx->poll(ctx)) return CALL_PENDING;
}

static _Atomic int polls;
static pthread_t main_thread;
static bool foreign_poll;
static CallContext *polled_context;

static int32_t stop_after_20(CallContext *ctx) {
    if (!pthread_equal(pthread_self(), main_thread)) foreign_poll = true;
    polled_context = ctx;
    return atomic_fetch_add(&polls, 1) >= 20;
}

static void test_EXC_03_poll_interrupts_all_workers(void) {
    Artifact a = kernel_artifact(loop_for_ever, NULL, 0);
    RtKernel *k = rt_kernel(cpu(), &a, &err);
    RtLaunch l = launch_of(k, 64, 1, NULL);
    CallContext ctx;
    memset(&ctx, 0, sizeof ctx);
    ctx.poll = stop_after_20;
    l.ctx = &ctx;
    main_thread = pthread_self();
    polls = 0;
    rt_error_init(&err);
    CHECK(!rt_launch(&l, &err));
    CHECK(err.cls == RT_PENDING && !foreign_poll && polled_context == &ctx && polls == 21);
    rt_kernel_release(k);
}

/* Only workers get stuck; the client has run out of chunks and polls while it waits. */
static int stuck_workers(CallContext *ctx, int64_t first, int64_t last, void *user) {
    (void)first, (void)last;
    if (pthread_equal(pthread_self(), *(pthread_t *)user)) {
        usleep(20000);
        return CALL_OK;
    }
    while (!ctx->poll(ctx))
        usleep(100);
    return CALL_PENDING;
}

static void test_EXC_03_waiting_client_polls(void) {
    if (rt_threads_max() < 2) return;
    CallContext ctx;
    memset(&ctx, 0, sizeof ctx);
    ctx.poll = stop_after_20;
    polls = 19;
    main_thread = pthread_self();
    int status = rt_parallel_for(&ctx, 2, 1, stuck_workers, &main_thread);
    CHECK(status == CALL_PENDING || status == CALL_OK); /* OK: the client was quick and did both */
    CHECK(!foreign_poll);
}

/* -- parallel loops ---------------------------------------------------------------------------- */

static int add_range(CallContext *ctx, int64_t first, int64_t last, void *user) {
    (void)ctx;
    int64_t sum = 0;
    for (int64_t i = first; i < last; i++)
        sum += i;
    atomic_fetch_add((_Atomic int64_t *)user, sum);
    return CALL_OK;
}

static void test_PAR_04_sizes_and_chunks(void) {
    int64_t sizes[] = {0, 1, 2, 3, 7, 8, 9, 100, 4096, 1000003};
    for (int s = 0; s < countof(sizes); s++)
        for (int64_t chunk = 0; chunk < 5000; chunk = chunk * 7 + 1) {
            int64_t n = sizes[s];
            _Atomic int64_t sum = 0;
            CHECK(rt_parallel_for(NULL, n, chunk, add_range, &sum) == CALL_OK);
            CHECK(sum == n * (n - 1) / 2);
        }
}

static int nested(CallContext *ctx, int64_t first, int64_t last, void *user) {
    for (int64_t i = first; i < last; i++) {
        int status = rt_parallel_for(ctx, 1000, 10, add_range, user);
        if (status != CALL_OK) return status;
    }
    return CALL_OK;
}

static void test_THR_06_nested(void) {
    _Atomic int64_t sum = 0;
    CHECK(rt_parallel_for(NULL, 50, 1, nested, (void *)&sum) == CALL_OK);
    CHECK(sum == 50 * 499500);
}

static int raise_in_range(CallContext *ctx, int64_t first, int64_t last, void *user) {
    (void)last, (void)user;
    if (first < 500) return CALL_OK;
    ctx->exception = 3;
    ctx->site = 9;
    ctx->args[7] = first;
    return CALL_EXCEPTION;
}

static void test_EXC_07_parallel_for(void) {
    CallContext ctx;
    memset(&ctx, 0, sizeof ctx);
    CHECK(rt_parallel_for(&ctx, 1000, 10, raise_in_range, NULL) == CALL_EXCEPTION);
    CHECK(ctx.exception == 3 && ctx.site == 9 && ctx.args[7] >= 500);
}

static int deep(CallContext *ctx, int64_t first, int64_t last, void *user) {
    (void)first, (void)last;
    char here;
    /* 6 MiB below this frame is still stack in workers; the main thread has 8. */
    if (&here - ctx->stack_limit < (4 << 20)) atomic_fetch_add((_Atomic int *)user, 1);
    return CALL_OK;
}

static void test_EXC_06_workers_have_big_stacks(void) {
    _Atomic int small = 0;
    CHECK(rt_parallel_for(NULL, 64, 1, deep, (void *)&small) == CALL_OK);
    CHECK(small == 0);
}

typedef struct Client {
    int64_t rounds, wrong;
} Client;

static void *client_main(void *arg) {
    Client *c = arg;
    RtError e;
    rt_error_init(&e);
    Artifact a = kernel_artifact(count_blocks, &i32_1d, 1);
    RtDevice *d = rt_device(RT_CPU, 0, &e);
    RtKernel *k = rt_kernel(d, &a, &e);
    for (int64_t r = 0; r < c->rounds; r++) {
        int32_t hits[100] = {0};
        Packed p = packed_1d(hits, 100, 4);
        void *args[] = {&p};
        RtLaunch l = launch_of(k, 100, 1, args);
        if (!rt_launch(&l, &e)) c->wrong++;
        for (int i = 0; i < 100; i++)
            c->wrong += hits[i] != 1;
    }
    rt_kernel_release(k);
    return NULL;
}

static void test_THR_02_many_clients(void) {
    enum { CLIENTS = 6 };
    pthread_t threads[CLIENTS];
    Client clients[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = (Client){300, 0};
        pthread_create(&threads[i], NULL, client_main, &clients[i]);
    }
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(clients[i].wrong == 0);
    }
}

static void test_number_of_threads(void) {
    CHECK(rt_threads() == rt_threads_max() && rt_threads_max() >= 1);
    rt_error_init(&err);
    CHECK(!rt_threads_set(0, &err));
    CHECK_ERROR(&err, RT_VALUE_ERROR, "between 1 and");
    rt_error_init(&err);
    CHECK(!rt_threads_set(rt_threads_max() + 1, &err));
    CHECK_OK(rt_threads_set(1, &err));
    CHECK(rt_threads() == 1);
    _Atomic int64_t sum = 0;
    CHECK(rt_parallel_for(NULL, 1000, 1, add_range, &sum) == CALL_OK && sum == 499500);
    CHECK_OK(rt_threads_set(rt_threads_max(), &err));
}

/* -- fork -------------------------------------------------------------------------------------- */

static int in_child(void (*body)(void)) {
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(20);
        failures = 0;
        body();
        _exit(failures ? 1 : 0);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static RtKernel *inherited;
static RtBuffer *inherited_buffer;

static void child_computes(void) {
    test_PAR_04_sizes_and_chunks();
    int32_t hits[50] = {0};
    Packed p = packed_1d(hits, 50, 4);
    void *args[] = {&p};
    RtLaunch l = launch_of(inherited, 50, 2, args);
    CHECK_OK(rt_launch(&l, &err));
    for (int i = 0; i < 50; i++)
        CHECK(hits[i] == 2);
    CHECK(((char *)inherited_buffer->host)[9] == 7);
    rt_buffer_release(inherited_buffer);
    rt_kernel_release(inherited);
}

static _Atomic bool busy_stop;
static void *busy_main(void *arg) {
    (void)arg;
    while (!busy_stop)
        client_main(&(Client){1, 0});
    return NULL;
}

static void test_FRK_01_child_of_a_busy_parent(void) {
    Artifact a = kernel_artifact(count_blocks, &i32_1d, 1);
    inherited = rt_kernel(cpu(), &a, &err);
    CHECK_OK(inherited_buffer = rt_buffer_new(cpu(), RT_MEM_DEVICE, 10, NULL, &err));
    ((char *)inherited_buffer->host)[9] = 7;
    pthread_t busy;
    pthread_create(&busy, NULL, busy_main, NULL);
    for (int i = 0; i < 10; i++)
        CHECK(in_child(child_computes) == 0);
    busy_stop = true;
    pthread_join(busy, NULL);
    rt_buffer_release(inherited_buffer);
    rt_kernel_release(inherited);
    test_PAR_04_sizes_and_chunks(); /* the parent goes on */
}

/* -- the pool after its end ---------------------------------------------------------------------- */

enum { MEETING = 4, PATIENCE_S = 20 };

/* Each block waits until all have come: that takes as many threads. */
static int meet(CallContext *ctx, void **args, KernelGrid *g) {
    (void)ctx;
    _Atomic int32_t *here = ((Packed *)args[0])->data;
    atomic_fetch_add(here, (int32_t)(g->last - g->first));
    for (time_t end = time(NULL) + PATIENCE_S; atomic_load(here) < MEETING && time(NULL) < end;)
        sched_yield();
    return CALL_OK;
}

static void test_workers_come_back_after_a_shutdown(void) {
    for (int round = 0; round < 2; round++) {
        Artifact a = kernel_artifact(meet, &i32_1d, 1);
        RtKernel *k = rt_kernel(cpu(), &a, &err);
        int32_t here[1] = {0};
        Packed p = packed_1d(here, 1, 4);
        void *args[] = {&p};
        RtLaunch l = launch_of(k, MEETING, 1, args);
        time_t start = time(NULL);
        CHECK_OK(rt_launch(&l, &err));
        CHECK(here[0] == MEETING && time(NULL) - start < PATIENCE_S);
        rt_kernel_release(k);
        rt_shutdown();
    }
}

/* -- checks ------------------------------------------------------------------------------------ */

static void refuse(RtKernel *k, int64_t gx, int64_t gy, int64_t gz, int64_t bx, int64_t by,
                   int64_t bz, int64_t shared, const char *words) {
    RtLaunch l = {
        .kernel = k, .grid = {gx, gy, gz}, .block = {bx, by, bz}, .dynamic_shared = shared};
    int32_t hits = 0;
    Packed p = packed_1d(&hits, 1, 4);
    void *args[] = {&p};
    l.args = args;
    rt_error_init(&err);
    CHECK(!rt_launch(&l, &err));
    CHECK_ERROR(&err, RT_VALUE_ERROR, words);
    CHECK(hits == 0);
}

static void test_CUH_01_launch_configurations(void) {
    Artifact a = kernel_artifact(count_blocks, &i32_1d, 1);
    a.max_threads = 256;
    RtKernel *k = rt_kernel(cpu(), &a, &err);
    refuse(k, 0, 1, 1, 1, 1, 1, 0, "grid is (0, 1, 1): its x dimension must be at least 1");
    refuse(k, 1, -1, 1, 1, 1, 1, 0, "its y dimension");
    refuse(k, 1, 1, 65536, 1, 1, 1, 0, "allows at most 65535 in dimension z");
    refuse(k, INT64_C(1) << 40, 1, 1, 1, 1, 1, 0, "at most 2147483647 in dimension x");
    refuse(k, 1, 1, 1, 0, 1, 1, 0, "block is (0, 1, 1)");
    refuse(k, 1, 1, 1, 1, 1, 65, 0, "at most 64 in dimension z");
    refuse(k, 1, 1, 1, 64, 32, 1, 0, "has 2048 threads");
    refuse(k, 1, 1, 1, INT64_MAX, 1, 1, 0, "in dimension x");
    refuse(k, 1, 1, 1, 300, 1, 1, 0, "launch bound of 256");
    refuse(k, 1, 1, 1, 1, 1, 1, -1, "-1 bytes of dynamic shared memory");
    refuse(k, 1, 1, 1, 1, 1, 1, 1 << 30, "dynamic shared memory");
    RtStream *other;
    CHECK_OK(other = rt_stream_default(rt_device(RT_NULL, 0, &err)));
    RtLaunch l = launch_of(k, 1, 1, NULL);
    l.stream = other;
    rt_error_init(&err);
    CHECK(!rt_launch(&l, &err));
    CHECK_ERROR(&err, RT_VALUE_ERROR, "the stream on null device 0");
    rt_kernel_release(k);
}

static void test_wrong_artifacts(void) {
    Artifact a = kernel_artifact(count_blocks, &i32_1d, 1);
    a.entry_kind = ENTRY_HOST;
    rt_error_init(&err);
    CHECK(!rt_kernel(cpu(), &a, &err));
    CHECK_ERROR(&err, RT_TYPE_ERROR, "not compiled as a kernel");
    a.entry_kind = ENTRY_KERNEL;
    a.target = TARGET_NVPTX;
    rt_error_init(&err);
    CHECK(!rt_kernel(cpu(), &a, &err));
    CHECK_ERROR(&err, RT_TYPE_ERROR, "cannot run on cpu device 0");
}

static void test_read_only_is_checked_here_too(void) {
    ValueLayout param = i32_1d;
    Artifact a = kernel_artifact(count_blocks, &param, 1);
    param.readonly = true;
    uint8_t usage = ARG_READ | ARG_WRITTEN;
    a.usage = &usage;
    RtKernel *k = rt_kernel(cpu(), &a, &err);
    int32_t hits = 0;
    Packed p = packed_1d(&hits, 1, 4);
    void *args[] = {&p};
    uint32_t mask = 1;
    RtLaunch l = launch_of(k, 1, 1, args);
    l.host = &mask;
    rt_error_init(&err);
    CHECK(!rt_launch(&l, &err));
    CHECK_ERROR(&err, RT_TYPE_ERROR, "read-only");
    CHECK(hits == 0);
    param.readonly = false;
    CHECK_OK(rt_launch(&l, &err));
    CHECK(hits == 1 && p.data == &hits);
    rt_kernel_release(k);
}

static void test_streams_and_events(void) {
    RtStream *s;
    CHECK_OK(s = rt_stream_new(cpu(), &err));
    RtEvent *e1 = rt_event_new(cpu(), true, &err), *e2 = rt_event_new(cpu(), true, &err);
    float ms = -1;
    rt_error_init(&err);
    CHECK(!rt_event_elapsed(e1, e2, &ms, &err));
    CHECK_ERROR(&err, RT_VALUE_ERROR, "the start event is not");
    CHECK_OK(rt_event_record(e1, s, &err));
    usleep(3000);
    CHECK_OK(rt_event_record(e2, s, &err));
    CHECK_OK(rt_event_elapsed(e1, e2, &ms, &err));
    CHECK(ms >= 2.9f && ms < 1000);
    CHECK_OK(rt_stream_wait(s, e2, &err) && rt_stream_synchronize(s, NULL, &err));
    rt_event_release(e1);
    rt_event_release(e2);
    rt_stream_release(s);
}

int main(void) {
    setenv("QUERN_NUM_THREADS", "4", 0);
    RUN(test_every_block_runs_once);
    RUN(test_same_artifact_same_kernel);
    RUN(test_shared_memory_is_private);
    RUN(test_frames);
    RUN(test_EXC_07_first_exception_wins);
    RUN(test_EXC_03_poll_interrupts_all_workers);
    RUN(test_EXC_03_waiting_client_polls);
    RUN(test_PAR_04_sizes_and_chunks);
    RUN(test_THR_06_nested);
    RUN(test_EXC_07_parallel_for);
    RUN(test_EXC_06_workers_have_big_stacks);
    RUN(test_THR_02_many_clients);
    RUN(test_number_of_threads);
    RUN(test_FRK_01_child_of_a_busy_parent);
    RUN(test_CUH_01_launch_configurations);
    RUN(test_wrong_artifacts);
    RUN(test_read_only_is_checked_here_too);
    RUN(test_streams_and_events);
    RUN(test_workers_come_back_after_a_shutdown);
    rt_shutdown();
    CHECK(rt_host_bytes() == 0);
    return finish();
}
