/* gpu_walk.c - addresses that a loop walks along are counted up.
 *
 *   k = phi(0, k + 1)                              p = phi(a + c, p + step)
 *   address = a + (k * step + c)             =>    address = p
 *
 * LLVM's code generation for AMD does not form them, and its pass for it (loop-reduce) takes as long as all others together. An index is
 * taken apart into what stands still and the counter times what stands still. Where ints are made wider on the way, nothing may have
 * wrapped: that is what their flags say wherever the address is used, so that it has to be in each round. */
#include "codegen/target/gpu_walk.h"
#include "codegen/target/amdgpu.h"
#include "codegen/target/gpu_loops.h"

typedef enum Wider { NOT, SIGNED, UNSIGNED } Wider;

enum {
    MOST_PARTS = 8,
    NEAR = 2048
}; /* NEAR: bytes that loads and stores of all chips add by themselves */

typedef struct Part {
    Value value, by; /* by: NULL or a factor that stands still */
    int64_t times;
    Wider wider, by_wider;
} Part;

typedef struct Address {
    Value gep, base, index;
    Value root; /* what the base is `away` bytes from, where offsets are not shared */
    int64_t away;
    int64_t size; /* bytes for each step of the index */
    int64_t fixed;
    Part moving; /* the counter */
    Part parts[MOST_PARTS];
    int nparts;
    Value pointer;  /* the variable that counts it up: of the first of several that are near */
    int32_t leader; /* that one */
} Address;

typedef struct Walk {
    Cg *cg;
    CodeLoops loops;
    const CodeLoop *loop;
    int32_t most; /* instructions of a loop; 0: any number */
    Vec(Address) found;
} Walk;

/* -- indices taken apart -------------------------------------------------------------------------- */

static bool stands_still(const Walk *w, Value value) {
    return !loops_has(&w->loops, w->loop, value);
}

static bool keeps_value(Value sum, Wider wider) {
    return wider == NOT || (wider == SIGNED ? LLVMGetNSW(sum) : LLVMGetNUW(sum));
}

static int64_t constant(Value value, Wider wider) {
    return wider == UNSIGNED ? (int64_t)LLVMConstIntGetZExtValue(value)
                             : LLVMConstIntGetSExtValue(value);
}

/* What a phi of the header grows by in each round; NULL: it is none, or does not. */
static Value growth(const Walk *w, Value phi, Wider wider) {
    BB header = w->loops.blocks[w->loop->header], latch = w->loops.blocks[w->loop->latch];
    if (!LLVMIsAPHINode(phi) || LLVMGetInstructionParent(phi) != header ||
        LLVMCountIncoming(phi) != 2)
        return NULL;
    int back = LLVMGetIncomingBlock(phi, 1) == latch;
    if (LLVMGetIncomingBlock(phi, (unsigned)back) != latch) return NULL;
    Value next = LLVMGetIncomingValue(phi, (unsigned)back);
    if (!LLVMIsAInstruction(next) || LLVMGetInstructionOpcode(next) != LLVMAdd ||
        !keeps_value(next, wider))
        return NULL;
    Value step = LLVMGetOperand(next, LLVMGetOperand(next, 0) == phi);
    return LLVMGetOperand(next, LLVMGetOperand(next, 0) != phi) == phi && stands_still(w, step)
               ? step
               : NULL;
}

static bool add_part(Address *a, Part part) {
    if (a->nparts == MOST_PARTS) return false;
    a->parts[a->nparts++] = part;
    return true;
}

static bool take(const Walk *w, Address *a, Part p);

static bool take_product(const Walk *w, Address *a, Part p) {
    Value x = LLVMGetOperand(p.value, 0), y = LLVMGetOperand(p.value, 1);
    if (!stands_still(w, y)) {
        Value other = x;
        x = y, y = other;
    }
    p.value = x;
    if (!stands_still(w, y)) return false;
    if (LLVMIsAConstantInt(y)) {
        p.times *= constant(y, p.wider);
        return take(w, a, p);
    }
    if (p.by) return false;
    p.by = y, p.by_wider = p.wider;
    return take(w, a, p);
}

static bool take_sum(const Walk *w, Address *a, Part p, int64_t sign) {
    Part second = p;
    p.value = LLVMGetOperand(p.value, 0);
    second.value = LLVMGetOperand(second.value, 1);
    second.times *= sign;
    return take(w, a, p) && take(w, a, second);
}

