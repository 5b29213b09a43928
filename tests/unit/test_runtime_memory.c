/* test_runtime_memory.c - the pool, buffers, streams, errors and fork, on the device that records. */
#include "tests/unit/test_runtime.h"

#include <pthread.h>
#include <sys/wait.h>

static RtError err;

static RtDevice *null_device(int32_t ordinal) {
    RtDevice *d;
    CHECK_OK(d = rt_device(RT_NULL, ordinal, &err));
    return d;
}

/* Every test leaves nothing behind: no handle, no byte. */
static void end_of_test(void) {
    rt_null_fail(NULL, 0, RT_OK);
    rt_shutdown();
    CHECK(rt_null_handles() == 0 && rt_null_used() == 0);
    CHECK(rt_host_bytes() == 0);
    rt_null_reset();
}

static RtMemoryStats stats(RtDevice *d) {
    RtMemoryStats s;
    CHECK_OK(rt_memory_stats(d, &s, &err));
    return s;
}

/* -- the pool ---------------------------------------------------------------------------------- */

static void test_sizes_waste_at_most_a_quarter(void) {
    RtDevice *d = null_device(0);
    int64_t last = 0;
    for (int64_t size = 1; size < INT64_C(1) << 26; size += size / 9 + 1) {
        RtBuffer *b;
        CHECK_OK(b = rt_buffer_new(d, RT_MEM_DEVICE, size, NULL, &err));
        int64_t given = stats(d).in_use;
        CHECK(given >= size && given >= 256 && given >= last);
        CHECK(given <= 256 || given - size <= size / 4 + 1 || given - size < 2 << 20);
        CHECK(size <= 256 || size > 16 << 20 || given - size <= size / 4);
        last = given;
        rt_buffer_release(b);
        CHECK_OK(rt_memory_trim(d, &err));
    }
    end_of_test();
}

static void test_reuse_on_the_same_stream(void) {
    RtDevice *d = null_device(0);
    RtBuffer *a = rt_buffer_new(d, RT_MEM_DEVICE, 1000, NULL, &err);
    uint64_t address = a->address;
    rt_buffer_release(a);
    CHECK(stats(d).cached >= 1000 && stats(d).in_use == 0);
    RtBuffer *b = rt_buffer_new(d, RT_MEM_DEVICE, 900, NULL, &err);
    CHECK(b->address == address && stats(d).reused == 1 && rt_null_calls("alloc") == 1);
    RtBuffer *c = rt_buffer_new(d, RT_MEM_DEVICE, 900, NULL, &err);
    CHECK(c->address != address);
    rt_buffer_release(rt_buffer_retain(b));
    CHECK(stats(d).cached == 0);
    rt_buffer_release(b);
    rt_buffer_release(c);
    end_of_test();
}

static void test_CUH_08_another_stream_waits_for_a_synchronisation(void) {
    RtDevice *d = null_device(0);
    RtStream *s1 = rt_stream_new(d, &err), *s2 = rt_stream_new(d, &err);
    RtBuffer *a = rt_buffer_new(d, RT_MEM_DEVICE, 5000, s1, &err);
    uint64_t address = a->address;
    rt_buffer_release(a);
    RtBuffer *b = rt_buffer_new(d, RT_MEM_DEVICE, 5000, s2, &err);
    CHECK(b->address != address); /* s1 may still use it */
    CHECK_OK(rt_stream_synchronize(s1, NULL, &err));
    RtBuffer *c = rt_buffer_new(d, RT_MEM_DEVICE, 5000, s2, &err);
    CHECK(c->address == address);
    /* Freed again after the synchronisation: not ready for s1 again. */
    rt_buffer_release(c);
    RtBuffer *e = rt_buffer_new(d, RT_MEM_DEVICE, 5000, s1, &err);
    CHECK(e->address != address);
    rt_buffer_release(b);
    rt_buffer_release(e);
    rt_stream_release(s1);
    rt_stream_release(s2);
    end_of_test();
}

