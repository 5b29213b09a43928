/* amdgpu_libs.c - AMD's libraries of device functions: ocml (mathematics) and what it needs of ockl.
 *
 * LLVM reads the bitcode of its own and of older versions only; ROCm 7 is newer. So a pair that this LLVM reads lies
 * in the package, and an installed one stands before it only where it can be read. What the libraries ask about the
 * chip and the options are constants, defined here. */
#include "codegen/target/amdgpu.h"
#include "codegen/target/devlib.h"
#include <llvm-c/BitReader.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdlib.h>

/* -- where ------------------------------------------------------------------------------------ */

static void ignore(LLVMDiagnosticInfoRef info, void *user) {
    (void)info, (void)user;
}

/* Can this LLVM read the file, and all of it? Asked in a context of its own: an error there is an answer. */
static bool reads(const char *path) {
    LLVMMemoryBufferRef buffer;
    LLVMModuleRef module = NULL;
    char *message = NULL;
    if (LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &message)) {
        LLVMDisposeMessage(message);
        return false;
    }
    LLVMContextRef scratch = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(scratch, ignore, NULL);
    bool ok = !LLVMParseBitcodeInContext2(scratch, buffer, &module);
    if (ok) LLVMDisposeModule(module);
    LLVMDisposeMemoryBuffer(buffer);
    LLVMContextDispose(scratch);
    return ok;
}

static bool readable(Cg *cg, const char *path) {
    LlvmState *llvm = cg->llvm;
    OsStamp stamp;
    if (!os_stamp(path, &stamp)) return false;
    for (int i = 0; i < QN_MIN(llvm->nanswers, KEPT_ANSWERS); i++) {
        const KeptAnswer *a = &llvm->answers[i];
        if (strcmp(a->path, path) == 0 && memcmp(&a->stamp, &stamp, sizeof stamp) == 0)
            return a->readable;
    }
    bool answer = reads(path);
    char *kept = strdup(path);
    if (!kept) return answer;
    KeptAnswer *place = &llvm->answers[llvm->nanswers++ % KEPT_ANSWERS];
    free(place->path);
    *place = (KeptAnswer){kept, stamp, answer};
    return answer;
}

static const char *find(Cg *cg, const char *file, Str *tried) {
    DevSearch s = {.cg = cg, .fits = readable};
    buf_init(&s.tried, cg->arena);
    tg_find_amdgpu_library(&(LibrarySearch){devlib_look, &s}, file);
    *tried = buf_take(&s.tried);
    return s.found;
}

/* -- what they ask ---------------------------------------------------------------------------- */

/* gfx90a: 9010, gfx1030: 10300: the last two digits are hexadecimal, what is before them decimal. */
static int64_t isa_version(const Chip *chip) {
    const char *digits = chip->name + 3;
    size_t n = strspn(digits, "0123456789abcdef");
    if (strchr(digits, '-')) { /* a family: its first member */
        static const struct {
            const char *name;
            int64_t version;
        } families[] = {{"gfx9-", 9000}, {"gfx10-1", 10100}, {"gfx10-3", 10300}, {"gfx11", 11000}};
        for (int i = 0; i < countof(families); i++)
            if (strncmp(chip->name, families[i].name, strlen(families[i].name)) == 0)
                return families[i].version;
        return 12000;
    }
    char major[8] = "", minor[2] = {digits[n - 2], 0}, stepping[2] = {digits[n - 1], 0};
    memcpy(major, digits, n - 2);
    return atoi(major) * 1000 + strtol(minor, NULL, 16) * 100 + strtol(stepping, NULL, 16);
}

static void define(LLVMModuleRef mod, const char *name, LType type, int64_t value) {
    Value global = LLVMGetNamedGlobal(mod, name);
    if (!global || !LLVMIsDeclaration(global)) return;
    LLVMSetInitializer(global, cg_int(type, value));
    LLVMSetGlobalConstant(global, true);
    LLVMSetLinkage(global, LLVMInternalLinkage);
}

