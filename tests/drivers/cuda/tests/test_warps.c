/* Operations of warps and blocks, one by one, on a hand-written module. */
#include "testing.h"

#include <unistd.h>

static void test_warp_ops(Tally *tally, CUmodule module) {
    unsigned out[32][16];
    CUdeviceptr d = upload(tally, NULL, sizeof out);
    LAUNCH(function(tally, module, "warp_ops"), 1, 32, 0, &d);
    OK(cuMemcpyDtoH_v2(out, d, sizeof out));
    for (unsigned i = 0; i < 32; i++) {
        const unsigned *o = out[i];
        CHECK(o[0] == 15u << (i / 4 * 4)); /* match.any */
        CHECK(o[1] == 0 && o[2] == 0);     /* match.all: no; yes: all ones + 1 */
        CHECK(o[3] == 496 - 160 && (int)o[4] == -5 && o[5] == 31); /* redux */
        CHECK(o[6] == 2);                              /* any, but neither all nor uniform */
        CHECK(o[7] == (i == 0 ? 100 : 0));             /* elect */
        CHECK(o[8] == (i % 8 >= 3 ? i - 3 + 100 : i)); /* shfl.up in eights */
        CHECK(o[9] == (i % 8 < 5 ? i + 3 + 100 : i));  /* shfl.down in eights */
        CHECK(o[10] == i / 8 * 8 + 2);                 /* shfl.idx in eights */
        CHECK(o[11] == i);                             /* lanemask_lt */
        CHECK(o[12] == (i < 10 ? 0x3ffu : ~0x3ffu));   /* activemask on each side of a branch */
    }
    OK(cuMemFree_v2(d));
}

static void test_block_votes(Tally *tally, CUmodule module) {
    unsigned out[96][3];
    CUdeviceptr d = upload(tally, NULL, sizeof out);
    LAUNCH(function(tally, module, "block_votes"), 1, 96, 0, &d);
    OK(cuMemcpyDtoH_v2(out, d, sizeof out));
    for (int i = 0; i < 96; i += 19)
        CHECK(out[i][0] == 40 && out[i][1] == 0 && out[i][2] == 1);
    OK(cuMemFree_v2(d));
}

static void test_producer(Tally *tally, CUmodule module) {
    unsigned out[96];
    CUdeviceptr d = upload(tally, NULL, sizeof out);
    LAUNCH(function(tally, module, "producer"), 1, 96, 0, &d);
    OK(cuMemcpyDtoH_v2(out, d, sizeof out));
    CHECK(out[32] == 1000 && out[63] == 1031);
    CHECK(out[0] == 0xcbcbcbcb && out[95] == 0xcbcbcbcb);
    OK(cuMemFree_v2(d));
}

static void test_early_exit(Tally *tally, CUmodule module) {
    unsigned count = 0, n = 37;
    CUdeviceptr d = upload(tally, &count, sizeof count);
    LAUNCH(function(tally, module, "early_exit"), 2, 64, 0, &d, &n);
    OK(cuMemcpyDtoH_v2(&count, d, sizeof count));
    CHECK(count == 74);
    OK(cuMemFree_v2(d));
}

/* What the kernel prints comes out of the program's own standard output. */
static void test_print(Tally *tally, CUmodule module) {
    char path[] = "/tmp/fakecuda_print_XXXXXX";
    int fd = mkstemp(path), saved = dup(1);
    CUdeviceptr d = 0;
    fflush(stdout);
    dup2(fd, 1);
    LAUNCH(function(tally, module, "prints"), 1, 1, 0, &d);
    dup2(saved, 1);
    char *text = read_text(path);
    CHECK(text && strcmp(text, "i=42 x=1.50 s=abc 18446744073709551615\n") == 0);
    free(text);
    close(fd), close(saved);
    unlink(path);
}

static void test_fault(Tally *tally, const char *text, const char *kernel, CUresult want) {
    open_device(tally);
    CUdeviceptr d = 0;
    void *args[] = {&d};
    CUfunction fn = function(tally, load_text(tally, text), kernel);
    OK(cuLaunchKernel(fn, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL));
    check_code(tally, cuCtxSynchronize(), want, kernel, __LINE__);
}

int main(void) {
    Tally counts = {0}, *tally = &counts;
    char *text = read_text(FIXTURES "/warps.ptx");
    open_device(tally);
    CUmodule module = load_text(tally, text);
    if (module) {
        test_warp_ops(tally, module);
        test_block_votes(tally, module);
        test_producer(tally, module);
        test_early_exit(tally, module);
        test_print(tally, module);
        test_fault(tally, text, "outside_mask", CUDA_ERROR_ILLEGAL_INSTRUCTION);
        test_fault(tally, text, "asserts", CUDA_ERROR_ASSERT);
    }
    free(text);
    return report(tally, "warps");
}