static void test_CUH_08_used_elsewhere(void) {
    RtDevice *d = null_device(0);
    RtStream *s = rt_stream_new(d, &err);
    RtBuffer *a = rt_buffer_new(d, RT_MEM_DEVICE, 5000, NULL, &err);
    CHECK_OK(rt_buffer_used(a, NULL, &err) && rt_buffer_used(a, s, &err) &&
             rt_buffer_used(a, s, &err));
    CHECK(rt_null_calls("stream_wait") == 0);
    rt_stream_release(s); /* the buffer keeps it until its work is ordered */
    CHECK(rt_null_calls("stream_destroy") == 0);
    rt_buffer_release(a);
    CHECK(rt_null_calls("event_record") == 1 && rt_null_calls("stream_wait") == 1);
    CHECK(rt_null_calls("stream_destroy") == 1);
    /* More streams than it keeps in mind: ordered at once. */
    RtBuffer *b = rt_buffer_new(d, RT_MEM_DEVICE, 5000, NULL, &err);
    RtStream *many[6];
    for (int i = 0; i < 6; i++) {
        many[i] = rt_stream_new(d, &err);
        CHECK_OK(rt_buffer_used(b, many[i], &err));
    }
    CHECK(rt_null_calls("stream_wait") == 3);
    for (int i = 0; i < 6; i++)
        rt_stream_release(many[i]);
    rt_buffer_release(b);
    CHECK(rt_null_calls("stream_wait") == 7);
    end_of_test();
}

static void test_CUH_08_stream_gone_before_its_memory(void) {
    RtDevice *d = null_device(0);
    RtStream *s = rt_stream_new(d, &err);
    RtBuffer *a = rt_buffer_new(d, RT_MEM_DEVICE, 5000, s, &err);
    uint64_t address = a->address;
    rt_stream_release(s);
    rt_buffer_release(a);
    CHECK(rt_null_calls("stream_destroy") == 1 && rt_null_calls("stream_wait") == 1);
    RtBuffer *b = rt_buffer_new(d, RT_MEM_DEVICE, 5000, NULL, &err);
    CHECK(b->address == address);
    rt_buffer_release(b);
    end_of_test();
}

static void test_CUH_11_full(void) {
    RtDevice *d = null_device(0);
    rt_null_capacity(10 << 20);
    RtBuffer *a = rt_buffer_new(d, RT_MEM_DEVICE, 4 << 20, NULL, &err);
    RtBuffer *b = rt_buffer_new(d, RT_MEM_DEVICE, 4 << 20, NULL, &err);
    rt_buffer_release(a);
    rt_buffer_release(b);
    CHECK(stats(d).cached == 8 << 20);
    /* Another size: only after the cache is given back, and only when the device is idle. */
    RtBuffer *c;
    CHECK_OK(c = rt_buffer_new(d, RT_MEM_DEVICE, 7 << 20, NULL, &err));
    CHECK(rt_null_calls("free") == 2 && rt_null_calls("sync") == 1);
    rt_error_init(&err);
    CHECK(!rt_buffer_new(d, RT_MEM_DEVICE, 4 << 20, NULL, &err));
    CHECK_ERROR(&err, RT_MEMORY_ERROR, "4194304 bytes were asked for");
    CHECK_ERROR(&err, RT_MEMORY_ERROR, "3145728 of its 10485760 bytes are free");
    RtBuffer *e;
    CHECK_OK(e = rt_buffer_new(d, RT_MEM_DEVICE, 1 << 20, NULL, &err));
    rt_buffer_release(c);
    rt_buffer_release(e);
    end_of_test();
}

static void test_full_takes_from_other_streams(void) {
    RtDevice *d = null_device(0);
    rt_null_capacity(5 << 20);
    RtStream *s = rt_stream_new(d, &err);
    RtBuffer *a = rt_buffer_new(d, RT_MEM_DEVICE, 4 << 20, s, &err);
    uint64_t address = a->address;
    rt_buffer_release(a);
    RtBuffer *b;
    CHECK_OK(b = rt_buffer_new(d, RT_MEM_DEVICE, 4 << 20, NULL, &err));
    CHECK(b->address == address && rt_null_calls("stream_wait") == 1 && rt_null_calls("sync") == 0);
    rt_buffer_release(b);
    rt_stream_release(s);
    CHECK(rt_null_calls("stream_destroy") == 1); /* nobody holds it any more */
    end_of_test();
}