static void define_constants(Cg *cg, LLVMModuleRef mod) {
    const Chip *chip = amdgpu_chip_of(cg);
    bool loose = cg->options->fastmath & FM_AFN;
    define(mod, "__oclc_ISA_version", cg->i32, isa_version(chip));
    define(mod, "__oclc_ABI_version", cg->i32, chip->options & CHIP_GENERIC ? 600 : 500);
    define(mod, "__oclc_wavefrontsize64", cg->i8, chip->wave == 64);
    define(mod, "__oclc_wavefrontsize_log2", cg->i8, chip->wave == 64 ? 6 : 5);
    define(mod, "__oclc_finite_only_opt", cg->i8, 0); /* NaN and infinities stay what they are */
    define(mod, "__oclc_unsafe_math_opt", cg->i8, loose);
    define(mod, "__oclc_daz_opt", cg->i8, 0); /* so do denormals */
    define(mod, "__oclc_correctly_rounded_sqrt32", cg->i8, !loose);
}

/* Everything that the constants depend on. */
static const char *variant(const Cg *cg) {
    return str_printf(cg->arena, "%s %d", amdgpu_chip_of(cg)->name,
                      (cg->options->fastmath & FM_AFN) != 0)
        .bytes;
}

/* -- linking ---------------------------------------------------------------------------------- */

/* Branches that the constants decide vanish, and functions of the library are written into each other: once, and not in each kernel. */
#define TIDY   "function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>),"
#define FINISH TIDY "cgscc(inline,function-attrs),globaldce," TIDY "globaldce"

static bool finish(Cg *cg, LLVMModuleRef part) {
    define_constants(cg, part);
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(part, FINISH, cg->machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (!error) return true;
    char *message = LLVMGetErrorMessage(error);
    cg_error(cg, "%s", message);
    LLVMDisposeErrorMessage(message);
    return false;
}

static bool link_one(Cg *cg, const char *file, const char *prefix) {
    Str tried;
    if (!devlib_needed(cg, prefix)) return true;
    const char *path = find(cg, file, &tried);
    if (path) return devlib_link_kept(cg, path, prefix, variant(cg), finish);
    cg->failed = true;
    return diag_add(cg->diags, E0502, NULL, "AMD", tried.bytes);
}

/* Those of a library that could not be kept are left. */
bool amdgpu_link_libs(Cg *cg) {
    bool ok = link_one(cg, "ocml.bc", "__ocml_") && link_one(cg, "ockl.bc", "__ockl_");
    define_constants(cg, cg->mod);
    return ok;
}

/* -- what ocml gets wrong ----------------------------------------------------------------------- */

/* expm1 and log1p lose the sign of zero, and log1p the smallest denormal number: x is the rounded result of any x that
 * is smaller than half a unit. */
static Value small_is_itself(Cg *cg, Value x, Value result) {
    LType type = LLVMTypeOf(x);
    Value least = cg_real(type, type == cg->f32 ? 0x1p-25 : 0x1p-54);
    Value small = LLVMBuildFCmp(cg->b, LLVMRealOLT, cg_intrinsic1(cg, "llvm.fabs", x), least, "");
    return LLVMBuildSelect(cg->b, small, x, result, "");
}

/* nextafter gives 0.0 above the largest number below it, which is -0.0. */
static Value signed_step(Cg *cg, Value x, Value y, Value result) {
    Value zero = LLVMBuildFCmp(cg->b, LLVMRealOEQ, result, cg_real(LLVMTypeOf(x), 0.0), "");
    Value moved = LLVMBuildFCmp(cg->b, LLVMRealUNE, x, y, "");
    Value signed_zero = cg_intrinsic2(cg, "llvm.copysign", result, x);
    return LLVMBuildSelect(cg->b, LLVMBuildAnd(cg->b, zero, moved, ""), signed_zero, result, "");
}

/* tgamma_f32 is 0 between -42 and -31.4, where a factor overflows, and a hundred units off before: rounding |x| + 3 costs
 * them. The function of doubles is right. */
static Value gamma_of_single(Cg *cg, Value x) {
    Value wide = LLVMBuildFPExt(cg->b, x, cg->f64, "");
    Value args[] = {wide};
    return LLVMBuildFPTrunc(cg->b, cg_math(cg, "tgamma", args, 1), cg->f32, "");
}

Value amdgpu_mend(Cg *cg, const char *symbol, const TgValue *args, TgValue result) {
    if (strcmp(symbol, "__ocml_tgamma_f32") == 0) return gamma_of_single(cg, args[0]);
    if (strncmp(symbol, "__ocml_expm1_", 13) == 0 || strncmp(symbol, "__ocml_log1p_", 13) == 0)
        return small_is_itself(cg, args[0], result);
    if (strncmp(symbol, "__ocml_nextafter_", 17) == 0)
        return signed_step(cg, args[0], args[1], result);
    return result;
}
