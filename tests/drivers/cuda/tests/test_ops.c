/* One instruction at a time: a row gives the body of a kernel in PTX, what is in its registers, and what
 * has to come out. Expected values are the PTX manual's, worked out by hand.
 */
#include "testing.h"

/* Sources: %r0-3 and %rd0-3 and %f/%fd of the same bits; result: %rd9. */
typedef struct Row {
    const char *body;
    uint64_t a, b, c;
    uint64_t want;
} Row;

#define F(x) ((uint64_t)0x##x)

static const Row rows[] = {
#include "ops_rows.def"
};

static const char prologue[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 out, .param .u64 pa, .param .u64 pb, .param .u64 pc)\n{\n"
    ".reg .pred %p<10>; .reg .b16 %h<10>; .reg .b32 %r<10>; .reg .b64 %rd<10>; .reg .b64 %out;\n"
    ".reg .f32 %f<10>; .reg .f64 %fd<10>;\n"
    "ld.param.u64 %out, [out]; ld.param.u64 %rd0, [pa]; ld.param.u64 %rd1, [pb]; ld.param.u64 "
    "%rd2, [pc];\n"
    "cvt.u32.u64 %r0, %rd0; cvt.u32.u64 %r1, %rd1; cvt.u32.u64 %r2, %rd2;\n"
    "cvt.u16.u64 %h0, %rd0; cvt.u16.u64 %h1, %rd1; cvt.u16.u64 %h2, %rd2;\n"
    "mov.b32 %f0, %r0; mov.b32 %f1, %r1; mov.b32 %f2, %r2;\n"
    "mov.b64 %fd0, %rd0; mov.b64 %fd1, %rd1; mov.b64 %fd2, %rd2;\n"
    "mov.u64 %rd9, 0; mov.u32 %r9, 0; mov.u16 %h9, 0; mov.f32 %f9, 0f00000000; mov.f64 %fd9, "
    "0d0000000000000000;\n"
    "setp.ne.u32 %p0, %r0, 0;\n";

/* A body writes one of %r9 %rd9 %h9 %f9 %fd9 %p9; which one, its last letters say. */
static const char *epilogue(const char *body) {
    if (strstr(body, "%rd9")) return "st.global.u64 [%out], %rd9;\nret;\n}\n";
    if (strstr(body, "%h9")) return "cvt.u64.u16 %rd9, %h9; st.global.u64 [%out], %rd9;\nret;\n}\n";
    if (strstr(body, "%fd9")) return "mov.b64 %rd9, %fd9; st.global.u64 [%out], %rd9;\nret;\n}\n";
    if (strstr(body, "%f9"))
        return "mov.b32 %r9, %f9; cvt.u64.u32 %rd9, %r9; st.global.u64 [%out], %rd9;\nret;\n}\n";
    if (strstr(body, "%p9"))
        return "selp.u64 %rd9, 1, 0, %p9; st.global.u64 [%out], %rd9;\nret;\n}\n";
    return "cvt.u64.u32 %rd9, %r9; st.global.u64 [%out], %rd9;\nret;\n}\n";
}

static void run_row(Tally *tally, const Row *row, CUdeviceptr out) {
    char text[4096];
    uint64_t a = row->a, b = row->b, c = row->c, got = 0;
    snprintf(text, sizeof text, "%s%s\n%s", prologue, row->body, epilogue(row->body));
    CUmodule module = load_text(tally, text);
    if (!module) {
        printf("    in: %s\n", row->body);
        return;
    }
    LAUNCH(function(tally, module, "k"), 1, 1, 0, &out, &a, &b, &c);
    OK(cuMemcpyDtoH_v2(&got, out, sizeof got));
    if (!CHECK(got == row->want))
        printf("    %s: a=%llx b=%llx c=%llx gave %llx, not %llx\n", row->body,
               (unsigned long long)a, (unsigned long long)b, (unsigned long long)c,
               (unsigned long long)got, (unsigned long long)row->want);
    OK(cuModuleUnload(module));
}

/* Writes every row's module to a file, for the vendor's assembler to judge. */
static int dump(const char *folder) {
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/op%03u.ptx", folder, i);
        FILE *file = fopen(path, "w");
        if (!file) return 1;
        fprintf(file, "%s%s\n%s", prologue, rows[i].body, epilogue(rows[i].body));
        fclose(file);
    }
    return 0;
}

int main(int argc, char **argv) {
    Tally counts = {0}, *tally = &counts;
    if (argc == 3 && strcmp(argv[1], "--dump") == 0) return dump(argv[2]);
    open_device(tally);
    CUdeviceptr out = upload(tally, NULL, 8);
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        run_row(tally, &rows[i], out);
    return report(tally, "ops");
}