/* The device cannot be told to wait for the other stream: the block stays where it is, until all are given back. */
static void test_full_and_the_other_stream_cannot_be_waited_for(void) {
    RtDevice *d = null_device(0);
    rt_null_capacity(5 << 20);
    RtStream *s = rt_stream_new(d, &err);
    rt_buffer_release(rt_buffer_new(d, RT_MEM_DEVICE, 4 << 20, s, &err));
    rt_null_fail("stream_wait", 1, RT_API_ERROR);
    RtBuffer *b;
    CHECK_OK(b = rt_buffer_new(d, RT_MEM_DEVICE, 4 << 20, NULL, &err));
    CHECK(rt_null_calls("stream_wait") == 1 && rt_null_calls("sync") >= 1);
    rt_buffer_release(b);
    rt_stream_release(s);
    CHECK(rt_null_calls("stream_destroy") == 1);
    end_of_test();
}

static int dropped;
static void drop(void *owner) {
    dropped += *(int *)owner;
}

static void test_other_kinds_of_memory(void) {
    RtDevice *d = null_device(0);
    RtBuffer *pinned, *managed, *empty, *foreign, *tiny;
    CHECK_OK(tiny = rt_buffer_new(d, RT_MEM_PINNED, 1, NULL, &err));
    rt_buffer_release(tiny);
    CHECK_OK(pinned = rt_buffer_new(d, RT_MEM_PINNED, 100, NULL, &err));
    CHECK(pinned->host && pinned->address);
    CHECK_OK(managed = rt_buffer_new(d, RT_MEM_MANAGED, 100, NULL, &err));
    CHECK_OK(empty = rt_buffer_new(d, RT_MEM_DEVICE, 0, NULL, &err));
    CHECK(empty->address == 0 && empty->size == 0);
    int owner = 5;
    CHECK_OK(foreign = rt_buffer_foreign(d, 4096, 10, &owner, drop, &err));
    rt_buffer_retain(foreign);
    rt_buffer_release(foreign);
    CHECK(dropped == 0);
    rt_buffer_release(foreign);
    CHECK(dropped == 5);
    rt_buffer_release(pinned);
    rt_buffer_release(managed);
    rt_buffer_release(empty);
    rt_buffer_release(NULL);
    CHECK(stats(d).cached == 0); /* pinned memory is not kept */
    rt_error_init(&err);
    CHECK(!rt_buffer_new(d, RT_MEM_DEVICE, -1, NULL, &err));
    CHECK_ERROR(&err, RT_VALUE_ERROR, "-1 bytes");
    rt_error_init(&err);
    CHECK(!rt_buffer_new(d, RT_MEM_DEVICE, INT64_MAX, NULL, &err));
    end_of_test();
}

/* -- threads ----------------------------------------------------------------------------------- */

static void *churn(void *arg) {
    RtDevice *d = arg;
    RtError e;
    rt_error_init(&e);
    unsigned seed = (unsigned)(uintptr_t)&e;
    RtBuffer *held[8] = {0};
    RtStream *s = rt_stream_new(d, &e);
    for (int i = 0; i < 3000; i++) {
        int k = rand_r(&seed) % 8;
        rt_buffer_release(held[k]);
        held[k] = rt_buffer_new(d, RT_MEM_DEVICE, rand_r(&seed) % 5000, k % 2 ? s : NULL, &e);
        if (held[k] && held[k]->size) {
            int32_t mine = rand_r(&seed), back = 0;
            int64_t n = QN_MIN(held[k]->size, 4);
            rt_copy_to_device(d, s, held[k]->address, &mine, n, false, &e);
            rt_copy_to_host(d, s, &back, held[k]->address, n, true, &e);
            if (memcmp(&mine, &back, (size_t)n))
                rt_fail(&e, RT_VALUE_ERROR, "memory given out twice");
        }
        if (i % 100 == 0) rt_stream_synchronize(s, NULL, &e);
        if (i % 500 == 0) rt_memory_trim(d, &e);
        if (i % 700 == 0) {
            rt_stream_release(s);
            s = rt_stream_new(d, &e);
        }
    }
    for (int k = 0; k < 8; k++)
        rt_buffer_release(held[k]);
    rt_stream_release(s);
    return rt_failed(&e) ? strdup(e.text) : NULL;
}

static void test_THR_01_many_threads(void) {
    RtDevice *d = null_device(0);
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, churn, d);
    for (int i = 0; i < THREADS; i++) {
        char *text = NULL;
        pthread_join(threads[i], (void **)&text);
        if (text) fprintf(stderr, "%s\n", text);
        CHECK(text == NULL);
        free(text);
    }
    CHECK(stats(d).in_use == 0);
    end_of_test();
}

