/* amdgpu_offsets.c - elements are reached by a base that all lanes share and 32 bits of offset.
 *
 *   a + 4 * sext((y + 1) * m + x),  a + 4 * sext((y + 1) * m + x + 2)
 *
 *   => p = a + zext(4 * (y * m + x) + 4 * m),  p + 8
 *
 * The instructions of memory add these by themselves; a sum of 64 bits takes up to four more. In the fast variant an element of an array
 * whose elements stand in order lies less than 2^31 bytes behind its first one (FAST_SPAN), so that the low 32 bits of an index times
 * the size say all, whatever wraps on the way: numbers may be taken out of products, and what is left is common to the neighbours of an
 * element. What they differ by is uniform, or a number in the instruction. */
#include "codegen/target/amdgpu.h"
#include "codegen/target/gpu_kernel.h"
#include "codegen/target/gpu_loops.h"

enum {
    MOST_TERMS = 6,
    MAX_DEPTH = 12,
    NEAR = 2048 /* bytes that loads and stores of all chips add by themselves */
};

/* A number, or one times a uniform value of 32 bits. */
typedef struct Term {
    Value of; /* NULL: 1 */
    int32_t times;
} Term;

/* Modulo 2^32. */
typedef struct Sum {
    Value core; /* NULL: none */
    Term terms[MOST_TERMS];
    int n;
    int32_t number;
} Sum;

typedef struct Access {
    Value inst;
    unsigned operand; /* which is its address */
    Value root;
    Sum offset;
    bool done;
} Access;

typedef struct Offsets {
    Cg *cg;
    CodeLoops loops;
    Map built; /* hash of an operation and the block where it stands -> index in `values` + 1 */
    Vec(Value) values;
    int32_t block; /* of the access */
    Vec(Access) accesses;
} Offsets;

/* -- building ------------------------------------------------------------------------------------- */

/* Outside of all loops in which both stand still. */
static int32_t place_for(const Offsets *o, Value a, Value b) {
    int32_t block = o->block;
    for (int32_t l = 0; l < o->loops.found.len; l++) {
        const CodeLoop *loop = &o->loops.found.items[l];
        if (!bits_get(&loop->body, block)) continue;
        if (!loop->plain || loops_has(&o->loops, loop, a) || (b && loops_has(&o->loops, loop, b)))
            break;
        block = loop->outside;
    }
    return block;
}

static bool is_same(Value v, LLVMOpcode op, Value a, Value b) {
    return LLVMIsAInstruction(v) && LLVMGetInstructionOpcode(v) == op &&
           LLVMGetOperand(v, 0) == a && (!b || LLVMGetOperand(v, 1) == b);
}

/* The one of two instructions of a block that stands further behind. */
static Value later(Value a, Value b) {
    for (Value i = a, k = b;;) {
        i = LLVMGetNextInstruction(i), k = LLVMGetNextInstruction(k);
        if (i == b || !k) return b;
        if (k == a || !i) return a;
    }
}

/* In front of all that may use it: directly behind the operands that stand in that block, or at its beginning. A value that is built for
 * one access is found again for others, which may come earlier. */
static void go_behind_operands(Offsets *o, BB block, Value a, Value b) {
    bool has_a = LLVMIsAInstruction(a) && LLVMGetInstructionParent(a) == block;
    bool has_b = b && LLVMIsAInstruction(b) && LLVMGetInstructionParent(b) == block;
    Value place = has_a && has_b && a != b ? later(a, b) : has_a ? a : has_b ? b : NULL;
    place = place ? LLVMGetNextInstruction(place) : LLVMGetFirstInstruction(block);
    while (LLVMIsAPHINode(place))
        place = LLVMGetNextInstruction(place);
    LLVMPositionBuilderBefore(o->cg->b, place);
}

/* Of two values of 32 bits, or of one of 64 (b: NULL). Each is built once in a block. */
static Value build(Offsets *o, LLVMOpcode op, Value a, Value b) {
    Cg *cg = o->cg;
    int32_t block = place_for(o, a, b);
    uint64_t key = map_key(a) * 31 + map_key(b) * 17 + (uint64_t)op * 7 + (uint64_t)block;
    MapValue *old = map_find(&o->built, key);
    if (old && is_same(o->values.items[old->num], op, a, b)) return o->values.items[old->num];
    go_behind_operands(o, o->loops.blocks[block], a, b);
    Value v = b ? LLVMBuildBinOp(cg->b, op, a, b, "") : LLVMBuildTrunc(cg->b, a, cg->i32, "");
    if (!old) {
        map_put(&o->built, key)->num = o->values.len;
        vec_push(cg->arena, &o->values, v);
    }
    return v;
}