static bool take_wider(const Walk *w, Address *a, Part p, Wider wider) {
    if (p.wider != NOT || LLVMTypeOf(p.value) != w->cg->i64) return false;
    p.wider = wider;
    p.value = LLVMGetOperand(p.value, 0);
    return LLVMTypeOf(p.value) == w->cg->i32 && take(w, a, p);
}

/* What is not negative is either. */
static bool take_unsigned(const Walk *w, Address *a, Part p) {
    Address before = *a;
    if (LLVMGetNNeg(p.value) && take_wider(w, a, p, SIGNED)) return true;
    *a = before;
    return take_wider(w, a, p, UNSIGNED);
}

static bool take_moving(const Walk *w, Address *a, Part p) {
    switch (LLVMGetInstructionOpcode(p.value)) {
    case LLVMSExt: return take_wider(w, a, p, SIGNED);
    case LLVMZExt: return take_unsigned(w, a, p);
    case LLVMAdd: return keeps_value(p.value, p.wider) && take_sum(w, a, p, 1);
    case LLVMSub: return keeps_value(p.value, p.wider) && take_sum(w, a, p, -1);
    case LLVMOr: return LLVMGetIsDisjoint(p.value) && take_sum(w, a, p, 1);
    case LLVMMul: return keeps_value(p.value, p.wider) && take_product(w, a, p);
    case LLVMShl: {
        Value by = LLVMGetOperand(p.value, 1);
        if (!keeps_value(p.value, p.wider) || !LLVMIsAConstantInt(by)) return false;
        p.times *= INT64_C(1) << LLVMConstIntGetZExtValue(by);
        p.value = LLVMGetOperand(p.value, 0);
        return take(w, a, p);
    }
    case LLVMPHI:
        if (a->moving.value || !growth(w, p.value, p.wider)) return false;
        a->moving = p;
        return true;
    default: return false;
    }
}

static bool take(const Walk *w, Address *a, Part p) {
    if (LLVMIsAConstantInt(p.value) && !p.by) {
        a->fixed += p.times * constant(p.value, p.wider);
        return true;
    }
    return stands_still(w, p.value) ? add_part(a, p) : take_moving(w, a, p);
}

/* -- which addresses ------------------------------------------------------------------------------ */

static bool accesses(Value user, Value address, BB block) {
    if (LLVMGetInstructionParent(user) != block) return false;
    if (LLVMIsALoadInst(user)) return true;
    return LLVMIsAStoreInst(user) && LLVMGetOperand(user, 1) == address;
}

/* By it, or a fixed step from it, in its block: the block does not run otherwise. */
static bool is_used_at_once(Value gep) {
    BB block = LLVMGetInstructionParent(gep);
    for (LLVMUseRef use = LLVMGetFirstUse(gep); use; use = LLVMGetNextUse(use)) {
        Value user = LLVMGetUser(use);
        if (accesses(user, gep, block)) return true;
        if (!LLVMIsAGetElementPtrInst(user)) continue;
        for (LLVMUseRef more = LLVMGetFirstUse(user); more; more = LLVMGetNextUse(more))
            if (accesses(LLVMGetUser(more), user, block)) return true;
    }
    return false;
}

static bool is_far_memory(Value pointer) {
    unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(pointer));
    return space == SPACE_AMD_GLOBAL || space == SPACE_AMD_CONST;
}

/* LLVM adds numbers to bases in front of the loop. */
static void find_root(const Walk *w, Address *a) {
    a->root = a->base;
    while (w->most && LLVMIsAGetElementPtrInst(a->root) && LLVMGetNumOperands(a->root) == 2 &&
           LLVMIsAConstantInt(LLVMGetOperand(a->root, 1))) {
        LType element = LLVMGetGEPSourceElementType(a->root);
        a->away += LLVMConstIntGetSExtValue(LLVMGetOperand(a->root, 1)) *
                   (int64_t)LLVMABISizeOfType(w->cg->layout, element);
        a->root = LLVMGetOperand(a->root, 0);
    }
}