/* -- failures ---------------------------------------------------------------------------------- */

static int64_t resizes_left;
static void *failing_resize(void *user, void *old, size_t old_size, size_t new_size) {
    (void)user, (void)old_size;
    if (!new_size) {
        free(old);
        return NULL;
    }
    return resizes_left-- > 0 ? malloc(new_size) : NULL;
}

/* A bit of everything; false with an error at the first failure, having cleaned up. */
static bool scenario(RtError *e) {
    RtStream *s = NULL;
    RtEvent *event = NULL;
    RtBuffer *a = NULL, *b = NULL;
    char bytes[64] = "quern", back[64];
    RtDevice *d = rt_device(RT_NULL, 0, e);
    bool ok = d && (s = rt_stream_new(d, e)) && (event = rt_event_new(d, true, e)) &&
              (a = rt_buffer_new(d, RT_MEM_DEVICE, 64, s, e)) &&
              (b = rt_buffer_new(d, RT_MEM_PINNED, 64, s, e)) &&
              rt_copy_to_device(d, s, a->address, bytes, 64, false, e) &&
              rt_event_record(event, s, e) && rt_stream_wait(rt_stream_default(d), event, e) &&
              rt_buffer_used(a, NULL, e) && rt_copy_to_host(d, s, back, a->address, 64, true, e) &&
              rt_device_synchronize(d, NULL, e) && rt_event_synchronize(event, NULL, e);
    if (ok) CHECK(memcmp(bytes, back, 64) == 0);
    rt_buffer_release(a);
    rt_buffer_release(b);
    rt_event_release(event);
    rt_stream_release(s);
    return ok;
}

static void test_MEM_02_each_host_allocation_fails_once(void) {
    Allocator failing = {failing_resize, NULL};
    rt_set_allocator(&failing);
    int64_t n = 0;
    for (; n < 100; n++) {
        resizes_left = n;
        rt_error_init(&err);
        bool ok = scenario(&err);
        CHECK(ok == !rt_failed(&err));
        if (!ok) CHECK_ERROR(&err, RT_MEMORY_ERROR, "out of host memory");
        resizes_left = INT64_MAX;
        RtError again;
        rt_error_init(&again);
        CHECK(scenario(&again)); /* the next call works */
        end_of_test();
        if (ok) break;
    }
    CHECK(n > 5 && n < 100);
    rt_set_allocator(NULL);
}

static void test_CUH_each_driver_call_fails_once(void) {
    RtErrorClass classes[] = {RT_API_ERROR, RT_MEMORY_ERROR, RT_DEVICE_ERROR};
    for (int c = 0; c < countof(classes); c++) {
        int n = 1;
        for (; n < 200; n++) {
            rt_null_fail(NULL, n, classes[c]);
            rt_error_init(&err);
            bool ok = scenario(&err);
            CHECK(ok == !rt_failed(&err));
            bool told = rt_null_calls(NULL) < n; /* the scenario was over before */
            RtDevice *d = NULL;
            RtError again;
            rt_error_init(&again);
            bool opened = strcmp(err.call, "count") && strcmp(err.call, "open");
            if (!ok && err.cls == RT_DEVICE_ERROR && opened) {
                CHECK(!scenario(&again) && again.cls == RT_DEVICE_ERROR);
            } else if (!ok) {
                CHECK(scenario(&again));
                rt_error_init(&again);
                d = rt_device(RT_NULL, 0, &again);
                CHECK(d && !rt_device_dead(d));
            }
            end_of_test();
            if (told) break;
        }
        CHECK(n > 15 && n < 200);
    }
}

static void test_CUH_05_a_dead_device_says_so(void) {
    RtDevice *d = null_device(1);
    RtBuffer *b = rt_buffer_new(d, RT_MEM_DEVICE, 100, NULL, &err);
    rt_null_fail("sync", 1, RT_DEVICE_ERROR);
    rt_error_init(&err);
    CHECK(!rt_device_synchronize(d, NULL, &err));
    CHECK(err.cls == RT_DEVICE_ERROR && err.code == 999 && rt_device_dead(d));
    rt_error_init(&err);
    CHECK(!rt_buffer_new(d, RT_MEM_DEVICE, 100, NULL, &err));
    CHECK_ERROR(&err, RT_DEVICE_ERROR, "an earlier failure destroyed its context");
    CHECK_ERROR(&err, RT_DEVICE_ERROR, "told to fail in sync");
    rt_error_init(&err);
    CHECK(!rt_stream_new(d, &err) && err.cls == RT_DEVICE_ERROR);
    rt_buffer_release(b);
    null_device(0); /* the other device lives */
    end_of_test();
}

