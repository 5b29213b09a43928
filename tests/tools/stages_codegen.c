/* stages_codegen.c - stages of golden.c for code generation: typed IR to LLVM text or PTX.
 *
 *     lower              the module as lowering makes it, before any pass of LLVM (opt_level 0)
 *     llvm[=N]           after LLVM's pipeline of level N (default 3), for x86-64-v3 whatever the host is
 *     ptx[=sm_80]        PTX of a kernel
 *     gcn[=gfx1100]      assembly of a kernel for an AMD GPU, the code only
 * Words: fastmath, ufunc, kernel, general, debug. */
#include "codegen/codegen.h"
#include "tests/tools/stages.h"

#include <stdlib.h>

static void read_words(const StageRun *run, CompileOptions *options) {
    for (int i = 0; i < run->nwords; i++) {
        if (str_is(run->words[i], "fastmath"))
            options->fastmath = FM_DEFAULT;
        else if (str_is(run->words[i], "ufunc"))
            options->entry = ENTRY_UFUNC;
        else if (str_is(run->words[i], "kernel"))
            options->entry = ENTRY_KERNEL;
        else if (str_is(run->words[i], "general"))
            options->general_variant = true;
        else if (str_is(run->words[i], "debug"))
            options->infer.debug = true;
    }
}

/* Lines of the text, without those that name the machine; entries of one process get one name. */
static void print_text(StageRun *run, Str text) {
    static const char *const dropped[] = {"; ModuleID", "source_filename", "target ", "//"};
    static const char serial[] = "quern_entry_";
    const char *p = text.bytes, *end = text.bytes + text.len;
    while (p < end) {
        const char *line = p;
        bool drop = false;
        for (int i = 0; i < countof(dropped); i++)
            drop |= strncmp(p, dropped[i], strlen(dropped[i])) == 0;
        p += strcspn(p, "\n");
        for (const char *c = line; c < p && !drop; c++) {
            buf_char(run->out, *c);
            size_t n = sizeof serial - 2; /* up to the number and its underscore */
            if (strncmp(c, serial, n + 1) == 0) {
                buf_bytes(run->out, c + 1, n - 1);
                for (c += n; c + 1 < p && c[1] >= '0' && c[1] <= '9'; c++)
                    ;
            }
        }
        if (!drop) buf_char(run->out, '\n');
        p += p < end;
    }
}

static bool compile(StageRun *run, CompileOptions *options, bool assembly) {
    read_words(run, options);
    options->keep_text = true;
    Compilation *c = cg_begin(options, NULL);
    Module *module = ir_parse_module(cg_arena(c), run->code, cg_diags(c));
    Artifact *artifact = NULL;
    if (module && ir_verify_module(module, "input", cg_diags(c)) && cg_front_module(c, module))
        artifact = cg_back(c);
    if (artifact) print_text(run, assembly ? artifact->text_asm : artifact->text_llvm);
    for (int32_t i = 0; i < cg_diags(c)->items.len; i++)
        diag_add(run->diags, E0501, NULL, cg_diags(c)->items.items[i].text.bytes);
    artifact_release(artifact);
    cg_end(c);
    return artifact != NULL;
}

static bool run_lower(StageRun *run) {
    CompileOptions options = {.opt_level = 0, .arch = "x86-64-v3"};
    return compile(run, &options, false);
}

static bool run_llvm(StageRun *run) {
    CompileOptions options = {.opt_level = run->value.len ? atoi(run->value.bytes) : 3,
                              .arch = "x86-64-v3",
                              .no_vector_math = true};
    return compile(run, &options, false);
}

static bool compile_kernel(StageRun *run, TargetKind target, const char *arch) {
    CompileOptions options = {
        .opt_level = 3, .entry = ENTRY_KERNEL, .infer = {.target = target, .kernel = true}};
    Str chosen = str_copy(run->arena, run->value.bytes, (size_t)run->value.len);
    options.arch = chosen.len ? chosen.bytes : arch;
    return compile(run, &options, true);
}

static bool run_ptx(StageRun *run) {
    return compile_kernel(run, TARGET_NVPTX, "sm_80");
}

/* Behind the instructions stand directives, most of which say again what the metadata say. */
static bool run_gcn(StageRun *run) {
    if (!compile_kernel(run, TARGET_AMDGPU, "gfx1100")) return false;
    StrBuf *out = run->out;
    buf_char(out, 0);
    const char *end = strstr(out->bytes, "\t.section\t.rodata");
    out->len = end ? (int32_t)(end - out->bytes) : out->len - 1;
    return true;
}

const Stage stages_codegen[] = {
    {"lower", run_lower}, {"llvm", run_llvm}, {"ptx", run_ptx}, {"gcn", run_gcn}, {NULL, NULL},
};