static void look_at(Walk *w, Value gep) {
    if (!LLVMIsAGetElementPtrInst(gep) || LLVMGetNumOperands(gep) != 2) return;
    Address a = {.gep = gep, .base = LLVMGetOperand(gep, 0), .index = LLVMGetOperand(gep, 1)};
    Part whole = {.value = a.index, .times = 1};
    if (LLVMTypeOf(a.index) != w->cg->i64 || !is_far_memory(gep) || !stands_still(w, a.base) ||
        stands_still(w, a.index) || !is_used_at_once(gep))
        return;
    a.size = (int64_t)LLVMABISizeOfType(w->cg->layout, LLVMGetGEPSourceElementType(gep));
    a.leader = w->found.len;
    find_root(w, &a);
    if (!take(w, &a, whole) || !a.moving.value) return;
    bool by_number = LLVMIsAConstantInt(growth(w, a.moving.value, a.moving.wider));
    if (by_number || !w->most) vec_push(w->cg->arena, &w->found, a);
}

static bool is_in_inner_loop(const Walk *w, int32_t block) {
    for (const CodeLoop *l = w->loops.found.items; l < w->loop; l++)
        if (bits_get(&l->body, block)) return true;
    return false;
}

static void find_addresses(Walk *w) {
    w->found.len = 0;
    for (int32_t b = 0; b < w->loops.nblocks; b++) {
        if (!bits_get(&w->loop->body, b) || is_in_inner_loop(w, b) ||
            !loops_is_always_run(&w->loops, w->loop, b))
            continue;
        BB block = w->loops.blocks[b];
        for (Value i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
            look_at(w, i);
    }
}

/* -- variables ------------------------------------------------------------------------------------ */

static bool same_part(const Part *a, const Part *b) {
    return a->value == b->value && a->by == b->by && a->times == b->times && a->wider == b->wider &&
           a->by_wider == b->by_wider;
}

/* Are they as far apart in each round? */
static bool go_together(const Address *a, const Address *b) {
    bool same = a->size == b->size && a->nparts == b->nparts && same_part(&a->moving, &b->moving);
    for (int i = 0; i < a->nparts && same; i++)
        same = same_part(&a->parts[i], &b->parts[i]);
    return same;
}

static int64_t bytes_between(const Address *a, const Address *b) {
    return (b->fixed - a->fixed) * b->size + b->away - a->away;
}

static bool are_near(const Address *a, const Address *b) {
    int64_t bytes = bytes_between(a, b);
    return -NEAR <= bytes && bytes < NEAR;
}

/* How an index begins: with the counter's first value. In front of the loop. */
static Value first_of(const Walk *w, Value value) {
    LLVMBuilderRef b = w->cg->b;
    if (stands_still(w, value)) return value;
    LLVMOpcode op = LLVMGetInstructionOpcode(value);
    if (op == LLVMPHI) {
        BB latch = w->loops.blocks[w->loop->latch];
        return LLVMGetIncomingValue(value, LLVMGetIncomingBlock(value, 0) == latch);
    }
    Value x = first_of(w, LLVMGetOperand(value, 0));
    if (op == LLVMSExt || op == LLVMZExt) return LLVMBuildCast(b, op, x, LLVMTypeOf(value), "");
    Value y = first_of(w, LLVMGetOperand(value, 1));
    bool zero_x = LLVMIsAConstantInt(x) && LLVMIsNull(x),
         zero_y = LLVMIsAConstantInt(y) && LLVMIsNull(y);
    if ((op == LLVMMul || op == LLVMShl) && (zero_x || (op == LLVMMul && zero_y)))
        return zero_x ? x : y;
    if (zero_x && op != LLVMSub) return y;
    if (zero_y) return x;
    Value first = LLVMBuildBinOp(b, op, x, y, "");
    if (!LLVMIsAInstruction(first) || op == LLVMOr) return first;
    LLVMSetNSW(first, LLVMGetNSW(value));
    LLVMSetNUW(first, LLVMGetNUW(value));
    return first;
}

static Value widened(const Walk *w, Value value, Wider wider) {
    Cg *cg = w->cg;
    if (wider == NOT) return value;
    return wider == SIGNED ? LLVMBuildSExt(cg->b, value, cg->i64, "")
                           : LLVMBuildZExt(cg->b, value, cg->i64, "");
}

/* Bytes that an address goes on in each round. */
static Value step_of(const Walk *w, const Address *a) {
    Cg *cg = w->cg;
    const Part *m = &a->moving;
    Value step = widened(w, growth(w, m->value, m->wider), m->wider);
    if (m->by) {
        Value by = widened(w, m->by, m->by_wider);
        step = LLVMIsAConstantInt(step) && LLVMConstIntGetSExtValue(step) == 1
                   ? by
                   : LLVMBuildMul(cg->b, step, by, "");
    }
    return LLVMBuildMul(cg->b, step, cg_int(cg->i64, m->times * a->size), "");
}

static void before_loop(const Walk *w) {
    BB outside = w->loops.blocks[w->loop->outside];
    LLVMPositionBuilderBefore(w->cg->b, LLVMGetBasicBlockTerminator(outside));
}

static Value phi_of(const Walk *w, Value first) {
    Cg *cg = w->cg;
    BB header = w->loops.blocks[w->loop->header], outside = w->loops.blocks[w->loop->outside];
    LLVMPositionBuilderBefore(cg->b, LLVMGetFirstInstruction(header));
    Value phi = LLVMBuildPhi(cg->b, LLVMTypeOf(first), "");
    LLVMAddIncoming(phi, &first, &outside, 1);
    return phi;
}

static void close_phi(const Walk *w, Value phi, Value next) {
    BB latch = w->loops.blocks[w->loop->latch];
    LLVMAddIncoming(phi, &next, &latch, 1);
}

static void at_latch(const Walk *w) {
    BB latch = w->loops.blocks[w->loop->latch];
    LLVMPositionBuilderBefore(w->cg->b, LLVMGetBasicBlockTerminator(latch));
}

static void behind_phis(const Walk *w) {
    Value first = LLVMGetFirstInstruction(w->loops.blocks[w->loop->header]);
    LLVMPositionBuilderBefore(w->cg->b, cg_behind_phis(first));
}

/* A pointer for each base. */
static void count_pointer(const Walk *w, Address *a) {
    Cg *cg = w->cg;
    before_loop(w);
    Value step = step_of(w, a), index = first_of(w, a->index);
    LType element = LLVMGetGEPSourceElementType(a->gep);
    Value first = LLVMBuildGEP2(cg->b, element, a->base, &index, 1, "");
    a->pointer = phi_of(w, first);
    at_latch(w);
    close_phi(w, a->pointer, LLVMBuildGEP2(cg->b, cg->i8, a->pointer, &step, 1, ""));
}

/* Bytes from the base, for several. */
static Value count_offset(const Walk *w, const Address *a) {
    Cg *cg = w->cg;
    before_loop(w);
    Value step = step_of(w, a);
    Value first = LLVMBuildMul(cg->b, first_of(w, a->index), cg_int(cg->i64, a->size), "");
    Value offset = phi_of(w, first);
    at_latch(w);
    close_phi(w, offset, LLVMBuildAdd(cg->b, offset, step, ""));
    return offset;
}

/* A counter that nobody looks at but its own next round. */
static void drop_counter(Value phi) {
    LLVMUseRef use = LLVMGetFirstUse(phi);
    Value next = use ? LLVMGetUser(use) : NULL;
    if (!next || LLVMGetNextUse(use) || LLVMIsAPHINode(next)) return;
    LLVMUseRef back = LLVMGetFirstUse(next);
    if (!back || LLVMGetUser(back) != phi || LLVMGetNextUse(back)) return;
    LLVMReplaceAllUsesWith(phi, LLVMGetPoison(LLVMTypeOf(phi)));
    LLVMInstructionEraseFromParent(phi);
    LLVMInstructionEraseFromParent(next);
}

static void drop_counters(const Walk *w) {
    Value inst = LLVMIsAPHINode(LLVMGetFirstInstruction(w->loops.blocks[w->loop->header]));
    for (Value next; inst; inst = next) {
        next = LLVMIsAPHINode(LLVMGetNextInstruction(inst));
        if (growth(w, inst, NOT)) drop_counter(inst);
    }
}

static void replace(const Walk *w, Address *a, Value address, int64_t bytes) {
    Cg *cg = w->cg;
    LLVMPositionBuilderBefore(cg->b, a->gep);
    Value away = cg_int(cg->i64, bytes);
    if (bytes) address = LLVMBuildGEP2(cg->b, cg->i8, address, &away, 1, "");
    LLVMReplaceAllUsesWith(a->gep, address);
}

/* Addresses of the same base that are near each other have one variable. */
static void choose_leaders(Walk *w) {
    for (int32_t i = 0; i < w->found.len; i++)
        for (int32_t k = 0; k < i; k++) {
            Address *a = &w->found.items[i], *b = &w->found.items[k];
            if (b->leader != k || a->root != b->root || !go_together(a, b) || !are_near(b, a))
                continue;
            a->leader = k;
            break;
        }
}

/* Leaders that go as `a` does, by their bases. */
static int32_t bases_along(const Walk *w, const Address *a) {
    int32_t n = 0;
    for (int32_t k = 0; k < w->found.len; k++) {
        const Address *b = &w->found.items[k];
        n += b->leader == k && go_together(a, b) && are_near(a, b);
    }
    return n;
}

/* One offset for all of them: a pointer takes two registers, an offset and bases that all lanes share take two together. */
static void share_offset(Walk *w, const Address *a) {
    Cg *cg = w->cg;
    Value offset = count_offset(w, a);
    for (int32_t k = 0; k < w->found.len; k++) {
        Address *b = &w->found.items[k];
        if (b->leader != k || b->pointer || !go_together(a, b) || !are_near(a, b)) continue;
        behind_phis(w);
        Value address = LLVMBuildGEP2(cg->b, cg->i8, b->base, &offset, 1, "");
        int64_t bytes = bytes_between(a, b);
        Value away = cg_int(cg->i64, bytes);
        b->pointer = bytes ? LLVMBuildGEP2(cg->b, cg->i8, address, &away, 1, "") : address;
    }
}

/* Several pointers into one array that are not a row apart or more: one index does. */
static void drop_crowded(Walk *w) {
    int32_t n = 0, *kept = arena_array(w->cg->arena, int32_t, w->found.len + 1);
    for (int32_t i = 0; i < w->found.len; i++) {
        bool alone = true;
        for (int32_t k = 0; k < w->found.len; k++)
            alone &= w->found.items[i].moving.by ||
                     w->found.items[k].root != w->found.items[i].root ||
                     w->found.items[k].leader == w->found.items[i].leader;
        kept[i] = alone ? n++ : -1;
    }
    for (int32_t i = 0; i < w->found.len; i++) {
        if (kept[i] < 0) continue;
        w->found.items[kept[i]] = w->found.items[i];
        w->found.items[kept[i]].leader = kept[w->found.items[i].leader];
    }
    w->found.len = n;
}

static void walk_loop(Walk *w) {
    enum { SHARED = 3 };
    find_addresses(w);
    choose_leaders(w);
    if (w->most) drop_crowded(w);
    for (int32_t k = 0; k < w->found.len; k++) {
        Address *a = &w->found.items[k];
        if (a->leader != k || a->pointer) continue;
        if (!w->most && bases_along(w, a) >= SHARED)
            share_offset(w, a);
        else
            count_pointer(w, a);
    }
    for (int32_t k = 0; k < w->found.len; k++) {
        Address *a = &w->found.items[k], *leader = &w->found.items[a->leader];
        replace(w, a, leader->pointer, bytes_between(leader, a));
    }
    for (int32_t k = 0; k < w->found.len; k++)
        loops_drop_unused(w->found.items[k].gep);
    drop_counters(w);
}

static bool is_short(const Walk *w) {
    int32_t n = 0;
    for (int32_t b = 0; b < w->loops.nblocks; b++) {
        if (!bits_get(&w->loop->body, b)) continue;
        for (Value i = LLVMGetFirstInstruction(w->loops.blocks[b]); i;
             i = LLVMGetNextInstruction(i))
            n++;
    }
    return n <= w->most;
}

/* ptxas unrolls a loop that is left by one way. In others a pointer for each array takes more than an address made of the counter. */
static bool is_left_once(const Walk *w) {
    int32_t n = 0;
    for (int32_t b = 0; b < w->loops.nblocks; b++) {
        if (!bits_get(&w->loop->body, b)) continue;
        Value end = LLVMGetBasicBlockTerminator(w->loops.blocks[b]);
        for (unsigned k = 0; k < LLVMGetNumSuccessors(end); k++) {
            BB to = LLVMGetSuccessor(end, k);
            n += !loops_has(&w->loops, w->loop, LLVMGetBasicBlockTerminator(to));
        }
    }
    return n <= 1;
}

void gpu_walk_addresses(Cg *cg, int32_t most) {
    for (Value fn = LLVMGetFirstFunction(cg->mod); fn; fn = LLVMGetNextFunction(fn)) {
        Walk w = {.cg = cg, .most = most};
        if (LLVMIsDeclaration(fn)) continue;
        loops_find(&w.loops, cg->arena, fn);
        for (int32_t l = 0; l < w.loops.found.len; l++) {
            w.loop = &w.loops.found.items[l];
            if (w.loop->plain && (!most || (is_short(&w) && is_left_once(&w)))) walk_loop(&w);
        }
    }
}
