/* nvptx_layout.c - the order of blocks in PTX.
 *
 * ptxas unrolls a loop whose end is one branch back to its start, and looks for the others no further. LLVM's passes leave blocks where
 * they made them, and its code generator for PTX orders none: an unrolled loop stands at the end, with a branch out and a jump back. Here
 * blocks are put in reverse postorder in which what leaves most loops comes last, so that loops stand in one piece, their exits behind them. */
#include "codegen/target/nvptx_layout.h"

enum { MOST_BLOCKS = 128 };

typedef struct BlockOrder {
    BB blocks[MOST_BLOCKS];
    int n, norder;
    int order[MOST_BLOCKS]; /* postorder */
    bool seen[MOST_BLOCKS];
    bool dominates[MOST_BLOCKS][MOST_BLOCKS];
    bool in_loop[MOST_BLOCKS][MOST_BLOCKS]; /* of a header: the blocks of its loop */
} BlockOrder;

static int number_of(const BlockOrder *l, BB block) {
    int i = 0;
    while (l->blocks[i] != block)
        i++;
    return i;
}

static int successors(const BlockOrder *l, int block, int *out) {
    Value end = LLVMGetBasicBlockTerminator(l->blocks[block]);
    unsigned n = LLVMGetNumSuccessors(end);
    for (unsigned k = 0; k < n && k < MOST_BLOCKS; k++)
        out[k] = number_of(l, LLVMGetSuccessor(end, k));
    return (int)n;
}

static void reach(BlockOrder *l, int block, int closed) {
    int to[MOST_BLOCKS];
    if (block == closed || l->seen[block]) return;
    l->seen[block] = true;
    int n = successors(l, block, to);
    for (int k = 0; k < n; k++)
        reach(l, to[k], closed);
}

/* A block dominates what cannot be reached without it. */
static void find_dominators(BlockOrder *l) {
    for (int a = 0; a < l->n; a++) {
        memset(l->seen, 0, sizeof l->seen);
        reach(l, 0, a);
        for (int b = 0; b < l->n; b++)
            l->dominates[a][b] = !l->seen[b];
    }
}

/* The header's loop: what it dominates and what leads to the latch without it. */
static void add_loop(BlockOrder *l, int header, int latch) {
    int todo[MOST_BLOCKS], n = 0;
    l->in_loop[header][header] = true;
    if (!l->in_loop[header][latch]) todo[n++] = latch, l->in_loop[header][latch] = true;
    while (n) {
        int block = todo[--n], to[MOST_BLOCKS];
        for (int p = 0; p < l->n; p++) {
            int k = successors(l, p, to);
            if (l->in_loop[header][p] || !l->dominates[header][p]) continue;
            while (--k >= 0 && to[k] != block) {
            }
            if (k >= 0) todo[n++] = p, l->in_loop[header][p] = true;
        }
    }
}

static void find_loops(BlockOrder *l) {
    int to[MOST_BLOCKS];
    for (int block = 0; block < l->n; block++) {
        int n = successors(l, block, to);
        for (int k = 0; k < n; k++)
            if (l->dominates[to[k]][block]) add_loop(l, to[k], block);
    }
}

static int loops_left(const BlockOrder *l, int from, int to) {
    int n = 0;
    for (int header = 0; header < l->n; header++)
        n += l->in_loop[header][from] && !l->in_loop[header][to];
    return n;
}

static void visit(BlockOrder *l, int block) {
    int to[MOST_BLOCKS];
    if (l->seen[block]) return;
    l->seen[block] = true;
    int n = successors(l, block, to);
    for (int left = l->n; left >= 0; left--)
        for (int k = n - 1; k >= 0; k--)
            if (loops_left(l, block, to[k]) == left) visit(l, to[k]);
    l->order[l->norder++] = block;
}

/* -- branches back ------------------------------------------------------------------------------------ */

static Value opposite(Cg *cg, Value condition) {
    static const LLVMIntPredicate ints[] = {LLVMIntNE,  LLVMIntEQ,  LLVMIntULE, LLVMIntULT,
                                            LLVMIntUGE, LLVMIntUGT, LLVMIntSLE, LLVMIntSLT,
                                            LLVMIntSGE, LLVMIntSGT};
    if (LLVMIsAICmpInst(condition))
        return LLVMBuildICmp(cg->b, ints[LLVMGetICmpPredicate(condition) - LLVMIntEQ],
                             LLVMGetOperand(condition, 0), LLVMGetOperand(condition, 1), "");
    if (LLVMIsAFCmpInst(condition))
        return LLVMBuildFCmp(cg->b, LLVMRealPredicateTrue - LLVMGetFCmpPredicate(condition),
                             LLVMGetOperand(condition, 0), LLVMGetOperand(condition, 1), "");
    return LLVMBuildNot(cg->b, condition, "");
}

/* Where loops share an exit it stands behind one of them: the others are to branch back, and not out. Where it stands behind this one,
 * LLVM writes the same in both cases. */
static void turn_back(Cg *cg, BlockOrder *l, int block) {
    int to[MOST_BLOCKS];
    Value end = LLVMGetBasicBlockTerminator(l->blocks[block]);
    if (!LLVMIsABranchInst(end) || successors(l, block, to) != 2) return;
    if (!l->dominates[to[1]][block] || l->dominates[to[0]][block]) return;
    LLVMPositionBuilderBefore(cg->b, end);
    LLVMSetCondition(end, opposite(cg, LLVMGetCondition(end)));
    LLVMSetSuccessor(end, 0, l->blocks[to[1]]);
    LLVMSetSuccessor(end, 1, l->blocks[to[0]]);
}

static void lay_out(Cg *cg, Value fn) {
    BlockOrder *l = arena_zalloc(cg->arena, sizeof *l);
    for (BB bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb)) {
        if (l->n == MOST_BLOCKS) return;
        l->blocks[l->n++] = bb;
    }
    find_dominators(l);
    find_loops(l);
    memset(l->seen, 0, sizeof l->seen);
    visit(l, 0);
    for (int i = l->norder - 2; i >= 0; i--)
        LLVMMoveBasicBlockAfter(l->blocks[l->order[i]], l->blocks[l->order[i + 1]]);
    for (int block = 0; block < l->n; block++)
        turn_back(cg, l, block);
}

void nvptx_lay_out(Cg *cg) {
    for (Value fn = LLVMGetFirstFunction(cg->mod); fn; fn = LLVMGetNextFunction(fn))
        if (LLVMGetFirstBasicBlock(fn)) lay_out(cg, fn);
}
