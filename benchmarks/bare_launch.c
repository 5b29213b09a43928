/* Nanoseconds of one cuLaunchKernel call of the driver named on the command line: what a launch cannot avoid. With a code object
 * and the name of its kernel behind it, of one hipModuleLaunchKernel call.
 *
 * A second thread sleeps meanwhile: mutexes are a little cheaper in a process of one thread, which a Python process with NumPy
 * is not. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry empty(.param .u64 a, .param .u64 b, .param .u64 c, "
                          ".param .u64 d, .param .u64 e, "
                          ".param .u64 f)\n{\n ret;\n}\n";

static void *symbol(void *library, const char *name) {
    void *found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "no %s\n", name);
        exit(1);
    }
    return found;
}

static void check(int code, const char *what) {
    if (code) {
        fprintf(stderr, "%s: error %d\n", what, code);
        exit(1);
    }
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *sleeper(void *unused) {
    for (;;)
        pause();
    return unused;
}

typedef int Launch(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   void *, void **, void **);

static void *function_of_cuda(void *library) {
    int (*init)(unsigned) = symbol(library, "cuInit");
    int (*retain)(void **, int) = symbol(library, "cuDevicePrimaryCtxRetain");
    int (*set)(void *) = symbol(library, "cuCtxSetCurrent");
    int (*load)(void **, const void *) = symbol(library, "cuModuleLoadData");
    int (*get)(void **, void *, const char *) = symbol(library, "cuModuleGetFunction");
    void *context, *module, *function;
    check(init(0), "cuInit");
    check(retain(&context, 0), "cuDevicePrimaryCtxRetain");
    check(set(context), "cuCtxSetCurrent");
    check(load(&module, ptx), "cuModuleLoadData");
    check(get(&function, module, "empty"), "cuModuleGetFunction");
    return function;
}

static void *function_of_hip(void *library, const char *path, const char *name) {
    static char image[1 << 20];
    int (*set)(int) = symbol(library, "hipSetDevice");
    int (*init)(unsigned) = symbol(library, "hipInit");
    int (*load)(void **, const void *, unsigned, int *, void **) =
        symbol(library, "hipModuleLoadDataEx");
    int (*get)(void **, void *, const char *) = symbol(library, "hipModuleGetFunction");
    void *module, *function;
    FILE *file = fopen(path, "rb");
    if (!file || fread(image, 1, sizeof image, file) == 0) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(1);
    }
    fclose(file);
    check(init(0), "hipInit");
    check(set(0), "hipSetDevice");
    check(load(&module, image, 0, NULL, NULL), "hipModuleLoadDataEx");
    check(get(&function, module, name), "hipModuleGetFunction");
    return function;
}

int main(int argc, char **argv) {
    void *library = dlopen(argc > 1 ? argv[1] : "libcuda.so.1", RTLD_NOW);
    if (!library) return 1;
    bool hip = argc > 3;
    const char *name = hip ? "hipModuleLaunchKernel" : "cuLaunchKernel";
    Launch *launch = symbol(library, name);
    void *function = hip ? function_of_hip(library, argv[2], argv[3]) : function_of_cuda(library);
    pthread_t thread;
    check(pthread_create(&thread, NULL, sleeper, NULL), "pthread_create");
    char buffer[48] = {0};
    size_t size = sizeof buffer;
    void *extra[] = {(void *)1, buffer, (void *)2, &size, hip ? (void *)3 : NULL};
    double best = 1e18;
    for (int round = 0; round < 20; round++) {
        double start = now();
        for (int i = 0; i < 20000; i++)
            check(launch(function, 1, 1, 1, 128, 1, 1, 0, NULL, NULL, extra), name);
        double spent = (now() - start) / 20000;
        if (spent < best) best = spent;
    }
    printf("%.1f\n", best);
    return 0;
}