static void test_first_error_wins(void) {
    RtError e;
    rt_error_init(&e);
    CHECK(!rt_failed(&e));
    rt_note(&e, "lost");
    CHECK(e.text[0] == '\0');
    CHECK(!rt_fail(&e, RT_VALUE_ERROR, "first %d", 1));
    CHECK(!rt_fail(&e, RT_API_ERROR, "second"));
    rt_note(&e, "and %s", "more");
    CHECK(e.cls == RT_VALUE_ERROR && strcmp(e.text, "first 1 and more") == 0);
    for (int i = 0; i < 1000; i++)
        rt_note(&e, "0123456789");
    CHECK(strlen(e.text) < sizeof e.text && strlen(e.text) > sizeof e.text - 20);
}

/* -- devices ----------------------------------------------------------------------------------- */

static void test_registry(void) {
    CHECK(rt_device_count(RT_NULL, &err) == 2);
    rt_error_init(&err);
    CHECK(!rt_device(RT_NULL, 2, &err));
    CHECK_ERROR(&err, RT_VALUE_ERROR, "There is no null device 2: this process sees 2");
    rt_error_init(&err);
    CHECK(!rt_device(RT_NULL, -1, &err) && err.cls == RT_VALUE_ERROR);
    rt_error_init(&err);
    setenv("QUERN_HIP_LIBRARY", "/nowhere/libamdhip64.so.7", 1);
    CHECK(rt_device_count(RT_HIP, &err) == -1);
    CHECK_ERROR(&err, RT_SUPPORT_ERROR,
                "The HIP driver that QUERN_HIP_LIBRARY names could not be opened: /nowhere");
    unsetenv("QUERN_HIP_LIBRARY");
    CHECK(null_device(1) != null_device(0) && null_device(1) == null_device(1));
    CHECK(rt_info(null_device(1))->ordinal == 1 && rt_info(null_device(1))->kind == RT_NULL);
    rt_error_init(&err);
    CHECK(rt_device_current(RT_NULL, &err) == null_device(0));
    CHECK_OK(rt_device_select(RT_NULL, 1, &err));
    CHECK(rt_device_current(RT_NULL, &err) == null_device(1) && rt_device_selected(RT_NULL) == 1);
    rt_error_init(&err);
    CHECK(!rt_device_select(RT_NULL, 7, &err) && rt_device_selected(RT_NULL) == 1);
    end_of_test();
}

static RtChoice choose(const char *pin, RtDeviceKind wanted, RtDeviceKind *kind) {
    if (pin)
        setenv("QUERN_DEVICE", pin, 1);
    else
        unsetenv("QUERN_DEVICE");
    rt_error_init(&err);
    RtChoice c = rt_choose(wanted, kind, &err);
    CHECK(rt_failed(&err) == (c != RT_CHOICE_WANTED));
    rt_shutdown();
    unsetenv("QUERN_DEVICE");
    return c;
}

static void test_CUH_18_choice_of_a_device(void) {
    setenv("QUERN_CUDA_LIBRARY", "/nowhere/libcuda.so.1", 1);
    RtDeviceKind kind = RT_KINDS;
    CHECK(choose(NULL, RT_CUDA, &kind) == RT_CHOICE_FALLBACK && kind == RT_CPU);
    CHECK_ERROR(&err, RT_SUPPORT_ERROR, "/nowhere/libcuda.so.1");
    CHECK_ERROR(&err, RT_SUPPORT_ERROR, "cannot open shared object file");
    CHECK(choose("cuda", RT_CUDA, &kind) == RT_CHOICE_MISSING);
    CHECK_ERROR(&err, RT_SUPPORT_ERROR, "QUERN_DEVICE=cuda");
    CHECK(choose("cpu", RT_CUDA, &kind) == RT_CHOICE_WANTED && kind == RT_CPU);
    CHECK(choose("null", RT_CUDA, &kind) == RT_CHOICE_WANTED && kind == RT_NULL);
    CHECK(choose("tpu", RT_CUDA, &kind) == RT_CHOICE_MISSING);
    CHECK_ERROR(&err, RT_VALUE_ERROR, "QUERN_DEVICE is 'tpu'");
    CHECK(choose(NULL, RT_NULL, &kind) == RT_CHOICE_WANTED && kind == RT_NULL);
    CHECK(choose("cuda", RT_CPU, &kind) == RT_CHOICE_WANTED && kind == RT_CPU);
    setenv("QUERN_CUDA_LIBRARY", "libcuda.so.1", 1);
    CHECK(choose(NULL, RT_CUDA, &kind) == RT_CHOICE_FALLBACK);
    CHECK_ERROR(&err, RT_SUPPORT_ERROR, "must be an absolute path");
    /* A library that is no driver. */
    setenv("QUERN_CUDA_LIBRARY", "/lib/x86_64-linux-gnu/libm.so.6", 1);
    CHECK(choose(NULL, RT_CUDA, &kind) == RT_CHOICE_FALLBACK);
    unsetenv("QUERN_CUDA_LIBRARY");
    end_of_test();
}