static Value plus(Offsets *o, Value a, Value b) {
    return !a ? b : !b ? a : build(o, LLVMAdd, a, b);
}

static Value times(Offsets *o, Value a, Value b) {
    return build(o, LLVMMul, a, b);
}

static Value times_number(Offsets *o, Value a, int32_t n) {
    LType type = o->cg->i32;
    if (n == 1 || !a) return a;
    if (n > 0 && (n & (n - 1)) == 0)
        return build(o, LLVMShl, a, cg_int(type, __builtin_ctz((unsigned)n)));
    return times(o, a, cg_int(type, n));
}

/* -- sums ----------------------------------------------------------------------------------------- */

static int32_t low_half(uint64_t n) {
    return (int32_t)(uint32_t)n;
}

static int32_t product_of(int32_t a, int32_t b) {
    return low_half((uint64_t)(uint32_t)a * (uint32_t)b);
}

static bool is_plain(const Sum *s) {
    return s->n == 0 && s->number == 0;
}

/* All lanes and all rounds have the same: of parameters and of the sizes of block and grid. */
static bool is_uniform(Value v, int depth) {
    if (LLVMIsAArgument(v) || LLVMIsAConstantInt(v)) return true;
    if (!LLVMIsAInstruction(v) || depth == 0) return false;
    if (LLVMIsALoadInst(v))
        return LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetOperand(v, 0))) == SPACE_AMD_CONST &&
               LLVMGetMetadata(v, LLVMGetMDKindIDInContext(LLVMGetTypeContext(LLVMTypeOf(v)),
                                                           "invariant.load", 14));
    if (!LLVMIsABinaryOperator(v) && !LLVMIsACastInst(v)) return false;
    for (int k = 0; k < LLVMGetNumOperands(v); k++)
        if (!is_uniform(LLVMGetOperand(v, (unsigned)k), depth - 1)) return false;
    return true;
}

static bool widens(const Offsets *o, Value v) {
    return (LLVMIsASExtInst(v) || LLVMIsAZExtInst(v)) &&
           LLVMTypeOf(LLVMGetOperand(v, 0)) == o->cg->i32;
}

/* The low 32 bits of an int. */
static Value narrowed(Offsets *o, Value v) {
    Cg *cg = o->cg;
    if (LLVMTypeOf(v) == cg->i32) return v;
    if (LLVMIsAConstantInt(v)) return cg_int(cg->i32, low_half(LLVMConstIntGetZExtValue(v)));
    return widens(o, v) ? LLVMGetOperand(v, 0) : build(o, LLVMTrunc, v, NULL);
}

static Sum leaf(Offsets *o, Value v) {
    return (Sum){.core = narrowed(o, v)};
}

static bool is_used_once(Value v) {
    LLVMUseRef use = LLVMGetFirstUse(v);
    return use && !LLVMGetNextUse(use);
}

static bool add_term(Sum *s, Term t) {
    for (int i = 0; i < s->n; i++)
        if (s->terms[i].of == t.of) {
            s->terms[i].times = low_half((uint64_t)(uint32_t)s->terms[i].times + (uint32_t)t.times);
            if (s->terms[i].times == 0) s->terms[i] = s->terms[--s->n];
            return true;
        }
    if (s->n == MOST_TERMS) return false;
    s->terms[s->n++] = t;
    return true;
}

static bool add_sum(Offsets *o, Sum *to, const Sum *s, int32_t by) {
    Value core = s->core && by == -1 && to->core ? NULL : times_number(o, s->core, by);
    if (s->core && !core)
        to->core = build(o, LLVMSub, to->core, s->core);
    else
        to->core = plus(o, to->core, core);
    to->number = low_half((uint64_t)(uint32_t)to->number + (uint32_t)product_of(s->number, by));
    for (int i = 0; i < s->n; i++)
        if (!add_term(to, (Term){s->terms[i].of, product_of(s->terms[i].times, by)})) return false;
    return true;
}

static Sum take(Offsets *o, Value v, int depth);

/* A core that is uniform becomes a term. */
static bool name_uniform(Sum *s) {
    if (!s->core || !is_uniform(s->core, MAX_DEPTH)) return false;
    s->terms[s->n++] = (Term){s->core, 1};
    s->core = NULL;
    return true;
}

static Sum take_sum(Offsets *o, Value v, int32_t sign, int depth) {
    Sum a = take(o, LLVMGetOperand(v, 0), depth), b = take(o, LLVMGetOperand(v, 1), depth);
    bool whole = is_plain(&a) && is_plain(&b) && LLVMTypeOf(v) == o->cg->i32;
    if (whole && is_used_once(v)) whole = !name_uniform(&a) && !name_uniform(&b);
    return whole || !add_sum(o, &a, &b, sign) ? leaf(o, v) : a;
}

