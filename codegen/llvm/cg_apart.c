/* cg_apart.c - arrays that a function makes lie apart from each other and from what it was given.
 *
 * LLVM sees as much where a pointer is made, and forgets it where the pointer is handed on, be it to a loop with checks that never
 * runs. Without it no load is taken out of a loop that stores into such an array, and no short loop becomes one of vectors: there what
 * asks whether memory overlaps does not pay. Each array that is made is a scope, in which its accesses are; all others whose memory is
 * known lie outside. */
#include "codegen/llvm/cg.h"

#include <llvm-c/DebugInfo.h>

enum { MOST_MADE = 8 };

Ref cg_memory_of(const Func *func, Ref array) {
    for (;;) {
        Op op = (Op)ir_inst(func, array)->op;
        if (op != OP_view && op != OP_transpose && op != OP_reshape && op != OP_restride)
            return array;
        array = ir_arg(func, array, 0);
    }
}

bool cg_is_known_memory(const Func *func, Ref memory) {
    Op op = (Op)ir_inst(func, memory)->op;
    return op == OP_param || op == OP_alloc || op == OP_frozen;
}

/* A node that names itself is nobody else's. */
static LLVMMetadataRef own_node(Cg *cg, LLVMMetadataRef of) {
    LLVMMetadataRef parts[] = {LLVMTemporaryMDNode(cg->context, NULL, 0), of};
    LLVMMetadataRef node = LLVMMDNodeInContext2(cg->context, parts, of ? 2 : 1);
    LLVMMetadataReplaceAllUsesWith(parts[0], node);
    return node;
}

/* The arrays that the function makes; where a frame outlives the call, none. */
void cg_apart_begin(Cg *cg) {
    CgFunc *f = cg->f;
    if (!cg->target->is_host || f->sig->suspends || cg->options->opt_level < 2) return;
    Ref made[MOST_MADE];
    for (Ref r = 1; r < f->ir->insts.len && f->nmade < MOST_MADE; r++)
        if (ir_inst(f->ir, r)->op == OP_alloc) made[f->nmade++] = r;
    if (f->nmade == 0) return;
    LLVMMetadataRef domain = own_node(cg, NULL);
    f->made = arena_array(cg->arena, Made, f->nmade);
    for (int i = 0; i < f->nmade; i++)
        f->made[i] = (Made){made[i], own_node(cg, domain)};
}

static void mark(Cg *cg, Value access, const char *kind, LLVMMetadataRef *scopes, size_t n) {
    if (n == 0) return;
    LLVMMetadataRef list = LLVMMDNodeInContext2(cg->context, scopes, n);
    LLVMSetMetadata(access, LLVMGetMDKindIDInContext(cg->context, kind, (unsigned)strlen(kind)),
                    LLVMMetadataAsValue(cg->context, list));
}

void cg_apart_access(Cg *cg, Value access, Ref array) {
    const CgFunc *f = cg->f;
    LLVMMetadataRef own[1], others[MOST_MADE];
    size_t nown = 0, nothers = 0;
    if (f->nmade == 0) return;
    Ref memory = cg_memory_of(f->ir, array);
    for (int i = 0; i < f->nmade; i++) {
        if (f->made[i].array == memory)
            own[nown++] = f->made[i].scope;
        else
            others[nothers++] = f->made[i].scope;
    }
    if (!cg_is_known_memory(f->ir, memory)) return;
    mark(cg, access, "alias.scope", own, nown);
    mark(cg, access, "noalias", others, nothers);
}