/* -- fork -------------------------------------------------------------------------------------- */

static void test_FRK_03_the_child_gets_a_clean_error(void) {
    RtDevice *d = null_device(0);
    RtStream *s = rt_stream_new(d, &err);
    RtEvent *event = rt_event_new(d, false, &err);
    RtBuffer *b = rt_buffer_new(d, RT_MEM_DEVICE, 100, s, &err);
    RtBuffer *pinned = rt_buffer_new(d, RT_MEM_PINNED, 100, s, &err);
    int calls = rt_null_calls(NULL);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(20);
        failures = 0;
        RtError e;
        rt_error_init(&e);
        CHECK(!rt_device(RT_NULL, 0, &e));
        CHECK_ERROR(&e, RT_FORK_ERROR, "forked after its parent");
        rt_error_init(&e);
        CHECK(!rt_buffer_new(d, RT_MEM_DEVICE, 10, NULL, &e) && e.cls == RT_FORK_ERROR);
        rt_error_init(&e);
        CHECK(!rt_stream_synchronize(s, NULL, &e) && e.cls == RT_FORK_ERROR);
        rt_buffer_release(b);
        rt_buffer_release(pinned);
        rt_event_release(event);
        rt_stream_release(s);
        CHECK(rt_null_calls(NULL) == calls); /* not one call to the driver */
        rt_shutdown();
        _exit(failures ? 1 : 0);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    rt_buffer_release(b);
    rt_buffer_release(pinned);
    rt_event_release(event);
    rt_stream_release(s);
    end_of_test();
}

/* -- waiting ----------------------------------------------------------------------------------- */

static int polled;
static int32_t poll_once(CallContext *ctx) {
    (void)ctx;
    return ++polled >= 2;
}

static bool never(void *what, bool *done, RtError *e) {
    (void)what, (void)e;
    return !(*done = false);
}

static void test_EXC_04_waiting_polls(void) {
    CallContext ctx;
    memset(&ctx, 0, sizeof ctx);
    ctx.poll = poll_once;
    int64_t start = os_now_ns();
    rt_error_init(&err);
    CHECK(!rt_wait(null_device(0), &ctx, never, NULL, &err));
    int64_t ms = (os_now_ns() - start) / 1000000;
    CHECK(err.cls == RT_PENDING && polled == 2 && ms >= 99 && ms < 1000);
    end_of_test();
}

int main(void) {
    RUN(test_sizes_waste_at_most_a_quarter);
    RUN(test_reuse_on_the_same_stream);
    RUN(test_CUH_08_another_stream_waits_for_a_synchronisation);
    RUN(test_CUH_08_used_elsewhere);
    RUN(test_CUH_08_stream_gone_before_its_memory);
    RUN(test_CUH_11_full);
    RUN(test_full_takes_from_other_streams);
    RUN(test_full_and_the_other_stream_cannot_be_waited_for);
    RUN(test_other_kinds_of_memory);
    RUN(test_THR_01_many_threads);
    RUN(test_MEM_02_each_host_allocation_fails_once);
    RUN(test_CUH_each_driver_call_fails_once);
    RUN(test_CUH_05_a_dead_device_says_so);
    RUN(test_first_error_wins);
    RUN(test_registry);
    RUN(test_CUH_18_choice_of_a_device);
    RUN(test_FRK_03_the_child_gets_a_clean_error);
    RUN(test_EXC_04_waiting_polls);
    return finish();
}