static Sum take_product(Offsets *o, Value v, int depth) {
    Value x = LLVMGetOperand(v, 0), y = LLVMGetOperand(v, 1);
    if (!is_uniform(y, MAX_DEPTH)) {
        Value other = x;
        x = y, y = other;
    }
    if (!is_uniform(y, MAX_DEPTH)) return leaf(o, v);
    Sum a = take(o, x, depth), all = {0};
    if (is_plain(&a) && LLVMTypeOf(v) == o->cg->i32) return leaf(o, v);
    if (LLVMIsAConstantInt(y)) {
        add_sum(o, &all, &a, low_half(LLVMConstIntGetZExtValue(y)));
        return all;
    }
    Value by = narrowed(o, y);
    all.core = a.core ? times(o, a.core, by) : NULL;
    if (a.number) add_term(&all, (Term){by, a.number});
    for (int i = 0; i < a.n; i++)
        if (!add_term(&all, (Term){times(o, a.terms[i].of, by), a.terms[i].times}))
            return leaf(o, v);
    return all;
}

static Sum take_shift(Offsets *o, Value v, int depth) {
    Value by = LLVMGetOperand(v, 1);
    if (!LLVMIsAConstantInt(by) || LLVMConstIntGetZExtValue(by) > 31) return leaf(o, v);
    Sum a = take(o, LLVMGetOperand(v, 0), depth), all = {0};
    if (is_plain(&a) && LLVMTypeOf(v) == o->cg->i32) return leaf(o, v);
    add_sum(o, &all, &a, low_half(UINT64_C(1) << LLVMConstIntGetZExtValue(by)));
    return all;
}

static bool is_int(const Offsets *o, Value v) {
    return LLVMTypeOf(v) == o->cg->i32 || LLVMTypeOf(v) == o->cg->i64;
}

/* An int of 32 or 64 bits, taken apart. */
static Sum take(Offsets *o, Value v, int depth) {
    if (LLVMIsAConstantInt(v)) return (Sum){.number = low_half(LLVMConstIntGetZExtValue(v))};
    if (!LLVMIsAInstruction(v) || depth == 0) return leaf(o, v);
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMSExt:
    case LLVMZExt: return widens(o, v) ? take(o, LLVMGetOperand(v, 0), depth - 1) : leaf(o, v);
    case LLVMTrunc:
        return is_int(o, LLVMGetOperand(v, 0)) ? take(o, LLVMGetOperand(v, 0), depth - 1)
                                               : leaf(o, v);
    case LLVMAdd: return take_sum(o, v, 1, depth - 1);
    case LLVMSub: return take_sum(o, v, -1, depth - 1);
    case LLVMOr: return LLVMGetIsDisjoint(v) ? take_sum(o, v, 1, depth - 1) : leaf(o, v);
    case LLVMMul: return take_product(o, v, depth - 1);
    case LLVMShl: return take_shift(o, v, depth - 1);
    default: return leaf(o, v);
    }
}

/* -- accesses ------------------------------------------------------------------------------------- */

static int address_operand(Value inst) {
    if (LLVMIsALoadInst(inst) || LLVMIsAAtomicRMWInst(inst) || LLVMIsAAtomicCmpXchgInst(inst))
        return 0;
    return LLVMIsAStoreInst(inst) ? 1 : -1;
}

static bool is_in_order(Value root) {
    if (!LLVMIsAArgument(root)) return false;
    Value fn = LLVMGetParamParent(root);
    for (unsigned k = 0; k < LLVMCountParams(fn); k++)
        if (LLVMGetParam(fn, k) == root)
            return LLVMGetStringAttributeAtIndex(fn, k + 1, GPU_IN_ORDER, sizeof GPU_IN_ORDER - 1);
    return false;
}

/* The parameter that an address is so many bytes from; NULL: another way. */
static Value root_of(const Offsets *o, Value address) {
    while (LLVMIsAGetElementPtrInst(address) && LLVMGetNumOperands(address) == 2 &&
           is_int(o, LLVMGetOperand(address, 1)))
        address = LLVMGetOperand(address, 0);
    return is_in_order(address) ? address : NULL;
}

static int32_t size_of_step(const Offsets *o, Value gep) {
    return low_half(LLVMABISizeOfType(o->cg->layout, LLVMGetGEPSourceElementType(gep)));
}

