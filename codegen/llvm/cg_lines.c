/* cg_lines.c - which line of the program an instruction of PTX is of: the option lineinfo, for profilers and debuggers.
 *
 * Directives alone (.file, .loc), without sections of debug information: the instructions are those of a build without.
 * LLVM inlines the lowered kernel into its entry. So that the entry and what comes into it are one function to whoever looks, the
 * kernel's description is the entry's, and the lowered kernel has none of its own. */
#include "codegen/llvm/cg.h"
#include <llvm-c/DebugInfo.h>
#include <string.h>

/* DICompileUnit::DebugDirectivesOnly: the C interface hands it on, and has no name for it */
enum { DIRECTIVES_ONLY = 3 };

static LLVMMetadataRef file_of(Cg *cg, Str path) {
    int64_t slash = path.len;
    while (slash > 0 && path.bytes[slash - 1] != '/')
        slash--;
    return LLVMDIBuilderCreateFile(cg->lines, path.bytes + slash, (size_t)(path.len - slash),
                                   path.bytes, (size_t)(slash > 1 ? slash - 1 : slash));
}

void cg_lines_open(Cg *cg) {
    if (!cg->options->lineinfo || !cg->target->lines || !cg->ir->funcs.len) return;
    cg->lines = LLVMCreateDIBuilder(cg->mod);
    LLVMDIBuilderCreateCompileUnit(cg->lines, LLVMDWARFSourceLanguagePython,
                                   file_of(cg, cg->ir->funcs.items[0]->file), "quern", 5, true, "",
                                   0, 0, "", 0, (LLVMDWARFEmissionKind)DIRECTIVES_ONLY, 0, false,
                                   false, "", 0, "", 0);
    Value version = LLVMConstInt(cg->i32, LLVMDebugMetadataVersion(), false);
    LLVMAddModuleFlag(cg->mod, LLVMModuleFlagBehaviorWarning, "Debug Info Version", 18,
                      LLVMValueAsMetadata(version));
}

static unsigned first_line(const Func *func) {
    unsigned line = 0;
    for (int32_t i = 1; i < func->spans.len; i++)
        if (func->spans.items[i].line > 0 && (!line || (unsigned)func->spans.items[i].line < line))
            line = (unsigned)func->spans.items[i].line;
    return line;
}

static void stand_at(Cg *cg, unsigned line, unsigned column) {
    LLVMSetCurrentDebugLocation2(
        cg->b, LLVMDIBuilderCreateDebugLocation(cg->context, line, column, cg->scope, NULL));
}

void cg_lines_function(Cg *cg, const CgSig *sig) {
    if (!cg->lines) return;
    const Func *func = sig->ir;
    LLVMMetadataRef file = file_of(cg, func->file);
    LLVMMetadataRef type =
        LLVMDIBuilderCreateSubroutineType(cg->lines, file, NULL, 0, LLVMDIFlagZero);
    unsigned line = first_line(func);
    Str name = func->user_name.len ? func->user_name : func->name;
    cg->scope =
        LLVMDIBuilderCreateFunction(cg->lines, file, name.bytes, (size_t)name.len, "", 0, file,
                                    line, type, false, true, line, LLVMDIFlagZero, true);
    if (sig == &cg->sigs[0])
        cg->kernel_scope = cg->scope;
    else
        LLVMSetSubprogram(sig->fn, cg->scope);
    stand_at(cg, line, 0);
}

void cg_lines_at(Cg *cg, Ref ref) {
    if (!cg->scope) return;
    const IrSpan *span = &cg->f->ir->spans.items[ir_inst(cg->f->ir, ref)->span];
    if (span->line > 0) stand_at(cg, (unsigned)span->line, (unsigned)QN_MAX(span->column, 0) + 1);
}

void cg_lines_leave(Cg *cg) {
    if (!cg->scope) return;
    cg->scope = NULL;
    LLVMSetCurrentDebugLocation2(cg->b, NULL);
}

/* What the builder made elsewhere while it stood at a line, and what has no line in a function that has: LLVM wants both right. */
static void settle(Cg *cg, Value fn) {
    LLVMMetadataRef scope = LLVMGetSubprogram(fn);
    bool own = scope != NULL;
    if (fn == cg->sigs[0].fn) scope = cg->kernel_scope;
    LLVMMetadataRef start = NULL;
    if (own)
        start = LLVMDIBuilderCreateDebugLocation(cg->context, LLVMDISubprogramGetLine(scope), 0,
                                                 scope, NULL);
    for (BB b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        for (Value v = LLVMGetFirstInstruction(b); v; v = LLVMGetNextInstruction(v)) {
            LLVMMetadataRef at = LLVMInstructionGetDebugLoc(v);
            if (!at ? own : LLVMDILocationGetScope(at) != scope)
                LLVMInstructionSetDebugLoc(v, start);
        }
}

void cg_lines_finish(Cg *cg) {
    if (!cg->lines) return;
    Value entry = LLVMGetNamedFunction(cg->mod, cg_entry_name(cg));
    for (Value fn = LLVMGetFirstFunction(cg->mod); fn; fn = LLVMGetNextFunction(fn))
        settle(cg, fn);
    if (entry && cg->kernel_scope && entry != cg->sigs[0].fn)
        LLVMSetSubprogram(entry, cg->kernel_scope);
    LLVMDIBuilderFinalize(cg->lines);
    cg_lines_close(cg);
}

void cg_lines_close(Cg *cg) {
    if (cg->lines) LLVMDisposeDIBuilder(cg->lines);
    cg->lines = NULL;
}