/* Bytes from the root. false: too many parts. */
static bool take_address(Offsets *o, Value root, Value address, Sum *offset) {
    for (; address != root; address = LLVMGetOperand(address, 0)) {
        Sum s = take(o, LLVMGetOperand(address, 1), MAX_DEPTH);
        if (!add_sum(o, offset, &s, size_of_step(o, address))) return false;
    }
    return true;
}

static void look_at(Offsets *o, Value inst) {
    int operand = address_operand(inst);
    if (operand < 0) return;
    Access a = {.inst = inst, .operand = (unsigned)operand};
    Value address = LLVMGetOperand(inst, a.operand);
    a.root = root_of(o, address);
    if (a.root && take_address(o, a.root, address, &a.offset) && (a.offset.core || a.offset.n))
        vec_push(o->cg->arena, &o->accesses, a);
}

static bool has_term(const Sum *s, const Term *t) {
    for (int i = 0; i < s->n; i++)
        if (s->terms[i].of == t->of) return s->terms[i].times == t->times;
    return false;
}

/* Are they a number of bytes apart? */
static bool are_apart(const Access *a, const Access *b) {
    if (a->root != b->root || a->offset.core != b->offset.core || a->offset.n != b->offset.n)
        return false;
    for (int i = 0; i < a->offset.n; i++)
        if (!has_term(&b->offset, &a->offset.terms[i])) return false;
    return true;
}

/* -- addresses ------------------------------------------------------------------------------------ */

static Value value_of(Offsets *o, const Sum *s, int32_t number) {
    Cg *cg = o->cg;
    Value fixed = NULL;
    for (int i = 0; i < s->n; i++)
        fixed = plus(o, fixed, times_number(o, s->terms[i].of, s->terms[i].times));
    if (number || (!fixed && !s->core)) fixed = plus(o, fixed, cg_int(cg->i32, number));
    return plus(o, s->core, fixed);
}

static Value behind(Offsets *o, Value root, Value offset) {
    Cg *cg = o->cg;
    offset = LLVMBuildZExt(cg->b, offset, cg->i64, "");
    return LLVMBuildGEP2(cg->b, cg->i8, root, &offset, 1, "");
}

static Value address_of(Offsets *o, const Access *a, int32_t number) {
    Value offset = value_of(o, &a->offset, number);
    LLVMPositionBuilderBefore(o->cg->b, a->inst);
    return behind(o, a->root, offset);
}

static void set_address(Offsets *o, Access *a, Value base, int32_t bytes) {
    Cg *cg = o->cg;
    Value old = LLVMGetOperand(a->inst, a->operand), by = cg_int(cg->i64, bytes);
    LLVMPositionBuilderBefore(cg->b, a->inst);
    if (bytes) base = LLVMBuildGEP2(cg->b, cg->i8, base, &by, 1, "");
    LLVMSetOperand(a->inst, a->operand, base);
    loops_drop_unused(old);
    a->done = true;
}

/* All of them run, and so the one with the least number lies in the array, too: what is added to its offset wraps nowhere. */
static void set_together(Offsets *o, int32_t first) {
    Access *a = &o->accesses.items[first];
    int32_t least = a->offset.number;
    for (int32_t k = first; k < o->accesses.len; k++) {
        const Access *b = &o->accesses.items[k];
        int64_t away = (int64_t)a->offset.number - b->offset.number;
        if (!b->done && away < NEAR && b->offset.number < least && are_apart(a, b))
            least = b->offset.number;
    }
    Value base = address_of(o, a, least);
    for (int32_t k = first; k < o->accesses.len; k++) {
        Access *b = &o->accesses.items[k];
        int64_t away = (int64_t)b->offset.number - least;
        if (!b->done && away >= 0 && away < NEAR && are_apart(a, b))
            set_address(o, b, base, (int32_t)away);
    }
}

/* -- what loops count up -------------------------------------------------------------------------- */

/* A phi of the header, of 64 bits, and what it grows by. */
typedef struct Counter {
    const CodeLoop *loop;
    Value phi, first, next, step, root;
    int32_t size; /* of a step */
} Counter;

static Value only_user(Value v) {
    LLVMUseRef use = LLVMGetFirstUse(v);
    return use && !LLVMGetNextUse(use) ? LLVMGetUser(use) : NULL;
}

/* The root of all addresses that an int counts the bytes of; NULL: it counts something else, too. */
static Value root_of_users(const Offsets *o, const Counter *c) {
    Value root = NULL;
    for (LLVMUseRef use = LLVMGetFirstUse(c->phi); use; use = LLVMGetNextUse(use)) {
        Value user = LLVMGetUser(use);
        if (user == c->next) continue;
        if (!LLVMIsAGetElementPtrInst(user) || LLVMGetOperand(user, 1) != c->phi) return NULL;
        root = root_of(o, user);
        if (!root) return NULL;
    }
    return root;
}

static bool is_counter(const Offsets *o, Counter *c) {
    BB latch = o->loops.blocks[c->loop->latch];
    if (LLVMCountIncoming(c->phi) != 2) return false;
    unsigned back = LLVMGetIncomingBlock(c->phi, 1) == latch;
    c->first = LLVMGetIncomingValue(c->phi, !back);
    c->next = LLVMGetIncomingValue(c->phi, back);
    if (LLVMGetIncomingBlock(c->phi, back) != latch || only_user(c->next) != c->phi) return false;
    bool adds = LLVMIsAInstruction(c->next) && LLVMGetInstructionOpcode(c->next) == LLVMAdd;
    bool is_pointer = LLVMIsAGetElementPtrInst(c->next) && LLVMGetNumOperands(c->next) == 2;
    if (!adds && !is_pointer) return false;
    unsigned at = adds && LLVMGetOperand(c->next, 1) == c->phi;
    if (LLVMGetOperand(c->next, at) != c->phi) return false;
    c->step = LLVMGetOperand(c->next, !at);
    c->size = is_pointer ? size_of_step(o, c->next) : 1;
    c->root = is_pointer ? root_of(o, c->first) : root_of_users(o, c);
    return c->root && LLVMTypeOf(c->step) == o->cg->i64;
}

static Value first_offset(Offsets *o, const Counter *c) {
    Sum sum = {0};
    o->block = c->loop->outside;
    if (LLVMTypeOf(c->first) == o->cg->i64) return narrowed(o, c->first);
    return take_address(o, c->root, c->first, &sum) ? value_of(o, &sum, sum.number) : NULL;
}

/* An offset of 32 bits takes its place. */
static void count_offset(Offsets *o, const Counter *c) {
    Cg *cg = o->cg;
    BB header = o->loops.blocks[c->loop->header], outside = o->loops.blocks[c->loop->outside],
       latch = o->loops.blocks[c->loop->latch];
    Value first = first_offset(o, c);
    if (!first) return;
    LLVMPositionBuilderBefore(cg->b, LLVMGetFirstInstruction(header));
    Value phi = LLVMBuildPhi(cg->b, cg->i32, "");
    o->block =
        (int32_t)map_find(&o->loops.numbers, map_key(LLVMGetInstructionParent(c->next)))->num;
    Value step = times_number(o, narrowed(o, c->step), c->size);
    LLVMPositionBuilderBefore(cg->b, c->next);
    Value next = LLVMBuildAdd(cg->b, phi, step, "");
    LLVMAddIncoming(phi, &first, &outside, 1);
    LLVMAddIncoming(phi, &next, &latch, 1);
    Value place = c->phi;
    while (LLVMIsAPHINode(place))
        place = LLVMGetNextInstruction(place);
    LLVMPositionBuilderBefore(cg->b, place);
    bool is_int = LLVMTypeOf(c->phi) == cg->i64;
    Value now = is_int ? LLVMBuildZExt(cg->b, phi, cg->i64, "") : behind(o, c->root, phi);
    LLVMReplaceAllUsesWith(c->phi, now);
    LLVMInstructionEraseFromParent(c->phi);
    loops_drop_unused(c->next);
}

static void narrow_counters(Offsets *o) {
    for (int32_t l = 0; l < o->loops.found.len; l++) {
        Counter c = {.loop = &o->loops.found.items[l]};
        Value next, phi = LLVMGetFirstInstruction(o->loops.blocks[c.loop->header]);
        for (; c.loop->plain && LLVMIsAPHINode(phi); phi = next) {
            next = LLVMGetNextInstruction(phi);
            if (!LLVMIsAPHINode(next)) next = NULL; /* it may be what is erased */
            c.phi = phi;
            if (is_counter(o, &c)) count_offset(o, &c);
        }
    }
}

void amdgpu_use_offsets(Cg *cg) {
    if (cg->options->general_variant || cg->options->entry != ENTRY_KERNEL) return;
    Offsets o = {.cg = cg};
    loops_find(&o.loops, cg->arena, cg->entry_fn);
    map_init(&o.built, cg->arena);
    narrow_counters(&o);
    for (o.block = 0; o.block < o.loops.nblocks; o.block++) {
        BB block = o.loops.blocks[o.block];
        o.accesses.len = 0;
        for (Value i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
            look_at(&o, i);
        for (int32_t k = 0; k < o.accesses.len; k++)
            if (!o.accesses.items[k].done) set_together(&o, k);
    }
}
